//! A process's automaton under construction.
//!
//! Statements are lowered from a point to a point that is known before, so jumps need no steps and points need no merging:
//! whoever asks for the entry of a `goto` gets the point of its label.

use ravelin_program::{Instruction, LocId, Location, Span, Transition};

/// A control state before numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point(usize);

#[derive(Debug, Default)]
pub struct MemoraxFlow {
    labels: Vec<Vec<String>>,
    edges: Vec<(Point, Instruction, Point, Span)>,
}

/// The finished automaton.
#[derive(Debug)]
pub struct MemoraxAutomaton {
    pub locations: Vec<Location>,
    pub transitions: Vec<Transition>,
    pub initial: LocId,
    /// Which location each point became; `None` if nothing leads there.
    pub numbers: Vec<Option<LocId>>,
}

impl MemoraxAutomaton {
    pub fn number(&self, point: Point) -> Option<LocId> {
        self.numbers[point.0]
    }
}

impl MemoraxFlow {
    pub fn fresh(&mut self) -> Point {
        self.labels.push(Vec::new());
        Point(self.labels.len() - 1)
    }

    pub fn label(&mut self, point: Point, name: &str) {
        self.labels[point.0].push(name.to_owned());
    }

    pub fn emit(&mut self, from: Point, instruction: Instruction, to: Point, span: Span) {
        self.edges.push((from, instruction, to, span));
    }

    /// Keeps what can be reached, numbered in the order of the source with the end last.
    pub fn finish(self, initial: Point, end: Point, end_span: Span) -> MemoraxAutomaton {
        let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); self.labels.len()];
        for (index, (from, ..)) in self.edges.iter().enumerate() {
            outgoing[from.0].push(index);
        }
        let mut reachable = vec![false; self.labels.len()];
        reachable[initial.0] = true;
        let mut open = vec![initial];
        while let Some(point) = open.pop() {
            for &edge in &outgoing[point.0] {
                let to = self.edges[edge].2;
                if !std::mem::replace(&mut reachable[to.0], true) {
                    open.push(to);
                }
            }
        }
        let mut numbers: Vec<Option<LocId>> = vec![None; self.labels.len()];
        let mut locations: Vec<Location> = Vec::new();
        let leaves = self.edges.iter().map(|(from, _, _, span)| (*from, *span));
        // Only broken statements leave points that nothing leads out of, but they too need a number.
        let rest = (0..self.labels.len()).map(Point).filter(|&point| point != end).map(|point| (point, end_span));
        for (point, span) in leaves.chain(rest).chain([(end, end_span)]) {
            if reachable[point.0] && numbers[point.0].is_none() {
                numbers[point.0] = Some(LocId(locations.len()));
                locations.push(Location { labels: self.labels[point.0].clone(), span });
            }
        }
        let mut transitions: Vec<Transition> = self
            .edges
            .into_iter()
            .filter_map(|(from, instruction, to, span)| {
                Some(Transition { from: numbers[from.0]?, to: numbers[to.0]?, instruction, span, call: None })
            })
            .collect();
        transitions.sort_by_key(|transition| transition.from);
        MemoraxAutomaton { locations, transitions, initial: numbers[initial.0].unwrap_or(LocId(0)), numbers }
    }
}
