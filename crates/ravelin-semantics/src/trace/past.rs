//! What a search over runs remembers of the run so far: happens-before, transitively closed, and where it can still
//! grow.
//!
//! New edges start only at *live* events: the last one of a thread (po), the newest store to a cell in memory (rf, co),
//! the loads that read it (fr), and events that will become these once a pending store is flushed. They end at new
//! events, at a pending store when it is flushed, and at the event of an open bus lock. A new event has nothing after
//! it, so **only the flush of a pending store closes a cycle**, and under SC nothing does.
//!
//! For the future it only matters which live events each pending store, and the open event, comes before.
//! [`Past::prospect`] contains exactly that. Two runs that agree on it and on the state can be continued with the same
//! actions, and then both close a cycle or neither does.

use super::touch::{CellAccess, touches};
use crate::Action;
use crate::operational::{Reference, Refusal, State};
use ravelin_program::{Instruction, ThreadId, Value};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Past {
    /// For each event all events that happen before it. Events are numbered in order of arrival.
    before: Vec<Events>,
    /// The last event of each thread.
    last: Vec<Option<usize>>,
    memory: BTreeMap<Value, Version>,
    /// For each thread and address the pending stores, oldest first.
    pending: Vec<BTreeMap<Value, VecDeque<Version>>>,
    /// The event of the bus lock's holder, once there is one.
    open: Option<usize>,
    cyclic: bool,
}

/// A value of a cell: the event that stored it, none for the initial value, and those that have read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Version {
    store: Option<usize>,
    readers: Vec<usize>,
}

/// Which live events an event comes before, or is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Prospect {
    /// Of each thread, the last.
    threads: Vec<bool>,
    /// Of each pending store, by thread and address: the store itself, and a load that read it early.
    pending: Vec<(bool, bool)>,
    /// The cells in memory whose newest store it comes before (`true`), or only a load of that (`false`).
    memory: Vec<(Value, bool)>,
}

impl Past {
    pub fn new(threads: usize) -> Past {
        Past {
            before: Vec::new(),
            last: vec![None; threads],
            memory: BTreeMap::new(),
            pending: vec![BTreeMap::new(); threads],
            open: None,
            cyclic: false,
        }
    }

    pub fn is_cyclic(&self) -> bool {
        self.cyclic
    }

    /// For each pending store, by thread and address, and last for the open event. The state of a run determines which
    /// pending stores there are.
    pub fn prospect(&self) -> Vec<Prospect> {
        let pending = self.pending_stores().filter_map(|version| version.store);
        pending.chain(self.open).map(|event| self.prospect_of(event)).collect()
    }

    /// Adds an action that leads from one state to the other.
    pub fn record(
        &mut self,
        reference: &Reference,
        before: &State,
        action: Action,
        after: &State,
    ) -> Result<(), Refusal> {
        match action {
            Action::Flush { thread, address } => {
                let oldest = self.pending[thread.0].get_mut(&address).and_then(VecDeque::pop_front);
                let version = oldest.ok_or(Refusal::NothingToFlush { address })?;
                self.reach_memory(address, version);
            }
            Action::Step { thread, transition, choice } => {
                let touches = touches(reference, before, (thread, transition, choice), after)?;
                let instruction = &reference.program().threads[thread.0].transitions[transition.0].instruction;
                if matches!(instruction, Instruction::BusLock | Instruction::BusUnlock) {
                    self.open = None;
                }
                if !touches.is_empty() {
                    let event = self.event(thread, before.bus == Some(thread));
                    for touch in touches {
                        self.access(event, thread, &touch);
                    }
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, thread: ThreadId, holds_bus: bool) -> usize {
        if let Some(open) = self.open.filter(|_| holds_bus) {
            return open;
        }
        let event = self.before.len();
        self.before.push(Events::default());
        if let Some(last) = self.last[thread.0].replace(event) {
            self.order(last, event);
        }
        if holds_bus {
            self.open = Some(event);
        }
        event
    }

    fn access(&mut self, event: usize, thread: ThreadId, touch: &CellAccess) {
        let address = touch.address;
        if touch.read.is_some() {
            let early = self.pending[thread.0].get_mut(&address).and_then(VecDeque::back_mut);
            let version = match early {
                Some(version) => version,
                None => self.memory.entry(address).or_default(),
            };
            version.readers.push(event);
            if let Some(store) = version.store {
                self.order(store, event);
            }
        }
        if touch.written.is_some() {
            let version = Version { store: Some(event), readers: Vec::new() };
            match touch.buffered {
                true => self.pending[thread.0].entry(address).or_default().push_back(version),
                false => self.reach_memory(address, version),
            }
        }
    }

    /// The version becomes the newest in memory: after the store before it, and after all loads of that.
    fn reach_memory(&mut self, address: Value, version: Version) {
        let overwritten = self.memory.remove(&address).unwrap_or_default();
        if let Some(event) = version.store {
            for earlier in overwritten.readers.into_iter().chain(overwritten.store) {
                self.order(earlier, event);
            }
        }
        self.memory.insert(address, version);
    }

    fn order(&mut self, earlier: usize, later: usize) {
        if earlier == later {
            return;
        }
        self.cyclic |= self.before[earlier].contains(later);
        let mut gained = self.before[earlier].clone();
        gained.insert(earlier);
        for event in 0..self.before.len() {
            if self.is_or_precedes(later, event) {
                self.before[event].unite(&gained);
            }
        }
    }

    fn is_or_precedes(&self, earlier: usize, later: usize) -> bool {
        earlier == later || self.before[later].contains(earlier)
    }

    fn pending_stores(&self) -> impl Iterator<Item = &Version> {
        self.pending.iter().flat_map(BTreeMap::values).flatten()
    }

    fn prospect_of(&self, event: usize) -> Prospect {
        let comes_before = |later: usize| self.is_or_precedes(event, later);
        let comes_before_version = |version: &Version| {
            (version.store.is_some_and(comes_before), version.readers.iter().copied().any(comes_before))
        };
        Prospect {
            threads: self.last.iter().map(|last| last.is_some_and(comes_before)).collect(),
            pending: self.pending_stores().map(comes_before_version).collect(),
            memory: self
                .memory
                .iter()
                .filter_map(|(&address, version)| match comes_before_version(version) {
                    (false, false) => None,
                    (store, _) => Some((address, store)),
                })
                .collect(),
        }
    }
}

/// A set of events, as a string of bits without zero words at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Events(Vec<u64>);

impl Events {
    fn contains(&self, event: usize) -> bool {
        self.0.get(event / 64).is_some_and(|word| word >> (event % 64) & 1 == 1)
    }

    fn insert(&mut self, event: usize) {
        let word = event / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (event % 64);
    }

    fn unite(&mut self, other: &Events) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, add) in self.0.iter_mut().zip(&other.0) {
            *word |= add;
        }
    }
}
