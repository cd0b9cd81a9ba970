//! Sleeping and yielding: with a schedule, sleeping takes no time.

use crate::schedule::{self, time};
use libc::{c_int, c_uint};

const SECOND: u64 = 1_000_000_000;

interpose! {
    fn sched_yield(; pc) -> c_int {
        match schedule::mine() {
            None => real(),
            Some(_) => {
                schedule::yields(pc);
                0
            }
        }
    }

    fn thrd_yield(; pc) {
        match schedule::mine() {
            None => real(),
            Some(_) => schedule::yields(pc),
        }
    }

    fn sleep(seconds: c_uint; pc) -> c_uint {
        match later(u64::from(seconds) * SECOND) {
            None => real(seconds),
            Some((me, until)) => {
                schedule::sleep(me, pc, until);
                0
            }
        }
    }

    fn usleep(microseconds: c_uint; pc) -> c_int {
        match later(u64::from(microseconds) * 1_000) {
            None => real(microseconds),
            Some((me, until)) => {
                schedule::sleep(me, pc, until);
                0
            }
        }
    }

    fn nanosleep(wanted: usize, left: usize; pc) -> c_int {
        match after(wanted) {
            None => real(wanted, left),
            Some((me, until)) => {
                schedule::sleep(me, pc, until);
                0
            }
        }
    }

    fn clock_nanosleep(clock: c_int, flags: c_int, wanted: usize, left: usize; pc) -> c_int {
        let until = if flags & libc::TIMER_ABSTIME != 0 { at(clock, wanted) } else { after(wanted) };
        match until {
            None => real(clock, flags, wanted, left),
            Some((me, until)) => {
                schedule::sleep(me, pc, until);
                0
            }
        }
    }

    fn thrd_sleep(wanted: usize, left: usize; pc) -> c_int {
        match after(wanted) {
            None => real(wanted, left),
            Some((me, until)) => {
                schedule::sleep(me, pc, until);
                0
            }
        }
    }
}

fn later(nanoseconds: u64) -> Option<(usize, u64)> {
    let me = schedule::mine()?;
    Some((me, time::later(nanoseconds)?))
}

/// `None` also for an invalid time, which is left to the C library.
fn after(wanted: usize) -> Option<(usize, u64)> {
    let me = schedule::mine()?;
    // SAFETY: the program gave this address as one of a time.
    Some((me, unsafe { time::after(wanted) }?))
}

fn at(clock: c_int, wanted: usize) -> Option<(usize, u64)> {
    let me = schedule::mine()?;
    // SAFETY: the program gave this address as one of a time.
    Some((me, unsafe { time::when(clock, wanted) }?))
}
