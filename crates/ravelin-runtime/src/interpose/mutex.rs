//! Mutexes and spin locks, of POSIX and of C11.
//!
//! A recursive mutex acquires and releases at every level: the owner learns what it knew anyway. A robust mutex whose
//! owner died is locked, though the call says so with an error.

use crate::{memory, sync, this_thread};
use libc::{EOWNERDEAD, c_int};

/// The size of `pthread_mutex_t`, which `mtx_t` is too.
const MUTEX: usize = size_of::<libc::pthread_mutex_t>();

/// A lock function has come back: the mutex is acquired if it is locked now. C11's success is zero too, and none of
/// its other results is `EOWNERDEAD`.
#[inline(always)]
pub fn acquire_if_locked(mutex: usize, status: c_int) -> c_int {
    if status == 0 || status == EOWNERDEAD {
        sync::acquire(mutex);
    }
    status
}

/// An unlock comes: what the last owner released is replaced. A mutex that knows its owner refuses others, who release
/// nothing. The C library keeps owner and kind in fields that its header shows (`__owner`, `__kind`); it does not always
/// keep the owner of a mutex of the default kind, of which only the owner may ask for this anyway.
#[inline(always)]
fn release_if_held(mutex: usize) {
    const OWNER: usize = 8;
    const KIND: usize = 16;
    const CHECKED: c_int = libc::PTHREAD_MUTEX_RECURSIVE | libc::PTHREAD_MUTEX_ERRORCHECK;
    if !this_thread::watched() {
        return;
    }
    // SAFETY: the caller unlocks it, so it is a mutex of the C library, which is longer than this; fields that another
    // thread may change are read as such.
    let (owner, kind) = unsafe {
        (((mutex + OWNER) as *const c_int).read_volatile(), ((mutex + KIND) as *const c_int).read_volatile())
    };
    // `PTHREAD_MUTEX_ADAPTIVE_NP` is both bits at once.
    let checked = kind & CHECKED != 0 && kind & CHECKED != CHECKED;
    // SAFETY: always allowed.
    if !checked || owner == unsafe { libc::gettid() } {
        sync::release(mutex);
    }
}

interpose! {
    fn pthread_mutex_init(mutex: usize, attributes: usize) -> c_int {
        memory::forget(mutex, MUTEX);
        real(mutex, attributes)
    }

    fn pthread_mutex_destroy(mutex: usize) -> c_int {
        memory::forget(mutex, MUTEX);
        real(mutex)
    }

    fn pthread_mutex_lock(mutex: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex))
    }

    fn pthread_mutex_trylock(mutex: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex))
    }

    fn pthread_mutex_timedlock(mutex: usize, until: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex, until))
    }

    fn pthread_mutex_clocklock(mutex: usize, clock: c_int, until: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex, clock, until))
    }

    fn pthread_mutex_unlock(mutex: usize) -> c_int {
        release_if_held(mutex);
        real(mutex)
    }

    fn mtx_init(mutex: usize, kind: c_int) -> c_int {
        memory::forget(mutex, MUTEX);
        real(mutex, kind)
    }

    fn mtx_destroy(mutex: usize) {
        memory::forget(mutex, MUTEX);
        real(mutex)
    }

    fn mtx_lock(mutex: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex))
    }

    fn mtx_trylock(mutex: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex))
    }

    fn mtx_timedlock(mutex: usize, until: usize) -> c_int {
        acquire_if_locked(mutex, real(mutex, until))
    }

    fn mtx_unlock(mutex: usize) -> c_int {
        release_if_held(mutex);
        real(mutex)
    }

    fn pthread_spin_init(lock: usize, shared: c_int) -> c_int {
        memory::forget(lock, size_of::<libc::pthread_spinlock_t>());
        real(lock, shared)
    }

    fn pthread_spin_destroy(lock: usize) -> c_int {
        memory::forget(lock, size_of::<libc::pthread_spinlock_t>());
        real(lock)
    }

    fn pthread_spin_lock(lock: usize) -> c_int {
        acquire_if_locked(lock, real(lock))
    }

    fn pthread_spin_trylock(lock: usize) -> c_int {
        acquire_if_locked(lock, real(lock))
    }

    fn pthread_spin_unlock(lock: usize) -> c_int {
        sync::release(lock);
        real(lock)
    }
}
