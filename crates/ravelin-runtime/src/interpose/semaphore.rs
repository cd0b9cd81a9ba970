//! Semaphores: a wait that succeeds knows what was known at every post so far.

use crate::{memory, sync};
use libc::{c_int, c_uint, sem_t};

interpose! {
    fn sem_init(semaphore: usize, shared: c_int, value: c_uint) -> c_int {
        memory::forget(semaphore, size_of::<sem_t>());
        real(semaphore, shared, value)
    }

    fn sem_destroy(semaphore: usize) -> c_int {
        memory::forget(semaphore, size_of::<sem_t>());
        real(semaphore)
    }

    fn sem_post(semaphore: usize) -> c_int {
        sync::release_join(semaphore);
        real(semaphore)
    }

    fn sem_wait(semaphore: usize) -> c_int {
        taken(semaphore, real(semaphore))
    }

    fn sem_trywait(semaphore: usize) -> c_int {
        taken(semaphore, real(semaphore))
    }

    fn sem_timedwait(semaphore: usize, until: usize) -> c_int {
        taken(semaphore, real(semaphore, until))
    }

    fn sem_clockwait(semaphore: usize, clock: c_int, until: usize) -> c_int {
        taken(semaphore, real(semaphore, clock, until))
    }
}

#[inline(always)]
fn taken(semaphore: usize, status: c_int) -> c_int {
    if status == 0 {
        sync::acquire(semaphore);
    }
    status
}
