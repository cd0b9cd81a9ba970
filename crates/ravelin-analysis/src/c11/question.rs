//! The question: is a program robust against release/acquire or RC20, and free of data races?
//!
//! Seq_cst *accesses* are outside RC20; what is known about them is in `seq_cst.rs`.

use super::witness::{C11Race, C11Witness, race, stale};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::SeqCstBasis;
use ravelin_explore::{Budget, Limit, Options, Statistics, Until};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{
    C11Settings, MonitorError, MonitorFinding, MonitorFindingKind, MonitorRefusal, MonitorSearch, monitor_for,
};
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
    pub reductions: Reductions,
    pub budget: Budget<'a>,
}

impl C11Question<'_> {
    pub fn new(model: Model) -> Self {
        C11Question {
            model,
            seq_cst: SeqCstReading::default(),
            races: true,
            reductions: Reductions::ALL,
            budget: Budget::default(),
        }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct C11Answer {
    /// Holds: robust, and without data races if they were asked for.
    pub verdict: Verdict,
    pub model: Model,
    /// How seq_cst accesses were to be read; `None` if there are none or they need no reading.
    pub seq_cst: Option<SeqCstReading>,
    /// What the answer rests on, as far as they are concerned; `None` without them, and if a limit was hit before anything was known.
    pub basis: Option<SeqCstBasis>,
    pub violation: Option<C11Violation>,
    pub limit: Option<Limit>,
    /// The program is robust, because it is robust against this model.
    pub implied_by: Option<Model>,
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
            basis: None,
            violation: None,
            limit: Some(limit),
            implied_by: None,
            statistics: Statistics::default(),
        }
    }

    /// Robust, because the program is robust against a model that allows more ([`crate::implies`]).
    pub fn implied(model: Model, by: Model) -> C11Answer {
        C11Answer {
            verdict: Verdict::Holds,
            model,
            seq_cst: None,
            basis: None,
            violation: None,
            limit: None,
            implied_by: Some(by),
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
    refuse_copies(program)?;
    let mut inquiry = C11Inquiry::new(program, question);
    if question.model == Model::Rc20 && has_seq_cst_accesses(program) {
        inquiry.answer.seq_cst = Some(question.seq_cst);
        inquiry.ask_about_seq_cst()?;
    } else {
        // It makes no difference how they are read.
        let reading = reading(question.model, SeqCstReading::RelAcq);
        inquiry.search(SeqCstReading::RelAcq, question.races, reading)?;
    }
    Ok(inquiry.conclude())
}

/// Refuses any number of threads.
pub(super) fn refuse_copies(program: &Program) -> Result<(), AnalysisError> {
    match program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        Some(thread) => Err(ravelin_machine::BuildError::AnyNumberOfCopies(thread.name.clone()).into()),
        None => Ok(()),
    }
}

/// How many states may be looked at for a nearer finding, whatever it took to find the first.
const LEAST_LOOK: u64 = 10_000;

/// Searches for one answer, which share the budget.
pub(super) struct C11Inquiry<'a> {
    pub program: &'a Program,
    pub question: &'a C11Question<'a>,
    pub answer: C11Answer,
    start: Instant,
}

impl<'a> C11Inquiry<'a> {
    fn new(program: &'a Program, question: &'a C11Question<'a>) -> C11Inquiry<'a> {
        let answer = C11Answer {
            verdict: Verdict::Holds,
            model: question.model,
            seq_cst: None,
            basis: None,
            violation: None,
            limit: None,
            implied_by: None,
            statistics: Statistics::default(),
        };
        C11Inquiry { program, question, answer, start: Instant::now() }
    }

    /// What is left of the budget.
    pub fn budget(&self) -> Budget<'a> {
        self.question.budget.child(self.start, self.answer.statistics.states)
    }

    /// Searches for a violation in one reading of seq_cst accesses, which allows no graph that the axioms forbid.
    pub fn search(&mut self, seq_cst: SeqCstReading, races: bool, reading: OrderReading) -> Result<(), AnalysisError> {
        let settings = self.settings(seq_cst, races);
        let options = Options { budget: self.budget(), until: Until::LevelOfFirstFinding };
        let search = self.monitor(settings, &options, &mut |_| Ok(true))?;
        self.limited(search.limit);
        if let Some(found) = search.found {
            let found = self.nearest(settings, found, search.statistics.states)?;
            let violation = violation(self.program, reading, &found)?;
            let what = "no graph with the access is allowed by the model and not by SC, or races";
            self.answer.violation = Some(violation.ok_or_else(|| InternalError(what.to_owned()))?);
        }
        Ok(())
    }

    /// A finding that no other is nearer than, if looking for it takes not much more than finding this one did: the
    /// reduction by partial order may find one that is farther away than necessary.
    fn nearest(
        &mut self,
        mut settings: C11Settings,
        found: MonitorFinding,
        states: u64,
    ) -> Result<MonitorFinding, AnalysisError> {
        if !settings.reductions.partial_order {
            return Ok(found);
        }
        settings.reductions.partial_order = false;
        let budget = self.budget().in_memory().silent().at_most(4 * states + LEAST_LOOK);
        let options = Options { budget, until: Until::LevelOfFirstFinding };
        Ok(self.monitor(settings, &options, &mut |_| Ok(true))?.found.unwrap_or(found))
    }

    pub fn settings(&self, seq_cst: SeqCstReading, races: bool) -> C11Settings {
        let C11Question { model, reductions, .. } = *self.question;
        C11Settings { model, seq_cst, chains: false, observational: false, races, reductions }
    }

    /// Runs the monitor. A limit that is hit before there is anything to search is one like any other.
    pub fn monitor(
        &mut self,
        settings: C11Settings,
        options: &Options,
        accept: &mut dyn FnMut(&MonitorFinding) -> Result<bool, Limit>,
    ) -> Result<MonitorSearch, AnalysisError> {
        if settings.model.is_hardware() {
            // Their violations are shown by attacks, not by graphs.
            return Err(MonitorRefusal::Hardware(settings.model).into());
        }
        let search = match monitor_for(self.program, settings, options, accept).map_err(refused) {
            Err(AnalysisError::Limit(limit)) => {
                let statistics = Statistics::default();
                MonitorSearch { found: None, rejected: false, irrelevant: Vec::new(), limit: Some(limit), statistics }
            }
            search => search?,
        };
        add(&mut self.answer.statistics, &search.statistics);
        Ok(search)
    }

    /// A limit ended a search: without a violation nothing is known.
    pub fn limited(&mut self, limit: Option<Limit>) {
        self.answer.limit = self.answer.limit.or(limit).map(|limit| self.question.budget.limits.as_given(limit));
    }

    fn conclude(mut self) -> C11Answer {
        self.answer.verdict = match (&self.answer.violation, self.answer.limit) {
            (Some(_), _) => Verdict::Violated,
            (None, Some(_)) => Verdict::Unknown,
            (None, None) if self.answer.basis.is_some_and(SeqCstBasis::is_open) => Verdict::Unknown,
            (None, None) => Verdict::Holds,
        };
        if self.answer.verdict != Verdict::Unknown {
            self.answer.limit = None;
        }
        self.answer.statistics.elapsed = self.start.elapsed();
        self.answer
    }
}

/// How the axioms count the orders of a graph.
pub(super) fn reading(model: Model, seq_cst: SeqCstReading) -> OrderReading {
    match (model, seq_cst) {
        (Model::Ra, _) => OrderReading::ReleaseAcquire,
        (_, SeqCstReading::RelAcq) => OrderReading::SeqCstAsReleaseAcquire,
        _ => OrderReading::Written,
    }
}

/// The violation, if the axioms allow it.
pub(super) fn violation(
    program: &Program,
    reading: OrderReading,
    found: &MonitorFinding,
) -> Result<Option<C11Violation>, InternalError> {
    Ok(match found.kind {
        MonitorFindingKind::Stale => stale(program, reading, found)?.map(Box::new).map(C11Violation::NotRobust),
        MonitorFindingKind::Race => race(program, reading, found)?.map(Box::new).map(C11Violation::Race),
        // Only of observational searches.
        MonitorFindingKind::Use => None,
    })
}

pub(crate) fn has_seq_cst_accesses(program: &Program) -> bool {
    has_accesses(program, Order::SeqCst)
}

/// Some access has this order.
pub(crate) fn has_accesses(program: &Program, wanted: Order) -> bool {
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|t| &t.instruction);
    instructions.any(|instruction| match instruction {
        Instruction::Load { order, .. }
        | Instruction::Store { order, .. }
        | Instruction::Rmw { order, .. }
        | Instruction::Wait { order, .. }
        | Instruction::BlockingCas { order, .. } => *order == wanted,
        Instruction::CompareExchange { success, failure, .. } => *success == wanted || *failure == wanted,
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

pub(crate) fn refused(error: MonitorError) -> AnalysisError {
    match error {
        MonitorError::Build(error) => error.into(),
        MonitorError::Storage(error) => error.into(),
        MonitorError::Limit(limit) => limit.into(),
        MonitorError::Refused(refusal) => refusal.into(),
        MonitorError::Unreadable(unreadable) => InternalError(unreadable.to_string()).into(),
    }
}
