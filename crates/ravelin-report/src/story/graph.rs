//! What happened before what: events, edges between them, and which of the edges are on the cycle that sequential
//! consistency forbids.

use super::RunView;
use ravelin_answer::{self as answer, EdgeKind};

/// An execution graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub events: Vec<Event>,
    /// Each once, including edges of the cycle that are not generating edges.
    pub edges: Vec<Edge>,
    /// The edges of the cycle in order, as numbers of edges; empty if there is none.
    pub cycle: Vec<usize>,
    /// The most important events for a reader: the stale access and the write it ignores, or the two accesses of a
    /// race.
    pub marked: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// None for an initial write.
    pub thread: Option<String>,
    pub line: Option<usize>,
    /// `W x = 1`, `R y = 0 (acquire)`, `U z 0 → 1`, `F (seq_cst)`, `x = 0` for an initial write.
    pub text: String,
    /// Its steps in the run, first its own and last the one that made it visible to all.
    pub steps: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    /// The cell of the edge, if the document has it.
    pub cell: Option<String>,
    pub on_cycle: bool,
}

/// A graph from its parts.
pub fn graph(
    run: &RunView,
    events: &[answer::Event],
    edges: &[answer::Edge],
    cycle: &[answer::Edge],
    marked: &[usize],
) -> Graph {
    let event = |event: &answer::Event| Event {
        thread: event.thread.clone(),
        line: event.position.map(|at| at.line),
        text: event.text.clone(),
        steps: event.steps.iter().map(|&step| run.places[step]).collect(),
    };
    let edge = |edge: &answer::Edge| Edge {
        from: edge.from,
        to: edge.to,
        kind: edge.kind,
        cell: edge.cell.clone(),
        on_cycle: false,
    };
    let mut graph = Graph {
        events: events.iter().map(event).collect(),
        edges: edges.iter().map(edge).collect(),
        cycle: Vec::new(),
        marked: marked.to_vec(),
    };
    for on_cycle in cycle {
        let same = |edge: &Edge| edge.from == on_cycle.from && edge.to == on_cycle.to && edge.kind == on_cycle.kind;
        let place = graph.edges.iter().position(same).unwrap_or_else(|| {
            graph.edges.push(edge(on_cycle));
            graph.edges.len() - 1
        });
        graph.edges[place].on_cycle = true;
        graph.cycle.push(place);
    }
    graph
}
