//! Accesses of a run that could have been stale.

use super::worker::script_of;
use crate::watch::WatchedRun;
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_findings::{AccessKind, AccessRecord, FindingRecord, MemoryKind, Problem, Spinning};
use ravelin_verify::judge::{Knowledge, StaleAccess, StaleKind, judge};
use ravelin_verify::{Changes, Script, StaleChoice};
use std::collections::{HashMap, HashSet};

/// Values that only make a loop go round, by the state of its thread.
#[derive(Clone, Debug, Default)]
pub struct KnownRounds(HashMap<u64, Vec<u64>>);

/// Pairs of places that were looked at.
#[derive(Clone, Debug, Default)]
pub struct StalePlaces(HashSet<(u64, u64)>);

/// A run with a stale access.
#[derive(Clone, Debug)]
pub struct StaleRun {
    /// Its events, up to the access.
    pub events: Vec<RunEvent>,
    stale: StaleAccess,
    /// What was known about loops when it was found.
    rounds: KnownRounds,
}

impl StaleRun {
    pub fn new(events: &[RunEvent], stale: StaleAccess, rounds: &KnownRounds) -> StaleRun {
        StaleRun { events: events[..=stale.event].to_vec(), stale, rounds: rounds.clone() }
    }

    /// The place of the access, and of what it misses.
    pub fn places(&self) -> (u64, u64) {
        places(&self.events, &self.stale)
    }

    /// Scripts in which the access is stale, for each value that it may read, newest first. None if it did not happen because its
    /// thread waited, or if the value is not known.
    pub fn scripts(&self) -> Vec<Script> {
        let event = &self.events[self.stale.event];
        if event.is(flags::PENDING) || event.operation.size > 8 {
            return Vec::new();
        }
        let script = script_of(&self.events[..=self.stale.event]);
        // Rounds of waiting loops are no choices.
        let number = |index: usize| self.events[..index].iter().filter(|event| !event.is(flags::ROUND)).count();
        let all = all(&self.events, &self.rounds, &Changes::default()).0;
        let here = all.into_iter().filter(|other| other.event == self.stale.event);
        let choice = |stale: StaleAccess| {
            let value = stale.value.or(Some(0).filter(|_| stale.kind == StaleKind::Write))?;
            Some(StaleChoice { value, source: stale.source.map(number) })
        };
        here.filter_map(choice).map(|stale| Script { stale: Some(stale), ..script.clone() }).collect()
    }

    /// Whether the access is still stale, and misses a write of the same place, in the program with changes.
    pub fn is_left_by(&self, changes: &Changes) -> bool {
        let found = all(&self.events, &self.rounds, changes).0;
        found.iter().any(|other| other.event == self.stale.event && places(&self.events, other) == self.places())
    }
}

impl KnownRounds {
    /// Learns from the rounds of a run that have one access.
    pub fn learn(&mut self, events: &[RunEvent]) {
        for (index, event) in events.iter().enumerate() {
            let is_round = |other: &&RunEvent| other.thread == event.thread && other.is(flags::ROUND);
            let alone = events[..index].iter().rev().find(|other| other.thread == event.thread).filter(is_round);
            if event.is(flags::ROUND)
                && event.state != 0
                && matches!(event.operation.act, Act::Load | Act::Update)
                && alone.is_none_or(|before| before.state == event.state)
            {
                let values = self.0.entry(event.state).or_default();
                if !values.contains(&event.read) {
                    values.push(event.read);
                }
            }
        }
    }

    fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
        self.0.get(&event.state).is_some_and(|values| values.contains(&value))
    }
}

impl StalePlaces {
    /// Whether the places of a stale access were not known before.
    pub fn know(&mut self, events: &[RunEvent], stale: &StaleAccess) -> bool {
        self.insert(places(events, stale))
    }

    pub fn insert(&mut self, places: (u64, u64)) -> bool {
        self.0.insert(places)
    }
}

fn places(events: &[RunEvent], stale: &StaleAccess) -> (u64, u64) {
    (events[stale.event].pc, events[stale.missed].pc)
}

/// What the judge has to know besides the run's steps.
struct RunKnowledge<'a> {
    rounds: &'a KnownRounds,
    events: &'a [RunEvent],
}

impl Knowledge for RunKnowledge<'_> {
    fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
        self.rounds.goes_round(event, value)
    }

    fn initial(&self, address: u64, size: u32) -> Option<u64> {
        let is_there = |event: &&RunEvent| (event.operation.address, event.operation.size) == (address, size);
        let known = |event: &&RunEvent| is_there(event) && !event.is(flags::PENDING | flags::UNCHECKED);
        let first = self.events.iter().find(known)?;
        (first.operation.act != Act::Store || first.is(flags::OVERWRITES)).then_some(first.read)
    }
}

/// The stale accesses of a run of the changed program whose places are not known, one for each; and whether there were
/// accesses of different sizes that overlap. The events are those of the program without the changes.
pub fn find(
    events: &[RunEvent],
    rounds: &KnownRounds,
    known: &StalePlaces,
    changes: &Changes,
) -> (Vec<StaleAccess>, bool) {
    let (all, mixed) = all(events, rounds, changes);
    let mut found: Vec<StaleAccess> = Vec::new();
    for stale in all {
        let key = places(events, &stale);
        if !known.0.contains(&key) && found.iter().all(|other| places(events, other) != key) {
            found.push(stale);
        }
    }
    (found, mixed)
}

fn all(events: &[RunEvent], rounds: &KnownRounds, changes: &Changes) -> (Vec<StaleAccess>, bool) {
    if changes.is_empty() {
        let judgement = judge(events, &RunKnowledge { rounds, events });
        return (judgement.stale, judgement.mixed_sizes);
    }
    let changed = changes.apply(events);
    let judgement = judge(&changed.events, &RunKnowledge { rounds, events: &changed.events });
    (judgement.stale.into_iter().map(|stale| changed.original(stale)).collect(), judgement.mixed_sizes)
}

/// The events up to the stale access. It may be one that did not happen because its thread waited.
pub fn until(events: &[RunEvent], stale: &StaleAccess) -> Vec<RunEvent> {
    let made =
        |(index, event): (usize, &RunEvent)| (index == stale.event || !event.is(flags::PENDING)).then_some(*event);
    events[..=stale.event].iter().enumerate().filter_map(made).collect()
}

/// Leaves in `watched` what the runtime says about a stale access; adds what is known here if it says nothing. Returns
/// whether it can do more than make a loop go round.
pub fn tell(watched: &mut WatchedRun, events: &[RunEvent], stale: &StaleAccess) -> bool {
    let pc = events[stale.event].pc;
    let Some(process) = watched.processes.first_mut() else { return false };
    let is_it = |found: &FindingRecord| {
        matches!(found.problem, Problem::StaleRead | Problem::StaleWrite | Problem::StaleUpdate)
            && found.access.stack.first() == Some(&pc)
    };
    let same: Vec<&FindingRecord> = process.findings.iter().filter(|found| is_it(found)).collect();
    if !same.is_empty() {
        let harmless = same.iter().all(|found| found.spinning == Spinning::Harmless);
        process.findings.retain(is_it);
        return !harmless;
    }
    process.findings.clear();
    process.findings.push(record(events, stale));
    true
}

fn record(events: &[RunEvent], stale: &StaleAccess) -> FindingRecord {
    let (event, missed) = (&events[stale.event], &events[stale.missed]);
    FindingRecord {
        count: 1,
        spinning: Spinning::No,
        problem: match stale.kind {
            StaleKind::Read => Problem::StaleRead,
            StaleKind::Write => Problem::StaleWrite,
            StaleKind::Update => Problem::StaleUpdate,
        },
        address: event.operation.address,
        access: access(event),
        other: access(missed),
        forgotten: 0,
        place: MemoryKind::Other,
        path: Vec::new(),
        point: 0,
    }
}

fn access(event: &RunEvent) -> AccessRecord {
    let kind = match event.operation.act {
        _ if event.is(flags::COMPARES) => AccessKind::CompareExchange,
        Act::Store => AccessKind::Store,
        Act::Update => AccessKind::Update,
        _ => AccessKind::Load,
    };
    AccessRecord {
        thread: u64::from(event.thread),
        kind,
        order: event.operation.order,
        size: u64::from(event.operation.size),
        stack: vec![event.pc],
    }
}
