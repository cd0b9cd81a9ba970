//! Whether a program is robust against release/acquire or RC20.

use crate::measure::{process_time, repeated, timed};
use anyhow::Result;
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Answer, C11Question, c11_robustness};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use std::time::Duration;

/// The answer within a budget, and the median of the processor time of all workers; none if the search met a limit.
pub fn measure(
    program: &Program,
    model: Model,
    budget: Budget,
    repetitions: usize,
) -> Result<(C11Answer, Option<Duration>)> {
    let question = C11Question { budget, ..C11Question::new(model) };
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
