//! Mutexes and spin locks, of POSIX and of C11.
//!
//! A recursive mutex acquires and releases at every level: the owner learns nothing new. A robust mutex whose owner
//! died is locked, although the call returns an error that says so.
//!
//! What a program does wrong with them is seen from their fields, which the C library's header shows. Nothing is wrong
//! with an unlock that is refused. A spin lock has no field to say that it was destroyed, so it gets a number that no
//! spin lock has.

use crate::held::{self, LockMode};
use crate::misuse::{self, LockHolder};
use crate::schedule::time;
use crate::{memory, schedule, sync};
use libc::{CLOCK_REALTIME, EBUSY, EOWNERDEAD, ETIMEDOUT, c_int};
use ravelin_findings::events::Act;
use ravelin_findings::{AccessKind, WaitsFor};

/// The size of `pthread_mutex_t`, which `mtx_t` is too.
const MUTEX: usize = size_of::<libc::pthread_mutex_t>();

/// A lock function has returned: the mutex is acquired if it is locked now. C11's success is zero too, and none of its
/// other results is `EOWNERDEAD`.
#[inline(always)]
fn acquire_if_locked(mutex: usize, pc: usize, status: c_int) -> c_int {
    if status == 0 || status == EOWNERDEAD {
        sync::acquire_lock(mutex, LockMode::Write, pc);
    }
    status
}

/// The calling thread is about to wait for a mutex without a time limit.
#[inline(always)]
fn waits(mutex: usize, pc: usize) {
    if is_destroyed(mutex) {
        misuse::uses_destroyed(mutex, AccessKind::Lock, pc);
    }
    misuse::waits(mutex, LockMode::Write, pc, |_| {
        let (kind, owner) = kind_and_owner(mutex);
        !is_checked(kind) && is_locked(mutex) && owner == schedule::turn::own_tid()
    });
}

/// Before an unlock: replaces what the last owner released. A mutex that checks its owner refuses other threads, which
/// release nothing. The C library keeps owner and kind in fields that its header shows (`__owner`, `__kind`). It does
/// not always keep the owner of a mutex of the default kind, but only the owner may unlock such a mutex anyway.
#[inline(always)]
fn release_if_held(mutex: usize, pc: usize) {
    if !sync::release_lock(mutex, None) {
        release_unheld(mutex, pc);
    }
}

/// The same for a mutex that the calling thread has not locked as far as the runtime knows.
#[cold]
fn release_unheld(mutex: usize, pc: usize) {
    let (kind, owner) = kind_and_owner(mutex);
    let is_own = owner == schedule::turn::own_tid();
    if is_destroyed(mutex) {
        misuse::uses_destroyed(mutex, AccessKind::Unlock, pc);
    } else if !is_checked(kind) {
        let holder = match owner {
            _ if !is_locked(mutex) => LockHolder::Nobody,
            0 => LockHolder::MaybeCaller,
            _ if is_own => LockHolder::MaybeCaller,
            _ => LockHolder::Another,
        };
        misuse::unlocks(mutex, pc, holder);
    }
    if !is_checked(kind) || is_own {
        sync::release(mutex);
    }
}

/// Before a mutex is destroyed, or initialised again.
fn destroys(mutex: usize, pc: usize) {
    if is_destroyed(mutex) {
        misuse::uses_destroyed(mutex, AccessKind::Destroy, pc);
    } else if is_locked(mutex) {
        misuse::destroys_locked(mutex, pc);
    }
    memory::forget(mutex, MUTEX);
    misuse::destroys(mutex, pc);
}

/// Whether a mutex refuses a thread that does not own it.
fn is_checked(kind: c_int) -> bool {
    // `PTHREAD_MUTEX_ADAPTIVE_NP` is both bits at once.
    kind & CHECKED != 0 && kind & CHECKED != CHECKED
}

/// The C library's mark of a mutex that was destroyed.
fn is_destroyed(mutex: usize) -> bool {
    kind_and_owner(mutex).0 == -1
}

/// Whether any thread holds a mutex: its first field (`__lock`).
fn is_locked(mutex: usize) -> bool {
    // SAFETY: as in `kind_and_owner`.
    unsafe { (mutex as *const c_int).read_volatile() != 0 }
}

mod next {
    use libc::c_int;
    next! {
        fn pthread_mutex_trylock(mutex: usize) -> c_int;
        fn pthread_mutex_unlock(mutex: usize) -> c_int;
        fn pthread_spin_init(lock: usize, shared: c_int) -> c_int;
        fn pthread_spin_trylock(lock: usize) -> c_int;
    }
}

/// Where the C library keeps the owner and the kind of a mutex, as its header shows (`__owner`, `__kind`).
const COUNT: usize = 4;
const OWNER: usize = 8;
const KIND: usize = 16;
const CHECKED: c_int = libc::PTHREAD_MUTEX_RECURSIVE | libc::PTHREAD_MUTEX_ERRORCHECK;
/// A mutex that other processes may use.
const SHARED: c_int = 128;

fn kind_and_owner(mutex: usize) -> (c_int, c_int) {
    // SAFETY: the caller locks or unlocks it, so it is a mutex of the C library, which is longer than this. Fields that
    // another thread may change are read as volatile.
    unsafe { (((mutex + KIND) as *const c_int).read_volatile(), ((mutex + OWNER) as *const c_int).read_volatile()) }
}

/// Locks a mutex. With a schedule, it does not wait in the C library. Waiting for another process, and errors that
/// `trylock` does not return, are left to `real`.
#[inline(always)]
fn lock(
    mutex: usize,
    pc: usize,
    until: impl FnOnce() -> Option<u64>,
    late: c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    match schedule::mine() {
        None => real(),
        Some(me) => lock_in_turn(me, mutex, pc, until(), late, real),
    }
}

#[cold]
fn lock_in_turn(
    me: usize,
    mutex: usize,
    pc: usize,
    until: Option<u64>,
    late: c_int,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let (kind, owner) = kind_and_owner(mutex);
    if kind & SHARED != 0 {
        return schedule::outside(pc, real);
    }
    if kind & CHECKED == libc::PTHREAD_MUTEX_ERRORCHECK && owner == schedule::turn::own_tid() {
        return real();
    }
    if is_counted(mutex, 0) {
        return real();
    }
    let locked = schedule::until(me, pc, Act::Lock, (WaitsFor::Mutex, mutex), until, || {
        Some(next::pthread_mutex_trylock(mutex)).filter(|status| *status != EBUSY)
    });
    locked.unwrap_or(late)
}

/// Locks a mutex again after a wait for a condition.
pub fn lock_again(me: usize, mutex: usize, pc: usize) {
    let _ = schedule::until(me, pc, Act::Lock, (WaitsFor::Mutex, mutex), None, || {
        Some(next::pthread_mutex_trylock(mutex)).filter(|status| *status != EBUSY)
    });
}

/// Unlocks a mutex for a wait for a condition.
pub fn open(mutex: usize, pc: usize) {
    if schedule::steer::is_on() {
        schedule::before(pc, Act::Unlock, mutex);
    }
    next::pthread_mutex_unlock(mutex);
    schedule::wake(mutex);
}

/// Whether the calling thread has locked a recursive mutex more often than `times`, and the steps of the run are given.
/// Locking it again, or unlocking it before the last time, only changes a count (`__count`), which is no step.
#[inline(always)]
fn is_counted(mutex: usize, times: c_int) -> bool {
    schedule::steer::is_on() && {
        let (kind, owner) = kind_and_owner(mutex);
        // SAFETY: as in `kind_and_owner`.
        let count = unsafe { ((mutex + COUNT) as *const c_int).read_volatile() };
        kind & CHECKED == libc::PTHREAD_MUTEX_RECURSIVE && owner == schedule::turn::own_tid() && count > times
    }
}

/// Whether a mutex may be used by other processes.
pub fn is_shared(mutex: usize) -> bool {
    kind_and_owner(mutex).0 & SHARED != 0
}

/// Unlocks a lock by `real`; threads that wait for it try again.
#[inline(always)]
fn unlock(mutex: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if is_counted(mutex, 1) {
        return real();
    }
    unlock_after(schedule::before, mutex, pc, real)
}

#[inline(always)]
fn unlock_after(before: fn(usize, Act, usize), lock: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if !schedule::is_on() {
        return real();
    }
    before(pc, Act::Unlock, lock);
    let status = real();
    schedule::wake(lock);
    status
}

/// Tries a lock by `real`; a thread that fails lets others run.
#[inline(always)]
fn attempt(lock: usize, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    if !schedule::is_on() {
        return real();
    }
    schedule::before(pc, Act::Lock, lock);
    let status = real();
    schedule::attempted(pc, Act::Lock, status == 0);
    status
}

fn at_real_time(until: usize) -> Option<u64> {
    // SAFETY: the program gave this address as one of a time.
    unsafe { time::when(CLOCK_REALTIME, until) }
}

/// C11's result for a wait that timed out.
const THRD_TIMEDOUT: c_int = 4;

interpose! {
    fn pthread_mutex_init(mutex: usize, attributes: usize) -> c_int {
        memory::forget(mutex, MUTEX);
        real(mutex, attributes)
    }

    fn pthread_mutex_destroy(mutex: usize; pc) -> c_int {
        destroys(mutex, pc);
        real(mutex)
    }

    fn pthread_mutex_lock(mutex: usize; pc) -> c_int {
        waits(mutex, pc);
        acquire_if_locked(mutex, pc, lock(mutex, pc, || None, 0, || real(mutex)))
    }

    fn pthread_mutex_trylock(mutex: usize; pc) -> c_int {
        let status = if is_counted(mutex, 0) { real(mutex) } else { attempt(mutex, pc, || real(mutex)) };
        acquire_if_locked(mutex, pc, status)
    }

    fn pthread_mutex_timedlock(mutex: usize, until: usize; pc) -> c_int {
        acquire_if_locked(mutex, pc, lock(mutex, pc, || at_real_time(until), ETIMEDOUT, || real(mutex, until)))
    }

    fn pthread_mutex_clocklock(mutex: usize, clock: c_int, until: usize; pc) -> c_int {
        // SAFETY: the program gave this address as one of a time.
        let time = || unsafe { time::when(clock, until) };
        acquire_if_locked(mutex, pc, lock(mutex, pc, time, ETIMEDOUT, || real(mutex, clock, until)))
    }

    fn pthread_mutex_unlock(mutex: usize; pc) -> c_int {
        unlock(mutex, pc, || {
            release_if_held(mutex, pc);
            real(mutex)
        })
    }

    fn mtx_init(mutex: usize, kind: c_int) -> c_int {
        memory::forget(mutex, MUTEX);
        real(mutex, kind)
    }

    fn mtx_destroy(mutex: usize; pc) {
        destroys(mutex, pc);
        real(mutex)
    }

    fn mtx_lock(mutex: usize; pc) -> c_int {
        waits(mutex, pc);
        acquire_if_locked(mutex, pc, lock(mutex, pc, || None, 0, || real(mutex)))
    }

    fn mtx_trylock(mutex: usize; pc) -> c_int {
        let status = if is_counted(mutex, 0) { real(mutex) } else { attempt(mutex, pc, || real(mutex)) };
        acquire_if_locked(mutex, pc, status)
    }

    fn mtx_timedlock(mutex: usize, until: usize; pc) -> c_int {
        acquire_if_locked(mutex, pc, lock(mutex, pc, || at_real_time(until), THRD_TIMEDOUT, || real(mutex, until)))
    }

    fn mtx_unlock(mutex: usize; pc) -> c_int {
        unlock(mutex, pc, || {
            release_if_held(mutex, pc);
            real(mutex)
        })
    }

    fn pthread_spin_init(lock: usize, shared: c_int) -> c_int {
        memory::forget(lock, size_of::<libc::pthread_spinlock_t>());
        real(lock, shared)
    }

    fn pthread_spin_destroy(lock: usize; pc) -> c_int {
        if is_spin_destroyed(lock) {
            uses_destroyed_spin(lock, AccessKind::Destroy, pc);
        } else if is_spinning(lock) {
            misuse::destroys_locked(lock, pc);
        }
        memory::forget(lock, size_of::<libc::pthread_spinlock_t>());
        misuse::destroys(lock, pc);
        let status = real(lock);
        // SAFETY: a spin lock that is destroyed is used by no other thread.
        unsafe { (lock as *mut c_int).write_volatile(DESTROYED) };
        status
    }

    fn pthread_spin_lock(lock: usize; pc) -> c_int {
        if is_spin_destroyed(lock) {
            uses_destroyed_spin(lock, AccessKind::Lock, pc);
        }
        misuse::waits(lock, LockMode::Write, pc, |_| is_spinning(lock));
        let status = match schedule::mine() {
            None => real(lock),
            Some(me) => schedule::until(me, pc, Act::Lock, (WaitsFor::SpinLock, lock), None, || {
                Some(next::pthread_spin_trylock(lock)).filter(|status| *status != EBUSY)
            })
            .unwrap_or(0),
        };
        acquire_if_locked(lock, pc, status)
    }

    fn pthread_spin_trylock(lock: usize; pc) -> c_int {
        if is_spin_destroyed(lock) {
            uses_destroyed_spin(lock, AccessKind::Lock, pc);
        }
        acquire_if_locked(lock, pc, attempt(lock, pc, || real(lock)))
    }

    fn pthread_spin_unlock(lock: usize; pc) -> c_int {
        unlock_after(schedule::before_store, lock, pc, || {
            if !sync::release_lock_by_store(lock) {
                release_unheld_spin(lock, pc);
            }
            real(lock)
        })
    }
}

/// Unlocks a spin lock that the calling thread has not locked as far as the runtime knows.
#[cold]
fn release_unheld_spin(lock: usize, pc: usize) {
    if is_spin_destroyed(lock) {
        return uses_destroyed_spin(lock, AccessKind::Unlock, pc);
    }
    let is_held_by_another = || held::known().is_some_and(|_inside| held::held_by_another(lock, false).is_some());
    let holder = match () {
        () if !is_spinning(lock) => LockHolder::Nobody,
        () if is_held_by_another() => LockHolder::Another,
        () => LockHolder::MaybeCaller,
    };
    misuse::unlocks(lock, pc, holder);
    sync::release(lock);
}

/// What a spin lock is after it was destroyed.
const DESTROYED: c_int = 0x6465_7374;

#[inline(always)]
fn is_spin_destroyed(lock: usize) -> bool {
    // SAFETY: as in `is_spinning`.
    unsafe { (lock as *const c_int).read_volatile() == DESTROYED }
}

/// The calling thread uses a spin lock that was destroyed. It goes on with an open one, as it would without the runtime.
#[cold]
fn uses_destroyed_spin(lock: usize, kind: AccessKind, pc: usize) {
    misuse::uses_destroyed(lock, kind, pc);
    next::pthread_spin_init(lock, libc::PTHREAD_PROCESS_PRIVATE);
}

/// Whether a spin lock is locked. It is a number; which one means open differs between C libraries.
fn is_spinning(lock: usize) -> bool {
    let mut open: c_int = 0;
    next::pthread_spin_init((&raw mut open) as usize, libc::PTHREAD_PROCESS_PRIVATE);
    // SAFETY: the caller uses it, so it is a spin lock of the C library.
    unsafe { (lock as *const c_int).read_volatile() != open }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use crate::threads::tests::{beside, ordered, watched};

    /// The address of a new mutex of a kind, which is never destroyed.
    fn new_mutex(kind: c_int) -> usize {
        let at = Box::leak(Box::new([0_u64; MUTEX / 8])).as_mut_ptr() as usize;
        // SAFETY: the C library's own functions, with memory of the right size.
        unsafe {
            let mut attributes = std::mem::zeroed();
            libc::pthread_mutexattr_init(&raw mut attributes);
            libc::pthread_mutexattr_settype(&raw mut attributes, kind);
            assert_eq!(pthread_mutex_init(at, (&raw const attributes) as usize), 0);
        }
        at
    }

    fn take(mutex: usize) -> c_int {
        // SAFETY: a mutex.
        unsafe { pthread_mutex_lock(mutex, 0) }
    }

    fn leave(mutex: usize) -> c_int {
        // SAFETY: a mutex.
        unsafe { pthread_mutex_unlock(mutex, 0) }
    }

    const KINDS: [c_int; 3] =
        [libc::PTHREAD_MUTEX_NORMAL, libc::PTHREAD_MUTEX_RECURSIVE, libc::PTHREAD_MUTEX_ERRORCHECK];

    #[test]
    fn the_next_owner_knows_what_the_last_one_did() {
        for kind in KINDS {
            watched(|| {
                let mutex = new_mutex(kind);
                let theirs = || assert_eq!((take(mutex), leave(mutex)), (0, 0));
                assert!(ordered(theirs, || assert_eq!(take(mutex), 0)), "{kind}");
                leave(mutex);
            });
        }
    }

    #[test]
    fn whoever_does_not_get_the_mutex_knows_nothing() {
        watched(|| {
            let mutex = new_mutex(libc::PTHREAD_MUTEX_NORMAL);
            let theirs = || {
                take(mutex);
                leave(mutex);
                take(mutex);
            };
            // SAFETY: a mutex.
            assert!(!ordered(theirs, || assert_eq!(unsafe { pthread_mutex_trylock(mutex, 0) }, EBUSY)));
        });
    }

    #[test]
    fn an_unlock_that_is_refused_releases_nothing() {
        for kind in [libc::PTHREAD_MUTEX_RECURSIVE, libc::PTHREAD_MUTEX_ERRORCHECK] {
            watched(|| {
                let mutex = new_mutex(kind);
                take(mutex);
                beside(|| assert_eq!(leave(mutex), libc::EPERM));
                assert_eq!(records::with(mutex, |record| record.released().is_none()), Some(true), "{kind}");
                assert_eq!(leave(mutex), 0);
                assert_eq!(records::with(mutex, |record| record.released().is_none()), Some(false), "{kind}");
            });
        }
    }

    #[test]
    fn a_mutex_that_is_made_anew_hands_on_nothing() {
        watched(|| {
            let mutex = new_mutex(libc::PTHREAD_MUTEX_NORMAL);
            let theirs = || {
                take(mutex);
                leave(mutex);
            };
            // SAFETY: a mutex that no thread holds.
            let mine = || unsafe {
                pthread_mutex_destroy(mutex, 0);
                pthread_mutex_init(mutex, 0);
                pthread_mutex_lock(mutex, 0);
            };
            assert!(!ordered(theirs, mine));
        });
    }

    #[test]
    fn a_spin_lock_orders_too() {
        watched(|| {
            let lock = Box::leak(Box::new(0_u64)) as *mut u64 as usize;
            // SAFETY: a spin lock fits there.
            unsafe {
                pthread_spin_init(lock, 0);
                let theirs = || {
                    pthread_spin_lock(lock, 0);
                    pthread_spin_unlock(lock, 0);
                };
                assert!(ordered(theirs, || assert_eq!(pthread_spin_trylock(lock, 0), 0)));
                assert!(!ordered(|| (), || assert_eq!(pthread_spin_trylock(lock, 0), EBUSY)));
            }
        });
    }
}
