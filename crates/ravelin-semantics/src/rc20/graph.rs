//! Execution graphs: events, and the three basic relations po, rf and mo.
//!
//! A graph grows by events that nothing in it depends on: a new event is last in its thread and reads an existing
//! write. Because po ∪ rf is acyclic in every consistent graph, each of them can be built in this way. Events are kept
//! in one canonical order (initial writes by address, then threads in turn), so equality of graphs is structural.

use super::Relation;
use ravelin_program::{Order, Span, ThreadId, TransitionId, Value};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    /// Initial writes first, in order of addresses; then the threads' events, each thread's together and in program
    /// order.
    pub events: Vec<GraphEvent>,
    /// For each event that reads, the write it reads.
    pub sources: Vec<Option<usize>>,
    /// For each address, its writes in modification order, the initial one first.
    pub writes: BTreeMap<Value, Vec<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GraphEvent {
    /// `None` for an initial write.
    pub thread: Option<ThreadId>,
    pub label: Label,
    pub transition: Option<TransitionId>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    Read { address: Value, value: Value, order: Order },
    Write { address: Value, value: Value, order: Order },
    Rmw { address: Value, read: Value, written: Value, order: Order },
    Fence { order: Order },
}

impl Label {
    pub fn address(&self) -> Option<Value> {
        match *self {
            Label::Read { address, .. } | Label::Write { address, .. } | Label::Rmw { address, .. } => Some(address),
            Label::Fence { .. } => None,
        }
    }

    pub fn order(&self) -> Order {
        match *self {
            Label::Read { order, .. }
            | Label::Write { order, .. }
            | Label::Rmw { order, .. }
            | Label::Fence { order } => order,
        }
    }

    pub fn value_read(&self) -> Option<Value> {
        match *self {
            Label::Read { value, .. } | Label::Rmw { read: value, .. } => Some(value),
            _ => None,
        }
    }

    pub fn value_written(&self) -> Option<Value> {
        match *self {
            Label::Write { value, .. } | Label::Rmw { written: value, .. } => Some(value),
            _ => None,
        }
    }

    /// R or RMW.
    pub fn reads(&self) -> bool {
        self.value_read().is_some()
    }

    /// W or RMW.
    pub fn writes(&self) -> bool {
        self.value_written().is_some()
    }

    pub fn is_rmw(&self) -> bool {
        matches!(self, Label::Rmw { .. })
    }

    pub fn is_fence(&self) -> bool {
        matches!(self, Label::Fence { .. })
    }
}

impl GraphEvent {
    pub fn is_initial(&self) -> bool {
        self.thread.is_none()
    }

    pub fn is_atomic(&self) -> bool {
        self.label.order() != Order::NonAtomic
    }
}

impl Graph {
    pub fn len(&self) -> usize {
        self.events.len()
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Program order: initial writes before everything else, and a thread's events in sequence.
    pub fn po(&self) -> Relation {
        let thread = |event: usize| self.events[event].thread;
        Relation::of(self.len(), |a, b| match (thread(a), thread(b)) {
            (None, Some(_)) => true,
            (Some(p), Some(q)) => p == q && a < b,
            (_, None) => false,
        })
    }

    /// Reads-from.
    pub fn rf(&self) -> Relation {
        let mut rf = Relation::empty(self.len());
        for (read, source) in self.sources.iter().enumerate() {
            source.iter().for_each(|&write| rf.insert(write, read));
        }
        rf
    }

    /// Modification order.
    pub fn mo(&self) -> Relation {
        let mut mo = Relation::empty(self.len());
        for writes in self.writes.values() {
            for (position, &earlier) in writes.iter().enumerate() {
                for &later in &writes[position + 1..] {
                    mo.insert(earlier, later);
                }
            }
        }
        mo
    }

    /// The value of the mo-last write to an address, if the graph has one.
    pub fn latest(&self, address: Value) -> Option<Value> {
        let &write = self.writes.get(&address)?.last()?;
        self.events[write].label.value_written()
    }

    /// Adds the initial write of an address that has none.
    pub fn initialise(&mut self, address: Value, value: Value) {
        debug_assert!(!self.writes.contains_key(&address));
        let label = Label::Write { address, value, order: Order::NonAtomic };
        let event = GraphEvent { thread: None, label, transition: None, span: Span::NOWHERE };
        let before = |other: &GraphEvent| other.is_initial() && other.label.address() < Some(address);
        let index = self.events.partition_point(before);
        self.insert(index, event, None);
        self.writes.insert(address, vec![index]);
    }

    /// Adds the next event of a thread. It reads `source` if it reads, and becomes number `position` in the
    /// modification order of its address if it writes. The address has an initial write.
    pub fn extend(&mut self, event: GraphEvent, source: Option<usize>, position: Option<usize>) {
        debug_assert!(event.thread.is_some());
        debug_assert_eq!(event.label.reads(), source.is_some());
        debug_assert_eq!(event.label.writes(), position.is_some());
        let address = event.label.address();
        let index = self.events.partition_point(|other| other.thread <= event.thread);
        self.insert(index, event, source);
        if let (Some(address), Some(position)) = (address, position) {
            self.writes.entry(address).or_default().insert(position, index);
        }
    }

    /// Adds a fence to an event's thread, right before the event.
    pub fn add_fence(&mut self, before: usize, order: Order) {
        let GraphEvent { thread, span, .. } = self.events[before];
        debug_assert!(thread.is_some());
        self.insert(before, GraphEvent { thread, label: Label::Fence { order }, transition: None, span }, None);
    }

    /// Makes room at an index and renumbers the events after it.
    fn insert(&mut self, index: usize, event: GraphEvent, source: Option<usize>) {
        let moved = |event: &mut usize| *event += usize::from(*event >= index);
        self.events.insert(index, event);
        self.sources.insert(index, source);
        self.sources.iter_mut().flatten().for_each(moved);
        self.writes.values_mut().flatten().for_each(moved);
    }
}
