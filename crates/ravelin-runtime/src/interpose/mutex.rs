//! Mutexes and spin locks, of POSIX and of C11.
//!
//! A recursive mutex acquires and releases at every level: the owner learns what it knew anyway. A robust mutex whose
//! owner died is locked, though the call says so with an error.

use crate::{memory, sync};
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
        sync::release(mutex);
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
        sync::release(mutex);
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
