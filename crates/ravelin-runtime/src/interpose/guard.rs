//! The guards of C++'s static variables.
//!
//! A guard is a word. Its first byte says that the variable is initialised, the second that a thread is initialising
//! it, the third that other threads wait for that. Compiled code loads the first byte itself, with acquire order, and
//! calls these functions only when it is zero. That load is instrumented, so the store of the byte is recorded as an
//! atomic one.
//!
//! The functions are implemented here rather than wrapped: a program that links the C++ library statically has no next
//! definition. The bits are those of the C++ library, so a guard may be shared with code that uses that library's
//! functions.

use crate::{schedule, sync};
use libc::c_int;
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;
use std::sync::atomic::{AtomicU32, Ordering};

const DONE: u32 = 1;
const PENDING: u32 = 1 << 8;
const WAITED_FOR: u32 = 1 << 16;

interpose! {
    /// 1 if the caller must initialise the variable, 0 if that is done.
    fn __cxa_guard_acquire(guard: usize; pc) -> c_int {
        schedule::before(pc, Act::Touch, guard);
        loop {
            match word(guard).compare_exchange(0, PENDING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return 1,
                Err(now) if now & DONE != 0 => {
                    // The C++ library only loads the first byte.
                    schedule::only_looked();
                    sync::acquire_by_load(knowledge(guard));
                    return 0;
                }
                Err(now) => match schedule::mine() {
                    None => wait(guard, now),
                    Some(me) => drop(schedule::wait(me, pc, (WaitsFor::Initialisation, guard), None)),
                },
            }
        }
    }

    fn __cxa_guard_release(guard: usize) {
        sync::release(knowledge(guard));
        // Before the store: a thread must not read a byte that the runtime does not know about.
        sync::stored_byte(guard);
        finish(guard, DONE);
    }

    /// The initialiser threw: another thread may try.
    fn __cxa_guard_abort(guard: usize) {
        finish(guard, 0);
    }
}

/// The address at which the initialiser's work is released. It is not the first byte, which is an atomic object itself.
fn knowledge(guard: usize) -> usize {
    guard + 1
}

fn word<'a>(guard: usize) -> &'a AtomicU32 {
    // SAFETY: a guard is eight bytes, aligned as such, that live as long as the variable; all use it as an atomic.
    unsafe { AtomicU32::from_ptr(guard as *mut u32) }
}

fn wait(guard: usize, now: u32) {
    let waited_for = now | WAITED_FOR;
    if now == waited_for || word(guard).compare_exchange(now, waited_for, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    {
        // SAFETY: the kernel reads the word, which exists.
        unsafe { libc::syscall(libc::SYS_futex, guard, libc::FUTEX_WAIT, waited_for, 0_usize) };
    }
}

fn finish(guard: usize, state: u32) {
    if schedule::steer::is_on() {
        schedule::before(0, Act::Give, guard);
    }
    let before = word(guard).swap(state, Ordering::Release);
    schedule::wake(guard);
    if before & WAITED_FOR != 0 {
        // SAFETY: the kernel looks only at the address.
        unsafe { libc::syscall(libc::SYS_futex, guard, libc::FUTEX_WAKE, c_int::MAX) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{beside, now, watched, with_clocks};
    use std::sync::atomic::AtomicU64;

    /// The guard of a variable.
    struct Guard(AtomicU64);

    impl Guard {
        fn new() -> Guard {
            Guard(AtomicU64::new(0))
        }

        fn address(&self) -> usize {
            self.0.as_ptr() as usize
        }

        /// Whether the caller must initialise the variable.
        fn acquire(&self) -> bool {
            // SAFETY: the guard exists.
            unsafe { __cxa_guard_acquire(self.address(), 0) == 1 }
        }

        fn release(&self) {
            // SAFETY: the guard exists.
            unsafe { __cxa_guard_release(self.address()) };
        }

        fn abort(&self) {
            // SAFETY: the guard exists.
            unsafe { __cxa_guard_abort(self.address()) };
        }
    }

    #[test]
    fn a_variable_is_initialised_once() {
        let guard = Guard::new();
        assert!(guard.acquire());
        assert_eq!(guard.0.load(Ordering::Relaxed) & 0xff, 0, "compiled code looks at the first byte");
        guard.release();
        assert_eq!(guard.0.load(Ordering::Relaxed), 1);
        assert!(!guard.acquire());
    }

    #[test]
    fn after_an_initialiser_that_threw_another_may_try() {
        let guard = Guard::new();
        assert!(guard.acquire());
        guard.abort();
        assert!(guard.acquire());
        guard.release();
        assert!(!guard.acquire());
    }

    #[test]
    fn of_many_threads_one_initialises_and_the_others_wait_for_it() {
        for _ in 0..50 {
            let (guard, value, start) = (&Guard::new(), &AtomicU32::new(0), &std::sync::Barrier::new(4));
            let initialised: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(move || {
                            start.wait();
                            let mine = guard.acquire();
                            if mine {
                                std::thread::yield_now();
                                value.store(7, Ordering::Relaxed);
                                guard.release();
                            }
                            assert_eq!(value.load(Ordering::Relaxed), 7);
                            usize::from(mine)
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().expect("the thread")).sum()
            });
            assert_eq!(initialised, 1);
        }
    }

    #[test]
    fn whoever_waits_for_an_initialiser_that_throws_tries_itself() {
        let guard = &Guard::new();
        assert!(guard.acquire());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| guard.acquire());
            // Until the other thread says that it waits.
            while guard.0.load(Ordering::Relaxed) as u32 & WAITED_FOR == 0 {
                std::thread::yield_now();
            }
            guard.abort();
            assert!(other.join().expect("the thread"));
        });
    }

    #[test]
    fn whoever_finds_a_variable_initialised_knows_what_the_initialiser_did() {
        let guard = &Guard::new();
        watched(|| {
            let ((tid, epoch), _) = beside(|| {
                assert!(guard.acquire());
                let moment = now();
                guard.release();
                moment
            });
            assert!(!with_clocks(|clocks| clocks.happens_after(tid, epoch)));
            assert!(!guard.acquire());
            assert!(with_clocks(|clocks| clocks.happens_after(tid, epoch)));
        });
    }

    #[test]
    fn the_first_byte_of_a_guard_is_an_atomic_object_from_then_on() {
        let guard = &Guard::new();
        watched(|| {
            assert!(guard.acquire());
            guard.release();
            let is_atomic = |address| crate::records::with(address, |record| record.is_atomic());
            assert_eq!([0, 1].map(|byte| is_atomic(guard.address() + byte)), [Some(true), Some(false)]);
        });
    }
}
