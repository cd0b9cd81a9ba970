//! What happened before what: events, edges between them, and which of the edges are on the cycle that sequential consistency
//! forbids.

use super::{Run, Wrong};
use serde::Deserialize;

/// An execution graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub events: Vec<Event>,
    /// Each once; those of the cycle that no generating edge stands for are there, too.
    pub edges: Vec<Edge>,
    /// The edges of the cycle in order, as numbers of edges; empty if there is none.
    pub cycle: Vec<usize>,
    /// Events that a reader should look at first: the stale access and the write it ignores, or the two accesses of a race.
    pub marked: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// None for an initial write.
    pub thread: Option<String>,
    pub line: Option<u32>,
    /// `W x = 1`, `R y = 0 (acquire)`, `U z 0 → 1`, `F (seq_cst)`, `x = 0` for an initial write.
    pub text: String,
    /// The steps of the run that it is made of, first its own and last the one that made it visible to all.
    pub steps: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    /// The cell it is about, where that was told.
    pub cell: Option<String>,
    pub on_cycle: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Program order.
    Po,
    /// From a write to a read of it.
    Rf,
    /// The order in which stores to a cell reach memory.
    Co,
    /// Modification order: what C11 calls the same.
    Mo,
    /// From a read to a write that overwrites what it read.
    Fr,
}

impl EdgeKind {
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Po => "po",
            EdgeKind::Rf => "rf",
            EdgeKind::Co => "co",
            EdgeKind::Mo => "mo",
            EdgeKind::Fr => "fr",
        }
    }
}

#[derive(Deserialize)]
pub struct RawEvent {
    thread: Option<String>,
    line: Option<u32>,
    text: String,
    steps: Vec<usize>,
}

#[derive(Deserialize)]
pub struct RawEdge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    pub cell: Option<String>,
}

/// A graph from its parts.
pub fn graph(
    run: &Run,
    events: Vec<RawEvent>,
    edges: Vec<RawEdge>,
    cycle: Vec<RawEdge>,
    marked: &[usize],
) -> Result<Graph, Wrong> {
    let mut graph = Graph { marked: marked.to_vec(), ..Graph::default() };
    for event in events {
        let steps = event.steps.iter().map(|&step| run.places.get(step).copied());
        let steps = steps.collect::<Option<Vec<usize>>>();
        let steps = steps.ok_or_else(|| format!("the event `{}` is made of steps that are none", event.text))?;
        graph.events.push(Event { thread: event.thread, line: event.line, text: event.text, steps });
    }
    let exists = |event: usize| event < graph.events.len();
    if let Some(edge) = edges.iter().chain(&cycle).find(|edge| !exists(edge.from) || !exists(edge.to)) {
        return Err(Wrong(format!(
            "an edge leads from event {} to event {}, which are not both there",
            edge.from, edge.to
        )));
    }
    if let Some(event) = marked.iter().find(|event| !exists(**event)) {
        return Err(Wrong(format!("there is no event {event}")));
    }
    let edge = |raw: RawEdge| Edge { from: raw.from, to: raw.to, kind: raw.kind, cell: raw.cell, on_cycle: false };
    graph.edges = edges.into_iter().map(edge).collect();
    for raw in cycle {
        let same = |edge: &Edge| edge.from == raw.from && edge.to == raw.to && edge.kind == raw.kind;
        let place = graph.edges.iter().position(same).unwrap_or_else(|| {
            graph.edges.push(edge(raw));
            graph.edges.len() - 1
        });
        graph.edges[place].on_cycle = true;
        graph.cycle.push(place);
    }
    Ok(graph)
}
