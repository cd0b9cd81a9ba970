//! The kernel's futex, which languages and libraries use through `syscall`. With a schedule no thread waits in the
//! kernel.
//!
//! The C library's own locks use it without this function. Calls other than a plain wait or wake go to the kernel.

use crate::schedule::{self, time};
use libc::{c_int, c_long};
use ravelin_findings::WaitsFor;

interpose! {
    /// There may be fewer arguments than these. The values in their places are then passed to the kernel unread.
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
        if number == libc::SYS_futex && let Some(me) = schedule::mine() {
            return in_turn(me, a, b as c_int, c as u32, d, || real(number, a, b, c, d, e, f));
        }
        real(number, a, b, c, d, e, f)
    }
}

#[cold]
fn in_turn(
    me: usize,
    word: usize,
    operation: c_int,
    value: u32,
    limit: usize,
    real: impl FnOnce() -> c_long,
) -> c_long {
    let pc = 0;
    match operation & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
        command @ (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) => {
            schedule::point(pc);
            // SAFETY: the program waits for this word, so it exists.
            if unsafe { (word as *const u32).read_volatile() } != value {
                return fails(libc::EAGAIN);
            }
            let realtime = operation & libc::FUTEX_CLOCK_REALTIME != 0;
            let clock = if realtime { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
            // SAFETY: the program gave this address as one of a time, or 0.
            let until =
                unsafe { if command == libc::FUTEX_WAIT { time::after(limit) } else { time::when(clock, limit) } };
            let over = schedule::wait(me, pc, (WaitsFor::Futex, word), until);
            if over { fails(libc::ETIMEDOUT) } else { 0 }
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            schedule::point(pc);
            let most = value as usize;
            let woken = schedule::wake_some(word, most);
            // A thread outside the schedule may wait as well.
            if woken < most { woken as c_long + real().max(0) } else { woken as c_long }
        }
        _ => real(),
    }
}

fn fails(error: c_int) -> c_long {
    // SAFETY: the thread's own `errno`.
    unsafe { *libc::__errno_location() = error };
    -1
}
