//! Constraints on the single buffer: messages, pointers and marks.
//!
//! A message is a memory snapshot in which most cells are open (the augmented alphabet of appendix B). A buffer satisfies a
//! word if each message of the word goes to a message of the buffer that agrees with it, in order, several to one if they can,
//! and the last to the last. Then
//!
//! - a thread's *pointer* says that the thread may move its own pointer to that message: it is not beyond it yet. Updates are so
//!   no steps of their own;
//! - an *own* mark says that the message is the thread's newest store to the cell, which a later load of the thread reads;
//! - a *bound* mark says that the thread's newest store to the cell is not beyond the message, since a later load of the
//!   thread reads the cell from memory there.

use crate::reachability::control::Controls;
use crate::reachability::dual::part::Control;
use crate::reachability::finite::{CellId, CellPair};
use rustc_hash::FxHashMap;

/// A message, by number in [`MemorySnapshots`].
pub type Letter = u32;

/// Nobody in particular reads a message.
pub const ANYONE: u16 = u16::MAX;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemorySnapshot {
    /// Whose load it is for. Only told where the bus lock makes a difference.
    pub reader: u16,
    /// Sorted by cell.
    pub pairs: Box<[CellPair]>,
}

#[derive(Default)]
pub struct MemorySnapshots {
    all: Vec<MemorySnapshot>,
    numbers: FxHashMap<MemorySnapshot, Letter>,
    masks: Vec<u128>,
    bytes: usize,
}

impl MemorySnapshots {
    pub fn letter(&mut self, reader: u16, pairs: &[CellPair]) -> Letter {
        let snapshot = MemorySnapshot { reader, pairs: pairs.into() };
        if let Some(known) = self.numbers.get(&snapshot) {
            return *known;
        }
        let letter = self.all.len() as Letter;
        self.bytes += 2 * (size_of::<MemorySnapshot>() + size_of_val(pairs)) + 48;
        let bit = |pair: &CellPair| 1u128 << ((u32::from(pair.0) * 7 + u32::from(pair.1)) % 96);
        self.masks.push(pairs.iter().fold(0, |mask, pair| mask | bit(pair)));
        self.numbers.insert(snapshot.clone(), letter);
        self.all.push(snapshot);
        letter
    }

    pub fn get(&self, letter: Letter) -> &MemorySnapshot {
        &self.all[letter as usize]
    }

    /// What all of them take in memory, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn mask(&self, letter: Letter) -> u128 {
        self.masks[letter as usize]
    }

    /// Whoever agrees with `more` agrees with `less`.
    pub fn is_part(&self, less: Letter, more: Letter) -> bool {
        less == more
            || self.masks[less as usize] & !self.masks[more as usize] == 0
                && contains(&self.get(more).pairs, &self.get(less).pairs)
    }
}

pub fn contains(more: &[CellPair], less: &[CellPair]) -> bool {
    let mut rest = more.iter();
    less.iter().all(|pair| rest.any(|other| other == pair))
}

/// Adds what another snapshot says. `false` if they disagree.
pub fn merge(into: &mut Vec<CellPair>, pairs: &[CellPair]) -> bool {
    pairs.iter().all(|pair| match into.binary_search_by_key(&pair.0, |known| known.0) {
        Ok(at) => into[at] == *pair,
        Err(at) => {
            into.insert(at, *pair);
            true
        }
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordMark {
    pub thread: u16,
    pub cell: CellId,
    /// Otherwise a bound.
    pub own: bool,
    pub at: u16,
}

/// A constraint: the control and the pointer of each thread, then the word; and the marks, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SbConfiguration {
    row: Box<[u32]>,
    pub marks: Box<[WordMark]>,
}

impl SbConfiguration {
    pub fn controls(&self, threads: usize) -> &[Control] {
        &self.row[..threads]
    }

    pub fn pointers(&self, threads: usize) -> &[u32] {
        &self.row[threads..2 * threads]
    }

    pub fn word(&self, threads: usize) -> &[Letter] {
        &self.row[2 * threads..]
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&*self.row) + size_of_val(&*self.marks)
    }
}

/// A constraint in the making. The word is never empty.
#[derive(Clone, Debug)]
pub struct SbDraft {
    pub controls: Vec<Control>,
    pub pointers: Vec<u32>,
    pub word: Vec<Letter>,
    pub marks: Vec<WordMark>,
}

impl SbDraft {
    pub fn of(configuration: &SbConfiguration, threads: usize) -> SbDraft {
        SbDraft {
            controls: configuration.controls(threads).to_vec(),
            pointers: configuration.pointers(threads).to_vec(),
            word: configuration.word(threads).to_vec(),
            marks: configuration.marks.to_vec(),
        }
    }

    /// What it takes in memory, roughly.
    pub fn bytes(&self) -> usize {
        4 * (self.controls.len() + self.pointers.len() + self.word.len())
            + size_of_val(&*self.marks)
            + size_of::<SbDraft>()
    }

    pub fn finish(mut self) -> SbConfiguration {
        self.marks.sort_unstable();
        SbConfiguration { row: [self.controls, self.pointers, self.word].concat().into(), marks: self.marks.into() }
    }

    pub fn last(&self) -> usize {
        self.word.len() - 1
    }

    pub fn insert(&mut self, at: usize, letter: Letter) {
        self.word.insert(at, letter);
        self.pointers.iter_mut().filter(|pointer| **pointer >= at as u32).for_each(|pointer| *pointer += 1);
        self.marks.iter_mut().filter(|mark| mark.at >= at as u16).for_each(|mark| mark.at += 1);
    }

    /// Takes one message out; what points to it points to the next one now.
    fn remove(&mut self, at: usize) {
        self.word.remove(at);
        self.pointers.iter_mut().filter(|pointer| **pointer > at as u32).for_each(|pointer| *pointer -= 1);
        self.marks.iter_mut().filter(|mark| mark.at > at as u16).for_each(|mark| mark.at -= 1);
    }

    pub fn mark(&self, thread: usize, cell: CellId, own: bool) -> Option<usize> {
        let found = self.marks.iter().find(|mark| mark.thread == thread as u16 && mark.cell == cell && mark.own == own);
        found.map(|mark| mark.at as usize)
    }

    pub fn has_own_mark(&self, at: usize) -> bool {
        self.marks.iter().any(|mark| mark.own && mark.at == at as u16)
    }

    /// The messages from `at` on become one, the last.
    pub fn fold(&mut self, at: usize, letter: Letter) {
        self.word.truncate(at);
        self.word.push(letter);
        let at = at as u32;
        self.pointers.iter_mut().for_each(|pointer| *pointer = (*pointer).min(at));
        self.marks.iter_mut().for_each(|mark| mark.at = mark.at.min(at as u16));
        self.drop_void_bounds();
    }

    /// A bound at the last message bounds nothing.
    fn drop_void_bounds(&mut self) {
        let last = self.last() as u16;
        self.marks.retain(|mark| mark.own || mark.at < last);
    }

    /// Takes out messages that say no more than a neighbour that can stand for them. `may_wait` tells whose loads may happen at the
    /// last message.
    pub fn shorten(&mut self, snapshots: &MemorySnapshots, may_wait: impl Fn(u16) -> bool) {
        let mut at = self.last();
        while at > 0 {
            at -= 1;
            let next = at + 1;
            let is_last = next == self.last();
            let (this, other) = (snapshots.get(self.word[at]).reader, snapshots.get(self.word[next]).reader);
            let same_reader = if is_last { may_wait(this) } else { this == other };
            if !same_reader {
                continue;
            }
            if !self.has_own_mark(at) && snapshots.is_part(self.word[at], self.word[next]) {
                self.remove(at);
                at = at.min(self.last());
            } else if !is_last
                && !self.pointers.contains(&(next as u32))
                && !self.marks.iter().any(|mark| mark.at == next as u16)
                && snapshots.is_part(self.word[next], self.word[at])
            {
                self.remove(next);
            }
        }
        self.drop_void_bounds();
    }
}

/// Every state that satisfies `large` satisfies `small`: the latest way to send the words' messages is the best one.
pub fn covers(
    controls: &Controls,
    snapshots: &MemorySnapshots,
    small: &SbConfiguration,
    large: &SbConfiguration,
) -> bool {
    let threads = controls.threads.len();
    if !controls.cover(small.controls(threads), large.controls(threads)) {
        return false;
    }
    let (less, more) = (small.word(threads), large.word(threads));
    if !snapshots.is_part(less[less.len() - 1], more[more.len() - 1]) {
        return false;
    }
    let holder = controls.holder(small.controls(threads));
    let own_at = |configuration: &SbConfiguration, at: usize| {
        let found = configuration.marks.iter().find(|mark| mark.own && mark.at as usize == at);
        found.map(|mark| (mark.thread, mark.cell))
    };
    let (mut few, mut many) = ([0u16; 32], Vec::new());
    let goes_to = if less.len() <= few.len() {
        &mut few[..]
    } else {
        many.resize(less.len(), 0);
        &mut many[..]
    };
    let last = more.len() - 1;
    let mut to = last;
    for at in (0..less.len()).rev() {
        let own = own_at(small, at);
        let reader = snapshots.get(less[at]).reader;
        let fits = |to: usize| {
            let same_reader = if to == last {
                at + 1 == less.len() || reader == ANYONE || holder.is_none_or(|holder| holder == reader as usize)
            } else {
                reader == snapshots.get(more[to]).reader
            };
            same_reader && snapshots.is_part(less[at], more[to]) && (own.is_none() || own_at(large, to) == own)
        };
        while !fits(to) {
            if to == 0 || at + 1 == less.len() {
                return false;
            }
            to -= 1;
        }
        goes_to[at] = to as u16;
    }
    let pointers = small.pointers(threads).iter().zip(large.pointers(threads));
    let bounds = small.marks.iter().filter(|mark| !mark.own);
    pointers.into_iter().all(|(one, other)| u32::from(goes_to[*one as usize]) >= *other)
        && bounds.into_iter().all(|bound| {
            let to = goes_to[bound.at as usize];
            let same = |mark: &&WordMark| mark.thread == bound.thread && mark.cell == bound.cell;
            usize::from(to) == last || large.marks.iter().filter(same).any(|mark| mark.at <= to)
        })
}
