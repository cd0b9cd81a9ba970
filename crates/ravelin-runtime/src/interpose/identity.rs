//! The numbers of processes, and timers: a forked process has others than the one that asked for them.

use crate::server;
use libc::{c_int, pid_t};
use ravelin_findings::serving::ForkObstacle;

interpose! {
    fn getpid() -> pid_t {
        server::notice(ForkObstacle::ProcessNumber);
        real()
    }

    fn getppid() -> pid_t {
        server::notice(ForkObstacle::ProcessNumber);
        real()
    }

    fn gettid() -> pid_t {
        server::notice(ForkObstacle::ProcessNumber);
        real()
    }

    fn timer_create(clock: c_int, event: usize, timer: usize) -> c_int {
        server::notice(ForkObstacle::Timer);
        real(clock, event, timer)
    }
}
