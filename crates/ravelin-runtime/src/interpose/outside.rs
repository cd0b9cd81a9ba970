//! Calls that wait for another process or for a signal: other threads have their turn meanwhile.

use crate::{schedule, server};
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
        schedule::outside(pc, || again(|| real(set, information)))
    }

    fn sigtimedwait(set: usize, information: usize, limit: usize; pc) -> c_int {
        schedule::outside(pc, || again(|| real(set, information, limit)))
    }

    fn sigsuspend(set: usize; pc) -> c_int {
        schedule::outside(pc, || again(|| real(set)))
    }

    fn pause(; pc) -> c_int {
        schedule::outside(pc, || again(real))
    }

    fn system(command: usize; pc) -> c_int {
        schedule::outside(pc, || real(command))
    }
}

/// Makes a call that a signal interrupts, and makes it again if the signal was the runtime's.
fn again(call: impl Fn() -> c_int) -> c_int {
    loop {
        let result = call();
        // SAFETY: the thread's own word.
        if result != -1 || unsafe { *libc::__errno_location() } != libc::EINTR || !server::is_interrupted() {
            return result;
        }
    }
}
