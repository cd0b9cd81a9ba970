//! What time it is: so many nanoseconds after a day that is the same in every run.
//!
//! All clocks of the C library run alike, those for processor time included, so that nothing a program reads from them
//! differs between two runs of a schedule.

use super::turn;
use libc::{clockid_t, timespec};

const SECOND: u64 = 1_000_000_000;
/// 2026-01-01, and for clocks that count from some start an hour.
const DAY: u64 = 1_767_225_600 * SECOND;
const START: u64 = 3_600 * SECOND;

/// Where a clock stood when the schedule began.
fn origin(clock: clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => DAY,
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            START
        }
        _ => 0,
    }
}

/// What a clock shows. Looking at it takes time, so that a loop which waits for a time ends.
pub fn read(clock: clockid_t) -> timespec {
    let now = turn::with(|turns| {
        turns.pass(SECOND / 10_000_000);
        turns.now()
    });
    let now = origin(clock) + now.unwrap_or(0);
    timespec { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 }
}

/// The time of the schedule when a clock shows this; `None` for a time that cannot be.
///
/// # Safety
/// `at` is the address of a time, or 0.
pub unsafe fn when(clock: clockid_t, at: usize) -> Option<u64> {
    // SAFETY: by the caller.
    let time = unsafe { (at as *const timespec).as_ref() }?;
    Some(nanoseconds(time)?.saturating_sub(origin(clock)))
}

/// The time of the schedule that much later; `None` for a time that cannot be.
///
/// # Safety
/// `at` is the address of a time, or 0.
pub unsafe fn after(at: usize) -> Option<u64> {
    // SAFETY: by the caller.
    let time = unsafe { (at as *const timespec).as_ref() }?;
    later(nanoseconds(time)?)
}

/// The time of the schedule so many nanoseconds later.
pub fn later(nanoseconds: u64) -> Option<u64> {
    turn::with(|turns| turns.now().saturating_add(nanoseconds))
}

fn nanoseconds(time: &timespec) -> Option<u64> {
    let nanoseconds = u64::try_from(time.tv_nsec).ok().filter(|part| *part < SECOND)?;
    Some(u64::try_from(time.tv_sec).unwrap_or(0).saturating_mul(SECOND).saturating_add(nanoseconds))
}
