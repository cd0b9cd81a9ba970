//! Whether an access of a run could have read or been placed differently under C11.
//!
//! The model is RC20 with RC11's psc axiom for seq_cst fences and accesses, as in `ravelin_semantics::rc20`. A program
//! is not robust exactly if in one of its SC runs some next event e has a *stale* alternative: e reads a write w, or is
//! placed right behind it in modification order, although a newer write is SC-before e. The graph is that of all events
//! before e, so e is last in po and nothing depends on it. Then the axioms are bounds on the position i of w in the
//! modification order of its location:
//!
//! - not SC: i < the newest write of the location that is (po ∪ rf ∪ mo ∪ fr)-before e, through its thread;
//! - coherence: i ≥ the newest write that e's thread knows: that is hb-before e, or is read by a read that is;
//! - psc: i ≥ a bound from the seq_cst events before e ([`psc`]), or, under TSO, from what is globally before e
//!   ([`store_buffers`]);
//! - atomicity: a write is not placed between an RMW and what that RMW read.
//!
//! What e itself acquires changes none of these: what it could learn from w is older than w. Objects (mutexes and the like)
//! order events in hb and in SC, and are never stale.
//!
//! Cost: a few joins of vector clocks per event. The bound of psc is computed only for an event that the other
//! conditions leave.

mod awaits;
mod locations;
mod psc;
mod store_buffers;
mod views;

use awaits::Rounds;
use locations::Locations;
use psc::SeqCstOrder;
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, flags};
use store_buffers::StoreBuffers;
use views::Views;

/// What the runs have in common with each other, as far as the caller knows it.
pub trait Knowledge {
    /// Whether the event is a part of a loop that would only go round if it read this value.
    fn goes_round(&self, event: &RunEvent, value: u64) -> bool;

    /// What a location held before its first write, if that is known. What the events of the run read is known anyway.
    fn initial(&self, _address: u64, _size: u32) -> Option<u64> {
        None
    }

    /// Whether to end now, with what was found so far. A long run is asked often.
    fn is_over(&self) -> bool {
        false
    }
}

impl<F: Fn(&RunEvent, u64) -> bool> Knowledge for F {
    fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
        self(event, value)
    }
}

/// What decides whether an access may be stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JudgedModel {
    /// RC20, with RC11's psc.
    #[default]
    Rc20,
    /// x86-TSO: what a store buffer can do, if the program is compiled by the usual mapping.
    Tso,
}

/// What there is to say about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// In the order of their events; for an event, those with the newest source first.
    pub stale: Vec<StaleAccess>,
    /// There are accesses to memory that overlap but are not to the same bytes. No stale access is reported there.
    pub mixed_sizes: bool,
    /// The time was over before the end of the run.
    pub cut_off: bool,
}

/// An access that could have read an older write, or have been placed behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaleAccess {
    /// The index of the access.
    pub event: usize,
    /// The index of the earliest write that it may miss. It follows the source in modification order.
    pub missed: usize,
    /// The index of the write that it could read from, or be placed behind; `None` for the initial value.
    pub source: Option<usize>,
    /// The value of the source. `None` if nothing tells the initial value.
    pub value: Option<u64>,
    pub kind: StaleKind,
}

/// What a stale access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StaleKind {
    /// It reads the source. A compare-exchange fails.
    Read,
    /// It is placed behind the source.
    Write,
    /// Both.
    Update,
}

/// How many events there are between two looks at the time.
const OFTEN: usize = 256;

/// Every stale access of a run.
///
/// `events` are those of an SC run in order. Those with `flags::PENDING` did not happen but could be next where they
/// stand in the list: a blocked wait may be passed by a stale value. They are what they would have been there, so that a
/// blocked compare-exchange is one that failed. Those with `flags::ROUND` are no events. They show
/// which values only make a loop go round, and to read such a value is not an access. Those with `flags::UNCHECKED` order
/// others by happens-before only, and nothing is judged at their locations.
pub fn judge(events: &[RunEvent], model: JudgedModel, known: &impl Knowledge) -> Judgement {
    let locations = Locations::of(events);
    let mut judgement = Judgement { stale: Vec::new(), mixed_sizes: locations.mixed_sizes(), cut_off: false };
    let mut views = Views::new(events, &locations);
    let mut rounds = Rounds::default();
    let mut limits = match model {
        JudgedModel::Rc20 => Bounds::Rc20(SeqCstOrder::default()),
        JudgedModel::Tso => Bounds::Tso(StoreBuffers::new(views.threads(), locations.count())),
    };
    for (index, event) in events.iter().enumerate() {
        if index % OFTEN == OFTEN - 1 && known.is_over() {
            judgement.cut_off = true;
            break;
        }
        if event.is(flags::ROUND) {
            rounds.note(index, event);
            if locations.at(index).is_some_and(|location| views.is_initial(location)) {
                rounds.read_initial(event);
            }
            continue;
        }
        if let Some(location) = locations.at(index)
            && locations.is_judged(location)
            && views.may_be_stale(event.thread, location)
        {
            let candidate = Candidate { events, known, index, location, rounds: &rounds };
            if candidate.judge(&views, &mut limits, &mut judgement.stale).is_none() {
                judgement.cut_off = true;
                break;
            }
        }
        if !event.is(flags::PENDING) {
            views.step(index, event, &locations);
            if let Bounds::Tso(buffers) = &mut limits {
                buffers.step(index, event, &locations);
            }
            rounds.finish(event.thread);
        }
    }
    judgement
}

/// What a model adds to coherence.
enum Bounds {
    Rc20(SeqCstOrder),
    Tso(StoreBuffers),
}

/// An access that may be stale.
struct Candidate<'a, K> {
    events: &'a [RunEvent],
    known: &'a K,
    index: usize,
    location: usize,
    rounds: &'a Rounds,
}

impl<K: Knowledge> Candidate<'_, K> {
    /// `None` if the time is over.
    fn judge(&self, views: &Views, limits: &mut Bounds, stale: &mut Vec<StaleAccess>) -> Option<()> {
        let is_over = || self.known.is_over();
        let event = &self.events[self.index];
        let (oldest, newest) = views.stale_positions(event.thread, self.location);
        // Of accesses that are not seq_cst, and of those that are.
        let mut bounds = [None; 2];
        for position in (oldest..newest).rev() {
            let value = self.value(views, position);
            let Some(outcome) = self.outcome(event, value) else { continue };
            let missed = views.message(self.location, position + 1);
            if outcome.kind != StaleKind::Read && views.updates(missed) {
                continue;
            }
            let bound = &mut bounds[usize::from(outcome.seq_cst)];
            if bound.is_none() {
                *bound = Some(match limits {
                    Bounds::Rc20(order) => {
                        order.bound(views, event.thread, self.location, outcome.seq_cst, &is_over)?
                    }
                    Bounds::Tso(buffers) => buffers.bound(event, self.location),
                });
            }
            if bound.is_some_and(|bound| position < bound) {
                continue;
            }
            let source = position.checked_sub(1).map(|_| views.message(self.location, position));
            let (missed, source) = (views.event(missed), source.map(|source| views.event(source)));
            stale.push(StaleAccess { event: self.index, missed, source, value, kind: outcome.kind });
        }
        Some(())
    }

    /// The value of the message at a position.
    fn value(&self, views: &Views, position: usize) -> Option<u64> {
        if position > 0 {
            return Some(self.events[views.event(views.message(self.location, position))].written);
        }
        let operation = self.events[self.index].operation;
        let read = || views.reader_of_initial(self.location).map(|node| self.events[views.event(node)].read);
        let by_round = || self.rounds.initial(operation.address, operation.size);
        read().or_else(by_round).or_else(|| self.known.initial(operation.address, operation.size))
    }

    /// What the event does if it reads this value; `None` if that is not an access.
    fn outcome(&self, event: &RunEvent, value: Option<u64>) -> Option<Outcome> {
        let order = event.operation.order;
        let goes_round = |value| match event.awaited() {
            Some(awaited) => value != awaited,
            None => self.rounds.goes_round(self.events, event, value) || self.known.goes_round(event, value),
        };
        if event.operation.act != Act::Store && value.is_some_and(goes_round) {
            return None;
        }
        let (kind, order) = match (event.operation.act, event.is(flags::COMPARES)) {
            (Act::Store, _) => (StaleKind::Write, order),
            (Act::Load, false) => (StaleKind::Read, order),
            (Act::Update, false) => (StaleKind::Update, order),
            (Act::Update, true) if value.is_none_or(|value| value == event.read) => (StaleKind::Update, order),
            (Act::Update, true) => (StaleKind::Read, event.other_order().unwrap_or(order)),
            (_, _) if value.is_some_and(|value| value != event.written) => (StaleKind::Read, order),
            // The strongest order, so that nothing is reported that might not be possible.
            (_, _) => (StaleKind::Update, event.other_order().unwrap_or(RecordedOrder::SeqCst)),
        };
        Some(Outcome { kind, seq_cst: order == RecordedOrder::SeqCst })
    }
}

struct Outcome {
    kind: StaleKind,
    seq_cst: bool,
}
