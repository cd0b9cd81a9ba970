//! The search itself: breadth-first from the goal, within limits.

use super::Semantics;
use super::antichain::{ConstraintAntichain, ConstraintId, ConstraintOrigin};
use ravelin_explore::{Budget, Limit, Progress};
use std::time::Instant;

/// Constraints between two looks at the clock.
const PATIENCE: u64 = 64;

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
    /// Of these, not covered when they were found.
    pub kept: u64,
    /// Of these, not covered in the end.
    pub minimal: u64,
    pub depth: u64,
    pub bytes: u64,
}

/// A search, before and after it ran.
pub struct BackwardSearch<M: Semantics> {
    pub semantics: M,
    pub antichain: ConstraintAntichain<M>,
    pub counts: BackwardCounts,
}

impl<M: Semantics> BackwardSearch<M> {
    pub fn new(semantics: M) -> BackwardSearch<M> {
        BackwardSearch { semantics, antichain: ConstraintAntichain::default(), counts: BackwardCounts::default() }
    }

    /// Searches backwards from the goals, each with its number. The budget's states are the constraints that are kept.
    pub fn run(&mut self, goals: impl IntoIterator<Item = (usize, M::Configuration)>, budget: Budget) -> BackwardEnd {
        let start = Instant::now();
        let mut looked = 0;
        for (goal, configuration) in goals {
            if let Some(reached) = self.add(configuration, ConstraintOrigin::Goal(goal), 0) {
                return self.finish(BackwardEnd::Reached(reached));
            }
            if let Some(limit) = self.limit(0, budget, start, &mut looked) {
                return self.finish(BackwardEnd::Limit(limit));
            }
        }
        let mut next = 0;
        let mut found = Vec::new();
        while next < self.antichain.entries.len() {
            let entry = &self.antichain.entries[next];
            next += 1;
            if entry.covered {
                continue;
            }
            let depth = entry.depth + 1;
            self.semantics.set_kept_bytes(self.antichain.bytes);
            self.semantics.predecessors(&entry.configuration, &mut found);
            let exhausted = self.semantics.exhausted();
            for (step, configuration) in found.drain(..) {
                let origin = ConstraintOrigin::Step { step, into: next as ConstraintId - 1 };
                if let Some(reached) = self.add(configuration, origin, depth) {
                    return self.finish(BackwardEnd::Reached(reached));
                }
                if let Some(limit) = self.limit(next, budget, start, &mut looked) {
                    return self.finish(BackwardEnd::Limit(limit));
                }
            }
            if let Some(limit) = exhausted {
                return self.finish(BackwardEnd::Limit(limit));
            }
        }
        self.finish(BackwardEnd::Unreachable)
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

    fn add(
        &mut self,
        configuration: M::Configuration,
        origin: ConstraintOrigin<M::Step>,
        depth: u32,
    ) -> Option<ConstraintId> {
        self.counts.generated += 1;
        let id = self.antichain.insert(&mut self.semantics, configuration, origin, depth)?;
        self.counts.depth = u64::from(depth);
        self.semantics.is_initial(&self.antichain.entries[id as usize].configuration).then_some(id)
    }

    fn limit(&self, expanded: usize, budget: Budget, start: Instant, looked: &mut u64) -> Option<Limit> {
        if self.counts.generated < *looked + PATIENCE {
            return None;
        }
        *looked = self.counts.generated;
        let entries = self.antichain.entries.len() as u64;
        let bytes = (self.antichain.bytes + self.semantics.shared_bytes()) as u64;
        if let Some(progress) = budget.progress {
            progress(&Progress {
                phase: "",
                states: entries,
                transitions: self.counts.generated,
                frontier: entries.saturating_sub(expanded as u64),
                depth: self.counts.depth,
                bytes,
                elapsed: start.elapsed(),
            });
        }
        budget.check(start, entries).or_else(|| budget.limits.check_memory(bytes))
    }

    fn finish(&mut self, end: BackwardEnd) -> BackwardEnd {
        self.counts.kept = self.antichain.entries.len() as u64;
        self.counts.minimal = self.antichain.minimal as u64;
        self.counts.bytes = (self.antichain.bytes + self.semantics.shared_bytes()) as u64;
        end
    }
}
