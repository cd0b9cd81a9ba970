//! Read-write locks.
//!
//! Readers learn what writers released at the lock's address, and leave what they know at the next address, which only
//! writers read: two readers that follow each other are not ordered.

use crate::{memory, sync};
use libc::{c_int, pthread_rwlock_t};

interpose! {
    fn pthread_rwlock_init(lock: usize, attributes: usize) -> c_int {
        memory::forget(lock, size_of::<pthread_rwlock_t>());
        real(lock, attributes)
    }

    fn pthread_rwlock_destroy(lock: usize) -> c_int {
        memory::forget(lock, size_of::<pthread_rwlock_t>());
        real(lock)
    }

    fn pthread_rwlock_rdlock(lock: usize) -> c_int {
        reads(lock, real(lock))
    }

    fn pthread_rwlock_tryrdlock(lock: usize) -> c_int {
        reads(lock, real(lock))
    }

    fn pthread_rwlock_timedrdlock(lock: usize, until: usize) -> c_int {
        reads(lock, real(lock, until))
    }

    fn pthread_rwlock_clockrdlock(lock: usize, clock: c_int, until: usize) -> c_int {
        reads(lock, real(lock, clock, until))
    }

    fn pthread_rwlock_wrlock(lock: usize) -> c_int {
        writes(lock, real(lock))
    }

    fn pthread_rwlock_trywrlock(lock: usize) -> c_int {
        writes(lock, real(lock))
    }

    fn pthread_rwlock_timedwrlock(lock: usize, until: usize) -> c_int {
        writes(lock, real(lock, until))
    }

    fn pthread_rwlock_clockwrlock(lock: usize, clock: c_int, until: usize) -> c_int {
        writes(lock, real(lock, clock, until))
    }

    fn pthread_rwlock_unlock(lock: usize) -> c_int {
        if is_written(lock) {
            sync::release(lock);
        } else {
            sync::release_join(left_by_readers(lock));
        }
        real(lock)
    }
}

#[inline(always)]
fn reads(lock: usize, status: c_int) -> c_int {
    if status == 0 {
        sync::acquire(lock);
    }
    status
}

#[inline(always)]
fn writes(lock: usize, status: c_int) -> c_int {
    if status == 0 {
        sync::acquire(lock);
        sync::acquire(left_by_readers(lock));
    }
    status
}

pub fn left_by_readers(lock: usize) -> usize {
    lock + 1
}

/// Whether the lock, which the calling thread holds, is held for writing. The C library keeps the writer's number in
/// the lock, in a field its header shows (`__cur_writer`) and by which its own unlock decides; no reader holds the lock
/// as long as it is not zero.
fn is_written(lock: usize) -> bool {
    const WRITER: usize = 24;
    // SAFETY: the caller has locked it, so it is a lock of the C library, which is longer than this.
    unsafe { ((lock + WRITER) as *const c_int).read_volatile() != 0 }
}
