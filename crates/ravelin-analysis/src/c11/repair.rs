//! Repair: the cheapest stronger orders and fences that make a program robust, and free of data races.
//!
//! The loop is that of `fences/listing.rs`: take the cheapest offers that satisfy all clauses, ask whether the program with them is robust, and
//! learn clauses from what is found (`violating_run.rs`). Violations that were found before are looked at first, because following one run
//! is much cheaper than a search. Every clause holds for every set that makes the program robust, so the first cover that does is a
//! cheapest one. A program with a data race is not robust; synchronisation may be what it lacks, so races are repaired like
//! violations if they are asked for.
//!
//! With seq_cst accesses, that a program is robust is about a reading of them (`question.rs`). A violation is one by the axioms in any case,
//! so the clauses hold for every set that makes the program robust by the axioms.
//!
//! ```
//! use ravelin_analysis::c11::{C11Weights, StrengthenQuestion, c11_offers, order_sites, strengthen};
//! use ravelin_program::Model;
//! use ravelin_analysis::fences::CostBy;
//!
//! let text = "static x; static y;
//!     thread p { x.store(1); y.store(1); }
//!     thread q { let a = y.load(); let b = x.load(); }";
//! let source = ravelin_program::Source::new("mp.rav", text);
//! let program = ravelin_frontend::parse(source, ravelin_frontend::Language::Rav).program.expect("a program");
//! let sites = order_sites(&program);
//! let all: Vec<usize> = (0..sites.len()).collect();
//! let offers = c11_offers(&program, &sites, &all, &CostBy::Size, C11Weights::default(), Model::Rc20);
//! let answer = strengthen(&program, &sites, &offers, &StrengthenQuestion::new(Model::Rc20)).expect("an answer");
//! assert_eq!(answer.sets[0].cost.main, 2, "the second store releases, the first load acquires");
//! ```

use super::question::{C11Answer, C11Question, C11Violation, c11_robustness, reading};
use super::violating_run::{ChangeableProgram, ViolatingRun};
use crate::fences::{FenceSet, ListingEnd, Offer, SetVerdict, Sets, SynthesisEffort, list};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_explore::Limit;
use ravelin_program::{Model, Program, SeqCstReading, Site};
use std::time::Instant;

/// What is asked, and how hard to try.
#[derive(Clone, Copy)]
pub struct StrengthenQuestion<'a> {
    /// What the program with the changes has to be. Its limits on time and states are for all searches together.
    pub robust: C11Question<'a>,
    pub sets: Sets,
}

impl StrengthenQuestion<'_> {
    pub fn new(model: Model) -> Self {
        StrengthenQuestion { robust: C11Question::new(model), sets: Sets::Cheapest }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct StrengthenAnswer {
    pub outcome: StrengthenOutcome,
    /// By cost. Empty unless the outcome is [`StrengthenOutcome::Found`] or a limit was met on the way to all sets.
    pub sets: Vec<FenceSet>,
    /// There are more; these are the cheapest of them.
    pub truncated: bool,
    /// The reading of seq_cst accesses that the answer is about, as in [`C11Answer`].
    pub seq_cst: Option<SeqCstReading>,
    pub effort: SynthesisEffort,
}

#[derive(Clone, Debug)]
pub enum StrengthenOutcome {
    /// The program is robust, and without races if they were asked for, as it is.
    NotNeeded,
    /// Here they are, all that were asked for.
    Found,
    /// This remains if all that is offered is taken.
    NoSet(Box<C11Violation>),
    Unknown {
        limit: Option<Limit>,
        /// Every other set costs at least as much as this one, which was to be checked next or was found last.
        unchecked: FenceSet,
    },
}

/// Finds the cheapest changes. The sites that `offers` speak of are those of `program` as it was read.
pub fn strengthen(
    program: &Program,
    sites: &[Site],
    offers: &[Offer],
    question: &StrengthenQuestion,
) -> Result<StrengthenAnswer, AnalysisError> {
    let mut judge = Judge::new(program, sites, offers, question);
    let (start, asked) = (judge.start, question.robust);
    let mut sightings: Vec<ViolatingRun> = Vec::new();
    let late = || asked.budget.late(start);
    let listing = list(offers, question.sets, &late, &mut |set, _| {
        if let Some(sighting) = sightings.iter().find(|sighting| judge.changes.leave(sighting, &set.offers)) {
            return Ok(SetVerdict::Wrong(judge.changes.clauses(sighting, &set.offers)));
        }
        let answer = judge.ask(&set.offers)?;
        let violation = match (answer.violation, answer.verdict) {
            (Some(violation), _) => violation,
            (None, Verdict::Holds) => return Ok(SetVerdict::Right(vec![set.offers.clone()])),
            (None, _) => {
                let limit = answer.limit.map(|limit| asked.budget.limits.as_given(limit));
                return Ok(SetVerdict::End(StrengthenOutcome::Unknown { limit, unchecked: set.clone() }));
            }
        };
        let sighting = judge.changes.sighting(&violation)?;
        if !judge.changes.leave(&sighting, &set.offers) {
            let what = "a violation of robustness is not there when it is looked at again";
            return Err(InternalError(what.to_owned()).into());
        }
        let clauses = judge.changes.clauses(&sighting, &set.offers);
        sightings.push(sighting);
        if clauses.iter().any(Vec::is_empty) {
            let remains = judge.whatever_is_taken()?.unwrap_or(violation);
            return Ok(SetVerdict::End(StrengthenOutcome::NoSet(Box::new(remains))));
        }
        Ok(SetVerdict::Wrong(clauses))
    })?;
    let outcome = match listing.end {
        ListingEnd::NotNeeded => StrengthenOutcome::NotNeeded,
        ListingEnd::Found => StrengthenOutcome::Found,
        ListingEnd::Late(limit, unchecked) => StrengthenOutcome::Unknown { limit, unchecked },
        ListingEnd::Other(outcome) => outcome,
    };
    let effort = SynthesisEffort {
        queries: judge.queries,
        clauses: listing.clauses,
        states: judge.states,
        elapsed: start.elapsed(),
    };
    Ok(StrengthenAnswer { outcome, sets: listing.sets, truncated: listing.truncated, seq_cst: judge.seq_cst, effort })
}

/// What goes wrong if one change of a set is left out: the reason why it is there.
pub fn strengthen_without(
    program: &Program,
    sites: &[Site],
    offers: &[Offer],
    set: &FenceSet,
    left_out: usize,
    question: &StrengthenQuestion,
) -> Result<Option<C11Violation>, AnalysisError> {
    let rest: Vec<usize> = set.offers.iter().copied().filter(|&offer| offer != left_out).collect();
    Ok(Judge::new(program, sites, offers, question).ask(&rest)?.violation)
}

/// Asks about programs with changes, and counts.
struct Judge<'a> {
    changes: ChangeableProgram<'a>,
    question: &'a C11Question<'a>,
    start: Instant,
    queries: usize,
    states: u64,
    seq_cst: Option<SeqCstReading>,
}

impl<'a> Judge<'a> {
    fn new(
        program: &'a Program,
        sites: &'a [Site],
        offers: &'a [Offer],
        question: &'a StrengthenQuestion,
    ) -> Judge<'a> {
        let question = &question.robust;
        let reading = reading(question.model, question.seq_cst);
        let changes = ChangeableProgram { program, sites, offers, reading, races: question.races };
        Judge { changes, question, start: Instant::now(), queries: 0, states: 0, seq_cst: None }
    }

    fn ask(&mut self, taken: &[usize]) -> Result<C11Answer, AnalysisError> {
        let question = C11Question { budget: self.question.budget.child(self.start, self.states), ..*self.question };
        let answer = c11_robustness(&self.changes.made(taken), &question)?;
        self.queries += 1;
        self.states += answer.statistics.states;
        self.seq_cst = answer.seq_cst;
        Ok(answer)
    }

    /// A violation of the program with all offers, if the search finds one.
    fn whatever_is_taken(&mut self) -> Result<Option<C11Violation>, AnalysisError> {
        let all: Vec<usize> = (0..self.changes.offers.len()).collect();
        Ok(self.ask(&all)?.violation)
    }
}
