//! The decision: backwards from the targets over minimal markings, within limits.
//!
//! Markings with fewer tokens come first: they cover more, so what they make superfluous is never expanded. Terminates on every net by
//! Dickson's lemma; how long that takes is another matter (the problem is EXPSPACE-complete), so there are limits.

use crate::antichain::{Antichain, EntryId, MarkingOrigin};
use crate::pairs::Pairs;
use crate::{Marking, Net, NetTransitionId, fire};
use ravelin_explore::{Budget, Limit, Progress};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Markings between two looks at the clock.
const PATIENCE: u64 = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverVerdict {
    /// Firing this from an initial marking leads to one that covers a target.
    Coverable(Vec<NetTransitionId>),
    Uncoverable,
    Unknown(Limit),
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverCounts {
    /// Predecessors computed, and targets.
    pub generated: u64,
    /// Of these, with a pair of places that are never marked together.
    pub pruned: u64,
    /// Of the others, not covering one that was found before.
    pub kept: u64,
    /// Of these, minimal in the end.
    pub minimal: u64,
    /// The longest way to a target.
    pub depth: u64,
    pub bytes: u64,
    pub elapsed: Duration,
}

pub struct CoverAnswer {
    pub verdict: CoverVerdict,
    pub counts: CoverCounts,
    /// If uncoverable, the least markings from which a target could be covered, as far as the pairs allow them.
    pub(crate) minimal: Vec<Marking>,
    pub(crate) pairs: Option<Pairs>,
}

/// Decides whether a target can be covered. The budget's states are the markings that are kept; there is one worker, and everything is in
/// memory.
pub fn cover(net: &Net, budget: Budget) -> CoverAnswer {
    let start = Instant::now();
    let mut late = None;
    let pairs = Pairs::new(net, &mut || {
        late = budget.late(start);
        late.is_some()
    });
    let Some(pairs) = pairs else {
        let counts = CoverCounts { elapsed: start.elapsed(), ..CoverCounts::default() };
        let verdict = CoverVerdict::Unknown(late.unwrap_or(Limit::Stopped));
        return CoverAnswer { verdict, counts, minimal: Vec::new(), pairs: None };
    };
    let mut search = CoverSearch {
        net,
        budget,
        start,
        producers: producers(net, &pairs),
        pairs,
        antichain: Antichain::new(net.places.len()),
        waiting: BinaryHeap::new(),
        counts: CoverCounts::default(),
        looked: 0,
    };
    let verdict = match search.run() {
        CoverEnd::Exhausted => CoverVerdict::Uncoverable,
        CoverEnd::Limit(limit) => CoverVerdict::Unknown(limit),
        CoverEnd::Reached(entry) => {
            let sequence = search.sequence(entry);
            debug_assert!(fire(net, &sequence).is_ok(), "a firing sequence can be fired");
            CoverVerdict::Coverable(sequence)
        }
    };
    let CoverSearch { antichain, pairs, mut counts, .. } = search;
    counts.kept = antichain.entries.len() as u64;
    counts.minimal = antichain.minimal as u64;
    counts.bytes = antichain.bytes as u64;
    counts.elapsed = start.elapsed();
    let proved = verdict == CoverVerdict::Uncoverable;
    let minimal = antichain.minimal().filter(|_| proved).cloned().collect();
    CoverAnswer { verdict, counts, minimal, pairs: Some(pairs) }
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

enum CoverEnd {
    Exhausted,
    Reached(EntryId),
    Limit(Limit),
}

struct CoverSearch<'a> {
    net: &'a Net,
    budget: Budget<'a>,
    start: Instant,
    pairs: Pairs,
    producers: Vec<Vec<NetTransitionId>>,
    antichain: Antichain,
    /// Tokens, steps to the target, number; the least first.
    waiting: BinaryHeap<Reverse<(u64, u32, EntryId)>>,
    counts: CoverCounts,
    looked: u64,
}

impl CoverSearch<'_> {
    fn run(&mut self) -> CoverEnd {
        for target in &self.net.targets {
            if let Some(end) = self.add(target.clone(), MarkingOrigin::Target, 0) {
                return end;
            }
        }
        while let Some(Reverse((_, depth, entry))) = self.waiting.pop() {
            if self.antichain.entries[entry as usize].covers_another {
                continue;
            }
            let marking = self.antichain.entries[entry as usize].marking.clone();
            for (at, place) in marking.places().enumerate() {
                for number in 0..self.producers[place as usize].len() {
                    let transition = self.producers[place as usize][number];
                    // A transition that adds to several places is looked at once.
                    let fired = &self.net.transitions[transition as usize];
                    if marking.places().take(at).any(|place| fired.adds_to(place)) {
                        continue;
                    }
                    let Some(before) = self.net.before(transition, &marking) else { continue };
                    if let Some(end) = self.add(before, MarkingOrigin::Fires(transition, entry), depth + 1) {
                        return end;
                    }
                }
            }
        }
        CoverEnd::Exhausted
    }

    /// Adds a marking to the antichain and to those that wait. Tells if that ends the search.
    fn add(&mut self, marking: Marking, origin: MarkingOrigin, depth: u32) -> Option<CoverEnd> {
        self.counts.generated += 1;
        if let Some(limit) = self.limit() {
            return Some(CoverEnd::Limit(limit));
        }
        if !self.pairs.allow(&marking) {
            self.counts.pruned += 1;
            return None;
        }
        let (initial, total) = (self.net.is_initial(&marking), marking.total());
        let entry = self.antichain.insert(marking, origin)?;
        self.counts.depth = self.counts.depth.max(u64::from(depth));
        if initial {
            return Some(CoverEnd::Reached(entry));
        }
        self.waiting.push(Reverse((total, depth, entry)));
        None
    }

    fn limit(&mut self) -> Option<Limit> {
        if self.counts.generated < self.looked + PATIENCE {
            return None;
        }
        self.looked = self.counts.generated;
        let entries = self.antichain.entries.len() as u64;
        let bytes = self.antichain.bytes as u64;
        if let Some(progress) = self.budget.progress {
            progress(&Progress {
                phase: "",
                states: entries,
                transitions: self.counts.generated,
                frontier: self.waiting.len() as u64,
                depth: self.counts.depth,
                bytes,
                elapsed: self.start.elapsed(),
            });
        }
        self.budget.check(self.start, entries).or_else(|| self.budget.limits.check_memory(bytes))
    }

    /// The transitions from an entry to the target it leads to.
    fn sequence(&self, from: EntryId) -> Vec<NetTransitionId> {
        let mut sequence = Vec::new();
        let mut at = from;
        while let MarkingOrigin::Fires(transition, into) = self.antichain.entries[at as usize].origin {
            sequence.push(transition);
            at = into;
        }
        sequence
    }
}
