//! Where the states of this process are among those of all, in the order in which one worker finds them.
//!
//! A search in stages (`search.rs`) is looked at in that order. A single process remembers it in a byte for each state, whose turn it was.
//! Of several processes each remembers of its own states only the rank in the level, in 4 bytes.

use crate::absorb::Insertions;
use crate::space::{StateId, join, split};
use crate::store::StateStore;
use std::ops::Range;

/// By shard of this process, and there by state: the rank in its level.
pub(crate) struct Places {
    /// The number of the first shard here, and shards of all processes.
    first: usize,
    shards: usize,
    ranks: Vec<Vec<u32>>,
    /// States up to the end of each level.
    ends: Vec<Vec<usize>>,
}

impl Places {
    /// For shards with these numbers, of so many in all processes.
    pub fn new(here: Range<usize>, shards: usize) -> Places {
        let workers = here.len();
        Places { first: here.start, shards, ranks: vec![Vec::new(); workers], ends: vec![Vec::new(); workers] }
    }

    /// A level ends, or is shown before it ends: these are the ranks of its states.
    pub fn add_level(&mut self, ranks: &[Vec<u32>]) {
        for ((known, ends), ranks) in self.ranks.iter_mut().zip(&mut self.ends).zip(ranks) {
            known.extend_from_slice(ranks);
            ends.push(known.len());
        }
    }

    /// Forgets the last level, which is not complete.
    pub fn forget_level(&mut self) {
        for (ranks, ends) in self.ranks.iter_mut().zip(&mut self.ends) {
            ends.pop();
            ranks.truncate(ends.last().copied().unwrap_or(0));
        }
    }

    /// The states with these places, each with its place and its id. `levels`: states of all processes up to the end of each level. Those
    /// of a worker come in order.
    pub fn states<'s>(
        &'s self,
        stores: &'s [StateStore],
        levels: &'s [u64],
        places: Range<u64>,
    ) -> impl Iterator<Item = (u64, StateId, &'s [u64])> {
        let until = places.end;
        self.ranks.iter().zip(&self.ends).zip(stores).enumerate().flat_map(move |(worker, ((ranks, ends), store))| {
            let id = move |index: usize| StateId(join(self.first + worker, index as u64, self.shards));
            let each = PlacesOfShard::new(ranks, ends, levels, places.start);
            let each = each.take_while(move |(place, _)| *place < until);
            each.map(move |(place, index)| (place, id(index), store.state(index)))
        })
    }

    /// The state with an id, and its parent's id, if it is here.
    pub fn state(&self, stores: &[StateStore], id: u64) -> Option<(Vec<u64>, u64)> {
        let (shard, index) = split(id, self.shards);
        let store = stores.get(shard.checked_sub(self.first)?)?;
        let index = usize::try_from(index).ok().filter(|&index| index < store.len())?;
        Some((store.state(index).to_vec(), store.parent(index)))
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.ranks.iter().map(|ranks| ranks.capacity() * size_of::<u32>()).sum()
    }
}

/// The places of a shard's states in order, with their indices, from some place on.
struct PlacesOfShard<'s> {
    ranks: &'s [u32],
    ends: &'s [usize],
    levels: &'s [u64],
    level: usize,
    index: usize,
}

impl<'s> PlacesOfShard<'s> {
    fn new(ranks: &'s [u32], ends: &'s [usize], levels: &'s [u64], from: u64) -> PlacesOfShard<'s> {
        let level = levels.partition_point(|&end| end <= from).min(ends.len());
        let begin = level.checked_sub(1).map_or(0, |before| ends[before]);
        let end = ends.get(level).copied().unwrap_or(ranks.len());
        let mut places = PlacesOfShard { ranks, ends, levels, level, index: begin };
        let rank = from.saturating_sub(places.level_start());
        places.index += ranks[begin..end].partition_point(|&known| u64::from(known) < rank);
        places
    }

    /// The place of the first state of the level.
    fn level_start(&self) -> u64 {
        self.level.checked_sub(1).and_then(|before| self.levels.get(before)).copied().unwrap_or(0)
    }
}

impl Iterator for PlacesOfShard<'_> {
    /// A place and an index.
    type Item = (u64, usize);

    fn next(&mut self) -> Option<(u64, usize)> {
        let rank = *self.ranks.get(self.index)?;
        while self.ends.get(self.level).is_some_and(|&end| end <= self.index) {
            self.level += 1;
        }
        self.index += 1;
        Some((self.level_start() + u64::from(rank), self.index - 1))
    }
}
