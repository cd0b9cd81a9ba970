//! How many random inputs a test makes, and from which seed on.
//!
//! `RAVELIN_PROGRAMS` is the number of inputs of each test, whatever the test would make by itself; `RAVELIN_SEED` is the
//! first seed. `cargo xtask soak` sets both, and so does a person who wants to see one failure again.

use std::ops::Range;

/// The seeds of a test that makes `default` inputs if the environment says nothing.
///
/// # Panics
///
/// If a variable is set to something that is not a number, or to no inputs at all: a test that does nothing must not
/// pass.
pub fn seeds(default: u64) -> Range<u64> {
    let first = number("RAVELIN_SEED").unwrap_or(0);
    let count = number("RAVELIN_PROGRAMS").unwrap_or(default);
    assert!(count > 0, "RAVELIN_PROGRAMS is 0: nothing would be tested");
    first..first.checked_add(count).expect("RAVELIN_SEED leaves no room for RAVELIN_PROGRAMS seeds")
}

/// Whether tests make the inputs they make by themselves, so that a test may insist on what is among them.
pub fn is_default_run() -> bool {
    number("RAVELIN_SEED").is_none() && number("RAVELIN_PROGRAMS").is_none()
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var_os(variable)?;
    let number = text.to_str().and_then(|text| text.parse().ok());
    Some(number.unwrap_or_else(|| panic!("{variable} is {text:?}, not a number")))
}
