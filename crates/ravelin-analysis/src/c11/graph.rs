//! The edges of an execution graph for people, and a short cycle through an event.

use ravelin_answer::{Edge, EdgeKind};
use ravelin_program::Order;
use ravelin_semantics::rc20::Graph;
use std::collections::VecDeque;

/// The edges that determine all others: po and mo from each event to the next, rf, and fr to the first write.
pub fn edges(graph: &Graph) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut edge = |from, to, kind| edges.push(Edge { from, to, kind, cell: None });
    for event in 1..graph.len() {
        if graph.events[event].thread.is_some() && graph.events[event].thread == graph.events[event - 1].thread {
            edge(event - 1, event, EdgeKind::Po);
        }
    }
    for writes in graph.writes.values() {
        for pair in writes.windows(2) {
            edge(pair[0], pair[1], EdgeKind::Mo);
        }
    }
    for read in 0..graph.len() {
        if let Some(source) = graph.sources[read] {
            edge(source, read, EdgeKind::Rf);
            if let Some(next) = overwriters(graph, read).next() {
                edge(read, next, EdgeKind::Fr);
            }
        }
    }
    edges.sort_by_key(|edge| (edge.from, edge.to, edge.kind));
    edges
}

/// The shortest cycle of atomic events through one of them, its edges in order; the first leaves the event.
pub(super) fn cycle_through(graph: &Graph, event: usize) -> Option<Vec<Edge>> {
    let counts = |event: usize| graph.events[event].label.order() != Order::NonAtomic;
    let mut reached: Vec<Option<Edge>> = vec![None; graph.len()];
    let mut pending = VecDeque::from([event]);
    while let Some(from) = pending.pop_front() {
        for (to, kind) in successors(graph, from) {
            if !counts(to) || reached[to].is_some() {
                continue;
            }
            reached[to] = Some(Edge { from, to, kind, cell: None });
            if to == event {
                let mut cycle = Vec::new();
                let mut at = event;
                while let Some(edge) = reached[at].take() {
                    at = edge.from;
                    cycle.push(edge);
                    if at == event {
                        break;
                    }
                }
                cycle.reverse();
                return Some(cycle);
            }
            pending.push_back(to);
        }
    }
    None
}

/// Everything that comes after an event by po, rf, mo or fr.
fn successors(graph: &Graph, from: usize) -> Vec<(usize, EdgeKind)> {
    let mut next = Vec::new();
    let label = &graph.events[from].label;
    if label.writes() {
        next.extend(
            (0..graph.len()).filter(|&read| graph.sources[read] == Some(from)).map(|read| (read, EdgeKind::Rf)),
        );
        let writes = label.address().and_then(|address| graph.writes.get(&address)).map_or(&[][..], Vec::as_slice);
        let later = writes.iter().skip_while(|&&write| write != from).skip(1);
        next.extend(later.map(|&write| (write, EdgeKind::Mo)));
    }
    next.extend(overwriters(graph, from).map(|write| (write, EdgeKind::Fr)));
    let thread = graph.events[from].thread;
    if thread.is_some() {
        let later = (from + 1..graph.len()).take_while(|&event| graph.events[event].thread == thread);
        next.extend(later.map(|event| (event, EdgeKind::Po)));
    }
    next
}

/// The writes after the one that an event reads, in modification order.
fn overwriters(graph: &Graph, read: usize) -> impl Iterator<Item = usize> + '_ {
    let source = graph.sources[read];
    let address = graph.events[read].label.address().filter(|_| source.is_some());
    let writes = address.and_then(|address| graph.writes.get(&address)).map_or(&[][..], Vec::as_slice);
    writes.iter().copied().skip_while(move |&write| Some(write) != source).skip(1).filter(move |&write| write != read)
}
