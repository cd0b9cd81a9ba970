//! The kernel's futex, which languages and libraries use through `syscall`. With a schedule no thread waits in the
//! kernel.
//!
//! The C library's own locks use it without this function. Calls other than a plain wait or wake go to the kernel.
//!
//! A thread that was woken comes after the thread that woke it. Rings of the kernel are filled and emptied by one call, which is
//! taken to do both.

use super::descriptors::{received, releases, wakes, woken};
use crate::closes;
use crate::library::channel;
use crate::schedule::{self, time};
use libc::{c_int, c_long, c_uint};
use ravelin_findings::WaitsFor;
use ravelin_findings::events::Act;

/// What is left of an operation without its flags.
const FUTEX_COMMAND: c_int = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);

interpose! {
    /// There may be fewer arguments than these. The values in their places are then passed to the kernel unread.
    fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
        match number {
            libc::SYS_futex => {
                let (command, value) = (b as c_int & FUTEX_COMMAND, c as u32);
                if matches!(command, libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET) {
                    wakes(a);
                }
                let result = match schedule::mine() {
                    Some(me) => in_turn(me, a, b as c_int, value, d, || real(number, a, b, c, d, e, f)),
                    None => real(number, a, b, c, d, e, f),
                };
                if result == 0 && matches!(command, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) {
                    woken(a);
                }
                result
            }
            libc::SYS_io_uring_enter => {
                releases(a as c_int, 0);
                let result = real(number, a, b, c, d, e, f);
                received(a as c_int, result as isize, 0);
                result
            }
            libc::SYS_close => {
                closes::forget(a as c_int);
                real(number, a, b, c, d, e, f)
            }
            libc::SYS_close_range => {
                closes::closes_range(a as c_uint, b as c_uint, 0, |_| ());
                real(number, a, b, c, d, e, f)
            }
            _ => real(number, a, b, c, d, e, f),
        }
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
    match operation & FUTEX_COMMAND {
        command @ (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) => {
            let channel = if schedule::steer::is_on() { channel::waits_for(me) } else { None };
            if channel.is_none() {
                schedule::before(pc, Act::Touch, word);
            }
            // SAFETY: the program waits for this word, so it exists.
            if unsafe { (word as *const u32).read_volatile() } != value {
                return fails(libc::EAGAIN);
            }
            let realtime = operation & libc::FUTEX_CLOCK_REALTIME != 0;
            let clock = if realtime { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
            // SAFETY: the program gave this address as one of a time, or 0.
            let until =
                unsafe { if command == libc::FUTEX_WAIT { time::after(limit) } else { time::when(clock, limit) } };
            let over = schedule::wait_in(me, pc, (WaitsFor::Futex, word), until, channel.unwrap_or(word));
            if over { fails(libc::ETIMEDOUT) } else { 0 }
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            if !schedule::steer::is_on() || !channel::wakes(me, word) {
                schedule::before(pc, Act::Give, word);
            }
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
