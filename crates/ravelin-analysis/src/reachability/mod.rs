//! Can a goal be reached?

mod bounded;

pub use bounded::{Limits, Question, Reachability, reach};
