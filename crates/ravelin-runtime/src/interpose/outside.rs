//! Calls that wait for another process or for a signal: other threads have their turn meanwhile.

use crate::schedule;
use libc::{c_int, pid_t};

interpose! {
    fn wait(status: usize; pc) -> pid_t {
        schedule::outside(pc, || real(status))
    }

    fn waitpid(process: pid_t, status: usize, options: c_int; pc) -> pid_t {
        schedule::outside(pc, || real(process, status, options))
    }

    fn wait4(process: pid_t, status: usize, options: c_int, usage: usize; pc) -> pid_t {
        schedule::outside(pc, || real(process, status, options, usage))
    }

    fn waitid(kind: c_int, process: c_int, information: usize, options: c_int; pc) -> c_int {
        schedule::outside(pc, || real(kind, process, information, options))
    }

    fn sigwait(set: usize, signal: usize; pc) -> c_int {
        schedule::outside(pc, || real(set, signal))
    }

    fn sigwaitinfo(set: usize, information: usize; pc) -> c_int {
        schedule::outside(pc, || real(set, information))
    }

    fn sigtimedwait(set: usize, information: usize, limit: usize; pc) -> c_int {
        schedule::outside(pc, || real(set, information, limit))
    }

    fn sigsuspend(set: usize; pc) -> c_int {
        schedule::outside(pc, || real(set))
    }

    fn pause(; pc) -> c_int {
        schedule::outside(pc, real)
    }

    fn system(command: usize; pc) -> c_int {
        schedule::outside(pc, || real(command))
    }
}
