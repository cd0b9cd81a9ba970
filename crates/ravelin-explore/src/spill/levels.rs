//! The visited states of one shard, level after level in one file, each with its parent. A level is read from beginning to
//! end when it is expanded; single states are read to tell a path; and windows over all levels, one range of hashes after the other, are
//! read to compare.
//!
//! Within a level states are ordered by hash. Where hashes collide a level can consist of several such stretches.

use crate::files::{Directory, StorageError, WordFile};
use crate::store::StateStore;

pub(super) struct Levels {
    width: usize,
    file: WordFile,
    /// States before each level.
    starts: Vec<u64>,
    /// States before each stretch in which hashes ascend.
    stretches: Vec<u64>,
}

/// States that are read at once.
const AT_ONCE: u64 = 1 << 10;

impl Levels {
    pub fn new(width: usize, directory: &Directory) -> Result<Levels, StorageError> {
        let file = WordFile::create(directory, "levels")?;
        Ok(Levels { width, file, starts: Vec::new(), stretches: Vec::new() })
    }

    fn record(&self) -> u64 {
        self.width as u64 + 1
    }

    /// All states.
    pub fn len(&self) -> u64 {
        self.file.len() / self.record()
    }

    /// States of the last level.
    pub fn level_len(&self) -> u64 {
        self.len() - self.starts.last().copied().unwrap_or(0)
    }

    pub fn bytes(&self) -> usize {
        (self.starts.capacity() + self.stretches.capacity()) * 8
    }

    pub fn begin_level(&mut self) {
        self.starts.push(self.len());
        self.begin_stretch();
    }

    pub fn begin_stretch(&mut self) {
        let start = self.len();
        if self.stretches.last() != Some(&start) {
            self.stretches.push(start);
        }
    }

    #[inline]
    pub fn push(&mut self, state: &[u64], parent: u64) -> Result<(), StorageError> {
        self.file.append(state)?;
        self.file.append(&[parent])
    }

    pub fn flush(&mut self) -> Result<(), StorageError> {
        self.file.flush()
    }

    /// A state and its parent, by level and place in it.
    pub fn state(&self, level: usize, place: u64) -> Result<(Vec<u64>, u64), StorageError> {
        let mut words = Vec::with_capacity(self.width + 1);
        self.file.read((self.starts[level] + place) * self.record(), self.width + 1, &mut words)?;
        let parent = words.pop().unwrap_or_default();
        Ok((words, parent))
    }

    /// Reads on in the last level, from a place in it; records of a state and its parent.
    pub fn read_level(&self, place: u64, into: &mut Vec<u64>) -> Result<(), StorageError> {
        into.clear();
        let states = AT_ONCE.min(self.level_len() - place);
        let start = self.starts.last().copied().unwrap_or(0) + place;
        self.file.read(start * self.record(), (states * self.record()) as usize, into)
    }

    /// All states, one range of hashes after the other.
    pub fn windows(&self, bytes: usize, hash: impl Fn(&[u64]) -> u64) -> Windows<'_, impl Fn(&[u64]) -> u64> {
        // State, parent and table of a `StateStore` that has just grown, and the ranges are not quite equally full.
        let states = (bytes / (self.width * 8 + 4 + 24)).max(64) as u64;
        let windows = self.len().div_ceil(states).next_power_of_two().max(1);
        Windows { levels: self, hash, next: self.stretches.clone(), width: u64::MAX / windows, end: 0, store: None }
    }
}

/// States whose hashes lie in a range that moves up.
pub(super) struct Windows<'a, H> {
    levels: &'a Levels,
    hash: H,
    /// By stretch: its first state that has not been in a window.
    next: Vec<u64>,
    width: u64,
    /// Largest hash of the window.
    end: u64,
    store: Option<StateStore>,
}

impl<H: Fn(&[u64]) -> u64> Windows<'_, H> {
    /// Whether a state was visited. Hashes must not descend from call to call, and no state may come twice.
    pub fn contains(&mut self, state: &[u64], hash: u64) -> Result<bool, StorageError> {
        let mut store = match self.store.take() {
            Some(store) if hash <= self.end => store,
            _ => {
                // Windows begin at multiples, so that the last one ends where hashes end.
                let start = hash / self.width * self.width;
                self.end =
                    (hash / self.width).saturating_add(1).checked_mul(self.width).map_or(u64::MAX, |end| end - 1);
                self.load(start)?
            }
        };
        // A state that was not there is from now on; nobody asks twice.
        let before = store.len();
        store.reserve(before + 1);
        store.insert(state, mixed(hash), 0);
        let there = store.len() == before;
        self.store = Some(store);
        Ok(there)
    }

    /// The states from a hash up to the end of the window.
    fn load(&mut self, start: u64) -> Result<StateStore, StorageError> {
        let record = self.levels.record();
        let mut store = StateStore::new(self.levels.width);
        let mut words = Vec::new();
        for stretch in 0..self.next.len() {
            let end = self.levels.stretches.get(stretch + 1).copied().unwrap_or(self.levels.len());
            'stretch: while self.next[stretch] < end {
                words.clear();
                // About as many as there will be, so that little is read twice.
                let share = (end - self.levels.stretches[stretch]) / (u64::MAX / self.width).max(1);
                let states = (share + share / 8 + 8).min(AT_ONCE).min(end - self.next[stretch]);
                self.levels.file.read(self.next[stretch] * record, (states * record) as usize, &mut words)?;
                for state in words.chunks_exact(record as usize) {
                    let state = &state[..self.levels.width];
                    let hash = (self.hash)(state);
                    if hash > self.end {
                        break 'stretch;
                    }
                    if hash >= start {
                        store.reserve(store.len() + 1);
                        store.insert(state, mixed(hash), 0);
                    }
                    self.next[stretch] += 1;
                }
            }
        }
        Ok(store)
    }
}

/// The states of a window have much of their hashes in common, which a table must not see.
fn mixed(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
