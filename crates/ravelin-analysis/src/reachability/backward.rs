//! What the backward engines share: how they are asked, and the answer they give. The search is that of ravelin-backward.

use super::bounded::{ReachabilityAnswer, ReachabilityQuestion, assertions};
use crate::witness::Witness;
use crate::{AnalysisError, Verdict};
use ravelin_backward::{BackwardCounts, BackwardEnd, ConstraintId};
use ravelin_explore::{Limit, Statistics, Watch};
use ravelin_program::{Model, Program};
use std::time::Instant;

/// The answer of a backward search.
#[derive(Clone, Debug)]
pub struct BackwardAnswer {
    pub reachability: ReachabilityAnswer,
    pub counts: BackwardCounts,
}

/// A step that others can see, together with the silent ones before it: an edge in the graph of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleStep {
    pub thread: u16,
    pub edge: u32,
}

/// What an engine concludes from its search.
pub(super) struct Conclusion {
    pub verdict: Verdict,
    pub limit: Option<Limit>,
    pub witness: Option<Witness>,
    /// Of the bounded engine, if that one looked for a run and did not settle the question.
    pub buffer: Option<usize>,
    pub cut_off: bool,
}

impl Conclusion {
    pub fn new(verdict: Verdict) -> Conclusion {
        Conclusion { verdict, limit: None, witness: None, buffer: None, cut_off: false }
    }

    pub fn limit(limit: Limit) -> Conclusion {
        Conclusion { limit: Some(limit), ..Conclusion::new(Verdict::Unknown) }
    }

    /// What the end of a search says; a constraint that was reached, if it needs a run.
    pub fn of(end: BackwardEnd) -> Result<Conclusion, ConstraintId> {
        match end {
            BackwardEnd::Unreachable => Ok(Conclusion::new(Verdict::Holds)),
            BackwardEnd::Limit(limit) => Ok(Conclusion::limit(limit)),
            BackwardEnd::Reached(from) => Err(from),
        }
    }
}

/// Asks an engine. It fills in what its search took. A limit that is hit before the search, or after it, is an answer too.
pub(super) fn ask(
    program: &Program,
    model: Model,
    question: &ReachabilityQuestion,
    engine: impl FnOnce(&Watch, &mut BackwardCounts) -> Result<Conclusion, AnalysisError>,
) -> Result<BackwardAnswer, AnalysisError> {
    let start = Instant::now();
    let watch = Watch::since(question.budget, "preparing the backward search", start);
    let mut counts = BackwardCounts::default();
    let concluded = match engine(&watch, &mut counts) {
        Err(AnalysisError::Limit(limit)) => Conclusion::limit(limit),
        concluded => concluded?,
    };
    let reachability = ReachabilityAnswer {
        verdict: concluded.verdict,
        model,
        goals: program.goals.len() + assertions(program),
        buffer: concluded.buffer,
        messages: None,
        seq_cst_open: false,
        cut_off: concluded.cut_off,
        limit: concluded.limit.map(|limit| question.budget.limits.as_given(limit)),
        witness: concluded.witness,
        statistics: Statistics {
            states: counts.kept,
            transitions: counts.generated,
            depth: counts.depth,
            frontier: 0,
            bytes: counts.bytes,
            elapsed: start.elapsed(),
            workers: 1,
        },
        words: 0,
    };
    Ok(BackwardAnswer { reachability, counts })
}
