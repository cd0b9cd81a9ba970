//! What the random tests for any number of threads share: which programs, and how large instances.

use ravelin_testing::programs::{Config, InstructionKind};

/// Instances with up to so many copies are compared with the answer for any number.
pub const MOST_COPIES: usize = 5;

/// Small programs with finite domains, without instructions of these kinds; or with these kinds only.
pub fn config(without: &[InstructionKind], only: Option<&[InstructionKind]>) -> Config {
    let mut config = Config {
        threads: 1..=2,
        instructions: 2..=4,
        total_instructions: 7,
        variables: 2..=2,
        arrays: false,
        computed_addresses: false,
        non_atomic: false,
        wrapping: false,
        goals: 0..=0,
        ..Config::all()
    };
    config.kinds.retain(|(kind, _)| !without.contains(kind) && only.is_none_or(|only| only.contains(kind)));
    config
}
