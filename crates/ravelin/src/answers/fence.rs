//! Fences: the sets, their costs, why each fence is needed, or why there is no set.

use super::c11::violation;
use super::reach::witness;
use super::robust::{attack_witness, race};
use super::threads::instance;
use crate::fence::Task;
use ravelin_analysis::fences::{self as analysis, Sets, SynthesisOutcome, SynthesisPurpose};
use ravelin_answer::{
    ChangeKind, FenceChange, FenceEffort, FenceOutcome, FencePlaces, FencePurpose, FenceSet, Fences, FencesUnknown,
    NeededFence, PlaceCost, Trouble, TroubleKind, WantedSets,
};
use ravelin_program::{
    self as program, FenceStrength, HardwareProgram, Instruction, Model, Order, OrderSlot, Program, SeqCstReading,
    Site, repaired,
};

/// A program, the possible changes, and the result.
pub(crate) struct RepairResult<'a> {
    pub file: &'a str,
    pub program: &'a Program,
    pub model: Model,
    pub purpose: SynthesisPurpose,
    pub wanted: Sets,
    pub task: &'a Task,
    pub found: &'a analysis::FenceAnswer,
    /// The reading of seq_cst accesses that an answer under rc20 uses.
    pub seq_cst: Option<SeqCstReading>,
    /// Fences of the first set, by number of the offer, and what goes wrong without each; `None` if a limit was hit
    /// before that was found.
    pub needed: Vec<(usize, Option<analysis::Trouble>)>,
    /// It was to be relaxed, but is wrong as it is written.
    pub wrong_as_written: bool,
}

/// The answer to `fence`, without the check of the repaired text.
pub(crate) fn fences(repaired: &RepairResult) -> Fences {
    let found = repaired.found;
    let (outcome, trouble, why) = match &found.outcome {
        SynthesisOutcome::NotNeeded => (FenceOutcome::NotNeeded, None, None),
        SynthesisOutcome::Found => (FenceOutcome::Found, None, None),
        SynthesisOutcome::WrongUnderSc(trouble) => (FenceOutcome::WrongUnderSc, Some(trouble), None),
        SynthesisOutcome::NoSet(trouble) => (FenceOutcome::NoSet, Some(trouble), None),
        SynthesisOutcome::Unknown(why) => (FenceOutcome::Unknown, None, Some(why)),
    };
    let needed = repaired.needed.iter().map(|(offer, trouble)| {
        let first = found.sets.first().map_or(&[][..], |set| &set.offers);
        let rest: Vec<usize> = first.iter().copied().filter(|other| other != offer).collect();
        NeededFence {
            place: repaired.task.sites[repaired.task.offers[*offer].site].name.clone(),
            trouble: trouble.as_ref().map(|trouble| repaired.trouble(&rest, trouble)),
        }
    });
    let nothing = analysis::FenceSet::default();
    Fences {
        file: repaired.file.to_owned(),
        model: repaired.model,
        purpose: match repaired.purpose {
            SynthesisPurpose::Robust => FencePurpose::Robustness,
            SynthesisPurpose::RaceFree => FencePurpose::Trf,
            SynthesisPurpose::Safe(_) => FencePurpose::Safety,
        },
        wanted: match repaired.wanted {
            Sets::Cheapest => WantedSets::Cheapest,
            Sets::AllCheapest => WantedSets::AllCheapest,
            Sets::AllMinimal => WantedSets::AllMinimal,
        },
        goals: repaired.program.goals.len(),
        seq_cst: repaired.seq_cst,
        written: repaired.task.written,
        fixed_orders: repaired.task.unsaid,
        wrong_as_written: repaired.wrong_as_written,
        outcome,
        sets: found.sets.iter().map(|set| repaired.set(set)).collect(),
        truncated: found.truncated,
        superfluous: match outcome {
            FenceOutcome::NotNeeded => repaired.changes(&nothing),
            _ => Vec::new(),
        },
        trouble: trouble.map(|trouble| Box::new(repaired.trouble(&[], trouble))),
        unknown: why.map(|why| FencesUnknown {
            limit: why.limit.map(Into::into),
            one_delaying_thread: why.one_delaying_thread,
            unchecked: repaired.set(&why.unchecked),
        }),
        needed: needed.collect(),
        checked: None,
        diff: None,
        repaired: None,
        effort: FenceEffort {
            queries: found.effort.queries,
            clauses: found.effort.clauses,
            states: found.effort.states,
            seconds: found.effort.elapsed.as_secs_f64(),
        },
        stops: None,
    }
}

/// The answer to `fence --places`.
pub(crate) fn places(file: &str, program: &Program, places: &[(&Site, u64)]) -> FencePlaces {
    let places = places.iter().map(|(site, cost)| PlaceCost { place: change(program, site, None), cost: *cost });
    FencePlaces { file: file.to_owned(), places: places.collect() }
}

impl RepairResult<'_> {
    fn set(&self, set: &analysis::FenceSet) -> FenceSet {
        FenceSet {
            cost: set.cost.main,
            fences: set.fences(&self.task.offers, &self.task.sites),
            changes: self.changes(set),
        }
    }

    /// The changes at the sites, including removed fences, in the order of the text.
    fn changes(&self, set: &analysis::FenceSet) -> Vec<FenceChange> {
        let mut changes: Vec<FenceChange> = Vec::new();
        let Task { sites, offers, .. } = self.task;
        for (number, site) in sites.iter().enumerate().filter(|(_, site)| !site.edges.is_empty()) {
            let taken = set.offers.iter().map(|&offer| offers[offer]).find(|offer| offer.site == number);
            let (kind, order) = match (site.change, taken) {
                (program::Change::Insert { .. }, Some(offer)) => (inserted(offer.strength), None),
                (program::Change::Lock, Some(_)) => (ChangeKind::LockStore, None),
                (program::Change::Keep, Some(offer)) => match is_weaker(self.program, site, offer.strength) {
                    true => (ChangeKind::WeakenFence, Some(offer.strength.order())),
                    false => (ChangeKind::KeepFence, None),
                },
                (program::Change::Keep, None) => (ChangeKind::RemoveFence, None),
                (program::Change::Order(slot), taken) => {
                    match self.order(site, slot, taken.map(|offer| offer.strength)) {
                        Some(change) => change,
                        None => continue,
                    }
                }
                (program::Change::Insert { .. } | program::Change::Lock, None) => continue,
            };
            changes.push(FenceChange {
                order: order.map(|order| order.name().to_owned()),
                ..change(self.program, site, Some(kind))
            });
        }
        changes.sort_by_key(|change| change.position);
        changes
    }

    /// What becomes of an order, and which one it becomes if it changes; `None` if there is nothing to say about it.
    fn order(&self, site: &Site, slot: OrderSlot, taken: Option<FenceStrength>) -> Option<(ChangeKind, Option<Order>)> {
        let access = instruction(self.program, site)?;
        let written = slot.order(access)?;
        let floor = self.task.lower.floor(slot, access);
        let order = floor.unwrap_or(written).join(taken.map_or(Order::Relaxed, FenceStrength::order));
        match (floor, order == written, written.is_at_least(order)) {
            (Some(_), true, _) if written != Order::Relaxed => Some((ChangeKind::KeepOrder, None)),
            (_, true, _) => None,
            (_, false, true) => Some((ChangeKind::Weaken, Some(order))),
            (_, false, false) => Some((ChangeKind::Strengthen, Some(order))),
        }
    }

    /// What goes wrong with a set of fences.
    fn trouble(&self, set: &[usize], trouble: &analysis::Trouble) -> Trouble {
        let found = match trouble {
            analysis::Trouble::Attack(found, of) => {
                let program = of.as_ref().map_or_else(|| self.with(set), |instance| instance.program.clone());
                TroubleKind::Attack(Box::new(attack_witness(&HardwareProgram::new(&program), found)))
            }
            analysis::Trouble::Race(found) => TroubleKind::Race(Box::new(race(found))),
            analysis::Trouble::C11(found) => violation(found),
            analysis::Trouble::Run(found, _) => TroubleKind::Run(Box::new(witness(found))),
        };
        let of = match trouble {
            analysis::Trouble::Attack(_, of) | analysis::Trouble::Run(_, of) => of.as_ref(),
            analysis::Trouble::Race(_) | analysis::Trouble::C11(_) => None,
        };
        Trouble { found, instance: of.map(|of| instance(of)) }
    }

    /// The program with a set of fences.
    fn with(&self, set: &[usize]) -> Program {
        let Task { base, sites, offers, .. } = self.task;
        let choice = |&offer: &usize| (offers[offer].site, offers[offer].strength);
        repaired(base, sites, &set.iter().map(choice).collect::<Vec<_>>())
    }
}

fn inserted(strength: FenceStrength) -> ChangeKind {
    match strength {
        FenceStrength::Full => ChangeKind::InsertFence,
        FenceStrength::StoreStore => ChangeKind::InsertStoreStoreFence,
        FenceStrength::Acquire => ChangeKind::InsertAcquireFence,
        FenceStrength::AcqRel => ChangeKind::InsertAcqRelFence,
    }
}

fn change(program: &Program, site: &Site, change: Option<ChangeKind>) -> FenceChange {
    FenceChange {
        place: site.name.clone(),
        position: site.position,
        after: after(program, site),
        threads: threads(program, site),
        change,
        order: None,
    }
}

/// The fence that stands there is stronger.
fn is_weaker(program: &Program, site: &Site, strength: FenceStrength) -> bool {
    let standing = instruction(program, site);
    matches!(standing, Some(Instruction::Fence(order)) if order.is_at_least(strength.order()) && *order != strength.order())
}

/// What stands at the first of the edges.
fn instruction<'a>(program: &'a Program, site: &Site) -> Option<&'a Instruction> {
    let edge = site.edges.first()?;
    Some(&program.threads[edge.thread.0].transitions[edge.transition.0].instruction)
}

/// The names of the threads that a site is in.
fn threads(program: &Program, site: &Site) -> Vec<String> {
    let mut threads: Vec<usize> = site.edges.iter().map(|edge| edge.thread.0).collect();
    threads.dedup();
    threads.into_iter().map(|thread| program.threads[thread].name.clone()).collect()
}

/// The text before a fence, or the changed text, as written.
fn after(program: &Program, site: &Site) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut quotes: Vec<String> = Vec::new();
    for edge in &site.edges {
        let thread = &program.threads[edge.thread.0];
        let transition = &thread.transitions[edge.transition.0];
        let quoted = program.source.quote(transition.span);
        let quoted = quoted.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ");
        // An operator alone says little.
        let is_short = quoted.contains(|c: char| c.is_alphanumeric()) && quoted.chars().count() <= 60;
        let text = if is_short { quoted.clone() } else { program.tell_transition(thread, transition) };
        for (known, new) in [(&mut texts, text), (&mut quotes, quoted)] {
            if !known.contains(&new) {
                known.push(new);
            }
        }
    }
    match &quotes[..] {
        // One access of the text that is several in the program.
        [quoted] if texts.len() > 1 && quoted.chars().count() > 60 => {
            format!("{} …", quoted.chars().take(58).collect::<String>())
        }
        _ => texts.join(" or "),
    }
}
