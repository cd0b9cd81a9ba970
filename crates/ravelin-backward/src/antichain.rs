//! The constraints found so far, without those that others cover.
//!
//! Two questions are asked of each new constraint. Does one that is there cover it? The system says in which files such a one can
//! be. Which ones does it cover? Where a constraint has several files it is kept in the shortest one and listed as a guest in the
//! others, so all that the new one covers are in each of its files, and the shortest one is looked through.

use crate::{FileId, MonotonicSystem};
use rustc_hash::FxHashMap;

/// Index of a [`ConstraintEntry`].
pub type ConstraintId = u32;

/// A constraint that was kept, and where it came from.
#[derive(Clone, Debug)]
pub struct ConstraintEntry<C, S> {
    pub constraint: C,
    pub origin: ConstraintOrigin<S>,
    /// Steps from here to the goal.
    pub depth: u32,
    /// The file it is kept in.
    home: u32,
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

#[derive(Default)]
struct File {
    /// Those that are kept here, with their signatures.
    kept: Vec<(u128, ConstraintId)>,
    /// Those that are kept elsewhere, with the halves of their signatures put together. Those that were covered stay for a while.
    guests: Vec<(u64, ConstraintId)>,
}

/// All entries, in the order in which they were found, and the index over those that are not covered.
pub struct Antichain<M: MonotonicSystem> {
    pub entries: Vec<ConstraintEntry<M::Constraint, M::Step>>,
    pub bytes: usize,
    /// How many entries are not covered.
    pub minimal: usize,
    numbers: FxHashMap<FileId, u32>,
    files: Vec<File>,
    /// Memory that is used again.
    ids: Vec<FileId>,
}

impl<M: MonotonicSystem> Default for Antichain<M> {
    fn default() -> Antichain<M> {
        Antichain {
            entries: Vec::new(),
            bytes: 0,
            minimal: 0,
            numbers: FxHashMap::default(),
            files: Vec::new(),
            ids: Vec::new(),
        }
    }
}

impl<M: MonotonicSystem> Antichain<M> {
    /// Adds a constraint unless one that is there covers it, and marks those that it covers.
    pub fn insert(
        &mut self,
        system: &mut M,
        constraint: M::Constraint,
        origin: ConstraintOrigin<M::Step>,
        depth: u32,
    ) -> Option<ConstraintId> {
        let signature = system.signature(&constraint);
        let covers = |&(smaller, id): &(u128, ConstraintId)| {
            smaller & !signature == 0 && system.covers(&self.entries[id as usize].constraint, &constraint)
        };
        let covered = system.in_smaller_files(&constraint, |file| {
            self.numbers.get(&file).is_some_and(|file| self.files[*file as usize].kept.iter().any(covers))
        });
        if covered {
            return None;
        }
        self.ids.clear();
        system.files(&constraint, &mut self.ids);
        for at in 0..self.ids.len() {
            let file = *self.numbers.entry(self.ids[at]).or_insert(self.files.len() as u32);
            if file as usize == self.files.len() {
                self.files.push(File::default());
            }
            self.ids[at] = FileId::from(file);
        }
        self.cover_larger(system, &constraint, signature);
        let id = self.entries.len() as ConstraintId;
        let shortest = self.ids.iter().min_by_key(|file| self.files[**file as usize].kept.len());
        let home = shortest.map_or(0, |file| *file as u32);
        for &file in &self.ids {
            let file = file as usize;
            if file == home as usize {
                self.files[file].kept.push((signature, id));
            } else {
                self.files[file].guests.push((folded(signature), id));
            }
        }
        self.minimal += 1;
        self.bytes += size_of::<ConstraintEntry<M::Constraint, M::Step>>() + 32 + 16 * self.ids.len();
        self.bytes += system.bytes(&constraint);
        self.entries.push(ConstraintEntry { constraint, origin, depth, home, covered: false });
        Some(id)
    }

    /// The constraints that no other one covers.
    pub fn minimal(&self) -> impl Iterator<Item = &M::Constraint> {
        self.entries.iter().filter(|entry| !entry.covered).map(|entry| &entry.constraint)
    }

    /// Marks those that the new constraint covers, and takes them out of their files.
    fn cover_larger(&mut self, system: &M, constraint: &M::Constraint, signature: u128) {
        let Antichain { files, entries, minimal, ids, .. } = self;
        let length = |file: &&FileId| files[**file as usize].kept.len() + files[**file as usize].guests.len();
        let Some(file) = ids.iter().min_by_key(length).map(|file| *file as usize) else { return };
        files[file].kept.retain(|&(larger, id)| {
            let entry = &mut entries[id as usize];
            entry.covered = signature & !larger == 0 && system.covers(constraint, &entry.constraint);
            *minimal -= usize::from(entry.covered);
            !entry.covered
        });
        let mut guests = std::mem::take(&mut files[file].guests);
        guests.retain(|&(larger, id)| {
            let entry = &mut entries[id as usize];
            if !entry.covered && folded(signature) & !larger == 0 && system.covers(constraint, &entry.constraint) {
                entry.covered = true;
                *minimal -= 1;
                files[entry.home as usize].kept.retain(|(_, kept)| *kept != id);
            }
            !entry.covered
        });
        files[file].guests = guests;
    }
}

/// Keeps subsets.
fn folded(signature: u128) -> u64 {
    (signature >> 64) as u64 | signature as u64
}
