//! The decision: backwards from the targets over minimal markings, within limits.
//!
//! Markings with fewer tokens come first: they cover more. A marking is kept in the file of one of its places, and those that it covers
//! have tokens in all of them.

use super::{Marking, Net, NetTransitionId, Pairs, fire};
use crate::{BackwardCounts, BackwardEnd, BackwardSearch, ConstraintId, ConstraintOrigin, FileId, MonotonicSystem};
use ravelin_explore::{Budget, Limit, Watch};
use std::time::{Duration, Instant};

/// The file of the marking without tokens.
const EMPTY: FileId = FileId::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverVerdict {
    /// Firing this from an initial marking leads to one that covers a target.
    Coverable(Vec<NetTransitionId>),
    Uncoverable,
    Unknown(Limit),
}

pub struct CoverAnswer {
    pub verdict: CoverVerdict,
    pub counts: BackwardCounts,
    pub elapsed: Duration,
    /// If uncoverable, the least markings from which a target could be covered, as far as the pairs allow them.
    pub(super) minimal: Vec<Marking>,
    pub(super) pairs: Option<Pairs>,
}

/// Decides whether a target can be covered. The budget's states are the markings that are kept; there is one worker, and everything is in
/// memory.
pub fn cover(net: &Net, budget: Budget) -> CoverAnswer {
    let start = Instant::now();
    let watch = Watch::since(budget, "preparing the backward search", start);
    let Some(pairs) = Pairs::new(net, &mut || watch.step().is_err()) else {
        let verdict = CoverVerdict::Unknown(watch.limit().unwrap_or(Limit::Stopped));
        let (counts, elapsed) = (BackwardCounts::default(), start.elapsed());
        return CoverAnswer { verdict, counts, elapsed, minimal: Vec::new(), pairs: None };
    };
    let producers = producers(net, &pairs);
    let mut system = Firings { net, producers, pairs, pruned: 0, watch: &watch };
    let allowed = net.targets.iter().filter(|target| system.allows(target)).cloned().enumerate();
    let targets: Vec<_> = allowed.collect();
    let mut search = BackwardSearch::new(system, &watch);
    let verdict = match search.run(targets) {
        BackwardEnd::Unreachable => CoverVerdict::Uncoverable,
        BackwardEnd::Limit(limit) => CoverVerdict::Unknown(limit),
        BackwardEnd::Reached(marking) => {
            let sequence = sequence(&search, marking);
            debug_assert!(fire(net, &sequence).is_ok(), "a firing sequence can be fired");
            CoverVerdict::Coverable(sequence)
        }
    };
    let proved = verdict == CoverVerdict::Uncoverable;
    let minimal = search.antichain.minimal().filter(|_| proved).cloned().collect();
    let (counts, pairs) = (search.counts, Some(search.system.pairs));
    CoverAnswer { verdict, counts, elapsed: start.elapsed(), minimal, pairs }
}

/// The transitions from a marking to the target it leads to.
fn sequence(search: &BackwardSearch<Firings>, from: ConstraintId) -> Vec<NetTransitionId> {
    let origins = search.path(from).into_iter().map(|id| search.antichain.entries[id as usize].origin);
    let steps = origins.filter_map(|origin| match origin {
        ConstraintOrigin::Step { step, .. } => Some(step),
        ConstraintOrigin::Goal(_) => None,
    });
    steps.collect()
}

/// By place, the transitions that add tokens there and can be fired, as far as pairs tell.
fn producers(net: &Net, pairs: &Pairs) -> Vec<Vec<NetTransitionId>> {
    let mut producers = vec![Vec::new(); net.places.len()];
    for (number, transition) in net.transitions.iter().enumerate().filter(|(_, t)| pairs.allow(&t.takes)) {
        let given = transition.gives.places().chain(transition.sets.iter().copied());
        for place in given.filter(|place| transition.adds_to(*place)) {
            producers[place as usize].push(number as NetTransitionId);
        }
    }
    producers
}

/// A net as a system: its markings, and its transitions fired backwards.
struct Firings<'a> {
    net: &'a Net,
    producers: Vec<Vec<NetTransitionId>>,
    pairs: Pairs,
    /// Markings with a pair of places that are never marked together.
    pruned: u64,
    watch: &'a Watch<'a>,
}

impl Firings<'_> {
    /// Whether the pairs allow a marking; counts those that they do not.
    fn allows(&mut self, marking: &Marking) -> bool {
        let allowed = self.pairs.allow(marking);
        self.pruned += u64::from(!allowed);
        allowed
    }
}

impl MonotonicSystem for Firings<'_> {
    type Constraint = Marking;
    type Step = NetTransitionId;

    fn predecessors(&mut self, of: &Marking, found: &mut Vec<(NetTransitionId, Marking)>) {
        let mut held = 0;
        for (at, place) in of.places().enumerate() {
            for number in 0..self.producers[place as usize].len() {
                if self.watch.step().is_err() {
                    return;
                }
                let transition = self.producers[place as usize][number];
                // A transition that adds to several places is looked at once.
                let fired = &self.net.transitions[transition as usize];
                if of.places().take(at).any(|place| fired.adds_to(place)) {
                    continue;
                }
                let Some(before) = self.net.before(transition, of) else { continue };
                if self.allows(&before) {
                    let bytes = before.bytes() + size_of::<(NetTransitionId, Marking)>();
                    held += bytes;
                    if self.watch.hold(bytes).is_err() {
                        return;
                    }
                    found.push((transition, before));
                }
            }
        }
        // The search counts from now on those that it keeps.
        self.watch.release(held);
    }

    fn pruned(&self) -> u64 {
        self.pruned
    }

    fn is_initial(&self, marking: &Marking) -> bool {
        self.net.is_initial(marking)
    }

    fn covers(&self, small: &Marking, large: &Marking) -> bool {
        small.is_covered_by(large)
    }

    fn signature(&self, marking: &Marking) -> u128 {
        marking.signature()
    }

    fn files(&mut self, marking: &Marking, files: &mut Vec<FileId>) {
        files.extend(marking.places().map(FileId::from));
        if marking.is_empty() {
            files.push(EMPTY);
        }
    }

    fn in_smaller_files(&self, marking: &Marking, covers: impl FnMut(FileId) -> bool) -> bool {
        marking.places().map(FileId::from).chain([EMPTY]).any(covers)
    }

    fn rank(&self, marking: &Marking) -> u64 {
        marking.total()
    }

    fn bytes(&self, marking: &Marking) -> usize {
        marking.bytes()
    }
}
