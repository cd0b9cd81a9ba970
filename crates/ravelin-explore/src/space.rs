//! What an exploration leaves behind: the states, how each was reached, and what was found.

use crate::absorb::Insertions;
use crate::files::StorageError;
use crate::limits::Limit;
use crate::peers::{LostProcess, Peers, Team};
use crate::places::Places;
use crate::snapshot::{Snapshot, follow_back};
use crate::store::StateStore;
use std::ops::Range;
use std::time::Duration;

/// A stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(crate) u64);

impl StateId {
    /// The parent of a state that has none.
    pub(crate) const NONE: u64 = u64::MAX;

    /// As a word, for other processes that make the same exploration.
    pub fn word(self) -> u64 {
        self.0
    }

    /// From a word of another process.
    pub fn of_word(word: u64) -> StateId {
        StateId(word)
    }
}

/// What a system reported about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateFinding {
    pub state: StateId,
    /// The system's own number.
    pub kind: u32,
}

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End<I> {
    /// Everything reachable was expanded.
    Exhausted,
    /// It stopped at the first finding.
    Found,
    Limit(Limit),
    Interrupted(I),
    /// Something could not be written to disk, or read from there.
    Failed(StorageError),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    pub states: u64,
    pub transitions: u64,
    /// Steps from an initial state to the farthest one.
    pub depth: u64,
    /// States stored but not expanded.
    pub frontier: u64,
    pub bytes: u64,
    pub elapsed: Duration,
    pub workers: usize,
}

/// The explored part of a state space.
pub struct Space<I> {
    pub end: End<I>,
    /// A system's bound left out some successors.
    pub cut_off: bool,
    /// What was reported, in the order in which one worker finds it. After [`End::Found`] all are equally far from the start. The order
    /// of what several processes found, or was spilled or resumed, depends on how it was shared out.
    pub findings: Vec<StateFinding>,
    pub statistics: Statistics,
    /// The states in the memory of this process.
    pub(crate) shards: Vec<StateStore>,
    /// The shards of the states in the order in which one worker finds them; empty if there is but one.
    pub(crate) turns: Vec<u8>,
    /// States up to the end of each level that was begun; empty if they are not all in memory here.
    pub(crate) levels: Vec<u64>,
    /// What is kept of a space that is not all in memory here; the rest is not asked for then.
    pub(crate) kept: Option<Snapshot>,
    /// Of several processes that explored in stages: the places of the states here.
    pub(crate) places: Option<Places>,
}

impl<I> Space<I> {
    /// A space of which nothing is known but why.
    pub(crate) fn unknown(end: End<I>, width: usize) -> Space<I> {
        Space::elsewhere(end, Snapshot::new(width))
    }

    /// A space whose states are not here, but for what is kept.
    pub(crate) fn elsewhere(end: End<I>, kept: Snapshot) -> Space<I> {
        Space {
            end,
            cut_off: false,
            findings: Vec::new(),
            statistics: Statistics::default(),
            shards: Vec::new(),
            turns: Vec::new(),
            levels: Vec::new(),
            kept: Some(kept),
            places: None,
        }
    }

    /// A stored state; one that was reported, if the space is not all in memory here.
    pub fn state(&self, id: StateId) -> &[u64] {
        if let Some(kept) = &self.kept {
            return kept.state(id);
        }
        let (shard, index) = split(id.0, self.shards.len());
        self.shards[shard].state(index as usize)
    }

    /// The states from an initial one to this one, both included.
    ///
    /// If the space is not all in memory here there are paths to the first finding of each kind.
    pub fn path(&self, id: StateId) -> Vec<&[u64]> {
        if let Some(kept) = &self.kept {
            return kept.path(id);
        }
        let mut path = Vec::new();
        let mut next = id.0;
        while next != StateId::NONE {
            let (shard, index) = split(next, self.shards.len());
            path.push(self.shards[shard].state(index as usize));
            next = self.shards[shard].parent(index as usize);
        }
        path.reverse();
        path
    }

    /// All stored states, in the order in which one worker finds them.
    pub fn ids(&self) -> impl Iterator<Item = StateId> + '_ {
        let shards = self.shards.len();
        let alone = self.shards.first().filter(|_| self.turns.is_empty()).map_or(0, StateStore::len);
        let mut next = vec![0u64; shards];
        let ordered = self.turns.iter().map(move |&shard| {
            let shard = usize::from(shard);
            next[shard] += 1;
            StateId(join(shard, next[shard] - 1, shards))
        });
        (0..alone).map(|index| StateId(index as u64)).chain(ordered)
    }

    /// Whether a part of the states is in other processes.
    pub fn is_shared(&self) -> bool {
        self.places.is_some()
    }

    /// After stages among several processes: the states here that have these places in the order in which one worker finds all, each with
    /// its place and its id, in no particular order.
    pub fn here(&self, places: Range<u64>) -> impl Iterator<Item = (u64, StateId, &[u64])> {
        let known = self.places.iter();
        known.flat_map(move |known| known.states(&self.shards, &self.levels, places.clone()))
    }

    /// After stages among several processes: the paths to these states, each as in [`Space::path`]. All processes have to ask for the same.
    pub fn paths(&self, peers: &dyn Peers, ids: &[StateId]) -> Result<Vec<Vec<Vec<u64>>>, LostProcess> {
        let team = Team::new(Some(peers), self.shards.len());
        let here = |id: u64| self.places.as_ref()?.state(&self.shards, id);
        let width = self.shards.first().map_or(0, StateStore::width);
        follow_back(&team, width, ids.iter().map(|id| id.0).collect(), here)
    }

    /// How far a state is from the initial ones, by its place in [`Space::ids`]. For spaces that are all in memory here or were explored in
    /// stages, and were not resumed.
    pub fn depth(&self, place: usize) -> usize {
        self.levels.partition_point(|&end| end <= place as u64)
    }

    /// All stored states, in no particular order.
    pub fn states(&self) -> impl Iterator<Item = &[u64]> {
        self.shards.iter().flat_map(|store| (0..store.len()).map(|index| store.state(index)))
    }
}

/// Ids interleave the shards: index × shards + shard.
#[inline]
pub(crate) fn join(shard: usize, index: u64, shards: usize) -> u64 {
    index * shards as u64 + shard as u64
}

#[inline]
pub(crate) fn split(id: u64, shards: usize) -> (usize, u64) {
    ((id % shards as u64) as usize, id / shards as u64)
}
