//! Clocks: with a schedule they show its time, which is the same in every run.

use super::touching::writes;
use crate::schedule::{self, time};
use libc::{c_int, c_long, timespec, timeval};

interpose! {
    fn clock_gettime(clock: c_int, to: *mut timespec; pc) -> c_int {
        writes(to as usize, size_of::<timespec>(), pc);
        if !schedule::is_wanted() || to.is_null() {
            return real(clock, to);
        }
        // SAFETY: the program gave this address for a time.
        unsafe { to.write(time::read(clock)) };
        0
    }

    fn gettimeofday(to: *mut timeval, zone: usize; pc) -> c_int {
        writes(to as usize, size_of::<timeval>(), pc);
        if !schedule::is_wanted() || to.is_null() {
            return real(to, zone);
        }
        let now = time::read(libc::CLOCK_REALTIME);
        // SAFETY: the program gave this address for a time.
        unsafe { to.write(timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1_000 }) };
        0
    }

    fn time(to: *mut c_long; pc) -> c_long {
        writes(to as usize, size_of::<c_long>(), pc);
        if !schedule::is_wanted() {
            return real(to);
        }
        let now = time::read(libc::CLOCK_REALTIME).tv_sec;
        if !to.is_null() {
            // SAFETY: the program gave this address for a time.
            unsafe { to.write(now) };
        }
        now
    }

    fn timespec_get(to: *mut timespec, base: c_int; pc) -> c_int {
        writes(to as usize, size_of::<timespec>(), pc);
        const TIME_UTC: c_int = 1;
        if !schedule::is_wanted() || base != TIME_UTC || to.is_null() {
            return real(to, base);
        }
        // SAFETY: the program gave this address for a time.
        unsafe { to.write(time::read(libc::CLOCK_REALTIME)) };
        base
    }

    fn clock() -> c_long {
        if !schedule::is_wanted() {
            return real();
        }
        let now = time::read(libc::CLOCK_PROCESS_CPUTIME_ID);
        now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
    }
}
