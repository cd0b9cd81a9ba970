//! The order of states, kept by several workers.
//!
//! One worker finds the states of a level in an order: by their first parent's place in the level before, and among the successors of
//! one parent by their number. The first of several parents is the one that is kept, so the path to the first finding is, among all shortest
//! ones, the one with the least sequence of successor numbers. Several workers come to the same paths because they keep to that order:
//!
//! - Each state of a level has a *rank*, its place among the states of all shards. A round expands the states below some rank, so
//!   whatever a later round finds comes later.
//! - A record carries the rank of its parent and the number of the successor. Each sender expands in order of rank, and a shard takes the
//!   records of all senders merged by rank, so its states are in order, and each has the first of its parents.
//! - At the end of a level the shards' new states are merged to give them ranks.
//!
//! - Several processes tell each other their labels then, of which most take two bytes.
//!
//! This costs 8 bytes for each state of the next level, 4 for each of this one, and in one process one for every other. It is not done
//! on disk, where states are ordered by hash.

/// The lower half of a word.
const LOW: u64 = 0xffff_ffff;
/// States of a level from which it is merged by several threads.
const WORTH_SHARING: usize = 1 << 16;

/// The last word of a record: the rank of the parent above its id, of which the lower half says all where states are kept in order.
#[inline]
pub(crate) fn parent_word(rank: u32, parent: u64) -> u64 {
    u64::from(rank) << 32 | parent & LOW
}

/// The hash in a record, with the number of the successor where the tables do not look.
#[inline]
pub(crate) fn hash_word(hash: u64, successor: u64) -> u64 {
    hash & !LOW | successor & LOW
}

/// The place of a record in the order: the rank of its parent, then the number of the successor.
#[inline]
pub(crate) fn label(hash_word: u64, parent_word: u64) -> u64 {
    parent_word & !LOW | hash_word & LOW
}

/// Records of several senders, each in order of their parents' ranks, as one sequence in that order.
pub(crate) struct MergedRecords<'a> {
    record: usize,
    /// What is left of each sender's records, with the number of the sender.
    rests: Vec<(usize, &'a [u64])>,
    /// The sender whose turn it is, and the least rank among the others.
    sender: usize,
    until: u64,
}

impl<'a> MergedRecords<'a> {
    /// `record`: words of a record.
    pub fn new(senders: impl Iterator<Item = &'a [u64]>, record: usize) -> MergedRecords<'a> {
        let rests = senders.enumerate().filter(|(_, rest)| !rest.is_empty()).collect();
        let mut merged = MergedRecords { record, rests, sender: 0, until: 0 };
        merged.choose();
        merged
    }

    /// Of the record that comes next.
    #[inline]
    fn rank(&self, rest: &[u64]) -> u64 {
        rest.get(self.record - 1).map_or(u64::MAX, |word| word >> 32)
    }

    fn choose(&mut self) {
        let (mut least, mut second) = (u64::MAX, u64::MAX);
        for (sender, (_, rest)) in self.rests.iter().enumerate() {
            let rank = self.rank(rest);
            if rank < least {
                (self.sender, second, least) = (sender, least, rank);
            } else {
                second = second.min(rank);
            }
        }
        self.until = second;
    }
}

impl<'a> Iterator for MergedRecords<'a> {
    /// The number of the sender, and a record.
    type Item = (usize, &'a [u64]);

    #[inline]
    fn next(&mut self) -> Option<(usize, &'a [u64])> {
        let (mut number, mut rest) = *self.rests.get(self.sender)?;
        if rest.is_empty() || self.rank(rest) > self.until {
            self.choose();
            (number, rest) = self.rests[self.sender];
        }
        let (record, rest) = rest.split_at_checked(self.record)?;
        self.rests[self.sender].1 = rest;
        Some((number, record))
    }
}

/// Merges the labels of a level's states, which are in order in each shard: gives each shard the ranks of its states, and adds to
/// `turns` the shards in the order of the states.
pub(crate) fn ranks(labels: &[&[u64]], turns: &mut Vec<u8>) -> Vec<Vec<u32>> {
    let states: usize = labels.iter().map(|labels| labels.len()).sum();
    let mut ranks: Vec<Vec<u32>> = labels.iter().map(|labels| vec![0; labels.len()]).collect();
    let before = turns.len();
    turns.resize(before + states, 0);
    let threads = if states < WORTH_SHARING { 1 } else { labels.len() };
    // Each thread merges a range of labels. The greatest label of a range is taken from the longest shard, so ranges are about equal.
    let longest = labels.iter().max_by_key(|labels| labels.len()).copied().unwrap_or(&[]);
    std::thread::scope(|scope| {
        let mut labels: Vec<&[u64]> = labels.to_vec();
        let mut ranks: Vec<&mut [u32]> = ranks.iter_mut().map(Vec::as_mut_slice).collect();
        let mut turns = &mut turns[before..];
        let mut first = 0;
        for thread in 1..=threads {
            let bound = if thread == threads { None } else { longest.get(longest.len() * thread / threads).copied() };
            let mut part = Vec::with_capacity(labels.len());
            for (labels, ranks) in labels.iter_mut().zip(&mut ranks) {
                let here = bound.map_or(labels.len(), |bound| labels.partition_point(|&label| label < bound));
                let (own, others) = labels.split_at(here);
                let (own_ranks, other_ranks) = std::mem::take(ranks).split_at_mut(here);
                part.push((own, own_ranks));
                (*labels, *ranks) = (others, other_ranks);
            }
            let here: usize = part.iter().map(|(labels, _)| labels.len()).sum();
            let (own_turns, other_turns) = std::mem::take(&mut turns).split_at_mut(here);
            turns = other_turns;
            let start = first;
            first += here;
            if thread == threads {
                merge(&mut part, start, own_turns);
            } else {
                scope.spawn(move || merge(&mut part, start, own_turns));
            }
        }
    });
    ranks
}

/// The labels of all shards of a process as one list, in order, by the turns that [`ranks`] gave.
pub(crate) fn in_turns(labels: &[&[u64]], turns: &[u8]) -> Vec<u64> {
    let mut rests = labels.to_vec();
    let next = |&turn: &u8| {
        let (label, rest) = rests[usize::from(turn)].split_first()?;
        rests[usize::from(turn)] = rest;
        Some(*label)
    };
    turns.iter().filter_map(next).collect()
}

/// Labels in order, as words for other processes. Neighbours differ by little, so most take two bytes.
pub(crate) fn packed(labels: &[u64]) -> Vec<u64> {
    let mut bytes: Vec<u8> = Vec::with_capacity(labels.len() * 2 + 8);
    let mut number = |mut value: u64| {
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    };
    let mut rank = 0;
    for label in labels {
        number((label >> 32) - rank);
        number(label & LOW);
        rank = label >> 32;
    }
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    std::iter::once(labels.len() as u64).chain(words).collect()
}

/// What [`packed`] made into words.
pub(crate) struct UnpackedLabels<'a> {
    words: &'a [u64],
    /// Labels that are left.
    left: u64,
    /// Bytes that are read.
    at: usize,
    rank: u64,
}

pub(crate) fn unpacked(words: &[u64]) -> UnpackedLabels<'_> {
    let (&left, words) = words.split_first().unwrap_or((&0, &[]));
    UnpackedLabels { words, left, at: 0, rank: 0 }
}

impl UnpackedLabels<'_> {
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.words.get(self.at / 8)? >> (self.at % 8 * 8) & 0xff;
            self.at += 1;
            value |= (byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte < 0x80 {
                return Some(value);
            }
        }
    }
}

impl Iterator for UnpackedLabels<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.rank = self.rank.wrapping_add(self.number()?);
        Some(self.rank << 32 | self.number()? & LOW)
    }
}

/// To ranks among the labels of one process: ranks among those of all processes. `labels` are those here, in order.
pub(crate) fn ranks_among(labels: &[u64], others: &[Vec<u64>]) -> Vec<u32> {
    let mut ranks: Vec<u32> = (0..labels.len() as u32).collect();
    for other in others {
        let mut other = unpacked(other);
        let mut next = other.next();
        let mut before = 0;
        for (label, rank) in labels.iter().zip(&mut ranks) {
            while next.is_some_and(|other| other < *label) {
                before += 1;
                next = other.next();
            }
            *rank += before;
        }
    }
    ranks
}

/// Merges labels and counts from `first`.
fn merge(part: &mut [(&[u64], &mut [u32])], first: usize, turns: &mut [u8]) {
    let mut at = vec![0; part.len()];
    let mut heads: Vec<u64> = part.iter().map(|(labels, _)| labels.first().copied().unwrap_or(u64::MAX)).collect();
    for (number, turn) in turns.iter_mut().enumerate() {
        let mut shard = 0;
        for other in 1..heads.len() {
            if heads[other] < heads[shard] {
                shard = other;
            }
        }
        let (labels, ranks) = &mut part[shard];
        ranks[at[shard]] = (first + number) as u32;
        at[shard] += 1;
        heads[shard] = labels.get(at[shard]).copied().unwrap_or(u64::MAX);
        *turn = shard as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_states_of_all_shards_in_their_order() {
        for (states, shards) in [(0, 2), (1, 3), (1_000, 2), (200_000, 2), (200_000, 5)] {
            let mut labels: Vec<Vec<u64>> = vec![Vec::new(); shards];
            let mut expected: Vec<Vec<u32>> = vec![Vec::new(); shards];
            let mut turns = vec![7];
            let mut expected_turns = vec![7];
            let mut random = 1u64;
            for state in 0..states {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let shard = (random >> 33) as usize % shards;
                labels[shard].push(u64::from(state) * 3);
                expected[shard].push(state);
                expected_turns.push(shard as u8);
            }
            let slices: Vec<&[u64]> = labels.iter().map(Vec::as_slice).collect();
            assert_eq!(ranks(&slices, &mut turns), expected);
            assert_eq!(turns, expected_turns);
        }
    }

    #[test]
    fn ranks_among_those_of_other_processes_count_the_states_of_all() {
        let mut lists: Vec<Vec<u64>> = vec![Vec::new(); 4];
        let mut random = 5u64;
        let mut label = 0u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // The same parent, one of the next, or one far away; few successors, or very many.
            let rank = label >> 32;
            label = match random >> 60 {
                0 => (rank + (random >> 30 & 0xfff)) << 32 | 200,
                1..8 => (rank + 1) << 32 | random >> 40 & 7,
                _ => label + 1 + (random >> 41 & 3),
            };
            lists[(random >> 33) as usize % 3].push(label);
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
            assert_eq!(unpacked(&packed(list)).collect::<Vec<_>>(), *list);
        }
        let all: Vec<u64> = lists.iter().flatten().copied().collect();
        for (number, list) in lists.iter().enumerate() {
            let others: Vec<Vec<u64>> =
                lists.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, list)| packed(list)).collect();
            let ranks = ranks_among(list, &others);
            for (label, rank) in list.iter().zip(ranks).step_by(97) {
                assert_eq!(rank as usize, all.iter().filter(|other| *other < label).count());
            }
        }
        assert_eq!(unpacked(&[7, u64::MAX]).count(), 0, "what is cut off is not read");
    }

    #[test]
    fn records_of_several_senders_come_in_order_of_their_parents() {
        let sender = |ranks: &[u32]| -> Vec<u64> {
            ranks.iter().enumerate().flat_map(|(number, &rank)| [number as u64, 0, parent_word(rank, 9)]).collect()
        };
        let senders = [sender(&[0, 0, 3, 9]), sender(&[]), sender(&[1, 1, 2, 4, 4, 5]), sender(&[6])];
        let merged: Vec<u64> =
            MergedRecords::new(senders.iter().map(Vec::as_slice), 3).map(|(_, record)| record[2] >> 32).collect();
        assert_eq!(merged, [0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 9]);
        assert_eq!(MergedRecords::new(std::iter::empty(), 3).next(), None);
    }
}
