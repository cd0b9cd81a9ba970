//! Read-write locks.
//!
//! Readers learn what writers released at the lock's address. They release their own knowledge at the next address,
//! which only writers read: two successive readers are not ordered.
//!
//! The C library does not mark a lock that is destroyed, so that is done here, in a field that it does not use. Whoever
//! initialises the lock again, by a function or not, overwrites the mark.

use crate::held::{self, LockMode};
use crate::misuse::{self, LockHolder};
use crate::schedule::time;
use crate::{memory, schedule, sync};
use libc::{CLOCK_REALTIME, EBUSY, ETIMEDOUT, c_int, pthread_rwlock_t};
use ravelin_findings::events::Act;
use ravelin_findings::{AccessKind, WaitsFor};

mod next {
    use libc::c_int;
    next! {
        fn pthread_rwlock_tryrdlock(lock: usize) -> c_int;
        fn pthread_rwlock_trywrlock(lock: usize) -> c_int;
    }
}

/// The two ways to lock it.
const READ: (Act, fn(usize) -> c_int) = (Act::LockShared, next::pthread_rwlock_tryrdlock);
const WRITE: (Act, fn(usize) -> c_int) = (Act::Lock, next::pthread_rwlock_trywrlock);

/// Locks the lock. With a schedule, it does not wait in the C library. A thread that already holds the lock for writing
/// gets the error from `real`.
#[inline(always)]
fn lock(
    lock: usize,
    pc: usize,
    until: impl FnOnce() -> Option<u64>,
    (act, attempt): (Act, fn(usize) -> c_int),
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(me) = schedule::mine() else {
        return real();
    };
    if writer(lock) == schedule::turn::own_tid() {
        return real();
    }
    let locked = schedule::until(me, pc, act, (WaitsFor::ReadWriteLock, lock), until(), || {
        Some(attempt(lock)).filter(|status| *status != EBUSY)
    });
    locked.unwrap_or(ETIMEDOUT)
}

#[inline(always)]
fn attempt(lock: usize, act: Act, pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    schedule::before(pc, act, lock);
    let status = real();
    schedule::attempted(pc, act, status == 0);
    status
}

fn at(clock: c_int, until: usize) -> Option<u64> {
    // SAFETY: the program gave this address as one of a time.
    unsafe { time::when(clock, until) }
}

interpose! {
    fn pthread_rwlock_init(lock: usize, attributes: usize) -> c_int {
        memory::forget(lock, size_of::<pthread_rwlock_t>());
        real(lock, attributes)
    }

    fn pthread_rwlock_destroy(lock: usize; pc) -> c_int {
        if is_destroyed(lock) {
            misuse::uses_destroyed(lock, AccessKind::Destroy, pc);
        } else if is_written(lock) || readers(lock) > 0 {
            misuse::destroys_locked(lock, pc);
        }
        memory::forget(lock, size_of::<pthread_rwlock_t>());
        misuse::destroys(lock, pc);
        let status = real(lock);
        if status == 0 {
            mark_destroyed(lock);
        }
        status
    }

    fn pthread_rwlock_rdlock(object: usize; pc) -> c_int {
        not_destroyed(object, LockMode::Read, pc);
        // A thread that holds it for writing is refused.
        misuse::waits(object, LockMode::Read, pc, |_| false);
        reads(object, pc, lock(object, pc, || None, READ, || real(object)))
    }

    fn pthread_rwlock_tryrdlock(lock: usize; pc) -> c_int {
        not_destroyed(lock, LockMode::Read, pc);
        reads(lock, pc, attempt(lock, Act::LockShared, pc, || real(lock)))
    }

    fn pthread_rwlock_timedrdlock(object: usize, until: usize; pc) -> c_int {
        let time = || at(CLOCK_REALTIME, until);
        reads(object, pc, lock(object, pc, time, READ, || real(object, until)))
    }

    fn pthread_rwlock_clockrdlock(object: usize, clock: c_int, until: usize; pc) -> c_int {
        let time = || at(clock, until);
        reads(object, pc, lock(object, pc, time, READ, || real(object, clock, until)))
    }

    fn pthread_rwlock_wrlock(object: usize; pc) -> c_int {
        not_destroyed(object, LockMode::Write, pc);
        misuse::waits(object, LockMode::Write, pc, |held| held == LockMode::Read && readers(object) > 0);
        writes(object, pc, lock(object, pc, || None, WRITE, || real(object)))
    }

    fn pthread_rwlock_trywrlock(lock: usize; pc) -> c_int {
        not_destroyed(lock, LockMode::Write, pc);
        writes(lock, pc, attempt(lock, Act::Lock, pc, || real(lock)))
    }

    fn pthread_rwlock_timedwrlock(object: usize, until: usize; pc) -> c_int {
        let time = || at(CLOCK_REALTIME, until);
        writes(object, pc, lock(object, pc, time, WRITE, || real(object, until)))
    }

    fn pthread_rwlock_clockwrlock(object: usize, clock: c_int, until: usize; pc) -> c_int {
        let time = || at(clock, until);
        writes(object, pc, lock(object, pc, time, WRITE, || real(object, clock, until)))
    }

    fn pthread_rwlock_unlock(lock: usize; pc) -> c_int {
        let is_writer = is_written(lock);
        schedule::before(pc, if is_writer { Act::Unlock } else { Act::UnlockShared }, lock);
        let readers = if is_writer { None } else { Some(left_by_readers(lock)) };
        if !sync::release_lock(lock, readers) {
            release_unheld(lock, pc);
        }
        let status = real(lock);
        schedule::wake(lock);
        status
    }
}

#[inline(always)]
fn reads(lock: usize, pc: usize, status: c_int) -> c_int {
    if status == 0 {
        sync::acquire_lock(lock, LockMode::Read, pc);
    }
    status
}

#[inline(always)]
fn writes(lock: usize, pc: usize, status: c_int) -> c_int {
    if status == 0 {
        sync::acquire(left_by_readers(lock));
        sync::acquire_lock(lock, LockMode::Write, pc);
    }
    status
}

/// Unlocks a lock that the calling thread has not locked as far as the runtime knows.
#[cold]
fn release_unheld(lock: usize, pc: usize) {
    if is_destroyed(lock) {
        return misuse::uses_destroyed(lock, AccessKind::Unlock, pc);
    }
    let is_held_by_another = || held::known().is_some_and(|_inside| held::held_by_another(lock, false).is_some());
    let holder = match writer(lock) {
        0 if readers(lock) == 0 => LockHolder::Nobody,
        // Which threads read is not written in the lock.
        0 if is_held_by_another() => LockHolder::Another,
        0 => LockHolder::MaybeCaller,
        writer if writer == schedule::turn::own_tid() => LockHolder::MaybeCaller,
        _ => LockHolder::Another,
    };
    misuse::unlocks(lock, pc, holder);
    if is_written(lock) {
        sync::release(lock);
    } else {
        sync::release_join(left_by_readers(lock));
    }
}

/// How many threads hold a lock for reading: a field that the C library's header shows (`__readers`), above three bits
/// for other purposes.
fn readers(lock: usize) -> u32 {
    // SAFETY: as in `writer`.
    unsafe { (lock as *const u32).read_volatile() >> 3 }
}

/// The calling thread is about to lock a lock.
#[inline(always)]
fn not_destroyed(lock: usize, mode: LockMode, pc: usize) {
    if is_destroyed(lock) {
        misuse::uses_destroyed(lock, mode.access_kind(), pc);
    }
}

/// Where the C library's header has a field without a use (`__pad2`), and what stands there after the lock was destroyed.
const UNUSED: usize = 40;
const DESTROYED: u64 = 0x6465_7374_726f_7965;

#[inline(always)]
fn is_destroyed(lock: usize) -> bool {
    // SAFETY: as in `writer`.
    unsafe { ((lock + UNUSED) as *const u64).read_volatile() == DESTROYED }
}

fn mark_destroyed(lock: usize) {
    // SAFETY: as in `writer`; a lock that is destroyed is used by no other thread.
    unsafe { ((lock + UNUSED) as *mut u64).write_volatile(DESTROYED) }
}

pub fn left_by_readers(lock: usize) -> usize {
    lock + 1
}

/// Whether the lock, which the calling thread holds, is held for writing. The C library keeps the writer's number in a
/// field that its header shows (`__cur_writer`), and its own unlock uses that field. No reader holds the lock while the
/// field is not zero.
fn is_written(lock: usize) -> bool {
    writer(lock) != 0
}

fn writer(lock: usize) -> c_int {
    const WRITER: usize = 24;
    // SAFETY: the caller uses it, so it is a lock of the C library, which is longer than this.
    unsafe { ((lock + WRITER) as *const c_int).read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{ordered, watched};

    #[test]
    fn a_lock_orders_everybody_but_two_readers() {
        for (they_write, i_write) in [(false, false), (false, true), (true, false), (true, true)] {
            watched(|| {
                let lock = Box::leak(Box::new([0_u64; 8])).as_mut_ptr() as usize;
                let hold = |writes: bool| {
                    // SAFETY: a lock of the C library fits there.
                    unsafe {
                        let status =
                            if writes { pthread_rwlock_wrlock(lock, 0) } else { pthread_rwlock_rdlock(lock, 0) };
                        assert_eq!(status, 0);
                        assert_eq!(is_written(lock), writes);
                        assert_eq!(pthread_rwlock_unlock(lock, 0), 0);
                    }
                };
                // SAFETY: as above.
                assert_eq!(unsafe { pthread_rwlock_init(lock, 0) }, 0);
                let known = ordered(|| hold(they_write), || hold(i_write));
                assert_eq!(known, they_write || i_write, "{they_write} and {i_write}");
            });
        }
    }

    #[test]
    fn whoever_does_not_get_the_lock_knows_nothing() {
        watched(|| {
            let lock = Box::leak(Box::new([0_u64; 8])).as_mut_ptr() as usize;
            // SAFETY: a lock of the C library fits there.
            unsafe {
                assert_eq!(pthread_rwlock_init(lock, 0), 0);
                let theirs = || {
                    pthread_rwlock_wrlock(lock, 0);
                    pthread_rwlock_unlock(lock, 0);
                    pthread_rwlock_rdlock(lock, 0);
                };
                assert!(!ordered(theirs, || assert_eq!(pthread_rwlock_trywrlock(lock, 0), libc::EBUSY)));
                assert!(!ordered(|| (), || assert_eq!(pthread_rwlock_tryrdlock(lock, 0), 0)), "only what was released");
            }
        });
    }
}
