//! What the tests of all crates share: how many random inputs they make, and what happens where a test cannot run.
//!
//! A development dependency of the other crates. With the feature `programs` it has random programs too; without, it
//! knows nothing of Ravelin.

#[cfg(feature = "programs")]
pub mod programs;
mod seeds;
mod skip;

pub use ravelin_numbers::Random;
pub use seeds::{is_default_run, seeds};
pub use skip::{has, skip};
