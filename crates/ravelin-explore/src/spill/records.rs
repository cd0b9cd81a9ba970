//! States waiting to be compared: collected in any order, given back once each, ordered by hash.
//!
//! A record is a state, its hash and its parent, as in an outbox. Records lie in a buffer of fixed size; a full buffer is
//! sorted and written as a run to a file, and the runs are merged when the records are asked for. What is sorted is not the
//! records but one word for each, the upper half of its hash above its number. Hashes are spread evenly, so one scatter by the
//! first bits leaves pieces that are sorted within the nearest cache.

use crate::files::{Directory, StorageError, WordFile};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Collects records and gives them back in order.
pub(super) struct Records {
    name: &'static str,
    width: usize,
    /// Records that the buffer may hold.
    capacity: usize,
    buffer: Vec<u64>,
    keys: Vec<u64>,
    scattered: Vec<u64>,
    file: Option<WordFile>,
    /// Records in the file, in runs that end here.
    runs: Vec<u64>,
    /// Words for reading the runs.
    reading: usize,
}

/// One record.
#[derive(Clone, Copy)]
pub(super) struct SpillRecord<'a> {
    pub state: &'a [u64],
    pub hash: u64,
    pub parent: u64,
}

/// Bytes that a record in the buffer needs beside itself: its key, twice.
const KEYS: usize = 16;
/// Fewest records of a run that are read at once.
const FEWEST_READ: usize = 16;
/// Bits by which keys are scattered.
const MOST_BITS: u32 = 11;
/// Keys in a piece after scattering, about.
const PIECE: usize = 64;
/// Records whose cache misses are made to overlap.
const GROUP: usize = 32;

impl Records {
    /// `bytes`: what it may use of memory, about.
    pub fn new(name: &'static str, width: usize, bytes: usize) -> Records {
        let record = (width + 2) * 8;
        let capacity = (bytes * 3 / 4 / (record + KEYS)).clamp(16, u32::MAX as usize);
        let (buffer, keys, scattered) = Default::default();
        Records { name, width, capacity, buffer, keys, scattered, file: None, runs: Vec::new(), reading: bytes / 32 }
    }

    fn record_words(&self) -> usize {
        self.width + 2
    }

    /// Records in it, some of them perhaps the same.
    pub fn len(&self) -> u64 {
        self.runs.last().copied().unwrap_or(0) + (self.buffer.len() / self.record_words()) as u64
    }

    pub fn bytes(&self) -> usize {
        (self.buffer.capacity() + self.keys.capacity() + self.scattered.capacity()) * 8
    }

    /// Takes whole records as they lie in an outbox.
    pub fn absorb(&mut self, mut outbox: &[u64], directory: &Directory) -> Result<(), StorageError> {
        let most = self.capacity * self.record_words();
        while !outbox.is_empty() {
            if self.buffer.len() == most {
                self.write_run(directory)?;
            }
            let (now, later) = outbox.split_at(outbox.len().min(most - self.buffer.len()));
            self.grow(now.len(), most);
            self.buffer.extend_from_slice(now);
            outbox = later;
        }
        Ok(())
    }

    #[inline]
    pub fn push(&mut self, record: SpillRecord, directory: &Directory) -> Result<(), StorageError> {
        let most = self.capacity * self.record_words();
        if self.buffer.len() == most {
            self.write_run(directory)?;
        }
        self.grow(self.record_words(), most);
        self.buffer.extend_from_slice(record.state);
        self.buffer.extend_from_slice(&[record.hash, record.parent]);
        Ok(())
    }

    /// All at once: what is not touched costs nothing, and buffers that move while they grow leave holes.
    #[inline]
    fn grow(&mut self, more: usize, most: usize) {
        if self.buffer.len() + more > self.buffer.capacity() {
            self.buffer.reserve_exact(most - self.buffer.len());
        }
    }

    /// Gives each record once to `visit`, ordered by hash and state; of equal ones that with the least parent. Afterwards
    /// it is empty, also after an error.
    pub fn drain<E: From<StorageError>>(
        &mut self,
        directory: &Directory,
        visit: impl FnMut(SpillRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let drained = if self.runs.is_empty() {
            self.drain_buffer(visit)
        } else {
            self.write_run(directory).map_err(E::from).and_then(|()| self.drain_runs(visit))
        };
        self.buffer.clear();
        self.runs.clear();
        if let Some(file) = &mut self.file {
            file.clear()?;
        }
        drained
    }

    fn write_run(&mut self, directory: &Directory) -> Result<(), StorageError> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => WordFile::create(directory, self.name)?,
        };
        self.drain_buffer(|record| {
            file.append(record.state)?;
            file.append(&[record.hash, record.parent])
        })?;
        file.flush()?;
        self.buffer.clear();
        self.runs.push(file.len() / self.record_words() as u64);
        self.file = Some(file);
        Ok(())
    }

    fn drain_buffer<E>(&mut self, mut visit: impl FnMut(SpillRecord) -> Result<(), E>) -> Result<(), E> {
        self.sort();
        let record = self.record_words();
        let mut twins = TwinStates::new(self.width);
        for keys in self.keys.chunks(GROUP) {
            // All of a group are fetched before the first is looked at.
            let touched = keys.iter().fold(0, |all, &key| all ^ self.buffer[number(key) * record]);
            std::hint::black_box(touched);
            for &key in keys {
                let record = &self.buffer[number(key) * record..][..record];
                twins.take(record, key >> 32, &mut visit)?;
            }
        }
        twins.end(&mut visit)
    }

    /// Fills `keys`, in order.
    fn sort(&mut self) {
        let (record, width) = (self.record_words(), self.width);
        let key = |(number, record): (usize, &[u64])| record[width] >> 32 << 32 | number as u64;
        self.keys.clear();
        let records = self.buffer.len() / record;
        self.keys.reserve_exact(self.capacity);
        let bits = (records / PIECE).next_power_of_two().ilog2().min(MOST_BITS);
        if bits == 0 {
            self.keys.extend(self.buffer.chunks_exact(record).enumerate().map(key));
            self.keys.sort_unstable();
            return;
        }
        self.scattered.clear();
        self.scattered.reserve_exact(self.capacity);
        self.scattered.extend(self.buffer.chunks_exact(record).enumerate().map(key));
        let mut ends = vec![0usize; 1 << bits];
        for key in &self.scattered {
            ends[(key >> (64 - bits)) as usize] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            (start, *end) = (start + *end, start);
        }
        self.keys.resize(records, 0);
        for &key in &self.scattered {
            let end = &mut ends[(key >> (64 - bits)) as usize];
            self.keys[*end] = key;
            *end += 1;
        }
        let mut start = 0;
        for end in ends {
            self.keys[start..end].sort_unstable();
            start = end;
        }
    }

    fn drain_runs<E: From<StorageError>>(
        &mut self,
        mut visit: impl FnMut(SpillRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(file) = &self.file else { return Ok(()) };
        let record = self.record_words() as u64;
        let at_once = (self.reading / self.runs.len() / record as usize).max(FEWEST_READ) as u64 * record;
        let mut cursors = Vec::new();
        let mut queue = BinaryHeap::new();
        let mut start = 0;
        for &end in &self.runs {
            let mut cursor = Cursor { next: start * record, end: end * record, words: Vec::new(), at: 0 };
            if cursor.fill(file, at_once)? {
                queue.push(Reverse((cursor.words[self.width], cursors.len())));
                cursors.push(cursor);
            }
            start = end;
        }
        let mut twins = TwinStates::new(self.width);
        while let Some(Reverse((hash, which))) = queue.pop() {
            let cursor = &mut cursors[which];
            twins.take(&cursor.words[cursor.at..][..record as usize], hash, &mut visit)?;
            cursor.at += record as usize;
            if cursor.at < cursor.words.len() || cursor.fill(file, at_once)? {
                queue.push(Reverse((cursor.words[cursor.at + self.width], which)));
            }
        }
        twins.end(&mut visit)
    }
}

/// The number of the record that a key stands for.
fn number(key: u64) -> usize {
    (key & 0xffff_ffff) as usize
}

/// A place in a run.
struct Cursor {
    next: u64,
    end: u64,
    words: Vec<u64>,
    at: usize,
}

impl Cursor {
    /// Reads on; whether there was more.
    fn fill(&mut self, file: &WordFile, at_once: u64) -> Result<bool, StorageError> {
        let words = at_once.min(self.end - self.next);
        self.words.clear();
        self.at = 0;
        file.read(self.next, words as usize, &mut self.words)?;
        self.next += words;
        Ok(words > 0)
    }
}

/// Neighbours that may be the same state: they come with the same tag, and leave ordered and without doubles.
struct TwinStates {
    width: usize,
    tag: u64,
    records: Vec<u64>,
}

impl TwinStates {
    fn new(width: usize) -> TwinStates {
        TwinStates { width, tag: 0, records: Vec::new() }
    }

    #[inline]
    fn take<E>(
        &mut self,
        record: &[u64],
        tag: u64,
        visit: &mut impl FnMut(SpillRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        if tag != self.tag {
            self.end(visit)?;
            self.tag = tag;
        }
        self.records.extend_from_slice(record);
        Ok(())
    }

    #[inline]
    fn end<E>(&mut self, visit: &mut impl FnMut(SpillRecord) -> Result<(), E>) -> Result<(), E> {
        let (width, size) = (self.width, self.width + 2);
        let view = |record: &[u64]| -> Result<(), E> {
            let (state, rest) = record.split_at(width);
            visit(SpillRecord { state, hash: rest[0], parent: rest[1] })
        };
        if self.records.len() <= size {
            self.records.chunks_exact(size).try_for_each(view)?;
        } else {
            self.distinct().into_iter().try_for_each(view)?;
        }
        self.records.clear();
        Ok(())
    }

    /// The records in order, those of one state once. Not generic, because sorting is a lot of code.
    fn distinct(&self) -> Vec<&[u64]> {
        let width = self.width;
        let mut order: Vec<&[u64]> = self.records.chunks_exact(width + 2).collect();
        order.sort_unstable_by_key(|record| (record[width], *record));
        order.dedup_by(|later, first| later[..width] == first[..width]);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_record_comes_once_and_in_order_however_little_memory_there_is() {
        let directory = Directory::create_in(&std::env::temp_dir(), None).expect("a temporary directory");
        for (width, bytes, count) in [(1, 0, 3_000), (1, 1 << 20, 50_000), (3, 10_000, 5_000), (2, 1 << 22, 200_000)] {
            let mut records = Records::new("records", width, bytes);
            for round in 0..2 {
                let mut expected = BTreeMap::new();
                let mut random = 7u64;
                for step in 0..count {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let state: Vec<u64> = (0..width).map(|word| (random >> (20 + word * 3)) % 997).collect();
                    // Few bits, so that different states have the same hash.
                    let hash = crate::store::hash(&state) & !0 << 50;
                    let parent = (step * 7) % 1_000;
                    let record = SpillRecord { state: &state, hash, parent };
                    if round == 0 {
                        records.push(record, &directory).expect("room");
                    } else {
                        let words: Vec<u64> = state.iter().copied().chain([hash, parent]).collect();
                        records.absorb(&words, &directory).expect("room");
                    }
                    let least = expected.entry((hash, state)).or_insert(parent);
                    *least = parent.min(*least);
                }
                let mut found = Vec::new();
                records
                    .drain::<StorageError>(&directory, |record| {
                        found.push(((record.hash, record.state.to_vec()), record.parent));
                        Ok(())
                    })
                    .expect("they can be read");
                assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
                assert_eq!(records.len(), 0);
            }
        }
    }
}
