//! The constraints found so far, without those that others cover.

use super::Semantics;
use rustc_hash::FxHashMap;

/// Index of a [`ConstraintEntry`].
pub type ConstraintId = u32;

/// A constraint that was kept, and where it came from.
#[derive(Clone, Debug)]
pub struct ConstraintEntry<C, S> {
    pub configuration: C,
    pub origin: ConstraintOrigin<S>,
    /// Steps from here to the goal.
    pub depth: u32,
    /// A later one covers it.
    pub covered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintOrigin<S> {
    /// A part of the goal, by number.
    Goal(usize),
    /// The step leads from this constraint into that one.
    Step { step: S, into: ConstraintId },
}

/// All kept entries, in the order in which they were found, and the index over those that are not covered.
pub struct ConstraintAntichain<M: Semantics> {
    pub entries: Vec<ConstraintEntry<M::Configuration, M::Step>>,
    pub bytes: usize,
    /// How many entries are not covered.
    pub minimal: usize,
    buckets: FxHashMap<u64, Vec<(u128, ConstraintId)>>,
    shapes: Vec<u32>,
}

impl<M: Semantics> Default for ConstraintAntichain<M> {
    fn default() -> ConstraintAntichain<M> {
        ConstraintAntichain {
            entries: Vec::new(),
            bytes: 0,
            minimal: 0,
            buckets: FxHashMap::default(),
            shapes: Vec::new(),
        }
    }
}

impl<M: Semantics> ConstraintAntichain<M> {
    /// Adds a constraint unless one that is there covers it, and marks those that it covers.
    pub fn insert(
        &mut self,
        semantics: &mut M,
        configuration: M::Configuration,
        origin: ConstraintOrigin<M::Step>,
        depth: u32,
    ) -> Option<ConstraintId> {
        let signature = semantics.signature(&configuration);
        for &shape in &self.shapes {
            let bucket = semantics.key_in_shape(&configuration, shape).and_then(|key| self.buckets.get(&key));
            let covers = |&(smaller, id): &(u128, ConstraintId)| {
                smaller & !signature == 0 && semantics.covers(&self.entries[id as usize].configuration, &configuration)
            };
            if bucket.is_some_and(|bucket| bucket.iter().any(covers)) {
                return None;
            }
        }
        let shape = semantics.shape(&configuration);
        if !self.shapes.contains(&shape) {
            self.shapes.push(shape);
        }
        let id = self.entries.len() as ConstraintId;
        let bucket = self.buckets.entry(semantics.key(&configuration)).or_default();
        let entries = &mut self.entries;
        let minimal = &mut self.minimal;
        bucket.retain(|&(larger, other)| {
            let entry = &mut entries[other as usize];
            let covered = signature & !larger == 0 && semantics.covers(&configuration, &entry.configuration);
            if covered {
                entry.covered = true;
                *minimal -= 1;
            }
            !covered
        });
        bucket.push((signature, id));
        self.minimal += 1;
        self.bytes += semantics.bytes(&configuration) + size_of::<ConstraintEntry<M::Configuration, M::Step>>() + 32;
        self.entries.push(ConstraintEntry { configuration, origin, depth, covered: false });
        Some(id)
    }
}
