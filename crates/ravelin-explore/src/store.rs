//! The visited set of one shard: exact, with a parent for each state.
//!
//! States lie one after the other in an arena, in the order they were found, which is breadth-first order: the frontier
//! is a range of indices and costs nothing. A table with open addressing holds the index and the upper 32 bits of the hash in
//! 8 bytes. These bits, scaled to the table, are also where the entry belongs, so entries are sorted but for collisions, and a
//! table that has become too small grows in place, in one sweep from its end, without a look at the states. In all: the packed
//! state, 4 bytes for the parent and 10.7 to 17.1 bytes of table (between 47 and 75 % full).

use crate::order::{MergedRecords, label};
use crate::room::Room;

/// Groups of insertions whose cache misses are made to overlap.
const GROUP: usize = 32;
/// Words of an arena chunk; chunks are never moved, so growing copies nothing.
const CHUNK_WORDS: usize = 1 << 17;
/// A table of this many slots is in the cache anyway.
const CACHED_TABLE: usize = 1 << 16;
/// Slots that are looked at beforehand for each insertion.
const NEAR: usize = 6;
const FIRST_TABLE: usize = 64;

pub(crate) struct StateStore {
    width: usize,
    states_per_chunk: usize,
    states: Vec<Vec<u64>>,
    /// The lower halves of the parents' ids. They are all of them, unless states are in several processes.
    parents: Vec<Vec<u32>>,
    /// The upper halves, of which 16 bits are used.
    parents_above: Option<Vec<Vec<u16>>>,
    len: usize,
    /// 0 is empty; otherwise the upper half of the hash above, index + 1 below.
    table: Vec<u64>,
}

impl StateStore {
    /// For states whose parents' ids have 32 bits.
    pub fn new(width: usize) -> StateStore {
        let states_per_chunk = (CHUNK_WORDS / width.max(1)).max(1).next_power_of_two();
        StateStore {
            width,
            states_per_chunk,
            states: Vec::new(),
            parents: Vec::new(),
            parents_above: None,
            len: 0,
            table: vec![0; FIRST_TABLE],
        }
    }

    /// For states whose parents' ids have 48 bits.
    pub fn with_long_ids(width: usize) -> StateStore {
        StateStore { parents_above: Some(Vec::new()), ..StateStore::new(width) }
    }

    /// Words of a state.
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn state(&self, index: usize) -> &[u64] {
        let offset = (index % self.states_per_chunk) * self.width;
        &self.states[index / self.states_per_chunk][offset..offset + self.width]
    }

    /// The id of a state's parent; all ones for an initial state.
    #[inline]
    pub fn parent(&self, index: usize) -> u64 {
        let (chunk, place) = (index / self.states_per_chunk, index % self.states_per_chunk);
        let low = self.parents[chunk][place];
        match &self.parents_above {
            None if low == u32::MAX => u64::MAX,
            None => u64::from(low),
            Some(above) if (above[chunk][place], low) == (u16::MAX, u32::MAX) => u64::MAX,
            Some(above) => u64::from(above[chunk][place]) << 32 | u64::from(low),
        }
    }

    /// The index of a state's parent, if all states are in this store.
    pub fn parent_in_memory(&self, index: usize) -> Option<usize> {
        usize::try_from(self.parent(index)).ok().filter(|&parent| parent < self.len)
    }

    /// The states' indices, ordered by the upper half of their hashes, which stands above each index. The store takes no more states.
    pub fn take_order(&mut self) -> Vec<u64> {
        let mut order = std::mem::take(&mut self.table);
        order.retain(|&entry| entry != 0);
        order.iter_mut().for_each(|entry| *entry -= 1);
        order.sort_unstable();
        order
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        let parent = if self.parents_above.is_some() { 6 } else { 4 };
        self.table.len() * 8 + self.states.len() * self.states_per_chunk * (self.width * 8 + parent)
    }

    /// Adds the states of an outbox that are not there yet. Records are `width` words of state, the hash, the parent.
    pub fn absorb(&mut self, outbox: &[u64]) {
        let record = self.width + 2;
        for group in outbox.chunks(GROUP * record) {
            self.reserve(self.len + GROUP);
            if self.table.len() > CACHED_TABLE {
                self.touch(group.chunks_exact(record));
            }
            for entry in group.chunks_exact(record) {
                let (state, rest) = entry.split_at(self.width);
                self.insert(state, rest[0], rest[1]);
            }
        }
    }

    /// The same for records that are in order (`order.rs`), each with the number of its sender, which with the lower half of the last word
    /// gives the parent's id; adds the labels of the new states.
    pub fn absorb_in_order(
        &mut self,
        mut records: MergedRecords,
        labels: &mut Vec<u64>,
        id: impl Fn(usize, u64) -> u64,
    ) {
        let mut group: [(usize, &[u64]); GROUP] = [(0, &[]); GROUP];
        loop {
            let mut len = 0;
            for (slot, entry) in group.iter_mut().zip(&mut records) {
                *slot = entry;
                len += 1;
            }
            if len == 0 {
                return;
            }
            self.reserve(self.len + GROUP);
            if self.table.len() > CACHED_TABLE {
                self.touch(group[..len].iter().map(|(_, entry)| *entry));
            }
            for &(sender, entry) in &group[..len] {
                let (state, rest) = entry.split_at(self.width);
                let before = self.len;
                self.insert_with(state, rest[0], || id(sender, rest[1]));
                if self.len > before {
                    labels.push(label(rest[0], rest[1]));
                }
            }
        }
    }

    /// Adds the states of some records that are not there yet, as long as there is room, and gives each of these records to `added`.
    pub fn absorb_within<'r>(
        &mut self,
        records: impl Iterator<Item = (usize, &'r [u64])>,
        room: &Room,
        id: impl Fn(usize, u64) -> u64,
        mut added: impl FnMut(&[u64]),
    ) {
        for (sender, entry) in records {
            if !room.is_left() {
                return;
            }
            self.reserve(self.len + 1);
            let before = self.len;
            let (state, rest) = entry.split_at(self.width);
            self.insert_with(state, rest[0], || id(sender, rest[1]));
            if self.len > before {
                room.take();
                added(rest);
            }
        }
    }

    /// Reads what a group of insertions will need, so that the processor waits for all of it at once instead of for one
    /// insertion after the other.
    #[inline]
    fn touch<'g>(&self, group: impl Iterator<Item = &'g [u64]> + Clone) {
        let mut entries = [0u64; GROUP];
        for (entry, slot) in group.clone().zip(&mut entries) {
            *slot = self.table[self.home(entry[self.width])];
        }
        let mut seen = 0;
        for (entry, &first) in group.zip(&entries) {
            let (hash, mut found) = (entry[self.width], first);
            if found != 0 && found >> 32 != hash >> 32 {
                // Mostly in the same line of the cache, so looking on costs next to nothing.
                let home = self.home(hash);
                let near = self.table.get(home + 1..home + NEAR).unwrap_or(&[]);
                found = near.iter().copied().find(|&slot| slot == 0 || slot >> 32 == hash >> 32).unwrap_or(0);
            }
            if found != 0 {
                seen ^= self.state((found & 0xffff_ffff) as usize - 1)[0];
            }
        }
        std::hint::black_box(seen);
    }

    /// There must be room for one more, see [`StateStore::reserve`].
    #[inline]
    pub fn insert(&mut self, state: &[u64], hash: u64, parent: u64) {
        self.insert_with(state, hash, || parent);
    }

    /// The same; the parent is asked for if the state is new.
    #[inline]
    pub fn insert_with(&mut self, state: &[u64], hash: u64, parent: impl FnOnce() -> u64) {
        let tag = hash >> 32;
        let mut slot = self.home(hash);
        loop {
            let entry = self.table[slot];
            if entry == 0 {
                break;
            }
            if entry >> 32 == tag && same(self.state((entry & 0xffff_ffff) as usize - 1), state) {
                return;
            }
            slot += 1;
            if slot == self.table.len() {
                slot = 0;
            }
        }
        self.append(state, parent());
        self.table[slot] = tag << 32 | self.len as u64;
    }

    /// Forgets all but the first `len` states.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        let chunks = len.div_ceil(self.states_per_chunk);
        self.states.truncate(chunks);
        self.parents.truncate(chunks);
        self.parents_above.iter_mut().for_each(|above| above.truncate(chunks));
        if !len.is_multiple_of(self.states_per_chunk) {
            let last = len % self.states_per_chunk;
            self.states[chunks - 1].truncate(last * self.width);
            self.parents[chunks - 1].truncate(last);
            self.parents_above.iter_mut().for_each(|above| above[chunks - 1].truncate(last));
        }
        self.len = len;
        self.table.fill(0);
        for index in 0..len {
            let tag = hash(self.state(index)) >> 32;
            let mut slot = self.home_of_tag(tag);
            while self.table[slot] != 0 {
                slot = (slot + 1) % self.table.len();
            }
            self.table[slot] = tag << 32 | (index as u64 + 1);
        }
    }

    fn append(&mut self, state: &[u64], parent: u64) {
        if self.len.is_multiple_of(self.states_per_chunk) {
            // Room that is not touched before it is used: an exploration of ten states costs ten states.
            self.states.push(Vec::with_capacity(self.states_per_chunk * self.width));
            self.parents.push(Vec::with_capacity(self.states_per_chunk));
            self.parents_above.iter_mut().for_each(|above| above.push(Vec::with_capacity(self.states_per_chunk)));
        }
        let chunk = self.states.len() - 1;
        self.states[chunk].extend_from_slice(state);
        self.parents[chunk].push(parent as u32);
        if let Some(above) = &mut self.parents_above {
            above[chunk].push((parent >> 32) as u16);
        }
        self.len += 1;
    }

    /// The slot a hash starts probing at.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        self.home_of_tag(hash >> 32)
    }

    #[inline]
    fn home_of_tag(&self, tag: u64) -> usize {
        ((u128::from(tag) * self.table.len() as u128) >> 32) as usize
    }

    /// Makes the table large enough for so many states. Shards that are asked for the same number grow at the same time.
    pub fn reserve(&mut self, states: usize) {
        let old = self.table.len();
        if states * 4 <= old * 3 {
            return;
        }
        let size = (old * 8 / 5).max(states * 4 / 3 + GROUP);
        self.table.reserve_exact(size - old);
        self.table.resize(size, 0);
        // Homes only move up, so a sweep from the end finds its goal among slots that were swept before. The few entries
        // for which that is not so, because a collision had moved them far or because they would pass the end, wait.
        let mut waiting = Vec::new();
        for slot in (0..old).rev() {
            let entry = std::mem::take(&mut self.table[slot]);
            if entry == 0 {
                continue;
            }
            let home = self.home_of_tag(entry >> 32);
            let free = || self.table[home..].iter().position(|&entry| entry == 0);
            match (home >= slot).then(free).flatten() {
                Some(distance) => self.table[home + distance] = entry,
                None => waiting.push(entry),
            }
        }
        for entry in waiting {
            let mut slot = self.home_of_tag(entry >> 32);
            while self.table[slot] != 0 {
                slot += 1;
                if slot == size {
                    slot = 0;
                }
            }
            self.table[slot] = entry;
        }
    }
}

/// A hash of a packed state: one widening multiplication a word, folded, and one more to finish.
#[inline]
pub(crate) fn hash(state: &[u64]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15;
    for &word in state {
        hash = fold(hash ^ word, 0xa076_1d64_78bd_642f);
    }
    fold(hash, 0xe703_7ed1_a0b4_28db)
}

/// Equality of two short slices of one length, without a call.
#[inline]
pub(crate) fn same(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn record(state: &[u64], parent: u32) -> Vec<u64> {
        let mut record = state.to_vec();
        record.extend([hash(state), u64::from(parent)]);
        record
    }

    #[test]
    fn holds_exactly_what_was_put_in_and_keeps_the_first_parent() {
        for width in [1, 2, 3, 7] {
            let mut store = StateStore::new(width);
            let mut expected = BTreeSet::new();
            let mut outbox = Vec::new();
            // A small range of values, so that most states come again and again.
            let mut random = 1u64;
            for step in 0..60_000u32 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let state: Vec<u64> = (0..width).map(|word| (random >> (20 + word * 3)) % 97).collect();
                outbox.extend(record(&state, step));
                expected.insert(state);
            }
            store.absorb(&outbox);
            let found: BTreeSet<Vec<u64>> = (0..store.len()).map(|index| store.state(index).to_vec()).collect();
            assert_eq!(found.len(), store.len());
            assert_eq!(found, expected);
            assert!((1..store.len()).all(|index| store.parent(index - 1) < store.parent(index)));
        }
    }

    #[test]
    fn long_ids_of_parents_come_back_and_short_ones_have_a_value_for_none() {
        let parents = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 48) - 2, u64::MAX];
        let mut store = StateStore::with_long_ids(1);
        for (value, &parent) in parents.iter().enumerate() {
            store.insert(&[value as u64], hash(&[value as u64]), parent);
        }
        assert!(parents.iter().enumerate().all(|(index, &parent)| store.parent(index) == parent));
        let mut store = StateStore::new(1);
        for (value, parent) in [(0, 0), (1, (1 << 32) - 2), (2, u64::MAX)] {
            store.insert(&[value], hash(&[value]), parent);
            assert_eq!(store.parent(value as usize), parent);
        }
    }

    #[test]
    fn truncating_forgets_the_newest_only() {
        let mut store = StateStore::new(1);
        for value in 0..200_000u64 {
            store.absorb(&record(&[value], 0));
        }
        for len in [199_999, 131_072, 131_071, 70, 0] {
            store.truncate(len);
            assert_eq!(store.len(), len);
            store.absorb(&record(&[len as u64 / 2], 0));
            assert_eq!(store.len(), if len == 0 { 1 } else { len }, "the first ones are still there");
            store.absorb(&record(&[199_999], 0));
            assert_eq!(store.state(store.len() - 1), &[199_999], "the last one can come again");
        }
    }

    /// Growing at every possible size, with many states that belong at the very end of the table.
    #[test]
    fn growing_loses_nothing() {
        for crowded in [false, true] {
            let mut store = StateStore::new(1);
            let mut kept = Vec::new();
            let mut value = 0u64;
            while kept.len() < 3_000 {
                value += 1;
                if crowded && kept.len() % 4 != 0 && hash(&[value]) >> 54 < 1_020 {
                    continue;
                }
                kept.push(value);
                store.absorb(&record(&[value], 0));
                store.reserve(store.len() + GROUP + kept.len() % 7);
            }
            let before = store.len();
            for &value in &kept {
                store.absorb(&record(&[value], 1));
            }
            assert_eq!((before, store.len()), (kept.len(), kept.len()));
        }
    }

    #[test]
    fn a_state_costs_at_most_24_bytes_more_than_itself() {
        let mut store = StateStore::new(2);
        for value in 0..600_000u64 {
            store.absorb(&record(&[value, value ^ 0xff], 0));
        }
        assert!(store.bytes() <= store.len() * (16 + 24), "{} bytes for {} states", store.bytes(), store.len());
    }
}
