//! The states of one worker on disk, and what may become the next level.

use super::hashes::Hashes;
use super::levels::Levels;
use super::records::{Records, SpillRecord};
use super::{LevelWatch, SpillSettings};
use crate::absorb::Insertions;
use crate::files::{Directory, StorageError};
use crate::halt::Halt;
use crate::store::{StateStore, hash};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct DiskSet {
    width: usize,
    directory: Arc<Directory>,
    levels: Levels,
    hashes: Hashes,
    candidates: Records,
    /// Candidates whose hash was there already, and that were taken for visited states without a look at them.
    suspects: Records,
    /// Bytes for comparing suspects with visited states.
    window: usize,
    /// Bytes for states that are put back.
    batch_bytes: usize,
    /// States that are put back and not yet on disk.
    batch: Option<StateStore>,
    /// Words in the outboxes after which a round ends.
    largest_round: usize,
    /// Only these bits of a hash are used.
    mask: u64,
    /// Whether suspects are compared at the end of every level, because hashes were found to collide.
    careful: bool,
    /// States that were read to be expanded, with their parents: the first of them and those that are left.
    read: Vec<u64>,
    read_from: u64,
}

/// Candidates between two looks at the limits.
const LOOK: u64 = 1 << 10;
/// States that move to disk between two looks at the time.
const MOVED: usize = 1 << 14;

impl DiskSet {
    pub fn new(width: usize, settings: &SpillSettings) -> Result<DiskSet, StorageError> {
        let bytes = settings.bytes;
        Ok(DiskSet {
            width,
            levels: Levels::new(width, &settings.directory)?,
            directory: settings.directory.clone(),
            hashes: Hashes::new(bytes / 8),
            candidates: Records::new("candidates", width, bytes / 8 * 3),
            suspects: Records::new("suspects", width, bytes / 8),
            window: bytes / 8,
            batch_bytes: bytes / 2,
            batch: None,
            largest_round: (bytes / 128).clamp(1 << 8, 1 << 20),
            mask: settings.mask,
            careful: settings.careful,
            read: Vec::new(),
            read_from: 0,
        })
    }

    pub fn len(&self) -> u64 {
        self.levels.len() + self.batch.as_ref().map_or(0, |batch| batch.len() as u64)
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.levels.bytes() + self.hashes.bytes() + self.candidates.bytes() + self.suspects.bytes()
    }

    pub fn largest_round(&self) -> usize {
        self.largest_round
    }

    /// Candidates for the next level, some of them perhaps the same or visited.
    pub fn waiting(&self) -> u64 {
        self.candidates.len()
    }

    /// Adds states that were in memory, in their order; none of them is here.
    pub fn take_over(&mut self, store: &mut StateStore, watch: &LevelWatch) -> Result<(), Halt> {
        let order = store.take_order();
        for index in 0..store.len() {
            if index.is_multiple_of(MOVED) {
                watch.look_late()?;
            }
            self.levels.push(store.state(index), store.parent(index))?;
        }
        // Once more in the order of hashes, for comparisons.
        let mut writer = self.hashes.writer();
        self.levels.begin_copy();
        let mut same_upper_half: Vec<(u64, usize)> = Vec::new();
        for (number, group) in order.chunk_by(|a, b| a >> 32 == b >> 32).enumerate() {
            if number.is_multiple_of(MOVED) {
                watch.look_late()?;
            }
            let index = |entry: &u64| (entry & 0xffff_ffff) as usize;
            same_upper_half.clear();
            same_upper_half
                .extend(group.iter().map(|entry| (hash(store.state(index(entry))) & self.mask, index(entry))));
            same_upper_half.sort_unstable();
            for &(hash, index) in &same_upper_half {
                writer.push(hash, &self.directory)?;
                self.levels.push_copy(store.state(index))?;
            }
        }
        self.levels.flush()?;
        Ok(self.hashes.add(writer, &self.directory)?)
    }

    /// Adds a state that a checkpoint has.
    pub fn restore(&mut self, state: &[u64], hash: u64, parent: u64, watch: &LevelWatch) -> Result<(), Halt> {
        let batch = self.batch.get_or_insert_with(|| StateStore::with_long_ids(self.width));
        batch.reserve(batch.len() + 1);
        batch.insert(state, hash, parent);
        if batch.bytes() > self.batch_bytes { self.end_restoring(watch) } else { Ok(()) }
    }

    pub fn end_restoring(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        self.batch.take().map_or(Ok(()), |mut batch| self.take_over(&mut batch, watch))
    }

    /// A state that is expanded now; those after it are read on the way.
    pub fn next(&mut self, index: u64) -> Result<&[u64], StorageError> {
        let record = self.width + 1;
        let is_read = |read: &[u64], from| index >= from && ((index - from) as usize) < read.len() / record;
        if !is_read(&self.read, self.read_from) {
            self.levels.read(index, &mut self.read)?;
            self.read_from = index;
        }
        Ok(&self.read[(index - self.read_from) as usize * record..][..self.width])
    }

    /// A state and its parent.
    pub fn state(&self, index: u64) -> Result<(Vec<u64>, u64), StorageError> {
        self.levels.state(index)
    }

    /// Gives some states and their parents, in their order.
    pub fn visit(
        &self,
        states: Range<u64>,
        mut visit: impl FnMut(&[u64], u64) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let mut words = Vec::new();
        let mut next = states.start;
        while next < states.end {
            self.levels.read(next, &mut words)?;
            for record in words.chunks_exact(self.width + 1).take((states.end - next) as usize) {
                visit(&record[..self.width], record[self.width])?;
            }
            next += (words.len() / (self.width + 1)) as u64;
        }
        Ok(())
    }

    /// Takes candidates that a worker found.
    pub fn absorb(&mut self, outbox: &[u64]) -> Result<(), StorageError> {
        if self.mask == u64::MAX {
            return self.candidates.absorb(outbox, &self.directory);
        }
        let mut masked = outbox.to_vec();
        masked.chunks_exact_mut(self.width + 2).for_each(|record| record[self.width] &= self.mask);
        self.candidates.absorb(&masked, &self.directory)
    }

    /// When the level is expanded everywhere: those of the candidates that are new become part of the next level.
    pub fn end_level(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        self.levels.begin_stretch();
        let directory = &*self.directory;
        let mut pass = self.hashes.pass();
        let mut writer = self.hashes.writer();
        let (levels, suspects) = (&mut self.levels, &mut self.suspects);
        let (mut seen, mut stored) = (0u64, 0);
        self.candidates.drain(directory, |record: SpillRecord| {
            seen += 1;
            if seen.is_multiple_of(LOOK) {
                watch.look_with(std::mem::take(&mut stored))?;
            }
            if pass.contains(record.hash)? {
                return Ok(suspects.push(record, directory)?);
            }
            levels.push(record.state, record.parent)?;
            stored += 1;
            Ok::<(), Halt>(writer.push(record.hash, directory)?)
        })?;
        drop(pass);
        watch.look_with(stored)?;
        self.levels.flush()?;
        self.hashes.add(writer, directory)?;
        if self.careful {
            self.add_innocent(watch)
        } else if self.suspects.len() > self.levels.len() {
            // Each time as many suspects as there are states: comparing costs in proportion to what was explored.
            self.confirm(watch)
        } else {
            Ok(())
        }
    }

    /// Whether all suspects are visited states, as was taken for granted; if one is not, two states have the same hash.
    pub fn confirm(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        let mask = self.mask;
        let mut windows = self.levels.windows(self.window, |state| hash(state) & mask);
        let mut seen = 0u64;
        self.suspects.drain(&self.directory, |suspect: SpillRecord| {
            seen += 1;
            if seen.is_multiple_of(1 << 14) {
                watch.look_with(0)?;
            }
            if windows.contains(suspect.state, suspect.hash)? { Ok(()) } else { Err(Halt::Collision) }
        })
    }

    /// Suspects of this level that only have the hash of a visited state belong to it.
    fn add_innocent(&mut self, watch: &LevelWatch) -> Result<(), Halt> {
        let (mask, directory) = (self.mask, &*self.directory);
        let mut innocent = Records::new("innocent", self.width, self.window);
        let mut windows = self.levels.windows(self.window, |state| hash(state) & mask);
        self.suspects.drain(directory, |suspect: SpillRecord| {
            watch.look_with(0)?;
            if !windows.contains(suspect.state, suspect.hash)? {
                innocent.push(suspect, directory)?;
            }
            Ok::<(), Halt>(())
        })?;
        drop(windows);
        self.levels.begin_stretch();
        innocent
            .drain(directory, |record: SpillRecord| Ok::<(), Halt>(self.levels.push(record.state, record.parent)?))?;
        Ok(self.levels.flush()?)
    }
}
