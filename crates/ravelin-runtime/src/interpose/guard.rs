//! The guards of C++'s static variables.
//!
//! A guard is a word: its first byte says that the variable is initialised, the second that a thread is at it, the
//! third that others wait for that. Compiled code loads the first byte itself, with acquire order, and calls these
//! functions only when it is zero; that load is instrumented, so the store of the byte is told as an atomic one. The
//! functions are whole here rather than wrapped, because in a program that links the C++ library statically there is
//! nothing behind ours. The bits are those of the C++ library, so a guard may be shared with code that uses its.

use crate::{schedule, sync};
use libc::c_int;
use ravelin_findings::WaitsFor;
use std::sync::atomic::{AtomicU32, Ordering};

const DONE: u32 = 1;
const PENDING: u32 = 1 << 8;
const WAITED_FOR: u32 = 1 << 16;

interpose! {
    /// 1 if the caller is to initialise the variable, 0 if that is done.
    fn __cxa_guard_acquire(guard: usize; pc) -> c_int {
        schedule::point(pc);
        loop {
            match word(guard).compare_exchange(0, PENDING, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return 1,
                Err(now) if now & DONE != 0 => {
                    sync::acquire(knowledge(guard));
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
        // Before the store: a thread must not read a byte that the runtime does not know of.
        sync::stored_byte(guard);
        finish(guard, DONE);
    }

    /// The initialiser threw: somebody else may try.
    fn __cxa_guard_abort(guard: usize) {
        finish(guard, 0);
    }
}

/// Where what the initialiser did is released: not at the first byte, which is an atomic object of its own.
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
        // SAFETY: the kernel reads the word, which is there.
        unsafe { libc::syscall(libc::SYS_futex, guard, libc::FUTEX_WAIT, waited_for, 0_usize) };
    }
}

fn finish(guard: usize, state: u32) {
    let before = word(guard).swap(state, Ordering::Release);
    schedule::wake(guard);
    if before & WAITED_FOR != 0 {
        // SAFETY: the kernel looks only at the address.
        unsafe { libc::syscall(libc::SYS_futex, guard, libc::FUTEX_WAKE, c_int::MAX) };
    }
}
