//! Where a thread is during specialisation, and what is known there.

use super::memory::PrivateMemory;
use super::objects::ObjectId;
use super::value::Datum;
use crate::ir::module::{BlockId, LocalId};
use std::collections::{BTreeMap, BTreeSet};

/// A call that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub function: usize,
    /// Number of the chain of calls that led here; see [`super::residual::Paths`].
    pub path: usize,
    pub block: BlockId,
    /// The next instruction.
    pub index: usize,
    pub values: BTreeMap<LocalId, Datum>,
    /// Local variables in memory of the frame, which end with it.
    pub objects: BTreeSet<ObjectId>,
}

/// The part of a thread's state that is known. Two equal ones are the same location of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The innermost call last; never empty.
    pub frames: Vec<Frame>,
    pub memory: PrivateMemory,
    /// How often each place (a path, a block and an instruction) has allocated memory or started a thread.
    pub counters: BTreeMap<(usize, u32, usize), u32>,
    /// Threads that were waited for, and whose end the model has not waited for yet.
    pub joins: BTreeSet<usize>,
}

impl State {
    pub fn start(function: usize, path: usize) -> State {
        State {
            frames: vec![Frame {
                function,
                path,
                block: BlockId(0),
                index: 0,
                values: BTreeMap::new(),
                objects: BTreeSet::new(),
            }],
            memory: PrivateMemory::new(),
            counters: BTreeMap::new(),
            joins: BTreeSet::new(),
        }
    }

    pub fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    pub fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Where it is, without what is known there.
    pub fn point(&self) -> Point {
        Point(self.frames.iter().map(|frame| (frame.path, frame.block, frame.index)).collect())
    }
}

/// A place in the code, with the calls that led to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Point(Vec<(usize, BlockId, usize)>);

/// Something that a state knows, and that can be put into a register instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Slot {
    /// A value of the frame with this number.
    Value(usize, LocalId),
    Scalar(ObjectId, u64),
}

impl State {
    /// What two states at the same point know differently.
    pub fn differences(&self, other: &State) -> Vec<Slot> {
        let mut found = Vec::new();
        for (number, (mine, theirs)) in self.frames.iter().zip(&other.frames).enumerate() {
            for (local, datum) in &mine.values {
                if theirs.values.get(local) != Some(datum) {
                    found.push(Slot::Value(number, *local));
                }
            }
        }
        for (object, contents) in &self.memory {
            let theirs = other.memory.get(object);
            for (offset, size, datum) in contents.entries() {
                if theirs.and_then(|contents| contents.read(offset, size).ok()).as_ref() != Some(datum) {
                    found.push(Slot::Scalar(*object, offset));
                }
            }
        }
        found
    }
}
