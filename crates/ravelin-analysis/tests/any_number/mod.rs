//! What the random tests for any number of threads share: which programs, and how many.

use ravelin_semantics::generate::{Config, Kind};

/// Instances with up to so many copies are compared with the answer for any number.
pub const MOST_COPIES: usize = 5;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Seeds for one of `parts` equal parts of the programs.
pub fn seeds(default: u64, parts: u64) -> std::ops::Range<u64> {
    let first = number("RAVELIN_SEED", 0);
    first..first + (number("RAVELIN_PROGRAMS", default) / parts).max(1)
}

/// Small programs with finite domains, without instructions of these kinds; or with these kinds only.
pub fn config(without: &[Kind], only: Option<&[Kind]>) -> Config {
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
