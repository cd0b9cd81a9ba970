//! The clocks that exist: enough to determine which sightings cannot be distinguished any more.
//!
//! All clocks of all threads, locations and locks are passed to a [`Live`]; then it is used to prune histories. It
//! answers two questions. Does any clock have a component of a thread between two epochs? And what do all clocks that
//! cover a given moment know at least? The second answer is approximate. It is kept for [`STEPS`] epochs of each
//! thread, rounded so that too little is promised, and only for so many threads that the table stays small.

use crate::clock::{Clock, Epoch, NOBODY, Tid};
use crate::common::CommonView;
use crate::location::LocationClocks;
use crate::snapshot::ClockSnapshot;
use crate::thread::{FenceLocation, ReleaseClocks, ThreadClocks};
use crate::tso::BufferedLocation;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// For how many epochs per thread the least knowledge is kept.
const STEPS: usize = 64;
/// For how many threads it is kept.
const THREADS: usize = 128;

/// A visitor of clocks.
pub(crate) trait Visitor {
    /// A clock that belongs to a thread, which knows all its own epochs, or to [`NOBODY`].
    fn clock(&mut self, owner: Tid, clock: &Clock);
    /// A snapshot.
    fn snapshot(&mut self, snapshot: &ClockSnapshot);
}

/// All clocks that exist.
#[derive(Default)]
pub struct Live {
    /// For each thread, the epochs that occur, in order once [`Live::seal`] was called.
    epochs: Vec<Vec<Epoch>>,
    rows: Vec<LiveRow>,
    /// The components of the rows, one after the other.
    components: Vec<Epoch>,
    /// Where the row of components and a thread is, by their hash.
    known: HashMap<u64, usize, BuildHasherDefault<IdentityHasher>>,
    least: Vec<Least>,
    common: CommonView,
}

/// A clock, or all snapshots of one thread with the same other components.
struct LiveRow {
    from: usize,
    to: usize,
    by: Tid,
    /// The least and the greatest component of `by`.
    at: (Epoch, Epoch),
}

/// The least that clocks know that cover epochs of one thread.
#[derive(Default)]
struct Least {
    /// Epochs, in order.
    steps: Vec<Epoch>,
    /// The least of each component: for epochs below the first step, from the first on, from the second on, ….
    components: Vec<Vec<Epoch>>,
}

impl Live {
    /// No clocks yet.
    pub fn new() -> Live {
        Live::default()
    }

    /// Removes all clocks but keeps the memory.
    pub fn clear(&mut self) {
        self.epochs.iter_mut().for_each(Vec::clear);
        self.rows.clear();
        self.components.clear();
        self.known.clear();
        self.least.clear();
        self.common.clear();
    }

    /// Adds a thread's clocks.
    pub fn thread(&mut self, thread: &ThreadClocks) {
        thread.visit(self);
    }

    /// What all threads know. Without it, that is not used.
    pub fn know_all(&mut self, common: &CommonView) {
        self.common.clone_from(common);
    }

    pub(crate) fn common(&self) -> &CommonView {
        &self.common
    }

    /// Adds a location's clocks.
    pub fn location(&mut self, location: &LocationClocks) {
        location.visit(self);
    }

    /// Adds a location's clocks under x86-TSO.
    pub fn buffered(&mut self, location: &BufferedLocation) {
        location.visit(self);
    }

    /// Adds what was released.
    pub fn released(&mut self, released: &ReleaseClocks) {
        released.visit(self);
    }

    /// Adds the hidden location.
    pub fn hidden(&mut self, hidden: &FenceLocation) {
        hidden.visit(self);
    }

    /// Ends the additions.
    pub fn seal(&mut self) {
        for epochs in &mut self.epochs {
            epochs.sort_unstable();
            epochs.dedup();
        }
        if self.epochs.len() <= THREADS {
            self.least = (0..self.epochs.len()).map(|tid| self.least_of(tid as Tid)).collect();
        }
    }

    /// Whether any clock has a component of `tid` from `from` to below `to`.
    pub(crate) fn between(&self, tid: Tid, from: Epoch, to: Epoch) -> bool {
        let Some(epochs) = self.epochs.get(tid as usize) else {
            return false;
        };
        let first = epochs.partition_point(|&epoch| epoch < from);
        epochs.get(first).is_some_and(|&epoch| epoch < to)
    }

    /// The least components of all clocks that cover `epoch` of `tid`; `None` if they were not computed.
    pub(crate) fn least(&self, tid: Tid, epoch: Epoch) -> Option<&[Epoch]> {
        let least = self.least.get(tid as usize)?;
        let step = least.steps.partition_point(|&step| step <= epoch);
        least.components.get(step).map(Vec::as_slice)
    }

    fn put(&mut self, tid: Tid, epoch: Epoch) {
        let index = tid as usize;
        if self.epochs.len() <= index {
            self.epochs.resize_with(index + 1, Vec::new);
        }
        let epochs = &mut self.epochs[index];
        if epoch > 0 && epochs.last() != Some(&epoch) {
            if epochs.len() == epochs.capacity() {
                // Most clocks have the same few epochs of a thread.
                epochs.sort_unstable();
                epochs.dedup();
                epochs.reserve(epochs.len() + 16);
            }
            epochs.push(epoch);
        }
    }

    fn row(&mut self, epochs: &[Epoch], by: Tid, at: (Epoch, Epoch)) -> usize {
        for (tid, &epoch) in epochs.iter().enumerate() {
            self.put(tid as Tid, epoch);
        }
        let from = self.components.len();
        self.components.extend_from_slice(epochs);
        self.rows.push(LiveRow { from, to: self.components.len(), by, at });
        self.rows.len() - 1
    }

    fn least_of(&self, tid: Tid) -> Least {
        let covers = |row: &LiveRow| match row.by == tid {
            true => row.at.1,
            false => self.components[row.from..row.to].get(tid as usize).copied().unwrap_or(0),
        };
        let occurring = &self.epochs[tid as usize];
        let stride = occurring.len().div_ceil(STEPS).max(1);
        let steps: Vec<Epoch> = occurring.iter().step_by(stride).copied().collect();
        let width = self.epochs.len();
        let mut components = vec![vec![Epoch::MAX; width]; steps.len() + 1];
        for row in &self.rows {
            let covered = covers(row);
            if covered == 0 {
                continue;
            }
            let least = &mut components[steps.partition_point(|&step| step <= covered)];
            let known = &self.components[row.from..row.to];
            for (index, least) in least.iter_mut().enumerate() {
                let mut epoch = known.get(index).copied().unwrap_or(0);
                if index == row.by as usize {
                    epoch = epoch.max(row.at.0);
                }
                *least = (*least).min(epoch);
            }
        }
        // A clock that covers a later epoch covers the earlier ones.
        for step in (1..components.len()).rev() {
            let (earlier, later) = components.split_at_mut(step);
            let pairs = earlier[step - 1].iter_mut().zip(&later[0]);
            pairs.for_each(|(earlier, later)| *earlier = (*earlier).min(*later));
        }
        Least { steps, components }
    }
}

impl Visitor for Live {
    fn clock(&mut self, owner: Tid, clock: &Clock) {
        let at = if owner == NOBODY { 0 } else { Epoch::MAX };
        self.row(clock.epochs(), owner, (at, at));
    }

    fn snapshot(&mut self, snapshot: &ClockSnapshot) {
        if snapshot.is_empty() {
            return;
        }
        let (by, at) = snapshot.moment().unwrap_or((NOBODY, 0));
        if at > 0 {
            self.put(by, at);
        }
        let (known, hash) = (snapshot.epochs(), hash(snapshot.epochs(), by));
        match self.known.get(&hash).map(|&row| &mut self.rows[row]) {
            Some(row) if row.by == by && self.components[row.from..row.to] == *known => {
                row.at = (row.at.0.min(at), row.at.1.max(at));
            }
            _ => {
                let row = self.row(known, by, (at, at));
                self.known.insert(hash, row);
            }
        }
    }
}

fn hash(epochs: &[Epoch], by: Tid) -> u64 {
    let mix = |hash: u64, word: u32| (hash.rotate_left(5) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    epochs.iter().fold(mix(1, by.into()), |hash, &epoch| mix(hash, epoch))
}

/// A hasher for values that are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}
