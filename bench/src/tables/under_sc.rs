//! A program under sequential consistency by SPIN, in a cell: a check of our examples by somebody else's search.

use super::row::{MeasurementEffort, SKIPPED, guarded};
use crate::spin;
use crate::table::{count, seconds};
use ravelin_program::Program;
use std::time::Duration;

/// What SPIN answers, in bold if something else was expected; and the median of the time of its verifier.
pub fn under_sc(
    effort: &MeasurementEffort,
    file: &str,
    program: Program,
    violated: bool,
) -> (String, Option<Duration>) {
    if effort.quick {
        return (SKIPPED.to_owned(), None);
    }
    if !spin::is_installed() {
        return ("not installed".to_owned(), None);
    }
    let (limit, repetitions) = (effort.limit, effort.repetitions);
    match guarded(effort, &format!("SPIN on {file}"), move || spin::verify(&program, limit, repetitions)) {
        Err(problem) => (problem, None),
        Ok(verified) => {
            let word = if verified.violated { "v" } else { "h" };
            let word = if verified.violated == violated { word.to_owned() } else { format!("**{word}**") };
            let cell = format!("{word} {} ({})", seconds(verified.verifying), count(verified.states));
            (cell, Some(verified.verifying))
        }
    }
}
