//! Which transitions a fence is passed after that stands before or behind a part of a C text.
//!
//! The part is known by the accesses that are written in it. A fence before it is passed by whatever leads to the first of them, and a
//! fence behind it by the last of them. What is done in registers in between does not matter, because fences do not order it. A program
//! has one such access for each copy that loops and calls were given: a change concerns all of them.

use ravelin_program::{LocId, Program, Span, ThreadId, ThreadTransition, TransitionId};
use std::collections::HashSet;
use std::ops::Range;

/// The transitions of a program, by what they enter.
pub struct ProgramRegions<'a> {
    program: &'a Program,
    /// For each thread and location, the transitions that enter it.
    entering: Vec<Vec<Vec<TransitionId>>>,
    /// Accesses and fences in the order of the text.
    accesses: Vec<(Span, ThreadTransition)>,
}

/// The transitions that a fence is passed after, and threads that pass it before their first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FencePassage {
    pub edges: Vec<ThreadTransition>,
    pub at_start: Vec<ThreadId>,
}

impl<'a> ProgramRegions<'a> {
    pub fn new(program: &'a Program) -> ProgramRegions<'a> {
        let mut accesses = Vec::new();
        let mut entering = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            let mut of_thread = vec![Vec::new(); thread.locations.len()];
            for (id, transition) in thread.transitions.iter().enumerate() {
                of_thread[transition.to.0].push(TransitionId(id));
                if !transition.instruction.is_local() && !transition.span.is_nowhere() {
                    let edge = ThreadTransition { thread: ThreadId(number), transition: TransitionId(id) };
                    accesses.push((transition.span, edge));
                }
            }
            entering.push(of_thread);
        }
        accesses.sort_unstable();
        ProgramRegions { program, entering, accesses }
    }

    /// The transitions that enter a location.
    pub fn entering(&self, thread: ThreadId, location: LocId) -> &[TransitionId] {
        &self.entering[thread.0][location.0]
    }

    /// Where accesses begin in the text.
    pub fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.accesses.iter().map(|(span, _)| span.start as usize).collect();
        places.dedup();
        places
    }

    /// The accesses that begin in a part of the text.
    pub fn within(&self, part: Range<usize>) -> &[(Span, ThreadTransition)] {
        let from = self.accesses.partition_point(|(span, _)| (span.start as usize) < part.start);
        let to = self.accesses.partition_point(|(span, _)| (span.start as usize) < part.end);
        &self.accesses[from..to.max(from)]
    }

    /// What passes a fence before a part of the text; `None` if other steps would pass it, too.
    pub fn before(&self, part: Range<usize>) -> Option<FencePassage> {
        let region: HashSet<ThreadTransition> = self.within(part).iter().map(|(_, edge)| *edge).collect();
        let mut first: HashSet<(ThreadId, LocId)> = HashSet::new();
        for edge in &region {
            if self.comes_first(*edge, &region) {
                first.insert((edge.thread, self.transition(*edge).from));
            }
        }
        let mut passage = FencePassage::default();
        for (thread, location) in first {
            let of = &self.program.threads[thread.0];
            if !of.outgoing(location).all(|(transition, _)| region.contains(&ThreadTransition { thread, transition })) {
                return None;
            }
            let entering = self.entering[thread.0][location.0].iter();
            passage.edges.extend(entering.map(|&transition| ThreadTransition { thread, transition }));
            if of.initial == location {
                passage.at_start.push(thread);
            }
        }
        passage.edges.sort_unstable();
        passage.at_start.sort_unstable();
        Some(passage)
    }

    /// What passes a fence behind a part of the text.
    pub fn after(&self, part: Range<usize>) -> FencePassage {
        let region: HashSet<ThreadTransition> = self.within(part).iter().map(|(_, edge)| *edge).collect();
        let mut edges: Vec<ThreadTransition> =
            region.iter().copied().filter(|edge| self.comes_last(*edge, &region)).collect();
        edges.sort_unstable();
        FencePassage { edges, at_start: Vec::new() }
    }

    /// There is a way to this access with no other of the region just before it.
    fn comes_first(&self, access: ThreadTransition, region: &HashSet<ThreadTransition>) -> bool {
        let thread = &self.program.threads[access.thread.0];
        let start = self.transition(access).from;
        let mut seen = HashSet::from([start]);
        let mut open = vec![start];
        while let Some(location) = open.pop() {
            if location == thread.initial {
                return true;
            }
            for &transition in &self.entering[access.thread.0][location.0] {
                let edge = ThreadTransition { thread: access.thread, transition };
                if self.transition(edge).instruction.is_local() {
                    let from = self.transition(edge).from;
                    if seen.insert(from) {
                        open.push(from);
                    }
                } else if !region.contains(&edge) {
                    return true;
                }
            }
        }
        false
    }

    /// There is a way from this access with no other of the region just after it.
    fn comes_last(&self, access: ThreadTransition, region: &HashSet<ThreadTransition>) -> bool {
        let thread = &self.program.threads[access.thread.0];
        let start = self.transition(access).to;
        let mut seen = HashSet::from([start]);
        let mut open = vec![start];
        while let Some(location) = open.pop() {
            let mut is_end = true;
            for (id, transition) in thread.outgoing(location) {
                is_end = false;
                let edge = ThreadTransition { thread: access.thread, transition: id };
                if transition.instruction.is_local() {
                    if seen.insert(transition.to) {
                        open.push(transition.to);
                    }
                } else if !region.contains(&edge) {
                    return true;
                }
            }
            if is_end {
                return true;
            }
        }
        false
    }

    fn transition(&self, edge: ThreadTransition) -> &ravelin_program::Transition {
        &self.program.threads[edge.thread.0].transitions[edge.transition.0]
    }
}
