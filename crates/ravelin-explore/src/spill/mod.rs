//! States on disk, for spaces that are larger than memory: duplicates are detected late (Korf, *Delayed duplicate detection*,
//! IJCAI 2003; Stern and Dill, *Using magnetic disk instead of main memory in the Murφ verifier*, CAV 1998).
//!
//! The successors of a level are collected, sorted by hash and freed of doubles; those whose hash is not among the sorted hashes of all visited
//! states are the next level. A successor whose hash is there is almost certainly visited, but the visited states are not looked through for it
//! at every level: it is noted as a suspect, and when there are as many suspects as visited states, and before an answer is given, all are
//! compared in one pass over both. So time and disk stay in proportion to what is explored, and the answer is exact. Should two states
//! really have the same hash the search begins again and compares at the end of every level; with 64 bits that is not expected to happen.
//!
//! As long as everything fits into half of the memory limit nothing is written. Then the states that are in memory move to disk, and the
//! search goes on where it is.

mod hashes;
mod levels;
mod records;
mod set;
#[cfg(test)]
mod tests;

pub(crate) use set::DiskSet;

use crate::budget::Budget;
use crate::files::{Directory, StorageError};
use crate::limits::Limit;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Bytes of memory if there is no limit.
pub(crate) const DEFAULT_MEMORY: u64 = 1 << 30;

/// What tests change.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tuning {
    /// Bits of hashes that are not used.
    pub unused_hash_bits: u32,
    /// Bytes that may be on disk.
    pub room: Option<u64>,
    /// States that a process may have in memory, if it is fewer than ids permit.
    pub most_in_memory: Option<u64>,
}

/// How a worker keeps its states on disk.
pub(crate) struct SpillSettings {
    directory: Arc<Directory>,
    /// Memory for each worker.
    pub bytes: usize,
    /// Only these bits of a hash are used.
    mask: u64,
    /// Whether suspects are compared at the end of every level.
    pub careful: bool,
}

impl SpillSettings {
    /// Files go to a new directory inside `directory`. `workers`: those that share the memory.
    pub fn new(
        directory: &Path,
        memory: Option<u64>,
        workers: usize,
        tuning: Tuning,
    ) -> Result<SpillSettings, StorageError> {
        let bytes = usize::try_from(memory.unwrap_or(DEFAULT_MEMORY)).unwrap_or(usize::MAX) / workers.max(1);
        let directory = Arc::new(Directory::create_in(directory, tuning.room)?);
        Ok(SpillSettings { directory, bytes, mask: u64::MAX << tuning.unused_hash_bits, careful: false })
    }
}

/// What is looked at while a level ends, which can take long.
pub(crate) struct LevelWatch<'a> {
    budget: Budget<'a>,
    start: Instant,
    /// States of all processes when the level ended, and those that shards here have stored since.
    stored: AtomicU64,
}

impl LevelWatch<'_> {
    pub fn new(budget: Budget<'_>, start: Instant, stored: u64) -> LevelWatch<'_> {
        LevelWatch { budget, start, stored: AtomicU64::new(stored) }
    }

    /// Looks at the time and the wish to stop.
    fn look_late(&self) -> Result<(), Limit> {
        self.budget.late(self.start).map_or(Ok(()), Err)
    }

    /// Looks at the limits after a shard stored some more.
    fn look_with(&self, more: u64) -> Result<(), Limit> {
        let stored = self.stored.fetch_add(more, Ordering::Relaxed) + more;
        self.budget.check(self.start, stored).map_or(Ok(()), Err)
    }
}
