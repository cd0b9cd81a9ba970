//! Which thread runs next: seeded schedules as a plain state machine.
//!
//! Exactly one thread of a program has the *turn*. At every scheduling point, and whenever it has to wait, it asks
//! [`Turns`] which thread continues. The answer depends only on the seed and on the previous calls. The same seed
//! therefore gives the same schedule as long as the program does the same. A schedule may also be given step by step
//! ([`Steering`]). This crate knows no thread, lock or clock of
//! an operating system: the runtime reports what happens, and carries out the decisions. A test may do so as well.

mod random;
mod schedule;
mod steered;
mod turns;

pub use random::Random;
pub use schedule::{NoSchedule, Schedule, Strategy};
pub use steered::{ScriptChoice, Steering};
pub use turns::{PointEffect, Stalemate, ThreadStatus, TurnDecision, Turns, WaitReason};
