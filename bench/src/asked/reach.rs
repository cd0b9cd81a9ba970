//! Whether a goal can be reached under TSO, by one engine or by all of them.

use crate::measure::{process_time, timed, wall_time};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{Answer, Effort, Engine, Limits, Question, answer};
use ravelin_program::Program;
use ravelin_semantics::Model;
use std::time::Duration;

/// A question that takes longer is not asked again.
const LONG: Duration = Duration::from_secs(2);

/// The answer, or why the engine gave none; and the time of the fastest of some runs.
pub fn measure(
    program: &Program,
    engine: Engine,
    limit: Duration,
    repetitions: usize,
) -> (Result<Answer, String>, Duration) {
    let limits = Limits { time: Some(limit), memory: Some(4 << 30), ..Limits::default() };
    let question = Question { limits, ..Question::new(Model::Tso) };
    let mut best = Duration::MAX;
    let mut last = Err("not asked".to_owned());
    for _ in 0..repetitions.max(1) {
        let (found, time) = processor_time(|| answer(program, &question, engine));
        best = best.min(time);
        last = found.map_err(|error| if error.is_refusal() { "refused".to_owned() } else { error.to_string() });
        if time > LONG {
            break;
        }
    }
    (last, best)
}

/// States, constraints, or the states of all searches of the lazy engine.
pub fn effort(found: &Answer) -> u64 {
    match &found.effort {
        Effort::States => found.reachability.statistics.states,
        Effort::Constraints(counts) => counts.generated,
        Effort::Rounds(lazy) => lazy.sc_states + lazy.oracle_states,
    }
}

/// A verdict in the narrowest column: holds, violated, unknown.
pub fn letter(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "h",
        Verdict::Violated => "v",
        Verdict::Unknown => "?",
    }
}

/// Engines have threads of their own, so the whole process counts; where its clock is too coarse, the wall clock.
fn processor_time<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let ((result, wall), processor) = timed(process_time, || timed(wall_time, action));
    (result, if processor < Duration::from_millis(100) { wall } else { processor })
}
