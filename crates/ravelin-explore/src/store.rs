//! The visited set of one shard: exact, with a parent for each state.
//!
//! States lie one after the other in an arena, in the order they were found, which is breadth-first order: the frontier
//! is a range of indices and costs nothing. A table with open addressing holds the index and the upper 32 bits of the hash in
//! 8 bytes. These bits, scaled to the table, are also where the entry belongs, so entries are sorted but for collisions, and a
//! table that has become too small grows in place, in one sweep from its end, without a look at the states. In all: the packed
//! state, 4 bytes for the parent and 10.7 to 17.1 bytes of table (between 47 and 75 % full).

use crate::absorb::{GROUP, Insertions};
use crate::words::Words;

/// States in the first chunk of the arena. Each chunk has twice as many as the one before; none is ever moved.
const FIRST_CHUNK: usize = 256;
/// A table of this many slots is in the cache anyway.
const CACHED_TABLE: usize = 1 << 16;
/// Slots that are looked at beforehand for each insertion.
const NEAR: usize = 6;
const FIRST_TABLE: usize = 64;

pub(crate) struct StateStore {
    width: usize,
    states: Vec<Words>,
    /// The lower halves of the parents' ids. They are all of them, unless states are in several processes.
    parents: Vec<u32>,
    /// The upper halves, of which 16 bits are used.
    parents_above: Option<Vec<u16>>,
    len: usize,
    /// 0 is empty; otherwise the upper half of the hash above, index + 1 below.
    table: Words,
}

impl StateStore {
    /// For states whose parents' ids have 32 bits.
    pub fn new(width: usize) -> StateStore {
        StateStore {
            width,
            states: Vec::new(),
            parents: Vec::new(),
            parents_above: None,
            len: 0,
            table: Words::zeroed(FIRST_TABLE),
        }
    }

    /// For states whose parents' ids have 48 bits.
    pub fn with_long_ids(width: usize) -> StateStore {
        StateStore { parents_above: Some(Vec::new()), ..StateStore::new(width) }
    }

    #[inline]
    pub fn state(&self, index: usize) -> &[u64] {
        self.state_of::<0>(index)
    }

    #[inline]
    fn state_of<const W: usize>(&self, index: usize) -> &[u64] {
        let width = if W == 0 { self.width } else { W };
        let (chunk, place) = place(index);
        &self.states[chunk][place * width..][..width]
    }

    /// The id of a state's parent; all ones for an initial state.
    #[inline]
    pub fn parent(&self, index: usize) -> u64 {
        let low = self.parents[index];
        match &self.parents_above {
            None if low == u32::MAX => u64::MAX,
            None => u64::from(low),
            Some(above) if (above[index], low) == (u16::MAX, u32::MAX) => u64::MAX,
            Some(above) => u64::from(above[index]) << 32 | u64::from(low),
        }
    }

    /// The index of a state's parent, if all states are in this store.
    pub fn parent_in_memory(&self, index: usize) -> Option<usize> {
        usize::try_from(self.parent(index)).ok().filter(|&parent| parent < self.len)
    }

    /// The states' indices, ordered by the upper half of their hashes, which stands above each index. The store takes no more states.
    pub fn take_order(&mut self) -> Vec<u64> {
        let table = std::mem::replace(&mut self.table, Words::zeroed(0));
        let mut order: Vec<u64> = table.iter().filter(|&&entry| entry != 0).map(|entry| entry - 1).collect();
        drop(table);
        order.sort_unstable();
        order
    }

    /// Bytes of memory in use. What was asked for and never written is none.
    pub fn bytes(&self) -> usize {
        let parent = if self.parents_above.is_some() { 6 } else { 4 };
        self.table.len() * 8 + self.len * (self.width * 8 + parent)
    }

    /// Adds a state, unless it is there; whether it is new. There must be room for one more, see [`Insertions::reserve`].
    #[inline]
    pub fn insert(&mut self, state: &[u64], hash: u64, parent: u64) -> bool {
        match self.width {
            1 => self.insert_of::<1>(state, hash, || parent),
            2 => self.insert_of::<2>(state, hash, || parent),
            3 => self.insert_of::<3>(state, hash, || parent),
            _ => self.insert_of::<0>(state, hash, || parent),
        }
    }

    /// Forgets all but the first `len` states.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.states.truncate(if len == 0 { 0 } else { place(len - 1).0 + 1 });
        self.parents.truncate(len);
        self.parents_above.iter_mut().for_each(|above| above.truncate(len));
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

    #[inline]
    fn append<const W: usize>(&mut self, state: &[u64], parent: u64) {
        let width = if W == 0 { self.width } else { W };
        let (chunk, place) = place(self.len);
        if chunk == self.states.len() {
            self.states.push(Words::zeroed((FIRST_CHUNK << chunk) * width));
        }
        let words = &mut self.states[chunk][place * width..][..width];
        for (to, from) in words.iter_mut().zip(state) {
            *to = *from;
        }
        self.parents.push(parent as u32);
        if let Some(above) = &mut self.parents_above {
            above.push((parent >> 32) as u16);
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

    #[cold]
    fn grow(&mut self, states: usize) {
        let old = self.table.len();
        let size = (old * 8 / 5).max(states * 4 / 3 + GROUP);
        self.table.grow(size);
        let table: &mut [u64] = &mut self.table;
        let home_of_tag = |tag: u64| ((u128::from(tag) * size as u128) >> 32) as usize;
        // Homes only move up, so a sweep from the end finds its goal among slots that were swept before. The few entries
        // for which that is not so, because a collision had moved them far or because they would pass the end, wait.
        let mut waiting = Vec::new();
        for slot in (0..old).rev() {
            let entry = std::mem::take(&mut table[slot]);
            if entry == 0 {
                continue;
            }
            let home = home_of_tag(entry >> 32);
            let free = || table[home..].iter().position(|&entry| entry == 0);
            match (home >= slot).then(free).flatten() {
                Some(distance) => table[home + distance] = entry,
                None => waiting.push(entry),
            }
        }
        for entry in waiting {
            let mut slot = home_of_tag(entry >> 32);
            while table[slot] != 0 {
                slot += 1;
                if slot == size {
                    slot = 0;
                }
            }
            table[slot] = entry;
        }
    }
}

impl Insertions for StateStore {
    fn width(&self) -> usize {
        self.width
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn is_cached(&self) -> bool {
        self.table.len() <= CACHED_TABLE
    }

    /// Shards that are asked for the same number grow at the same time.
    #[inline]
    fn reserve(&mut self, states: usize) {
        if states * 4 > self.table.len() * 3 {
            self.grow(states);
        }
    }

    #[inline]
    fn touch<'g, const W: usize>(&self, group: impl Iterator<Item = &'g [u64]> + Clone) {
        let width = if W == 0 { self.width } else { W };
        let table: &[u64] = &self.table;
        let mut entries = [0u64; GROUP];
        for (entry, slot) in group.clone().zip(&mut entries) {
            *slot = table[self.home(entry[width])];
        }
        let mut seen = 0;
        for (entry, &first) in group.zip(&entries) {
            let (hash, mut found) = (entry[width], first);
            if found != 0 && found >> 32 != hash >> 32 {
                // Mostly in the same line of the cache, so looking on costs next to nothing.
                let home = self.home(hash);
                let near = table.get(home + 1..home + NEAR).unwrap_or(&[]);
                found = near.iter().copied().find(|&slot| slot == 0 || slot >> 32 == hash >> 32).unwrap_or(0);
            }
            if found != 0 {
                seen ^= self.state_of::<W>((found & 0xffff_ffff) as usize - 1)[0];
            }
        }
        std::hint::black_box(seen);
    }

    #[inline]
    fn insert_of<const W: usize>(&mut self, state: &[u64], hash: u64, parent: impl FnOnce() -> u64) -> bool {
        let tag = hash >> 32;
        let mut slot = self.home(hash);
        let table: &[u64] = &self.table;
        loop {
            let entry = table[slot];
            if entry == 0 {
                break;
            }
            if entry >> 32 == tag && same(self.state_of::<W>((entry & 0xffff_ffff) as usize - 1), state) {
                return false;
            }
            slot += 1;
            if slot == table.len() {
                slot = 0;
            }
        }
        self.append::<W>(state, parent());
        self.table[slot] = tag << 32 | self.len as u64;
        true
    }
}

/// The chunk of a state, and its place there.
#[inline]
fn place(index: usize) -> (usize, usize) {
    let after = index + FIRST_CHUNK;
    let bits = usize::BITS - 1 - after.leading_zeros();
    ((bits - FIRST_CHUNK.trailing_zeros()) as usize, after ^ 1 << bits)
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
    use crate::absorb::absorb;
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
            absorb(&mut store, &outbox);
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
            absorb(&mut store, &record(&[value], 0));
        }
        for len in [199_999, 131_072, 131_071, 70, 0] {
            store.truncate(len);
            assert_eq!(store.len(), len);
            absorb(&mut store, &record(&[len as u64 / 2], 0));
            assert_eq!(store.len(), if len == 0 { 1 } else { len }, "the first ones are still there");
            absorb(&mut store, &record(&[199_999], 0));
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
                absorb(&mut store, &record(&[value], 0));
                store.reserve(store.len() + GROUP + kept.len() % 7);
            }
            let before = store.len();
            for &value in &kept {
                absorb(&mut store, &record(&[value], 1));
            }
            assert_eq!((before, store.len()), (kept.len(), kept.len()));
        }
    }

    #[test]
    fn a_state_costs_at_most_24_bytes_more_than_itself() {
        let mut store = StateStore::new(2);
        for value in 0..600_000u64 {
            absorb(&mut store, &record(&[value, value ^ 0xff], 0));
        }
        assert!(store.bytes() <= store.len() * (16 + 24), "{} bytes for {} states", store.bytes(), store.len());
    }
}
