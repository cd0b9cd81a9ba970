//! The edges of a trace, and a shortest cycle of them.
//!
//! [`Trace::edges`] gives generating edges: between neighbours in program order and memory order, and from a load to
//! the store that overwrote what it read. A cycle uses the full relations, as Appendix A of *Checking and Enforcing
//! Robustness against TSO* defines them: po from an event to any later one of its thread, co to any later store, fr to
//! any store after the source. It therefore contains only relevant events.
//!
//! Cost of a cycle: a breadth-first search from each event, over at most n² edges.

use super::{Trace, ValueSource};
use ravelin_program::Value;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;

/// The kinds of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceEdge {
    /// Program order.
    Po,
    /// From a store to a load that reads it.
    Rf,
    /// Memory order of the stores to an address.
    Co,
    /// From a load to a store that overwrites what it read.
    Fr,
}

impl TraceEdge {
    pub const ALL: [TraceEdge; 4] = [TraceEdge::Po, TraceEdge::Rf, TraceEdge::Co, TraceEdge::Fr];

    pub fn name(self) -> &'static str {
        match self {
            TraceEdge::Po => "po",
            TraceEdge::Rf => "rf",
            TraceEdge::Co => "co",
            TraceEdge::Fr => "fr",
        }
    }
}

impl fmt::Display for TraceEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An edge between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arrow {
    pub from: usize,
    pub edge: TraceEdge,
    /// The cell of the edge; none for program order.
    pub address: Option<Value>,
    pub to: usize,
}

/// A step of a cycle: the edge leads from this event to that of the next step, and from the last to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CycleStep {
    pub event: usize,
    pub edge: TraceEdge,
    pub address: Option<Value>,
}

impl Trace {
    /// The generating edges, sorted. Those within one event are omitted.
    pub fn edges(&self) -> Vec<Arrow> {
        self.arrows(1)
    }

    /// A shortest cycle of happens-before, or `None` if some SC run has this trace (Lemma 1).
    ///
    /// The choice among several is deterministic. The cycle starts with program order, at the first possible event.
    /// Every cycle has such an edge: the others follow the order in which memory was accessed, except where a load
    /// reads a store of its own thread early, which is program order too.
    pub fn cycle(&self) -> Option<Vec<CycleStep>> {
        let mut outgoing: Vec<Vec<Arrow>> = vec![Vec::new(); self.events.len()];
        for arrow in self.arrows(usize::MAX) {
            outgoing[arrow.from].push(arrow);
        }
        let mut shortest: Option<Vec<Arrow>> = None;
        for start in 0..self.events.len() {
            let found = cycle_through(&outgoing, start);
            if let Some(found) = found
                && shortest.as_ref().is_none_or(|shortest| found.len() < shortest.len())
            {
                shortest = Some(found);
            }
        }
        let mut cycle = shortest?;
        let programmed = cycle.iter().enumerate().filter(|(_, arrow)| arrow.edge == TraceEdge::Po);
        if let Some((first, _)) = programmed.min_by_key(|(_, arrow)| arrow.from) {
            cycle.rotate_left(first);
        }
        Some(
            cycle
                .iter()
                .map(|arrow| CycleStep { event: arrow.from, edge: arrow.edge, address: arrow.address })
                .collect(),
        )
    }

    /// All edges that skip fewer than `reach` events of their order.
    fn arrows(&self, reach: usize) -> Vec<Arrow> {
        let mut arrows = BTreeSet::new();
        let mut add = |from: usize, edge, address, later: &[usize]| {
            for &to in later.iter().take(reach).filter(|&&to| to != from) {
                arrows.insert(Arrow { from, edge, address, to });
            }
        };
        for events in &self.program_order {
            for (index, &event) in events.iter().enumerate() {
                add(event, TraceEdge::Po, None, &events[index + 1..]);
            }
        }
        for (&address, stores) in &self.memory_order {
            for (index, &store) in stores.iter().enumerate() {
                add(store, TraceEdge::Co, Some(address), &stores[index + 1..]);
            }
        }
        for (event, node) in self.events.iter().enumerate() {
            for access in &node.accesses {
                let Some(read) = access.read else { continue };
                let stores = self.memory_order.get(&access.address).map_or(&[][..], Vec::as_slice);
                let overwritten_by = match read.source {
                    ValueSource::Initial => 0,
                    ValueSource::Event(source) => {
                        add(source, TraceEdge::Rf, Some(access.address), &[event]);
                        // A source that is pending has nothing after it yet.
                        stores.iter().position(|&store| store == source).map_or(stores.len(), |index| index + 1)
                    }
                };
                add(event, TraceEdge::Fr, Some(access.address), &stores[overwritten_by..]);
            }
        }
        arrows.into_iter().collect()
    }
}

/// A shortest cycle through an event, found breadth-first.
fn cycle_through(outgoing: &[Vec<Arrow>], start: usize) -> Option<Vec<Arrow>> {
    let mut reached_by: Vec<Option<Arrow>> = vec![None; outgoing.len()];
    let mut waiting = VecDeque::from([start]);
    while let Some(event) = waiting.pop_front() {
        for &arrow in &outgoing[event] {
            if reached_by[arrow.to].is_some() {
                continue;
            }
            reached_by[arrow.to] = Some(arrow);
            if arrow.to != start {
                waiting.push_back(arrow.to);
                continue;
            }
            let mut cycle = vec![arrow];
            let mut at = arrow.from;
            while at != start {
                let back = reached_by[at]?;
                cycle.push(back);
                at = back.from;
            }
            cycle.reverse();
            return Some(cycle);
        }
    }
    None
}
