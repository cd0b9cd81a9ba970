//! The search itself: backwards from the goal, within limits.
//!
//! Constraints of low rank come first: a system whose small constraints cover more never expands what they make superfluous. Where
//! all ranks are equal the search is breadth-first, so that the way from the first initial constraint to the goal is one of the
//! shortest.
//!
//! A search ends on every system, but how long that takes is another matter (for Petri nets the problem is EXPSPACE-complete), so there
//! are limits. One watch has them all: the search tells it what it keeps, and the system asks it inside long steps.

use crate::{Antichain, ConstraintId, ConstraintOrigin, MonotonicSystem};
use ravelin_explore::{Limit, Progress, Watch};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackwardEnd {
    /// No initial state leads to the goal.
    Unreachable,
    /// This constraint has an initial state.
    Reached(ConstraintId),
    Limit(Limit),
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackwardCounts {
    /// Predecessors computed, and goals.
    pub generated: u64,
    /// Of these, satisfied by no reachable state.
    pub pruned: u64,
    /// Of the others, not covered when they were found.
    pub kept: u64,
    /// Of these, not covered in the end.
    pub minimal: u64,
    /// The longest way to a goal.
    pub depth: u64,
    pub bytes: u64,
}

/// A search, before and after it ran.
pub struct BackwardSearch<'a, M: MonotonicSystem> {
    pub system: M,
    pub antichain: Antichain<M>,
    pub counts: BackwardCounts,
    watch: &'a Watch<'a>,
    /// Rank, steps to the goal, number; the least first.
    waiting: BinaryHeap<Reverse<(u64, u32, ConstraintId)>>,
}

impl<'a, M: MonotonicSystem> BackwardSearch<'a, M> {
    /// The watch is that of the system, too. Its budget's states are the constraints that are kept.
    pub fn new(system: M, watch: &'a Watch<'a>) -> BackwardSearch<'a, M> {
        let (antichain, counts) = (Antichain::default(), BackwardCounts::default());
        BackwardSearch { system, antichain, counts, watch, waiting: BinaryHeap::new() }
    }

    /// Searches backwards from the goals, each with its number.
    pub fn run(&mut self, goals: impl IntoIterator<Item = (usize, M::Constraint)>) -> BackwardEnd {
        let end = self.search(goals).err().unwrap_or(BackwardEnd::Unreachable);
        self.counts.pruned = self.system.pruned();
        self.counts.generated += self.counts.pruned;
        self.counts.kept = self.antichain.entries.len() as u64;
        self.counts.minimal = self.antichain.minimal as u64;
        self.counts.bytes = self.antichain.bytes as u64 + self.watch.bytes();
        end
    }

    /// The entries from a constraint to the goal it leads to.
    pub fn path(&self, from: ConstraintId) -> Vec<ConstraintId> {
        let mut path = vec![from];
        let mut at = from;
        while let ConstraintOrigin::Step { into, .. } = self.antichain.entries[at as usize].origin {
            path.push(into);
            at = into;
        }
        path
    }

    /// Ends early with an error.
    fn search(&mut self, goals: impl IntoIterator<Item = (usize, M::Constraint)>) -> Result<(), BackwardEnd> {
        for (goal, constraint) in goals {
            self.add(constraint, ConstraintOrigin::Goal(goal), 0)?;
        }
        let mut found = Vec::new();
        while let Some(Reverse((_, depth, into))) = self.waiting.pop() {
            let entry = &self.antichain.entries[into as usize];
            if entry.covered {
                continue;
            }
            self.system.predecessors(&entry.constraint, &mut found);
            for (step, constraint) in found.drain(..) {
                self.add(constraint, ConstraintOrigin::Step { step, into }, depth + 1)?;
            }
            // After a limit the predecessors are not all.
            if let Some(limit) = self.watch.limit() {
                return Err(BackwardEnd::Limit(limit));
            }
        }
        Ok(())
    }

    /// Adds a constraint to the antichain and to those that wait, unless it is covered.
    fn add(
        &mut self,
        constraint: M::Constraint,
        origin: ConstraintOrigin<M::Step>,
        depth: u32,
    ) -> Result<(), BackwardEnd> {
        self.counts.generated += 1;
        let Some(id) = self.antichain.insert(&mut self.system, constraint, origin, depth) else {
            return self.watch.step().map_err(BackwardEnd::Limit);
        };
        self.counts.depth = self.counts.depth.max(u64::from(depth));
        let constraint = &self.antichain.entries[id as usize].constraint;
        if self.system.is_initial(constraint) {
            return Err(BackwardEnd::Reached(id));
        }
        self.waiting.push(Reverse((self.system.rank(constraint), depth, id)));
        let kept = Progress {
            states: self.antichain.entries.len() as u64,
            transitions: self.counts.generated,
            frontier: self.waiting.len() as u64,
            depth: self.counts.depth,
            bytes: self.antichain.bytes as u64,
            ..Progress::default()
        };
        self.watch.keep(kept).map_err(BackwardEnd::Limit)
    }
}
