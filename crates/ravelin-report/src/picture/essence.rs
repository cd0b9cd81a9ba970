//! The part of a graph that a reader needs first: the cycle alone. Without a cycle it is what the threads did.
//!
//! Initial writes are hidden unless they matter, which they do on the cycle and where they are marked: what a read got
//! from one is in the text of the read.

use crate::story::{Edge, Graph};

/// A part of a graph, and the numbers of its events in the whole.
pub struct Essence {
    pub graph: Graph,
    pub numbers: Vec<usize>,
}

impl Essence {
    /// All of it.
    pub fn whole(graph: &Graph) -> Essence {
        Essence { graph: graph.clone(), numbers: (0..graph.events.len()).collect() }
    }

    /// What to show first; none if that is everything.
    pub fn of(graph: &Graph) -> Option<Essence> {
        let on_cycle = |event: usize| graph.edges.iter().any(|edge| edge.on_cycle && touches(edge, event));
        let is_marked = |event: usize| graph.marked.contains(&event);
        let has_cycle = !graph.cycle.is_empty();
        let is_kept = |event: usize| match has_cycle {
            true => on_cycle(event) || is_marked(event),
            false => graph.events[event].thread.is_some() || is_marked(event),
        };
        let numbers: Vec<usize> = (0..graph.events.len()).filter(|&event| is_kept(event)).collect();
        // What is marked beside the cycle needs its edges to be understood.
        let beside = |event: usize| is_marked(event) && !on_cycle(event);
        let is_shown = |edge: &Edge| !has_cycle || edge.on_cycle || edge_ends(edge).into_iter().any(beside);
        let place = |event: usize| numbers.binary_search(&event).ok();
        let mut part = Graph::default();
        let mut places = vec![None; graph.edges.len()];
        for (number, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| is_shown(edge)) {
            let (Some(from), Some(to)) = (place(edge.from), place(edge.to)) else { continue };
            places[number] = Some(part.edges.len());
            part.edges.push(Edge { from, to, ..edge.clone() });
        }
        if numbers.len() == graph.events.len() && part.edges.len() == graph.edges.len() {
            return None;
        }
        part.cycle = graph.cycle.iter().filter_map(|&edge| places[edge]).collect();
        part.marked = graph.marked.iter().filter_map(|&event| place(event)).collect();
        part.events = numbers.iter().map(|&event| graph.events[event].clone()).collect();
        Some(Essence { graph: part, numbers })
    }
}

fn edge_ends(edge: &Edge) -> [usize; 2] {
    [edge.from, edge.to]
}

fn touches(edge: &Edge, event: usize) -> bool {
    edge_ends(edge).contains(&event)
}
