//! Whether a goal can be reached, by one engine or by all of them.

use crate::measure::{process_time, repeated, timed};
use anyhow::{Result, anyhow};
use ravelin_analysis::reachability::{PortfolioAnswer, ReachEngine, ReachabilityEffort, ReachabilityQuestion, answer};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use std::time::Duration;

/// The answer under TSO and the median of the processor time of all threads, none if it met a limit; or why the engine gave no answer.
pub fn measure(
    program: &Program,
    engine: ReachEngine,
    limit: Duration,
    repetitions: usize,
) -> Result<(PortfolioAnswer, Option<Duration>)> {
    let budget = Budget::unlimited().time(limit).memory(4 << 30);
    ask(program, &ReachabilityQuestion { budget, ..ReachabilityQuestion::new(Model::Tso) }, engine, repetitions)
}

/// The same for any question.
pub fn ask(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
    repetitions: usize,
) -> Result<(PortfolioAnswer, Option<Duration>)> {
    repeated(
        repetitions,
        |found: &PortfolioAnswer| found.reachability.limit.is_some(),
        || {
            let (found, time) = timed(process_time, || answer(program, question, engine));
            let refused = |error: AnalysisError| if error.is_refusal() { anyhow!("refused") } else { error.into() };
            Ok((found.map_err(refused)?, time))
        },
    )
}

/// States, constraints, or the states of all searches of the lazy engine.
pub fn effort(found: &PortfolioAnswer) -> u64 {
    match &found.effort {
        ReachabilityEffort::States => found.reachability.statistics.states,
        ReachabilityEffort::Constraints(counts) => counts.generated,
        ReachabilityEffort::Rounds(lazy) => lazy.sc_states + lazy.oracle_states,
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
