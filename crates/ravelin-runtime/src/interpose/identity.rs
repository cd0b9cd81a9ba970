//! The numbers of processes, and timers: a forked process has others than the one that asked for them.

use crate::server;
use libc::{c_int, pid_t};
use ravelin_findings::serving::ForkObstacle;
use std::sync::atomic::{AtomicBool, Ordering};

/// The next call of `gettid` is that of Rust's standard library.
static FOR_RUST: AtomicBool = AtomicBool::new(false);

/// The program is written in Rust.
pub fn expect_rust() {
    FOR_RUST.store(true, Ordering::Relaxed);
}

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
        // Rust's standard library asks once, before `main`, to print the number if the stack overflows.
        if !FOR_RUST.swap(false, Ordering::Relaxed) {
            server::notice(ForkObstacle::ProcessNumber);
        }
        real()
    }

    fn timer_create(clock: c_int, event: usize, timer: usize) -> c_int {
        server::notice(ForkObstacle::Timer);
        real(clock, event, timer)
    }
}
