//! Semaphores: after a successful wait, a thread knows what was known at every post so far.

use crate::schedule::time;
use crate::{memory, schedule, start_order, sync};
use libc::{CLOCK_REALTIME, EAGAIN, ETIMEDOUT, c_int, c_uint, sem_t};
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;

mod next {
    use libc::c_int;
    next! {
        fn sem_trywait(semaphore: usize) -> c_int;
    }
}

/// Waits. With a schedule, it does so without the C library, except for a semaphore that other processes may post.
#[inline(always)]
fn wait(semaphore: usize, pc: usize, until: impl FnOnce() -> Option<u64>, real: impl FnOnce() -> c_int) -> c_int {
    match schedule::mine() {
        None => real(),
        Some(_) if is_shared(semaphore) => schedule::outside(pc, real),
        Some(me) => in_turn(me, semaphore, pc, until()),
    }
}

#[cold]
fn in_turn(me: usize, semaphore: usize, pc: usize, until: Option<u64>) -> c_int {
    // SAFETY: the thread's own `errno`.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let taken = schedule::until(me, pc, Act::Take, (WaitsFor::Semaphore, semaphore), until, || {
        let status = next::sem_trywait(semaphore);
        // SAFETY: as above.
        (status == 0 || unsafe { *errno } != EAGAIN).then_some(status)
    });
    // SAFETY: as above.
    unsafe { *errno = if taken.is_ok() { before } else { ETIMEDOUT } };
    taken.unwrap_or(-1)
}

/// Whether other processes may use a semaphore. The C library keeps this in a field after value and waiters (`private`:
/// 0 or the flag that the kernel wants for memory of one process, inverted).
fn is_shared(semaphore: usize) -> bool {
    const PRIVATE: usize = 8;
    // SAFETY: the caller waits for it, so it is a semaphore of the C library, which is longer than this.
    unsafe { ((semaphore + PRIVATE) as *const c_int).read_volatile() != 0 }
}

fn at(clock: c_int, until: usize) -> Option<u64> {
    // SAFETY: the program gave this address as one of a time.
    unsafe { time::when(clock, until) }
}

interpose! {
    fn sem_init(semaphore: usize, shared: c_int, value: c_uint) -> c_int {
        memory::forget(semaphore, size_of::<sem_t>());
        real(semaphore, shared, value)
    }

    fn sem_destroy(semaphore: usize) -> c_int {
        memory::forget(semaphore, size_of::<sem_t>());
        real(semaphore)
    }

    fn sem_post(semaphore: usize; pc) -> c_int {
        schedule::before(pc, Act::Give, semaphore);
        sync::release_join(semaphore);
        start_order::release(semaphore);
        let status = real(semaphore);
        schedule::wake(semaphore);
        status
    }

    fn sem_wait(semaphore: usize; pc) -> c_int {
        taken(semaphore, wait(semaphore, pc, || None, || real(semaphore)))
    }

    fn sem_trywait(semaphore: usize; pc) -> c_int {
        schedule::before(pc, Act::Take, semaphore);
        let status = real(semaphore);
        schedule::attempted(pc, Act::Take, status == 0);
        taken(semaphore, status)
    }

    fn sem_timedwait(semaphore: usize, until: usize; pc) -> c_int {
        let time = || at(CLOCK_REALTIME, until);
        taken(semaphore, wait(semaphore, pc, time, || real(semaphore, until)))
    }

    fn sem_clockwait(semaphore: usize, clock: c_int, until: usize; pc) -> c_int {
        taken(semaphore, wait(semaphore, pc, || at(clock, until), || real(semaphore, clock, until)))
    }
}

#[inline(always)]
fn taken(semaphore: usize, status: c_int) -> c_int {
    if status == 0 {
        sync::acquire(semaphore);
        start_order::acquire(semaphore);
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{beside, now, ordered, watched, with_clocks};

    fn new_semaphore(value: c_uint) -> usize {
        let at = Box::leak(Box::new([0_u64; size_of::<sem_t>() / 8])).as_mut_ptr() as usize;
        // SAFETY: a semaphore fits there.
        assert_eq!(unsafe { sem_init(at, 0, value) }, 0);
        at
    }

    #[test]
    fn whoever_takes_a_semaphore_knows_what_all_did_that_posted() {
        watched(|| {
            let semaphore = new_semaphore(0);
            // SAFETY: a semaphore.
            let post = || unsafe { assert_eq!(sem_post(semaphore, 0), 0) };
            let ((tid, epoch), _) = beside(|| {
                let moment = now();
                post();
                moment
            });
            // SAFETY: a semaphore.
            assert!(ordered(post, || assert_eq!(unsafe { sem_wait(semaphore, 0) }, 0)));
            assert!(with_clocks(|clocks| clocks.happens_after(tid, epoch)));
        });
    }

    #[test]
    fn whoever_does_not_get_it_knows_nothing() {
        watched(|| {
            let semaphore = new_semaphore(0);
            // SAFETY: a semaphore.
            let theirs = || unsafe {
                sem_post(semaphore, 0);
                sem_wait(semaphore, 0);
            };
            // SAFETY: a semaphore.
            assert!(!ordered(theirs, || assert_eq!(unsafe { sem_trywait(semaphore, 0) }, -1)));
        });
    }
}
