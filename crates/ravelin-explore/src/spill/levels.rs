//! The visited states of one shard, in one file by index, each with its parent. They are read one after the other when they are
//! expanded; single states are read to tell a path; and windows over all of them, one range of hashes after the other, are read to compare.
//!
//! What a level adds is ordered by hash. States that were in memory are not; a second file has them in that order. Where hashes collide a
//! level can add several such stretches.

use crate::absorb::Insertions;
use crate::files::{Directory, StorageError, WordFile};
use crate::store::StateStore;

pub(super) struct Levels {
    width: usize,
    /// States with their parents.
    file: WordFile,
    /// States that were in memory, without their parents, ordered by hash.
    copies: WordFile,
    stretches: Vec<Stretch>,
}

/// States in whose order hashes ascend.
#[derive(Clone, Copy)]
struct Stretch {
    in_copies: bool,
    start: u64,
    end: u64,
}

/// States that are read at once.
const AT_ONCE: u64 = 1 << 10;

impl Levels {
    pub fn new(width: usize, directory: &Directory) -> Result<Levels, StorageError> {
        let file = WordFile::create(directory, "levels")?;
        let copies = WordFile::create(directory, "copies")?;
        Ok(Levels { width, file, copies, stretches: Vec::new() })
    }

    fn record(&self) -> u64 {
        self.width as u64 + 1
    }

    /// All states.
    pub fn len(&self) -> u64 {
        self.file.len() / self.record()
    }

    pub fn bytes(&self) -> usize {
        self.stretches.capacity() * size_of::<Stretch>()
    }

    /// The states that are pushed from now on are ordered by hash.
    pub fn begin_stretch(&mut self) {
        let start = self.len();
        self.stretches.push(Stretch { in_copies: false, start, end: start });
    }

    /// States that were pushed in another order come once more in that of their hashes.
    pub fn begin_copy(&mut self) {
        let start = self.copies.len() / self.width.max(1) as u64;
        self.stretches.push(Stretch { in_copies: true, start, end: start });
    }

    #[inline]
    pub fn push(&mut self, state: &[u64], parent: u64) -> Result<(), StorageError> {
        self.file.append(state)?;
        self.file.append(&[parent])
    }

    pub fn push_copy(&mut self, state: &[u64]) -> Result<(), StorageError> {
        self.copies.append(state)
    }

    /// At the end of a stretch.
    pub fn flush(&mut self) -> Result<(), StorageError> {
        let (states, copies) = (self.len(), self.copies.len() / self.width.max(1) as u64);
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.end = if stretch.in_copies { copies } else { states };
        }
        self.copies.flush()?;
        self.file.flush()
    }

    /// A state and its parent.
    pub fn state(&self, index: u64) -> Result<(Vec<u64>, u64), StorageError> {
        let mut words = Vec::with_capacity(self.width + 1);
        self.file.read(index * self.record(), self.width + 1, &mut words)?;
        let parent = words.pop().unwrap_or_default();
        Ok((words, parent))
    }

    /// Reads records of a state and its parent from an index on.
    pub fn read(&self, index: u64, into: &mut Vec<u64>) -> Result<(), StorageError> {
        into.clear();
        let states = AT_ONCE.min(self.len() - index);
        self.file.read(index * self.record(), (states * self.record()) as usize, into)
    }

    /// All states, one range of hashes after the other.
    pub fn windows(&self, bytes: usize, hash: impl Fn(&[u64]) -> u64) -> Windows<'_, impl Fn(&[u64]) -> u64> {
        // State, parent and table of a `StateStore` that has just grown, and the ranges are not quite equally full.
        let states = (bytes / (self.width * 8 + 4 + 24)).max(64) as u64;
        let windows = self.len().div_ceil(states).next_power_of_two().max(1);
        Windows { levels: self, hash, left: self.stretches.clone(), width: u64::MAX / windows, end: 0, store: None }
    }
}

/// States whose hashes lie in a range that moves up.
pub(super) struct Windows<'a, H> {
    levels: &'a Levels,
    hash: H,
    /// By stretch: the states that have not been in a window.
    left: Vec<Stretch>,
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
        let mut store = StateStore::new(self.levels.width);
        let mut words = Vec::new();
        for (left, stretch) in self.left.iter_mut().zip(&self.levels.stretches) {
            let copies = (&self.levels.copies, self.levels.width as u64);
            let (file, record) = if stretch.in_copies { copies } else { (&self.levels.file, self.levels.record()) };
            'stretch: while left.start < left.end {
                words.clear();
                // About as many as there will be, so that little is read twice.
                let share = (stretch.end - stretch.start) / (u64::MAX / self.width).max(1);
                let states = (share + share / 8 + 8).min(AT_ONCE).min(left.end - left.start);
                file.read(left.start * record, (states * record) as usize, &mut words)?;
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
                    left.start += 1;
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
