//! Whether a program is robust against release/acquire or RC20.

use crate::measure::{process_time, repeated, timed};
use anyhow::Result;
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Answer, C11Question, c11_robustness};
use ravelin_explore::Limits;
use ravelin_program::{Model, Program};
use std::time::Duration;

/// The answer by so many workers, and the median of their processor time; none if the search met a limit.
pub fn measure(
    program: &Program,
    model: Model,
    limits: Limits,
    workers: usize,
    repetitions: usize,
) -> Result<(C11Answer, Option<Duration>)> {
    let question = C11Question { limits, workers, ..C11Question::new(model) };
    repeated(
        repetitions,
        |answer: &C11Answer| answer.limit.is_some(),
        || {
            let (answer, time) = timed(process_time, || c11_robustness(program, &question));
            Ok((answer?, time))
        },
    )
}

pub fn word(answer: &C11Answer) -> &'static str {
    match answer.verdict {
        _ if answer.race().is_some() => "race",
        Verdict::Holds => "robust",
        Verdict::Violated => "not robust",
        Verdict::Unknown => "unknown",
    }
}
