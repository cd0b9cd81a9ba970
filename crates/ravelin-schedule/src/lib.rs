//! Which thread runs next: seeded schedules as a plain state machine.
//!
//! Exactly one thread of a program has the *turn*. At every scheduling point, and whenever it has to wait, it asks
//! [`Turns`] who goes on. The answer depends on the seed and on what was asked before, and on nothing else, so the same
//! seed gives the same schedule as long as the program does the same. This crate knows no thread, lock or clock of an
//! operating system: the runtime tells it what happens, and does what it says; a test may do so as well.

mod random;
mod schedule;
mod turns;

pub use random::Random;
pub use schedule::{NoSchedule, Schedule, Strategy};
pub use turns::{Did, Next, State, Stuck, Turns, Wait};
