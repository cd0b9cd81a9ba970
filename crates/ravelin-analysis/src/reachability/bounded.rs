//! Reachability by exploring all states, with store buffers of at most k entries.
//!
//! Under SC, and under TSO and PSO where no store ever had to wait for room, the answer is exact. Otherwise a violation is
//! still real, but its absence is only shown for buffers of that size, and the answer is unknown.
//!
//! The search uses reductions, so the first run it finds need not be a shortest one. A second search without them, within
//! limits, looks for one that is.

use crate::witness::{Witness, replay};
use crate::{AnalysisError, Verdict};
use ravelin_explore::{Budget, Limit, Options, Statistics, Until};
use ravelin_machine::{ExploredProgram, Purpose, Reductions, Settings, run};
use ravelin_program::{Instruction, Model, Program};
use std::time::Instant;

/// States that the search for a shortest run may visit beyond those of the first search.
const SHORTEST_EXTRA_STATES: u64 = 500_000;

/// What is asked, and how hard to try.
#[derive(Clone, Copy)]
pub struct ReachabilityQuestion<'a> {
    pub model: Model,
    /// Most pending stores of one thread under TSO and PSO.
    pub buffer: usize,
    /// Most messages of one cell under RA and RC20; without, the bound grows as long as the budget allows.
    pub messages: Option<usize>,
    pub reductions: Reductions,
    /// A deadlock counts as a violation.
    pub deadlocks: bool,
    pub budget: Budget<'a>,
}

impl ReachabilityQuestion<'_> {
    /// About goals, assertions and faults, not about deadlocks.
    pub fn new(model: Model) -> Self {
        ReachabilityQuestion {
            model,
            buffer: Settings::new(model).buffer,
            messages: None,
            reductions: Reductions::ALL,
            deadlocks: false,
            budget: Budget::default(),
        }
    }

    pub(crate) fn options(&self, until: Until) -> Options<'_> {
        Options { budget: self.budget, until }
    }

    pub(crate) fn settings(&self, purpose: Purpose) -> Settings {
        let ReachabilityQuestion { model, buffer, reductions, deadlocks, .. } = *self;
        Settings { model, buffer, purpose, reductions, deadlocks }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct ReachabilityAnswer {
    pub verdict: Verdict,
    pub model: Model,
    /// How many goals and assertions the program has. Faults are looked for in any case.
    pub goals: usize,
    /// The bound on buffers, under a buffered model.
    pub buffer: Option<usize>,
    /// The bound on the messages of a cell, where they were explored under RA or RC20.
    pub messages: Option<usize>,
    /// Some store had to wait for room in its buffer, or some cell had more messages.
    pub cut_off: bool,
    /// What is open about seq_cst accesses under RC20: there is a violation if they are release/acquire ones and no more, and none was found
    /// with fences before or after each.
    pub seq_cst_open: bool,
    pub limit: Option<Limit>,
    pub witness: Option<Witness>,
    pub statistics: Statistics,
    /// Words of a packed state.
    pub words: usize,
}

impl ReachabilityAnswer {
    /// Nothing is known: a limit was hit before there was anything to search.
    pub(crate) fn unknown(program: &Program, question: &ReachabilityQuestion, limit: Limit, start: Instant) -> Self {
        ReachabilityAnswer {
            verdict: Verdict::Unknown,
            model: question.model,
            goals: program.goals.len() + assertions(program),
            buffer: None,
            messages: None,
            cut_off: false,
            seq_cst_open: false,
            limit: Some(question.budget.limits.as_given(limit)),
            witness: None,
            statistics: Statistics { elapsed: start.elapsed(), workers: 1, ..Statistics::default() },
            words: 0,
        }
    }
}

/// Asks whether some goal can be violated, an assertion can fail, a fault can happen, or a deadlock, if the question is about them.
pub fn reach(program: &Program, question: &ReachabilityQuestion) -> Result<ReachabilityAnswer, AnalysisError> {
    let start = Instant::now();
    match explore(program, question, start) {
        Err(AnalysisError::Limit(limit)) => Ok(ReachabilityAnswer::unknown(program, question, limit, start)),
        answer => answer,
    }
}

fn explore(
    program: &Program,
    question: &ReachabilityQuestion,
    start: Instant,
) -> Result<ReachabilityAnswer, AnalysisError> {
    let settings = question.settings(Purpose::Goals);
    let explored = run(program, settings, &question.options(Until::FirstFinding))?;
    let witness = match witness(program, settings, &explored)? {
        None => None,
        // A full disk, or a limit, must not lose what is found already.
        Some(found) => match shortest(program, question, &explored, start) {
            Err(AnalysisError::Storage(_) | AnalysisError::Limit(_)) => Some(found),
            shorter => Some(shorter?.unwrap_or(found)),
        },
    };
    let limit = explored.limit().filter(|_| witness.is_none());
    let verdict = match (&witness, limit, explored.cut_off()) {
        (Some(_), ..) => Verdict::Violated,
        (None, None, false) => Verdict::Holds,
        _ => Verdict::Unknown,
    };
    Ok(ReachabilityAnswer {
        verdict,
        model: question.model,
        goals: program.goals.len() + assertions(program),
        buffer: question.model.is_buffered().then_some(question.buffer),
        messages: None,
        cut_off: explored.cut_off(),
        seq_cst_open: false,
        limit,
        witness,
        statistics: *explored.statistics(),
        words: explored.words(),
    })
}

pub(crate) fn assertions(program: &Program) -> usize {
    let transitions = program.threads.iter().flat_map(|thread| &thread.transitions);
    transitions.filter(|transition| matches!(transition.instruction, Instruction::Assert(_))).count()
}

fn witness(
    program: &Program,
    settings: Settings,
    explored: &ExploredProgram,
) -> Result<Option<Witness>, AnalysisError> {
    match explored.violation() {
        None => Ok(None),
        Some(found) => {
            let (violation, run) = found.map_err(|error| crate::InternalError(error.to_string()))?;
            Ok(Some(replay(program, settings, violation, &run)?))
        }
    }
}

/// A shortest run to a violation, if one is found within reasonable limits.
fn shortest(
    program: &Program,
    question: &ReachabilityQuestion,
    first: &ExploredProgram,
    start: Instant,
) -> Result<Option<Witness>, AnalysisError> {
    let settings = Settings { reductions: Reductions::NONE, ..question.settings(Purpose::Goals) };
    let states = first.statistics().states;
    let budget = question.budget.child(start, states).at_most(states * 4 + SHORTEST_EXTRA_STATES).silent();
    let explored = run(program, settings, &Options { budget, ..question.options(Until::FirstFinding) })?;
    let found = witness(program, settings, &explored)?;
    Ok(found.map(|witness| Witness { shortest: true, ..witness }))
}
