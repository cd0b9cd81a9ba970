//! Fences against TSO and PSO: what is asked, what is answered, and how a set of fences is judged in the loop of `listing.rs`.
//!
//! A set is judged by queries of growing size. The first ones find violations that are near, which is all that most sets need: the loop then
//! continues with a better set. A set with nothing wrong nearby is likely the last one. If an equally cheap set leaves no possible attack
//! (`possible.rs`), that one is taken, and its proof needs no search. Otherwise the queries grow until one of them settles the set.

use super::clause::Clauses;
use super::cost::Offer;
use super::listing::{ListingEnd, SetVerdict, list};
use super::oracle::{FenceOracle, OracleReply, SynthesisPurpose, Trouble};
use super::possible::PossibleAttacks;
use crate::AnalysisError;
use ravelin_covers::Cost;
use ravelin_explore::{Budget, Limit, Watch};
use ravelin_program::{FenceStrength, Model, Program, Site, repaired};
use std::time::{Duration, Instant};

/// Enough for most violations, in a millisecond or two.
const FIRST_SHARE: u64 = 1 << 12;

/// How much larger the next query about the same set is.
const GROWTH: u64 = 4;

/// What is asked, and how hard to try.
#[derive(Clone, Copy)]
pub struct FenceQuestion<'a> {
    /// TSO or PSO.
    pub model: Model,
    pub purpose: SynthesisPurpose,
    pub sets: Sets,
    /// For all queries together, except for memory.
    pub budget: Budget<'a>,
    /// States of the first query about a set; each further query about the same set may take four times as many.
    pub first_share: u64,
}

impl FenceQuestion<'_> {
    pub fn new(model: Model, purpose: SynthesisPurpose) -> Self {
        FenceQuestion { model, purpose, sets: Sets::Cheapest, budget: Budget::default(), first_share: FIRST_SHARE }
    }
}

/// How many sets are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sets {
    /// One of the cheapest.
    Cheapest,
    /// All that cost as little as the cheapest.
    AllCheapest,
    /// All that cannot do without any of their fences.
    AllMinimal,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct FenceAnswer {
    pub outcome: SynthesisOutcome,
    /// By cost. Empty unless the outcome is [`SynthesisOutcome::Found`] or a limit was met on the way to all sets.
    pub sets: Vec<FenceSet>,
    /// There are more; these are the cheapest of them.
    pub truncated: bool,
    pub effort: SynthesisEffort,
}

#[derive(Clone, Debug)]
pub enum SynthesisOutcome {
    /// The program is right without.
    NotNeeded,
    /// Here they are, all that were asked for.
    Found,
    /// A goal can be reached under SC; no fence helps.
    WrongUnderSc(Box<Trouble>),
    /// This remains, whichever of the offered fences are taken.
    NoSet(Box<Trouble>),
    Unknown(UnknownReason),
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub struct UnknownReason {
    pub limit: Option<Limit>,
    /// PSO, robustness: the set below stops whatever one thread can do by delaying stores; that several cannot do harm together is not proved.
    pub one_delaying_thread: bool,
    /// Every other set costs at least as much as this one, which was to be checked next or, if time ran out before that, was found last.
    pub unchecked: FenceSet,
}

/// A set of fences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FenceSet {
    /// Numbers of offers.
    pub offers: Vec<usize>,
    pub cost: Cost,
}

impl FenceSet {
    /// The sites and kinds of fences, as [`repaired`] wants them: of two fences at one site, the one that does what both do.
    pub fn choices(&self, offers: &[Offer]) -> Vec<(usize, FenceStrength)> {
        let mut choices: Vec<(usize, FenceStrength)> = Vec::with_capacity(self.offers.len());
        for offer in self.offers.iter().map(|&offer| &offers[offer]) {
            match choices.iter_mut().find(|(site, _)| *site == offer.site) {
                Some((_, strength)) => *strength = strength.join(offer.strength),
                None => choices.push((offer.site, offer.strength)),
            }
        }
        choices
    }

    /// How many fences it is: a site in several threads counts for each.
    pub fn fences(&self, offers: &[Offer], sites: &[Site]) -> usize {
        self.offers.iter().map(|&offer| sites[offers[offer].site].threads()).sum()
    }
}

/// What it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SynthesisEffort {
    /// Questions asked about the program with some of the fences.
    pub queries: usize,
    pub clauses: usize,
    pub states: u64,
    pub elapsed: Duration,
}

/// Finds fences. The sites that `offers` speak of are those of `program`: as it was read, or with the orders lowered that may be weaker.
pub fn fences(
    program: &Program,
    sites: &[Site],
    offers: &[Offer],
    question: &FenceQuestion,
) -> Result<FenceAnswer, AnalysisError> {
    let start = Instant::now();
    let mut oracle = FenceOracle { question, start, queries: 0, states: 0 };
    let clauses = Clauses::new(program, question.model, sites, offers);
    let mut knows_sc = false;
    let late = || question.budget.late(start);
    let possible = PossibleAttacks::new(program, question.model, sites, offers);
    let watch = Watch::since(question.budget, "looking for fences", start);
    let listing = list(offers, question.sets, &late, &mut |set, covers| {
        let unknown = |limit, one_delaying_thread| {
            SetVerdict::End(SynthesisOutcome::Unknown(UnknownReason {
                limit,
                one_delaying_thread,
                unchecked: set.clone(),
            }))
        };
        let fenced = repaired(program, sites, &set.choices(offers));
        let mut share = question.first_share;
        let troubles = loop {
            match oracle.ask(&fenced, share)? {
                OracleReply::Fine => return Ok(SetVerdict::Right),
                OracleReply::Unknown(limit) => return Ok(unknown(limit, false)),
                OracleReply::OneDelayingThread => return Ok(unknown(None, true)),
                OracleReply::Wrong(troubles) => break troubles,
                OracleReply::Spent => {}
            }
            // Nothing is wrong nearby. Before a long search, look for an equally cheap set that needs none.
            if share == question.first_share
                && question.sets == Sets::Cheapest
                && let Some(other) = possible.cheapest_without(covers, set.cost, &watch)
                && let OracleReply::Fine = oracle.ask(&repaired(program, sites, &other.choices(offers)), share)?
            {
                return Ok(SetVerdict::Instead(other));
            }
            share = share.saturating_mul(GROWTH);
        };
        if !knows_sc && matches!(question.purpose, SynthesisPurpose::Safe(_)) {
            knows_sc = true;
            if let OracleReply::Wrong(mut under_sc) = oracle.ask_sc(program)?
                && let Some(trouble) = under_sc.pop()
            {
                return Ok(SetVerdict::End(SynthesisOutcome::WrongUnderSc(Box::new(trouble))));
            }
        }
        let mut learned = Vec::new();
        for trouble in troubles {
            let clause = trouble.clause(&clauses);
            if clause.iter().any(|offer| set.offers.contains(offer)) {
                let what = "a run passes a fence that should have forbidden it".to_owned();
                return Err(crate::InternalError(what).into());
            }
            if clause.is_empty() {
                return Ok(SetVerdict::End(SynthesisOutcome::NoSet(Box::new(trouble))));
            }
            learned.push(clause);
        }
        Ok(SetVerdict::Wrong(learned))
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
        queries: oracle.queries,
        clauses: listing.clauses,
        states: oracle.states,
        elapsed: start.elapsed(),
    };
    Ok(FenceAnswer { outcome, sets: listing.sets, truncated: listing.truncated, effort })
}

/// What goes wrong if one fence of a set is left out: the reason why it is there.
pub fn without(
    program: &Program,
    sites: &[Site],
    offers: &[Offer],
    set: &FenceSet,
    left_out: usize,
    question: &FenceQuestion,
) -> Result<Option<Trouble>, AnalysisError> {
    let rest: Vec<usize> = set.offers.iter().copied().filter(|&offer| offer != left_out).collect();
    let rest = FenceSet { offers: rest, cost: Cost::default() };
    let mut oracle = FenceOracle { question, start: Instant::now(), queries: 0, states: 0 };
    match oracle.ask_for_one(&repaired(program, sites, &rest.choices(offers)))? {
        OracleReply::Wrong(mut troubles) => Ok(troubles.pop()),
        _ => Ok(None),
    }
}
