//! Repair: the cheapest stronger orders and fences that make a program robust, and free of data races; or that keep its goals.
//!
//! The loop is that of `fences/listing.rs`: take the cheapest offers that satisfy all clauses, ask whether the program with them is robust, or
//! safe, and learn clauses from what is found (`violating_run.rs`). Violations that were found before are looked at first, because following one run
//! is much cheaper than a search. Every clause holds for every set that serves the purpose, so the first cover that does is a
//! cheapest one. A program with a data race is not robust; synchronisation may be what it lacks, so races are repaired like
//! violations if they are asked for. What violates a goal under SC is left by every set.
//!
//! The weakest orders that will do are found in the same way: everything that may be weaker is lowered first, and the orders that were
//! written are among the offers.
//!
//! With seq_cst accesses, that a program is robust is about a reading of them (`question.rs`), and whether it is safe may stay open
//! (`reach.rs`). A violation is one by the axioms in any case, so the clauses hold for every set that serves the purpose by the axioms.
//!
//! ```
//! use ravelin_analysis::c11::{C11Weights, StrengthenQuestion, c11_offers, order_sites, strengthen};
//! use ravelin_program::{Lowering, Model};
//! use ravelin_analysis::fences::CostBy;
//!
//! let text = "static x; static y;
//!     thread p { x.store(1); y.store(1); }
//!     thread q { let a = y.load(); let b = x.load(); }";
//! let source = ravelin_program::Source::new("mp.rav", text);
//! let program = ravelin_frontend::parse(source, ravelin_frontend::Language::Rav).program.expect("a program");
//! let sites = order_sites(&program, Lowering::Nothing);
//! let all: Vec<usize> = (0..sites.len()).collect();
//! let offers = c11_offers(&program, &sites, &all, &CostBy::Size, C11Weights::default(), Model::Rc20, Lowering::Nothing);
//! let answer = strengthen(&program, &sites, &offers, &StrengthenQuestion::robust(Model::Rc20)).expect("an answer");
//! assert_eq!(answer.found.sets[0].cost.main, 2, "the second store releases, the first load acquires");
//! ```

use super::question::{C11Question, c11_robustness, reading};
use super::reach::{Runs, reach_by};
use super::violating_run::{ChangeableProgram, ViolatingRun};
use crate::fences::{
    FenceAnswer, FenceSet, ListingEnd, Offer, SetVerdict, Sets, SynthesisEffort, SynthesisOutcome, Trouble,
    UnknownReason, list,
};
use crate::reachability::{ReachEngine, ReachabilityQuestion, reach};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_explore::{Budget, Limit};
use ravelin_program::{Model, Program, SeqCstReading, Site};
use std::time::Instant;

/// What is asked, and how hard to try.
#[derive(Clone, Copy)]
pub struct StrengthenQuestion<'a> {
    pub purpose: StrengthenPurpose<'a>,
    pub sets: Sets,
}

/// What the program with the changes has to be. The limits of the question on time and states are for all searches together.
#[derive(Clone, Copy)]
pub enum StrengthenPurpose<'a> {
    Robust(C11Question<'a>),
    /// No goal can be violated, no assertion fails, no fault happens.
    Safe(ReachabilityQuestion<'a>, ReachEngine),
}

impl StrengthenQuestion<'_> {
    pub fn robust(model: Model) -> Self {
        StrengthenQuestion { purpose: StrengthenPurpose::Robust(C11Question::new(model)), sets: Sets::Cheapest }
    }

    pub fn safe(model: Model) -> Self {
        let purpose = StrengthenPurpose::Safe(ReachabilityQuestion::new(model), ReachEngine::Auto);
        StrengthenQuestion { purpose, sets: Sets::Cheapest }
    }
}

impl<'a> StrengthenPurpose<'a> {
    pub fn budget(&self) -> Budget<'a> {
        match self {
            StrengthenPurpose::Robust(question) => question.budget,
            StrengthenPurpose::Safe(question, _) => question.budget,
        }
    }

    /// The same with another budget.
    pub fn within<'b>(self, budget: Budget<'b>) -> StrengthenPurpose<'b>
    where
        'a: 'b,
    {
        match self {
            StrengthenPurpose::Robust(question) => StrengthenPurpose::Robust(C11Question { budget, ..question }),
            StrengthenPurpose::Safe(question, engine) => {
                StrengthenPurpose::Safe(ReachabilityQuestion { budget, ..question }, engine)
            }
        }
    }
}

/// The answer, and the reading of seq_cst accesses that it is about, as in [`C11Answer`](super::C11Answer).
#[derive(Clone, Debug)]
pub struct StrengthenAnswer {
    pub found: FenceAnswer,
    pub seq_cst: Option<SeqCstReading>,
}

/// Finds the cheapest changes. The sites that `offers` speak of are those of `program`: as it was read, or with the orders lowered that may
/// be weaker.
pub fn strengthen(
    program: &Program,
    sites: &[Site],
    offers: &[Offer],
    question: &StrengthenQuestion,
) -> Result<StrengthenAnswer, AnalysisError> {
    let mut judge = Judge::new(program, sites, offers, question);
    let (start, budget) = (judge.start, question.purpose.budget());
    let mut sightings: Vec<ViolatingRun> = Vec::new();
    let mut knows_sc = false;
    let late = || budget.late(start);
    let listing = list(offers, question.sets, &late, &mut |set, _| {
        if let Some(sighting) = sightings.iter().find(|sighting| judge.changes.leave(sighting, &set.offers)) {
            return Ok(SetVerdict::Wrong(judge.changes.clauses(sighting, &set.offers)));
        }
        let unknown = |limit| {
            let unchecked = set.clone();
            SetVerdict::End(SynthesisOutcome::Unknown(UnknownReason { limit, one_delaying_thread: false, unchecked }))
        };
        let (trouble, sighting) = match judge.ask(&set.offers, Runs::First)? {
            JudgeReply::Fine => return Ok(SetVerdict::Right),
            JudgeReply::Unknown(limit) => return Ok(unknown(limit)),
            JudgeReply::Wrong(trouble, sighting) => (trouble, sighting),
        };
        if !knows_sc {
            knows_sc = true;
            if let Some(under_sc) = judge.wrong_under_sc(&set.offers, &trouble)? {
                return Ok(SetVerdict::End(SynthesisOutcome::WrongUnderSc(Box::new(under_sc))));
            }
        }
        let Some(sighting) = sighting else { return Ok(unknown(None)) };
        if !judge.changes.leave(&sighting, &set.offers) {
            let what = "a violation is not there when it is looked at again";
            return Err(InternalError(what.to_owned()).into());
        }
        let clauses = judge.changes.clauses(&sighting, &set.offers);
        sightings.push(sighting);
        if clauses.iter().any(Vec::is_empty) {
            let remains = judge.whatever_is_taken()?.unwrap_or(trouble);
            return Ok(SetVerdict::End(SynthesisOutcome::NoSet(Box::new(remains))));
        }
        Ok(SetVerdict::Wrong(clauses))
    })?;
    let outcome = match listing.end {
        ListingEnd::NotNeeded => SynthesisOutcome::NotNeeded,
        ListingEnd::Found => SynthesisOutcome::Found,
        ListingEnd::Late(limit, unchecked) => {
            SynthesisOutcome::Unknown(UnknownReason { limit, one_delaying_thread: false, unchecked })
        }
        ListingEnd::Other(outcome) => outcome,
    };
    let effort = SynthesisEffort {
        queries: judge.queries,
        clauses: listing.clauses,
        states: judge.states,
        elapsed: start.elapsed(),
    };
    let found = FenceAnswer { outcome, sets: listing.sets, truncated: listing.truncated, effort };
    Ok(StrengthenAnswer { found, seq_cst: judge.seq_cst })
}

/// What goes wrong if one change of a set is left out: the reason why it is there.
pub fn strengthen_without(
    program: &Program,
    sites: &[Site],
    offers: &[Offer],
    set: &FenceSet,
    left_out: usize,
    question: &StrengthenQuestion,
) -> Result<Option<Trouble>, AnalysisError> {
    let rest: Vec<usize> = set.offers.iter().copied().filter(|&offer| offer != left_out).collect();
    Judge::new(program, sites, offers, question).trouble(&rest)
}

/// What is known about a program with changes.
enum JudgeReply {
    /// It serves the purpose.
    Fine,
    /// With the run that shows it in programs with other changes, unless it is there with these only.
    Wrong(Trouble, Option<ViolatingRun>),
    /// Perhaps because of a limit.
    Unknown(Option<Limit>),
}

/// Asks about programs with changes, and counts.
struct Judge<'a> {
    changes: ChangeableProgram<'a>,
    purpose: StrengthenPurpose<'a>,
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
        question: &StrengthenQuestion<'a>,
    ) -> Judge<'a> {
        let purpose = question.purpose;
        let reading = match purpose {
            StrengthenPurpose::Robust(question) => reading(question.model, question.seq_cst),
            StrengthenPurpose::Safe(question, _) => reading(question.model, SeqCstReading::Both),
        };
        let changes = ChangeableProgram { program, sites, offers, reading };
        Judge { changes, purpose, start: Instant::now(), queries: 0, states: 0, seq_cst: None }
    }

    fn ask(&mut self, taken: &[usize], wanted: Runs) -> Result<JudgeReply, AnalysisError> {
        let program = self.changes.made(taken);
        let budget = self.purpose.budget().child(self.start, self.states);
        self.queries += 1;
        match self.purpose {
            StrengthenPurpose::Robust(question) => self.ask_robust(&program, &C11Question { budget, ..question }),
            StrengthenPurpose::Safe(question, engine) => {
                self.ask_safe(&program, &ReachabilityQuestion { budget, ..question }, engine, wanted)
            }
        }
    }

    fn ask_robust(&mut self, program: &Program, question: &C11Question) -> Result<JudgeReply, AnalysisError> {
        let answer = c11_robustness(program, question)?;
        self.states += answer.statistics.states;
        self.seq_cst = answer.seq_cst;
        Ok(match (answer.violation, answer.verdict) {
            (Some(violation), _) => {
                let sighting = self.changes.sighting(&violation, question.races)?;
                JudgeReply::Wrong(Trouble::C11(Box::new(violation)), Some(sighting))
            }
            (None, Verdict::Holds) => JudgeReply::Fine,
            (None, _) => JudgeReply::Unknown(self.as_given(answer.limit)),
        })
    }

    fn ask_safe(
        &mut self,
        program: &Program,
        question: &ReachabilityQuestion,
        engine: ReachEngine,
        wanted: Runs,
    ) -> Result<JudgeReply, AnalysisError> {
        let answer = reach_by(program, question, engine, wanted)?.reachability;
        self.states += answer.statistics.states;
        Ok(match (answer.witness, answer.verdict) {
            (Some(witness), _) => {
                // A run under SC has no messages, and no set that forbids it.
                let sighting = match &witness.computation.messages {
                    Some(found) => self.changes.unsafe_run(found.0, &found.1)?,
                    None => None,
                };
                JudgeReply::Wrong(Trouble::Run(Box::new(witness), None), sighting)
            }
            (None, Verdict::Holds) => JudgeReply::Fine,
            (None, _) => JudgeReply::Unknown(self.as_given(answer.limit)),
        })
    }

    fn as_given(&self, limit: Option<Limit>) -> Option<Limit> {
        limit.map(|limit| self.purpose.budget().limits.as_given(limit))
    }

    /// What is wrong under SC already, if the purpose is about it. `found` is wrong with the program with some changes.
    fn wrong_under_sc(&mut self, taken: &[usize], found: &Trouble) -> Result<Option<Trouble>, AnalysisError> {
        let StrengthenPurpose::Safe(question, _) = self.purpose else { return Ok(None) };
        if let Trouble::Run(witness, _) = found
            && witness.model == Model::Sc
            && taken.is_empty()
        {
            return Ok(Some(found.clone()));
        }
        let budget = question.budget.child(self.start, self.states);
        let answer = reach(self.changes.program, &ReachabilityQuestion { model: Model::Sc, budget, ..question })?;
        self.queries += 1;
        self.states += answer.statistics.states;
        Ok(answer.witness.map(|witness| Trouble::Run(Box::new(witness), None)))
    }

    /// What is wrong with a program with changes, as a run for people.
    fn trouble(&mut self, taken: &[usize]) -> Result<Option<Trouble>, AnalysisError> {
        Ok(match self.ask(taken, Runs::Shortest)? {
            JudgeReply::Wrong(trouble, _) => Some(trouble),
            JudgeReply::Fine | JudgeReply::Unknown(_) => None,
        })
    }

    /// What is wrong with the program with all offers, if the search finds it.
    fn whatever_is_taken(&mut self) -> Result<Option<Trouble>, AnalysisError> {
        let all: Vec<usize> = (0..self.changes.offers.len()).collect();
        self.trouble(&all)
    }
}
