//! Whether a program is robust against release/acquire or RC20.

use crate::measure::{process_time, timed, wall_time};
use anyhow::Result;
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Answer, C11Model, C11Question, c11_robustness};
use ravelin_explore::Limits;
use ravelin_program::Program;
use std::time::Duration;

/// Searches shorter than this are repeated.
const SHORT: Duration = Duration::from_millis(300);

/// The answer and the processor time it took, by so many workers.
pub fn measure(program: &Program, model: C11Model, limits: Limits, workers: usize) -> Result<(C11Answer, Duration)> {
    let question = C11Question { limits, workers, ..C11Question::new(model) };
    let before = process_time();
    let (answer, once) = timed(wall_time, || c11_robustness(program, &question));
    let answer = answer?;
    if once > SHORT {
        return Ok((answer, process_time().saturating_sub(before)));
    }
    // The system counts in hundredths of a second.
    let times = (SHORT.as_secs_f64() / once.as_secs_f64().max(1e-6)).ceil() as u32;
    let (_, all) = timed(process_time, || (0..times).for_each(|_| drop(c11_robustness(program, &question))));
    Ok((answer, all / times))
}

pub fn word(answer: &C11Answer) -> &'static str {
    match answer.verdict {
        _ if answer.race().is_some() => "race",
        Verdict::Holds => "robust",
        Verdict::Violated => "not robust",
        Verdict::Unknown => "unknown",
    }
}
