//! The hashes of all visited states, in sorted runs: the question "may this state have been visited" is answered for ascending
//! hashes in one pass.
//!
//! A level's hashes become a run. Runs of similar size are merged, so that there are few: as many as the logarithm of the number of
//! states. Short runs stay in memory as long as there is room; the others are files, with the first hash of every block in
//! memory, so that a pass for few hashes reads only the blocks in which they would be.

use crate::files::{Directory, StorageError, WordFile};

/// Hashes of a block.
const BLOCK: usize = 512;
/// Blocks that are read at once where one is read after the other.
const BLOCKS_AHEAD: usize = 16;
/// A run is merged with the one after it unless it is so many times as long.
const RATIO: u64 = 3;

pub(super) struct Hashes {
    /// Each at least [`RATIO`] times as long as the next.
    runs: Vec<HashRun>,
    /// Words that runs in memory may have in all.
    room: usize,
}

/// Ascending hashes.
enum HashRun {
    Memory(Vec<u64>),
    File(WordFile, Vec<u64>),
}

impl HashRun {
    fn len(&self) -> u64 {
        match self {
            HashRun::Memory(hashes) => hashes.len() as u64,
            HashRun::File(file, _) => file.len(),
        }
    }
}

impl Hashes {
    pub fn new(bytes: usize) -> Hashes {
        Hashes { runs: Vec::new(), room: bytes / 8 }
    }

    pub fn bytes(&self) -> usize {
        let of_run = |run: &HashRun| match run {
            HashRun::Memory(hashes) => hashes.capacity(),
            HashRun::File(_, first) => first.capacity(),
        };
        self.runs.iter().map(of_run).sum::<usize>() * 8
    }

    /// A pass over all hashes.
    pub fn pass(&self) -> Pass<'_> {
        Pass(self.runs.iter().map(Cursor::new).collect())
    }

    /// For a run that is to be added.
    pub fn writer(&self) -> RunWriter {
        // Half, because a run is merged with others before the old ones are gone.
        RunWriter { memory: Vec::new(), file: None, first: Vec::new(), room: self.room / 2 }
    }

    pub fn add(&mut self, run: RunWriter, directory: &Directory) -> Result<(), StorageError> {
        let run = run.end()?;
        if run.len() == 0 {
            return Ok(());
        }
        let mut length = run.len();
        let mut from = self.runs.len();
        while from > 0 && self.runs[from - 1].len() < RATIO * length {
            from -= 1;
            length += self.runs[from].len();
        }
        self.runs.push(run);
        if from + 1 < self.runs.len() {
            let merged = self.merge(&self.runs[from..], directory)?;
            self.runs.truncate(from);
            self.runs.push(merged);
        }
        let in_memory = |runs: &[HashRun]| {
            let words = |run: &HashRun| if let HashRun::Memory(hashes) = run { hashes.len() } else { 0 };
            runs.iter().map(words).sum::<usize>()
        };
        for index in 0..self.runs.len() {
            if in_memory(&self.runs) <= self.room {
                break;
            }
            if let HashRun::Memory(hashes) = &self.runs[index] {
                let mut writer = RunWriter { memory: Vec::new(), file: None, first: Vec::new(), room: 0 };
                hashes.iter().try_for_each(|&hash| writer.push(hash, directory))?;
                self.runs[index] = writer.end()?;
            }
        }
        Ok(())
    }

    fn merge(&self, runs: &[HashRun], directory: &Directory) -> Result<HashRun, StorageError> {
        let mut cursors: Vec<Cursor> = runs.iter().map(Cursor::new).collect();
        for cursor in &mut cursors {
            cursor.load(0, BLOCKS_AHEAD)?;
        }
        let mut writer = self.writer();
        loop {
            // Few runs, and most hashes come from the longest: looking at each is as quick as any queue.
            let mut least: Option<(u64, usize)> = None;
            let mut second = u64::MAX;
            for (which, cursor) in cursors.iter().enumerate() {
                let Some(hash) = cursor.peek() else { continue };
                match least {
                    Some((best, _)) if hash >= best => second = second.min(hash),
                    _ => {
                        second = least.map_or(second, |(best, _)| best.min(second));
                        least = Some((hash, which));
                    }
                }
            }
            let Some((_, which)) = least else { break };
            let cursor = &mut cursors[which];
            while let Some(hash) = cursor.peek().filter(|&hash| hash <= second) {
                writer.push(hash, directory)?;
                cursor.advance()?;
            }
        }
        writer.end()
    }
}

/// Takes ascending hashes; in memory while they are few.
pub(super) struct RunWriter {
    memory: Vec<u64>,
    file: Option<WordFile>,
    first: Vec<u64>,
    room: usize,
}

impl RunWriter {
    #[inline]
    pub fn push(&mut self, hash: u64, directory: &Directory) -> Result<(), StorageError> {
        if self.memory.len() < self.room.max(BLOCK) {
            self.memory.push(hash);
            return Ok(());
        }
        self.write(directory)?;
        self.memory.push(hash);
        Ok(())
    }

    /// What is in memory goes into the file, and from now on every block does.
    #[cold]
    fn write(&mut self, directory: &Directory) -> Result<(), StorageError> {
        if self.file.is_none() {
            self.file = Some(WordFile::create(directory, "hashes")?);
            // Whole blocks, so that a block in the file begins where one was announced.
            self.room = BLOCK;
        }
        if let Some(file) = &mut self.file {
            let whole = self.memory.len() / BLOCK * BLOCK;
            self.first.extend(self.memory[..whole].iter().step_by(BLOCK));
            file.append(&self.memory[..whole])?;
            self.memory.drain(..whole);
            self.memory.shrink_to(BLOCK);
        }
        Ok(())
    }

    fn end(mut self) -> Result<HashRun, StorageError> {
        let Some(mut file) = self.file else {
            self.memory.shrink_to_fit();
            return Ok(HashRun::Memory(self.memory));
        };
        self.first.extend(self.memory.iter().step_by(BLOCK));
        file.append(&self.memory)?;
        file.flush()?;
        Ok(HashRun::File(file, self.first))
    }
}

/// A look at all runs, from the smallest hash to the largest.
pub(super) struct Pass<'a>(Vec<Cursor<'a>>);

impl Pass<'_> {
    /// Whether a hash is in one of the runs. Hashes must not descend from call to call.
    #[inline]
    pub fn contains(&mut self, hash: u64) -> Result<bool, StorageError> {
        let mut found = false;
        for cursor in &mut self.0 {
            found |= cursor.seek(hash)? == Some(hash);
        }
        Ok(found)
    }
}

/// A place in a run.
struct Cursor<'a> {
    run: &'a HashRun,
    /// A part of the run if it is a file.
    words: Vec<u64>,
    /// The block that `words` begin with, and how many it has.
    block: usize,
    blocks: usize,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(run: &'a HashRun) -> Cursor<'a> {
        Cursor { run, words: Vec::new(), block: 0, blocks: 0, at: 0 }
    }

    #[inline]
    fn slice(&self) -> &[u64] {
        match self.run {
            HashRun::Memory(hashes) => hashes,
            HashRun::File(..) => &self.words,
        }
    }

    #[inline]
    fn peek(&self) -> Option<u64> {
        self.slice().get(self.at).copied()
    }

    /// One further; after the end of what is loaded it loads more.
    #[inline]
    fn advance(&mut self) -> Result<(), StorageError> {
        self.at += 1;
        if self.at == self.words.len() && matches!(self.run, HashRun::File(..)) {
            self.load(self.block + self.blocks, BLOCKS_AHEAD)?;
        }
        Ok(())
    }

    /// To the first hash that is not smaller.
    #[inline]
    fn seek(&mut self, hash: u64) -> Result<Option<u64>, StorageError> {
        if let HashRun::File(_, first) = self.run
            && self.words.last().is_none_or(|&last| last < hash)
        {
            // The block before the first that begins with something larger, but not one that was passed.
            let next = self.block + self.blocks;
            let block = next + gallop(&first[next.min(first.len())..], |&first| first <= hash).saturating_sub(1);
            if block >= first.len() && self.blocks > 0 {
                self.at = self.words.len();
                return Ok(None);
            }
            self.load(block, if block == next { BLOCKS_AHEAD } else { 1 })?;
        }
        let slice = self.slice();
        let at = self.at + gallop(&slice[self.at..], |&other| other < hash);
        self.at = at;
        match self.peek() {
            // All hashes of the block are smaller: the next one begins with something larger.
            None if matches!(self.run, HashRun::File(..)) => Ok(None),
            found => Ok(found),
        }
    }

    fn load(&mut self, block: usize, blocks: usize) -> Result<(), StorageError> {
        let HashRun::File(file, first) = self.run else { return Ok(()) };
        self.words.clear();
        self.at = 0;
        self.block = block.min(first.len());
        self.blocks = blocks.min(first.len() - self.block);
        if self.blocks == 0 {
            return Ok(());
        }
        let start = (self.block * BLOCK) as u64;
        let words = ((self.blocks * BLOCK) as u64).min(file.len() - start);
        file.read(start, words as usize, &mut self.words)
    }
}

/// How many elements at the beginning satisfy a condition that holds for no others: in steps that double, then by halves.
#[inline]
fn gallop<T>(slice: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    while step <= slice.len() && holds(&slice[step - 1]) {
        step *= 2;
    }
    let (from, to) = (step / 2, slice.len().min(step));
    from + slice[from..to].partition_point(holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn exactly_what_was_added_is_found_whether_in_memory_or_not() {
        let directory = Directory::create_in(&std::env::temp_dir(), None).expect("a temporary directory");
        for room in [0, 4_096, 100_000, 1 << 24] {
            let mut hashes = Hashes::new(room);
            let mut all = BTreeSet::new();
            let mut random = 3u64;
            for level in 0..60u32 {
                let mut next = || {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    random ^ random >> 29
                };
                let count = if level % 7 == 0 { 4_000 } else { 1 + level * 5 };
                let new: BTreeSet<u64> = (0..count).map(|_| next()).filter(|hash| !all.contains(hash)).collect();
                let mut asked: Vec<(u64, bool)> = new.iter().map(|&hash| (hash, false)).collect();
                // Many at once, or a few far apart.
                asked.extend(all.iter().step_by(if level % 3 == 0 { 1 } else { 501 }).map(|&hash| (hash, true)));
                asked.extend([(0, false), (u64::MAX, false)]);
                asked.sort_unstable();
                let mut pass = hashes.pass();
                for (hash, there) in asked {
                    assert_eq!(pass.contains(hash), Ok(there), "room {room}, level {level}, {hash:x}");
                }
                let mut writer = hashes.writer();
                new.iter().for_each(|&hash| writer.push(hash, &directory).expect("room"));
                hashes.add(writer, &directory).expect("room");
                all.extend(new);
                assert!(hashes.runs.len() <= 20);
                assert!(hashes.bytes() <= room.max(4_096) + all.len() * 8 / BLOCK * 4 + 40_000, "{}", hashes.bytes());
            }
        }
    }

    #[test]
    fn a_block_may_end_before_the_hash_and_the_next_begin_after_it() {
        let directory = Directory::create_in(&std::env::temp_dir(), None).expect("a temporary directory");
        let mut hashes = Hashes::new(0);
        let mut writer = hashes.writer();
        (0..10 * BLOCK as u64).for_each(|hash| writer.push(hash * 10, &directory).expect("room"));
        hashes.add(writer, &directory).expect("room");
        for step in [1, 7, 513, 4_999, 60_000] {
            let mut pass = hashes.pass();
            for hash in (0..12 * BLOCK as u64 * 10).step_by(step) {
                let there = hash % 10 == 0 && hash < 10 * BLOCK as u64 * 10;
                assert_eq!(pass.contains(hash), Ok(there), "{hash} by {step}");
            }
        }
    }
}
