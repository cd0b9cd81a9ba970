//! Which events of a run to reverse.
//!
//! A [`Race`] is an event `e'` and the ways to let it happen earlier, each a [`Candidate`]: the events that must not come
//! first, with all that happens after them. For most events that is one adjacent conflict per candidate and race.
//!
//! An event that [blocks](ravelin_findings::events::Act::blocks) needs more:
//!
//! - **Locks.** It can lock where nobody holds the object. So it is reversed with whole critical sections: with the event
//!   that locks, and with every other section that would stay open.
//! - **Takes.** Whether something can be taken is not known here. The candidates of such a race are tried one after the
//!   other, until one can happen.
//! - **Waiting loops.** A load or compare-exchange of a loop that waits passes with some values. Candidates whose value is
//!   known to make the loop go round are left out. The others are tried one after the other, until one passes.
//!
//! What threads would have done next at the end of a run takes part, too. Otherwise a deadlock, or a run that fails
//! early, would hide other runs.

use super::step::PlannedStep;
use super::trace::Trace;
use super::waiting::{Fate, Reading, Waiting, reading};
use ravelin_findings::events::{Act, RangeEffect, RunEvent, flags};
use std::ops::Range;

/// One way to let an event happen earlier.
#[derive(Clone, Debug)]
pub struct Candidate {
    excluded: Range<usize>,
    /// The earliest event that is excluded: the new run branches off before it.
    pub at: usize,
    /// What the thread of the later event does then.
    pub step: PlannedStep,
    /// Whether it can happen. If not, the next candidate of the race is tried.
    pub certain: bool,
    /// What it would read, if it is not known whether it passes.
    pub reading: Option<Reading>,
}

/// An event and how it can happen earlier.
#[derive(Clone, Debug)]
pub struct Race {
    pub later: usize,
    pub candidates: Range<usize>,
}

/// The races of a run. The memory is reused from run to run.
#[derive(Default)]
pub struct Races {
    pub races: Vec<Race>,
    pub candidates: Vec<Candidate>,
    excluded: Vec<u32>,
}

impl Races {
    /// Finds the races of a run.
    pub fn find(&mut self, trace: &Trace, waiting: &Waiting) {
        self.races.clear();
        self.candidates.clear();
        self.excluded.clear();
        let mut handled = None;
        for &(earlier, later) in trace.conflicts() {
            let (earlier, later) = (earlier as usize, later as usize);
            let event = trace.event(later);
            match event.operation.act {
                Act::Lock | Act::LockShared if event.blocks() => {
                    if handled.replace(later) != Some(later) {
                        self.lock(trace, later);
                    }
                }
                Act::Take if event.blocks() => {
                    if handled.replace(later) != Some(later) {
                        self.take(trace, later);
                    }
                }
                Act::Load => self.read(trace, waiting, earlier, later),
                // An exchange may be how a loop waits.
                Act::Update if event.is(flags::COMPARES) || event.state != 0 => {
                    self.read(trace, waiting, earlier, later);
                }
                _ => self.push(later, |races| races.candidate(trace, &[earlier], guess(event))),
            }
        }
        if let Some(last) = trace.ending() {
            self.continue_beyond(trace, last);
        }
    }

    /// The events after the branch that still come first, in their order.
    pub fn kept<'a>(&'a self, trace: &'a Trace, candidate: &Candidate) -> impl Iterator<Item = usize> + Clone + 'a {
        let excluded = &self.excluded[candidate.excluded.clone()];
        let ending = trace.ending();
        (candidate.at + 1..trace.len()).filter(move |&at| {
            Some(at) != ending && !excluded.iter().any(|&earlier| trace.is_after(at, earlier as usize))
        })
    }

    fn push(&mut self, later: usize, fill: impl FnOnce(&mut Races)) {
        let first = self.candidates.len();
        fill(self);
        if self.candidates.len() > first {
            self.races.push(Race { later, candidates: first..self.candidates.len() });
        }
    }

    /// Adds a candidate, which is certain.
    fn candidate(&mut self, trace: &Trace, excluded: &[usize], step: PlannedStep) {
        debug_assert!(excluded.iter().all(|&earlier| earlier < trace.len()));
        let first = self.excluded.len();
        self.excluded.extend(excluded.iter().map(|&earlier| earlier as u32));
        let at = excluded.iter().copied().min().unwrap_or(0);
        let excluded = first..self.excluded.len();
        self.candidates.push(Candidate { excluded, at, step, certain: true, reading: None });
    }

    /// Says that the latest candidate may be impossible.
    fn is_uncertain(&mut self, reading: Option<Reading>) {
        if let Some(candidate) = self.candidates.last_mut() {
            candidate.certain = false;
            candidate.reading = reading;
        }
    }

    /// Reversals of a load, or of a compare-exchange.
    fn read(&mut self, trace: &Trace, waiting: &Waiting, earlier: usize, later: usize) {
        let event = *trace.event(later);
        let reads = trace.event(earlier).operation.act.effect() == RangeEffect::Reads;
        if reads && later < trace.len() {
            // It reads the same value.
            return self.push(later, |races| races.candidate(trace, &[earlier], PlannedStep::of(&event)));
        }
        self.push(later, |races| {
            if reads {
                // It reads what it would read at the end of the run, where it may wait for another value.
                races.candidate(trace, &[earlier], guess(&event));
                if event.state == 0 {
                    return;
                }
                races.is_uncertain(None);
            }
            let others = trace.on_same_object(later).skip_while(|&other| other != earlier);
            let conflicting = others.filter(|&other| {
                let other = trace.event(other);
                other.thread != event.thread
                    && other.operation.act.effect() == RangeEffect::Writes
                    && other.operation.conflicts(&event.operation)
            });
            for other in conflicting.take_while(|&other| !trace.is_needed(later, other)) {
                let value = value_before(trace, other, &event);
                let fate = waiting.fate(&event, value);
                if fate == Fate::GoesRound {
                    continue;
                }
                races.candidate(trace, &[other], predict(&event, value, later < trace.len()));
                if fate == Fate::Passes {
                    break;
                }
                races.is_uncertain(value.map(|value| reading(&event, value)));
            }
        });
    }

    /// Reversals of a take: with any event on the object, one after the other. If it has a time limit, the time may also
    /// be over there.
    fn take(&mut self, trace: &Trace, later: usize) {
        let event = trace.event(later);
        let step = PlannedStep::of(event);
        for times_out in [false, true] {
            if times_out && !event.is(flags::TIMED) {
                break;
            }
            self.push(later, |races| {
                let others = trace.on_same_object(later).filter(|&other| {
                    let other = trace.event(other);
                    other.thread != event.thread && other.operation.conflicts(&event.operation)
                });
                for other in others.take_while(|&other| !trace.is_needed(later, other)) {
                    races.candidate(trace, &[other], PlannedStep { times_out, ..step });
                    races.is_uncertain(None);
                }
            });
        }
    }

    /// Reversals of an event that locks: with whole critical sections.
    fn lock(&mut self, trace: &Trace, later: usize) {
        let event = trace.event(later);
        let mut window = Vec::new();
        for other in trace.on_same_object(later) {
            window.push(other);
            // Everything before happens before that, so a reversal with it is found in another run.
            if matches!(trace.event(other).operation.act, Act::Lock | Act::Touch) && !trace.is_mixed(later) {
                break;
            }
        }
        let releases = |act| matches!(act, Act::Unlock | Act::UnlockShared);
        let mut chosen: Vec<usize> = Vec::new();
        for &other in &window {
            let candidate = trace.event(other);
            if candidate.thread == event.thread
                || releases(candidate.operation.act)
                || !candidate.operation.conflicts(&event.operation)
                || chosen.iter().any(|&chosen| trace.is_after(chosen, other))
            {
                continue;
            }
            chosen.push(other);
            if let Some(excluded) = sections_to_exclude(trace, &window, other, later) {
                self.push(later, |races| races.candidate(trace, &excluded, PlannedStep::of(event)));
            }
        }
    }

    /// Continues without the event that ended the process.
    fn continue_beyond(&mut self, trace: &Trace, last: usize) {
        let ending = trace.event(last);
        for later in trace.len()..trace.events().len() {
            let event = trace.event(later);
            if event.thread == ending.thread
                || event.operation.conflicts(&ending.operation)
                || trace.is_needed(later, last)
            {
                continue;
            }
            self.push(later, |races| {
                races.candidate(trace, &[last], guess(event));
                if let Some(candidate) = races.candidates.last_mut() {
                    candidate.certain = !event.blocks() && event.state == 0;
                }
            });
        }
    }
}

/// What must be excluded besides `first` so that `later` can lock; `None` if it cannot.
fn sections_to_exclude(trace: &Trace, window: &[usize], first: usize, later: usize) -> Option<Vec<usize>> {
    let event = trace.event(later);
    let mut excluded = vec![first];
    let is_excluded = |excluded: &[usize], at| excluded.iter().any(|&earlier| trace.is_after(at, earlier));
    loop {
        if excluded.iter().any(|&earlier| trace.is_needed(later, earlier)) {
            return None;
        }
        let mut open = window.iter().copied().filter(|&at| {
            let locks = trace.event(at);
            if !matches!(locks.operation.act, Act::Lock | Act::LockShared)
                || !locks.operation.conflicts(&event.operation)
                || is_excluded(&excluded, at)
            {
                return false;
            }
            let unlocks = window.iter().rev().copied().find(|&other| {
                let other_event = trace.event(other);
                other > at
                    && other_event.thread == locks.thread
                    && matches!(other_event.operation.act, Act::Unlock | Act::UnlockShared)
            });
            unlocks.is_none_or(|unlocks| is_excluded(&excluded, unlocks))
        });
        match open.next() {
            Some(at) => excluded.push(at),
            None => return Some(excluded),
        }
    }
}

/// The value that `reader` would read just before `write`, if that can be told from the run.
fn value_before(trace: &Trace, write: usize, reader: &RunEvent) -> Option<u64> {
    let same = |event: &RunEvent| {
        (event.operation.address, event.operation.size) == (reader.operation.address, reader.operation.size)
    };
    let writer = trace.event(write);
    if reader.operation.size > 8 || trace.is_mixed(write) || !same(writer) {
        return None;
    }
    if writer.operation.act == Act::Update || (writer.operation.act == Act::Store && writer.is(flags::OVERWRITES)) {
        return Some(writer.read);
    }
    let before = trace.event(trace.on_same_object(write).next()?);
    match before.operation.act {
        Act::Store | Act::Update => Some(before.written),
        Act::Load => Some(before.read),
        _ => None,
    }
}

/// What a load or compare-exchange does when it reads `value`. `done`: it has happened with another value.
fn predict(event: &RunEvent, value: Option<u64>, done: bool) -> PlannedStep {
    let step = PlannedStep::of(event);
    if !event.is(flags::COMPARES) {
        return step;
    }
    let expected = match event.operation.act {
        Act::Update => event.read,
        _ => event.written,
    };
    let mut operation = step.operation;
    operation.act = match value {
        Some(value) if done && value != expected => Act::Load,
        _ => Act::Update,
    };
    PlannedStep { exact: done && value.is_some(), operation, ..step }
}

/// The step of an event at another place.
pub fn guess(event: &RunEvent) -> PlannedStep {
    let step = PlannedStep::of(event);
    let act = match event.operation.act {
        Act::Load | Act::Update if event.is(flags::COMPARES) => Act::Update,
        Act::LockFails => Act::Lock,
        Act::Lock | Act::LockShared | Act::Take if event.is(flags::TRIES) => event.operation.act,
        _ => return step,
    };
    let mut operation = step.operation;
    operation.act = act;
    PlannedStep { exact: false, operation, ..step }
}
