//! The time of the schedule: nanoseconds after a date that is the same in every run.
//!
//! All clocks of the C library run alike, including those for processor time. What a program reads from them therefore
//! does not differ between two runs of a schedule.

use super::turn;
use libc::{clockid_t, timespec};

const SECOND: u64 = 1_000_000_000;
/// 2026-01-01, and one hour for clocks that count from some start.
const DAY: u64 = 1_767_225_600 * SECOND;
const START: u64 = 3_600 * SECOND;

/// What a clock showed when the schedule began.
fn origin(clock: clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => DAY,
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            START
        }
        _ => 0,
    }
}

/// What a clock shows. Reading it takes time, so that a loop which waits for a time ends.
pub fn read(clock: clockid_t) -> timespec {
    const LOOK: u64 = SECOND / 10_000_000;
    let now = match super::mine().filter(|_| super::steer::is_on()) {
        Some(me) => turn::own_time(me, LOOK),
        None => turn::with(|turns| {
            turns.pass(LOOK);
            turns.now()
        })
        .unwrap_or(0),
    };
    let now = origin(clock) + now;
    timespec { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 }
}

/// The time of the schedule when a clock shows this; `None` for an invalid time.
///
/// # Safety
/// `at` is the address of a time, or 0.
pub unsafe fn when(clock: clockid_t, at: usize) -> Option<u64> {
    // SAFETY: guaranteed by the caller.
    let time = unsafe { (at as *const timespec).as_ref() }?;
    Some(nanoseconds(time)?.saturating_sub(origin(clock)))
}

/// The time of the schedule that much later; `None` for an invalid time.
///
/// # Safety
/// `at` is the address of a time, or 0.
pub unsafe fn after(at: usize) -> Option<u64> {
    // SAFETY: guaranteed by the caller.
    let time = unsafe { (at as *const timespec).as_ref() }?;
    later(nanoseconds(time)?)
}

/// The time of the schedule this many nanoseconds later.
pub fn later(nanoseconds: u64) -> Option<u64> {
    turn::with(|turns| turns.now().saturating_add(nanoseconds))
}

fn nanoseconds(time: &timespec) -> Option<u64> {
    let nanoseconds = u64::try_from(time.tv_nsec).ok().filter(|part| *part < SECOND)?;
    Some(u64::try_from(time.tv_sec).unwrap_or(0).saturating_mul(SECOND).saturating_add(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::turn::TURNS;
    use ravelin_schedule::{Schedule, Strategy, Turns};

    fn at(seconds: i64, nanoseconds: i64) -> timespec {
        timespec { tv_sec: seconds, tv_nsec: nanoseconds }
    }

    fn schedule_time(clock: clockid_t, time: timespec) -> Option<u64> {
        // SAFETY: the time exists.
        unsafe { when(clock, (&raw const time) as usize) }
    }

    fn of(time: timespec) -> u64 {
        nanoseconds(&time).expect("a time")
    }

    #[test]
    fn a_time_before_the_beginning_is_the_beginning_and_one_that_cannot_be_is_none() {
        assert_eq!(nanoseconds(&at(2, 5)), Some(2 * SECOND + 5));
        assert_eq!(nanoseconds(&at(-3, 5)), Some(5));
        assert_eq!(nanoseconds(&at(i64::MAX, 5)), Some(u64::MAX));
        for wrong in [-1, SECOND as i64, i64::MAX, i64::MIN] {
            assert_eq!(nanoseconds(&at(1, wrong)), None, "{wrong}");
        }
    }

    #[test]
    fn what_a_clock_shows_is_a_time_of_the_schedule() {
        for (clock, start) in
            [(libc::CLOCK_REALTIME, DAY), (libc::CLOCK_MONOTONIC, START), (libc::CLOCK_BOOTTIME, START)]
        {
            let start = (start / SECOND) as i64;
            assert_eq!(schedule_time(clock, at(start, 9)), Some(9));
            assert_eq!(schedule_time(clock, at(start + 2, 0)), Some(2 * SECOND));
            assert_eq!(schedule_time(clock, at(start - 1, 0)), Some(0), "long over");
            assert_eq!(schedule_time(clock, at(start, -1)), None);
        }
        assert_eq!(schedule_time(libc::CLOCK_PROCESS_CPUTIME_ID, at(1, 0)), Some(SECOND));
        // SAFETY: there is no time.
        assert_eq!(unsafe { (when(libc::CLOCK_REALTIME, 0), after(0)) }, (None, None));
    }

    #[test]
    fn the_day_is_the_first_of_2026() {
        // SAFETY: the C library fills a date.
        let date = unsafe {
            let mut date = std::mem::zeroed::<libc::tm>();
            libc::gmtime_r(&((DAY / SECOND) as i64), &raw mut date);
            date
        };
        assert_eq!((date.tm_year + 1900, date.tm_mon, date.tm_mday, date.tm_hour, date.tm_min), (2026, 0, 1, 0, 0));
    }

    /// The only test that has a schedule; no thread takes turns in it.
    #[test]
    fn clocks_show_the_time_of_the_schedule_and_looking_takes_time() {
        *TURNS.lock() = Some(Turns::new(Schedule { strategy: Strategy::Random, seed: 1 }, 0));
        let before = of(read(libc::CLOCK_MONOTONIC));
        assert!(before >= START);
        let look = of(read(libc::CLOCK_MONOTONIC)) - before;
        assert!(look > 0 && look < SECOND / 1_000);
        assert_eq!(of(read(libc::CLOCK_REALTIME)) - before, DAY - START + 2 * look, "all clocks run alike");
        let now = later(0).expect("a schedule");
        assert_eq!(later(5 * SECOND), Some(now + 5 * SECOND));
        assert_eq!(later(u64::MAX), Some(u64::MAX));
        let five = at(5, 0);
        // SAFETY: the time exists.
        assert_eq!(unsafe { after((&raw const five) as usize) }, Some(now + 5 * SECOND));
        assert_eq!(schedule_time(libc::CLOCK_MONOTONIC, read(libc::CLOCK_MONOTONIC)), Some(now + look));
    }
}
