//! What the tests of all crates share: how many random inputs they make, and what happens where a test cannot run.
//!
//! A development dependency of the other crates; it depends on nothing and knows nothing of Ravelin.

mod seeds;
mod skip;

pub use seeds::{is_default_run, seeds};
pub use skip::{has, skip};
