//! The question: is a program robust against release/acquire or RC20, and free of data races?
//!
//! Seq_cst *accesses* are outside RC20. Each is taken as the release/acquire access with a hidden seq_cst fence behind it, or in front
//! of it ([`SeqCstReading`]). Neither raises a false alarm against RC11, and neither finds all violations: an answer "holds" for
//! a program with such accesses is about the reading, which the answer names.

use super::witness::{C11Race, C11Witness, race, stale};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_explore::{Budget, Limit, Options, Statistics, Until};
use ravelin_machine::monitor::{C11Settings, MonitorError, MonitorFinding, MonitorFindingKind, MonitorSearch, monitor};
use ravelin_program::{Copies, Instruction, Model, Order, Program, SeqCstReading};
use ravelin_semantics::rc20::OrderReading;
use std::time::Instant;

/// What is asked, and how hard to try.
#[derive(Clone, Copy)]
pub struct C11Question<'a> {
    pub model: Model,
    pub seq_cst: SeqCstReading,
    /// Look for data races on non-atomic accesses. Without, they are taken to be absent.
    pub races: bool,
    /// Store states once that differ by a permutation of identical threads.
    pub symmetry: bool,
    pub budget: Budget<'a>,
}

impl C11Question<'_> {
    pub fn new(model: Model) -> Self {
        C11Question { model, seq_cst: SeqCstReading::default(), races: true, symmetry: true, budget: Budget::default() }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct C11Answer {
    /// Holds: robust, and without data races if they were asked for.
    pub verdict: Verdict,
    pub model: Model,
    /// The reading of seq_cst accesses that the answer is about; `None` if there are none or they need no reading.
    pub seq_cst: Option<SeqCstReading>,
    pub violation: Option<C11Violation>,
    pub limit: Option<Limit>,
    /// Of all searches.
    pub statistics: Statistics,
}

#[derive(Clone, Debug)]
pub enum C11Violation {
    /// An access that may be stale.
    NotRobust(Box<C11Witness>),
    /// Two accesses that race. Nothing is said about robustness then: such a program has no meaning.
    Race(Box<C11Race>),
}

impl C11Answer {
    /// Nothing is known: a limit was hit before there was anything to search.
    pub fn unknown(model: Model, limit: Limit) -> C11Answer {
        C11Answer {
            verdict: Verdict::Unknown,
            model,
            seq_cst: None,
            violation: None,
            limit: Some(limit),
            statistics: Statistics::default(),
        }
    }

    pub fn witness(&self) -> Option<&C11Witness> {
        match &self.violation {
            Some(C11Violation::NotRobust(witness)) => Some(witness),
            _ => None,
        }
    }

    pub fn race(&self) -> Option<&C11Race> {
        match &self.violation {
            Some(C11Violation::Race(race)) => Some(race),
            _ => None,
        }
    }
}

/// Asks whether a program is robust.
pub fn c11_robustness(program: &Program, question: &C11Question) -> Result<C11Answer, AnalysisError> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(ravelin_machine::BuildError::AnyNumberOfCopies(thread.name.clone()).into());
    }
    let start = Instant::now();
    let matters = question.model == Model::Rc20 && has_seq_cst_accesses(program);
    let seq_cst = if matters { question.seq_cst } else { SeqCstReading::RelAcq };
    let reading = reading(question.model, question.seq_cst);
    let mut answer = C11Answer {
        verdict: Verdict::Holds,
        model: question.model,
        seq_cst: matters.then_some(question.seq_cst),
        violation: None,
        limit: None,
        statistics: Statistics::default(),
    };
    for (number, &seq_cst) in seq_cst.searches().iter().enumerate() {
        // Hidden fences have no part in races, so one search settles them.
        let races = question.races && (number == 0 || answer.limit.is_some());
        let settings = C11Settings { model: question.model, seq_cst, races, symmetry: question.symmetry };
        let budget = question.budget.child(start, answer.statistics.states);
        let options = Options { budget, until: Until::FirstFinding };
        let search = match monitor(program, settings, &options).map_err(refused) {
            Err(AnalysisError::Limit(limit)) => {
                MonitorSearch { found: None, limit: Some(limit), statistics: Statistics::default() }
            }
            search => search?,
        };
        add(&mut answer.statistics, &search.statistics);
        answer.limit = answer.limit.or(search.limit).map(|limit| question.budget.limits.as_given(limit));
        if let Some(found) = search.found {
            answer.violation = Some(violation(program, reading, &found)?);
            break;
        }
    }
    answer.verdict = match (&answer.violation, answer.limit) {
        (Some(_), _) => Verdict::Violated,
        (None, Some(_)) => Verdict::Unknown,
        (None, None) => Verdict::Holds,
    };
    if answer.verdict != Verdict::Unknown {
        answer.limit = None;
    }
    answer.statistics.elapsed = start.elapsed();
    Ok(answer)
}

/// How the axioms count the orders of a graph.
pub(super) fn reading(model: Model, seq_cst: SeqCstReading) -> OrderReading {
    match (model, seq_cst) {
        (Model::Ra, _) => OrderReading::ReleaseAcquire,
        (_, SeqCstReading::RelAcq) => OrderReading::SeqCstAsReleaseAcquire,
        _ => OrderReading::Written,
    }
}

fn violation(program: &Program, reading: OrderReading, found: &MonitorFinding) -> Result<C11Violation, InternalError> {
    match found.kind {
        MonitorFindingKind::Stale => Ok(C11Violation::NotRobust(Box::new(stale(program, reading, found)?))),
        MonitorFindingKind::Race => Ok(C11Violation::Race(Box::new(race(program, reading, found)?))),
    }
}

pub(crate) fn has_seq_cst_accesses(program: &Program) -> bool {
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|t| &t.instruction);
    instructions.any(|instruction| match instruction {
        Instruction::Load { order, .. }
        | Instruction::Store { order, .. }
        | Instruction::Rmw { order, .. }
        | Instruction::Wait { order, .. }
        | Instruction::BlockingCas { order, .. } => *order == Order::SeqCst,
        Instruction::CompareExchange { success, failure, .. } => *success == Order::SeqCst || *failure == Order::SeqCst,
        _ => false,
    })
}

pub(super) fn add(all: &mut Statistics, one: &Statistics) {
    all.states += one.states;
    all.transitions += one.transitions;
    all.depth = all.depth.max(one.depth);
    all.frontier += one.frontier;
    all.bytes = all.bytes.max(one.bytes);
    all.workers = all.workers.max(one.workers);
}

fn refused(error: MonitorError) -> AnalysisError {
    match error {
        MonitorError::Build(error) => error.into(),
        MonitorError::Storage(error) => error.into(),
        MonitorError::Limit(limit) => limit.into(),
        MonitorError::Refused(refusal) => refusal.into(),
        MonitorError::Unreadable(unreadable) => InternalError(unreadable.to_string()).into(),
    }
}
