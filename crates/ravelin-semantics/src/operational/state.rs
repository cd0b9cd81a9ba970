//! States of the operational models: control, registers, store buffers, memory and the bus lock.
//!
//! A state has only one representation. Memory holds every named address, and an unnamed one only while its value is
//! not the initial 0. Under PSO a buffer is a sequence of groups of stores, divided by markers. Stores of one group
//! reach memory in any order that keeps those to one address in sequence, and a group starts only when the previous one
//! is done. Within a group only the order for each address counts, so a group is kept sorted by address. Markers that
//! divide nothing (at the front, or two in a row) do not occur.

use ravelin_program::{LocId, Model, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A state of a whole program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub threads: Vec<ThreadState>,
    /// All named addresses, and the unnamed ones that do not hold 0.
    pub memory: BTreeMap<Value, Value>,
    /// The thread that holds the bus lock.
    pub bus: Option<ThreadId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadState {
    pub location: LocId,
    pub registers: Vec<Value>,
    /// Always empty under SC.
    pub buffer: Buffer,
}

/// The stores that a thread has issued and that have not reached memory, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buffer {
    entries: Vec<PendingEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PendingEntry {
    Store {
        address: Value,
        value: Value,
    },
    /// Everything before reaches memory before anything after. Only under PSO.
    Marker,
}

impl State {
    /// The content of memory, without buffers.
    pub fn cell(&self, address: Value) -> Value {
        self.memory.get(&address).copied().unwrap_or(0)
    }

    /// What a thread reads: its own newest pending store to the address (rule LB), else memory (rule LM).
    pub fn visible(&self, thread: ThreadId, address: Value) -> Value {
        self.threads[thread.0].buffer.newest(address).unwrap_or_else(|| self.cell(address))
    }

    /// All buffers are empty and the bus lock is free: an observer may read memory.
    pub fn is_settled(&self) -> bool {
        self.bus.is_none() && self.threads.iter().all(|thread| thread.buffer.is_empty())
    }
}

impl Buffer {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> &[PendingEntry] {
        &self.entries
    }

    /// The number of pending stores.
    pub fn pending(&self) -> usize {
        self.entries.iter().filter(|entry| **entry != PendingEntry::Marker).count()
    }

    /// The value of the newest pending store to an address.
    pub fn newest(&self, address: Value) -> Option<Value> {
        self.entries.iter().rev().find_map(|entry| match *entry {
            PendingEntry::Store { address: to, value } if to == address => Some(value),
            _ => None,
        })
    }

    /// The addresses whose oldest pending store may reach memory next.
    pub fn flushable(&self, model: Model) -> BTreeSet<Value> {
        let stores = self.entries.iter().map_while(|entry| match *entry {
            PendingEntry::Store { address, .. } => Some(address),
            PendingEntry::Marker => None,
        });
        match model {
            Model::Sc | Model::Ra | Model::Rc20 => BTreeSet::new(),
            Model::Tso => stores.take(1).collect(),
            Model::Pso => stores.collect(),
        }
    }

    /// Rule ST: a store joins the buffer.
    pub(super) fn issue(&mut self, model: Model, address: Value, value: Value) {
        self.entries.push(PendingEntry::Store { address, value });
        if model == Model::Pso {
            let group =
                self.entries.iter().rposition(|entry| *entry == PendingEntry::Marker).map_or(0, |marker| marker + 1);
            // A stable sort, so stores to one address stay in sequence.
            self.entries[group..].sort_by_key(|entry| match *entry {
                PendingEntry::Store { address, .. } => Some(address),
                PendingEntry::Marker => None,
            });
        }
    }

    /// Orders all stores pending now before all later ones.
    pub(super) fn mark(&mut self) {
        if matches!(self.entries.last(), Some(PendingEntry::Store { .. })) {
            self.entries.push(PendingEntry::Marker);
        }
    }

    /// Rule MEM: removes the oldest store to a flushable address.
    pub(super) fn flush(&mut self, model: Model, address: Value) -> Option<Value> {
        if !self.flushable(model).contains(&address) {
            return None;
        }
        let (index, value) = self.entries.iter().enumerate().find_map(|(index, entry)| match *entry {
            PendingEntry::Store { address: to, value } if to == address => Some((index, value)),
            _ => None,
        })?;
        self.entries.remove(index);
        if self.entries.first() == Some(&PendingEntry::Marker) {
            self.entries.remove(0);
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(model: Model, stores: &[(Value, Value)]) -> Buffer {
        let mut buffer = Buffer::default();
        for &(address, value) in stores {
            buffer.issue(model, address, value);
        }
        buffer
    }

    #[test]
    fn tso_flushes_the_oldest_store_only() {
        let mut pending = buffer(Model::Tso, &[(2, 1), (1, 1), (2, 2)]);
        assert_eq!(pending.flushable(Model::Tso), BTreeSet::from([2]));
        assert_eq!(pending.newest(2), Some(2));
        assert_eq!(pending.flush(Model::Tso, 1), None);
        assert_eq!(pending.flush(Model::Tso, 2), Some(1));
        assert_eq!(pending.flushable(Model::Tso), BTreeSet::from([1]));
    }

    #[test]
    fn pso_buffers_that_differ_in_the_order_of_addresses_only_are_equal() {
        let pending = buffer(Model::Pso, &[(2, 1), (1, 1), (2, 2)]);
        assert_eq!(pending, buffer(Model::Pso, &[(1, 1), (2, 1), (2, 2)]));
        assert_ne!(pending, buffer(Model::Pso, &[(1, 1), (2, 2), (2, 1)]));
        assert_eq!(pending.flushable(Model::Pso), BTreeSet::from([1, 2]));
        assert_eq!(pending.newest(2), Some(2));
    }

    #[test]
    fn a_marker_holds_later_stores_back_and_vanishes_at_the_front() {
        let mut pending = Buffer::default();
        pending.mark();
        assert!(pending.is_empty());
        pending.issue(Model::Pso, 2, 1);
        pending.mark();
        pending.mark();
        pending.issue(Model::Pso, 1, 1);
        assert_eq!(pending.entries().len(), 3);
        assert_eq!(pending.pending(), 2);
        assert_eq!(pending.flushable(Model::Pso), BTreeSet::from([2]));
        assert_eq!(pending.flush(Model::Pso, 2), Some(1));
        assert_eq!(pending, buffer(Model::Pso, &[(1, 1)]));
    }
}
