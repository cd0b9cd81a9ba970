//! Control flow under construction: locations that jumps merge, and the transitions between them.
//!
//! A straight jump costs nothing: it makes two locations one. This is sound because of an invariant that whoever builds
//! must keep: a location from which something jumps has no transitions of its own and never gets any, so that of all
//! locations merged into one at most one has transitions out of it. Only a choice needs more care; see [`Flow::branch`].

use ravelin_program::{CallId, Instruction, LocId, Location, Span, Transition};

/// A location before merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw(usize);

impl Raw {
    /// Stands for a location where none is built.
    pub const NOWHERE: Raw = Raw(usize::MAX);
}

#[derive(Debug, Default)]
pub struct Flow {
    parent: Vec<usize>,
    /// Something leads to this location, or it has a name: it is more than the start of a branch.
    reached: Vec<bool>,
    labels: Vec<(Raw, String)>,
    edges: Vec<FlowEdge>,
    next_rank: usize,
    /// The call that steps are a part of which are added now.
    pub call: Option<CallId>,
}

#[derive(Debug)]
struct FlowEdge {
    from: usize,
    to: usize,
    instruction: Instruction,
    span: Span,
    call: Option<CallId>,
    /// Position in the order of the source.
    rank: usize,
}

/// The finished automaton.
#[derive(Debug)]
pub struct FlowAutomaton {
    pub locations: Vec<Location>,
    pub transitions: Vec<Transition>,
    pub initial: LocId,
    /// Where each label went; `None` if nothing leads there.
    pub labels: Vec<(String, Option<LocId>)>,
}

impl Flow {
    pub fn fresh(&mut self) -> Raw {
        self.parent.push(self.parent.len());
        self.reached.push(false);
        Raw(self.parent.len() - 1)
    }

    pub fn emit(&mut self, from: Raw, instruction: Instruction, to: Raw, span: Span) {
        let rank = self.reserve();
        self.emit_at(rank, from, instruction, to, span);
    }

    /// A place in the order of transitions, to be used later.
    pub fn reserve(&mut self) -> usize {
        self.next_rank += 1;
        self.next_rank
    }

    fn emit_at(&mut self, rank: usize, from: Raw, instruction: Instruction, to: Raw, span: Span) {
        let target = self.find(to);
        self.reached[target] = true;
        self.edges.push(FlowEdge { from: from.0, to: to.0, instruction, span, call: self.call, rank });
    }

    /// Goes from one location to the other without a step. A location that would go to itself gets a step that does
    /// nothing: an empty infinite loop.
    pub fn jump(&mut self, from: Raw, to: Raw, span: Span) {
        let (from_root, to_root) = (self.find(from), self.find(to));
        if from_root == to_root {
            self.emit(from, Instruction::Nop, to, span);
        } else {
            self.parent[from_root] = to_root;
        }
        self.reached[to_root] = true;
    }

    pub fn label(&mut self, at: Raw, name: &str) {
        let root = self.find(at);
        self.reached[root] = true;
        self.labels.push((at, name.to_owned()));
    }

    /// Ends a branch of the choice at `choice` that was built from the fresh location `start`. If the branch's first step
    /// can be taken only by choosing it, that step starts at the choice itself. Otherwise (a loop comes back to it, or the
    /// branch is nothing but a jump) merging would let others take the remaining branches, so a step that does nothing
    /// leads to it. `rank` was reserved before the branch was built.
    pub fn branch(&mut self, choice: Raw, start: Raw, rank: usize, span: Span) {
        let root = self.find(start);
        if self.reached[root] {
            self.emit_at(rank, choice, Instruction::Nop, start, span);
        } else {
            let choice = self.find(choice);
            self.parent[root] = choice;
        }
    }

    fn find(&mut self, location: Raw) -> usize {
        let mut at = location.0;
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Keeps what can be reached, numbered in the order of the source with the end last.
    pub fn finish(mut self, initial: Raw, end: Raw, end_span: Span) -> FlowAutomaton {
        let mut edges = std::mem::take(&mut self.edges);
        for edge in &mut edges {
            edge.from = self.find(Raw(edge.from));
            edge.to = self.find(Raw(edge.to));
        }
        edges.sort_by_key(|edge| edge.rank);
        let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); self.parent.len()];
        for (index, edge) in edges.iter().enumerate() {
            outgoing[edge.from].push(index);
        }

        let (initial, end) = (self.find(initial), self.find(end));
        let mut reachable = vec![false; self.parent.len()];
        reachable[initial] = true;
        let mut stack = vec![initial];
        while let Some(location) = stack.pop() {
            for &edge in &outgoing[location] {
                if !std::mem::replace(&mut reachable[edges[edge].to], true) {
                    stack.push(edges[edge].to);
                }
            }
        }

        let mut number: Vec<Option<LocId>> = vec![None; self.parent.len()];
        let mut locations: Vec<Location> = Vec::new();
        for edge in &edges {
            if reachable[edge.from] && number[edge.from].is_none() {
                number[edge.from] = Some(LocId(locations.len()));
                locations.push(Location { labels: Vec::new(), span: edge.span });
            }
        }
        if reachable[end] && number[end].is_none() {
            number[end] = Some(LocId(locations.len()));
            locations.push(Location { labels: Vec::new(), span: end_span });
        }

        let mut labels = Vec::new();
        for (raw, name) in std::mem::take(&mut self.labels) {
            let location = number[self.find(raw)];
            if let Some(location) = location {
                locations[location.0].labels.push(name.clone());
            }
            labels.push((name, location));
        }
        let mut transitions: Vec<Transition> = edges
            .into_iter()
            .filter_map(|edge| {
                let (from, to) = (number[edge.from]?, number[edge.to]?);
                Some(Transition { from, to, instruction: edge.instruction, span: edge.span, call: edge.call })
            })
            .collect();
        transitions.sort_by_key(|transition| transition.from);
        // Every location but the end has a way on, unless the limit on steps was hit and the result is not used.
        FlowAutomaton { locations, transitions, initial: number[initial].unwrap_or(LocId(0)), labels }
    }
}
