//! What one worker of a spilling search owns: the states whose hashes fall into its share, on disk, and the candidates for
//! the next level.

use super::hashes::Hashes;
use super::levels::Levels;
use super::records::{Records, SpillRecord};
use super::{Halt, LevelWatch};
use crate::files::{Directory, StorageError};
use crate::space::join;
use crate::store::hash;
use crate::system::{Sink, System};

pub(super) struct SpillShard<S: System> {
    number: usize,
    shards: usize,
    width: usize,
    pub levels: Levels,
    hashes: Hashes,
    candidates: Records,
    /// Candidates whose hash was there already, and that were taken for visited states without a look at them.
    suspects: Records,
    /// Bytes for comparing suspects with visited states.
    window: usize,
    /// Words in the outboxes after which a round ends.
    largest_round: usize,
    /// Only these bits of a hash are used.
    mask: u64,
    /// Whether suspects are compared at the end of every level, because hashes were found to collide.
    careful: bool,
    /// States of the level that are expanded.
    pub expanded: u64,
    /// What is read of the level: records of a state and its parent, up to here.
    read: Vec<u64>,
    read_at: usize,
    scratch: S::Scratch,
    pub sink: Sink,
    pub interrupt: Option<S::Interrupt>,
    pub findings: Vec<LevelFinding>,
    pub cut_off: bool,
}

/// A finding, by level and place in it, shards interleaved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LevelFinding {
    pub level: usize,
    pub place: u32,
    pub kind: u32,
}

/// How a shard is made.
pub(super) struct ShardSettings<'a> {
    pub directory: &'a Directory,
    pub bytes: usize,
    pub mask: u64,
    pub careful: bool,
}

/// Candidates between two looks at the limits.
const LOOK: u64 = 1 << 10;
/// States that are expanded between two looks at the size of the outboxes.
const FEW: usize = 16;

impl<S: System> SpillShard<S> {
    pub fn new(
        system: &S,
        number: usize,
        shards: usize,
        making: &ShardSettings,
    ) -> Result<SpillShard<S>, StorageError> {
        let (width, bytes) = (system.width(), making.bytes);
        Ok(SpillShard {
            number,
            shards,
            width,
            levels: Levels::new(width, making.directory)?,
            hashes: Hashes::new(bytes / 8),
            candidates: Records::new("candidates", width, bytes / 8 * 3),
            suspects: Records::new("suspects", width, bytes / 8),
            window: bytes / 8,
            largest_round: (bytes / 128).clamp(1 << 8, 1 << 20),
            mask: making.mask,
            careful: making.careful,
            expanded: 0,
            read: Vec::new(),
            read_at: 0,
            scratch: system.scratch(),
            sink: Sink::new(width, shards),
            interrupt: None,
            findings: Vec::new(),
            cut_off: false,
        })
    }

    /// Bytes of memory in use.
    pub fn bytes(&self) -> usize {
        self.levels.bytes() + self.hashes.bytes() + self.candidates.bytes() + self.suspects.bytes()
    }

    pub fn unexpanded(&self) -> u64 {
        self.levels.level_len() - self.expanded
    }

    /// First half of a round: expands some states of the level, as many as `states`.
    pub fn expand(&mut self, system: &S, level: usize, states: usize) -> Result<(), StorageError> {
        let record = self.width + 1;
        for number in 0..states {
            if self.unexpanded() == 0 || number % FEW == 0 && self.sink.words() >= self.largest_round {
                break;
            }
            if self.read_at == self.read.len() {
                self.levels.read_level(self.expanded, &mut self.read)?;
                self.read_at = 0;
            }
            let state = &self.read[self.read_at..][..self.width];
            self.sink.parent = u64::from(join(self.number, self.expanded as usize, self.shards));
            self.read_at += record;
            self.expanded += 1;
            if let Err(interrupt) = system.expand(state, &mut self.scratch, &mut self.sink) {
                self.interrupt = Some(interrupt);
                break;
            }
        }
        self.cut_off |= self.sink.cut_off;
        let found = self.sink.findings.drain(..).map(|(kind, place)| LevelFinding { level, place, kind });
        self.findings.extend(found);
        Ok(())
    }

    /// Second half: takes the candidates that another found.
    pub fn absorb(&mut self, outbox: &mut [u64], directory: &Directory) -> Result<(), StorageError> {
        if self.mask != u64::MAX {
            for record in outbox.chunks_exact_mut(self.width + 2) {
                record[self.width] &= self.mask;
            }
        }
        self.candidates.absorb(outbox, directory)
    }

    /// When the level is expanded everywhere: those of the candidates that are new become the next level. How many they are.
    pub fn end_level<I>(&mut self, directory: &Directory, watch: &LevelWatch) -> Result<u64, Halt<I>> {
        self.levels.begin_level();
        self.expanded = 0;
        self.read.clear();
        self.read_at = 0;
        let mut pass = self.hashes.pass();
        let mut writer = self.hashes.writer();
        let (levels, suspects) = (&mut self.levels, &mut self.suspects);
        let (mut seen, mut stored) = (0u64, 0);
        self.candidates.drain(directory, |record: SpillRecord| {
            seen += 1;
            if seen.is_multiple_of(LOOK) {
                watch.look_with(std::mem::take(&mut stored))?;
            }
            if pass.contains(record.hash)? {
                return Ok(suspects.push(record, directory)?);
            }
            levels.push(record.state, record.parent)?;
            stored += 1;
            Ok::<(), Halt<I>>(writer.push(record.hash, directory)?)
        })?;
        drop(pass);
        watch.look_with(stored)?;
        self.levels.flush()?;
        self.hashes.add(writer, directory)?;
        if self.careful {
            self.add_innocent(directory, watch)?;
        } else if self.suspects.len() > self.levels.len() {
            // Each time as many suspects as there are states: comparing costs in proportion to what was explored.
            self.compare(directory, watch)?;
        }
        Ok(self.levels.level_len())
    }

    /// Whether all suspects are visited states, as was taken for granted; if one is not, two states have the same hash.
    pub fn compare<I>(&mut self, directory: &Directory, watch: &LevelWatch) -> Result<(), Halt<I>> {
        let mask = self.mask;
        let mut windows = self.levels.windows(self.window, |state| hash(state) & mask);
        let mut seen = 0u64;
        self.suspects.drain(directory, |suspect: SpillRecord| {
            seen += 1;
            if seen.is_multiple_of(1 << 14) {
                watch.look(0)?;
            }
            if windows.contains(suspect.state, suspect.hash)? { Ok(()) } else { Err(Halt::Collision) }
        })
    }

    /// Suspects of this level that only have the hash of a visited state belong to it.
    fn add_innocent<I>(&mut self, directory: &Directory, watch: &LevelWatch) -> Result<(), Halt<I>> {
        let mask = self.mask;
        let mut innocent = Records::new("innocent", self.width, self.window);
        let mut windows = self.levels.windows(self.window, |state| hash(state) & mask);
        self.suspects.drain(directory, |suspect: SpillRecord| {
            watch.look(0)?;
            if !windows.contains(suspect.state, suspect.hash)? {
                innocent.push(suspect, directory)?;
            }
            Ok::<(), Halt<I>>(())
        })?;
        drop(windows);
        self.levels.begin_stretch();
        innocent.drain(directory, |record: SpillRecord| {
            Ok::<(), Halt<I>>(self.levels.push(record.state, record.parent)?)
        })?;
        Ok(self.levels.flush()?)
    }
}
