//! Whether a program is robust against TSO, every attack settled or the first feasible one found.

use crate::measure::{repeated, thread_time, timed};
use anyhow::{Context, Result};
use ravelin_analysis::robustness::{AttackFate, RobustnessAnswer, RobustnessEngine, RobustnessQuestion, robustness};
use ravelin_answer::InfeasibilityReason;
use ravelin_program::{Model, Program};
use std::time::Duration;

/// Every attack is to be settled, by one worker.
pub fn every_attack(engine: RobustnessEngine) -> RobustnessQuestion<'static> {
    RobustnessQuestion { engine, all: true, ..RobustnessQuestion::new(Model::Tso) }
}

/// The first feasible attack is enough, found by one worker.
pub fn first_attack(engine: RobustnessEngine) -> RobustnessQuestion<'static> {
    RobustnessQuestion { all: false, ..every_attack(engine) }
}

/// The answer, and the median of the processor time of one worker. A question with a limit has to be settled within it.
pub fn measure(
    program: &Program,
    question: RobustnessQuestion,
    repetitions: usize,
) -> Result<(RobustnessAnswer, Duration)> {
    let met_limit = |answer: &RobustnessAnswer| answer.limit.is_some();
    let (answer, time) = repeated(repetitions, met_limit, || {
        let (answer, time) = timed(thread_time, || robustness(program, &question));
        Ok((answer?, time))
    })?;
    Ok((answer, time.context("not settled within the limit")?))
}

/// What became of the attacks, in the columns of Table 2 of the ESOP paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fates {
    pub attacks: usize,
    /// No path from the store to the load, or none without a fence.
    pub fenced: usize,
    /// Dismissed for another reason without a search.
    pub free: usize,
    pub infeasible: usize,
    pub feasible: usize,
}

impl Fates {
    pub fn of(answer: &RobustnessAnswer) -> Fates {
        let fenced =
            answer.dismissed(InfeasibilityReason::NeverFollows) + answer.dismissed(InfeasibilityReason::Fenced);
        Fates {
            attacks: answer.attacks.len(),
            fenced,
            free: answer.count(|fate| matches!(fate, AttackFate::Dismissed(_))) - fenced,
            infeasible: answer.count(|fate| matches!(fate, AttackFate::Infeasible)),
            feasible: answer.count(|fate| matches!(fate, AttackFate::Feasible(_))),
        }
    }
}

/// Threads, locations and transitions, which the paper calls T, L and I.
pub fn size(program: &Program) -> [usize; 3] {
    let threads = &program.threads;
    [
        threads.len(),
        threads.iter().map(|thread| thread.locations.len()).sum(),
        threads.iter().map(|thread| thread.transitions.len()).sum(),
    ]
}
