//! Exploration of spaces that are larger than memory: level by level, with the visited states on disk and duplicates detected
//! late (Korf, *Delayed duplicate detection*, IJCAI 2003; Stern and Dill, *Using magnetic disk instead of main memory in the Murφ
//! verifier*, CAV 1998).
//!
//! The successors of a level are collected, sorted by hash and freed of doubles; those whose hash is not among the sorted hashes of all visited
//! states are the next level. A successor whose hash is there is almost certainly visited, but the visited states are not looked through for it
//! at every level: it is noted as a suspect, and when there are as many suspects as visited states, and before an answer is given, all are
//! compared in one pass over both. So time and disk stay in proportion to what is explored, and the answer is exact. Should two states
//! really have the same hash the search begins again and compares at the end of every level; with 64 bits that is not expected to happen.
//!
//! As long as everything fits into half of the memory limit nothing is written: the search in memory is tried first.

mod hashes;
mod levels;
mod records;
mod search;
mod shard;
#[cfg(test)]
mod tests;

use crate::any::AnySystem;
use crate::budget::Budget;
use crate::files::{Directory, StorageError};
use crate::limits::Limit;
use crate::search::{self as in_memory, Options};
use crate::space::{End, Space};
use crate::storage::Storage;
use crate::system::System;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Bytes of memory if there is no limit.
const DEFAULT_MEMORY: u64 = 1 << 30;

/// What tests change.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tuning {
    /// Bits of hashes that are not used.
    unused_hash_bits: u32,
    /// Bytes that may be on disk.
    room: Option<u64>,
}

/// Explores a system; what does not fit into the memory limit goes to files in a new directory inside `directory`.
pub(crate) fn explore<I: Send>(system: &AnySystem<I>, options: &Options, directory: &Path) -> Space<I> {
    explore_tuned(system, options, directory, Tuning::default())
}

fn explore_tuned<I: Send>(system: &AnySystem<I>, options: &Options, directory: &Path, tuning: Tuning) -> Space<I> {
    let start = Instant::now();
    let memory = options.budget.limits.memory.unwrap_or(DEFAULT_MEMORY);
    // First of all, so that nobody waits for an hour to hear that nothing can be written.
    let directory = match Directory::create_in(directory, tuning.room) {
        Ok(directory) => directory,
        Err(error) => return Space::unknown(End::Failed(error), system.width()),
    };
    // Half, because memory that was used and is free again is not always given back before more is asked for.
    let beyond = Storage { spill: None, checkpoints: None, ..options.budget.storage };
    let budget = Budget { storage: beyond, ..options.budget }.memory(memory / 2);
    let space = in_memory::explore_any(system, &Options { budget, ..*options }, None);
    if !matches!(space.end, End::Limit(Limit::Memory(_))) {
        return space;
    }
    drop(space);
    search::explore(system, options, &directory, memory, start, tuning)
}

/// Why a search ends.
enum Halt<I> {
    End(End<I>),
    /// Two states have the same hash.
    Collision,
}

impl<I> From<StorageError> for Halt<I> {
    fn from(error: StorageError) -> Self {
        Halt::End(End::Failed(error))
    }
}

impl<I> From<Limit> for Halt<I> {
    fn from(limit: Limit) -> Self {
        Halt::End(End::Limit(limit))
    }
}

/// What is looked at while a level ends, which can take long.
struct LevelWatch<'a> {
    /// Its limit of states is no greater than the number of states that can be stored at all.
    budget: Budget<'a>,
    start: Instant,
    /// States of all shards, as far as they have said.
    stored: AtomicU64,
}

impl LevelWatch<'_> {
    /// As [`LevelWatch::look`], after a shard stored some more.
    fn look_with(&self, more: u64) -> Result<(), Limit> {
        self.look(self.stored.fetch_add(more, Ordering::Relaxed) + more)
    }

    fn look(&self, states: u64) -> Result<(), Limit> {
        self.budget.check(self.start, states).map_or(Ok(()), Err)
    }
}
