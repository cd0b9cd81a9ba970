//! Where a thread is during specialisation, and what is known there.

use super::memory::PrivateMemory;
use super::objects::ObjectId;
use super::residual::mentions;
use super::value::Datum;
use crate::ir::module::{BlockId, LocalId};
use ravelin_program::{BinaryOp, Expr, RegId, UnaryOp};
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
    /// The call is the one that this `pthread_once` makes.
    pub once: Option<(ObjectId, u64)>,
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
    /// The tables of virtual functions of objects that the thread made and other threads can access.
    pub tables: BTreeMap<ObjectId, Datum>,
    /// What the thread calls in the end, with this argument.
    pub destroys: Option<(usize, Datum)>,
    /// Locks that the thread holds and may take again.
    pub held: BTreeMap<(ObjectId, u64), Hold>,
}

/// How a thread holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Hold {
    /// A mutex, so many times.
    Mutex(u32),
    /// Together with other readers, so many times.
    Reader(u32),
    Writer,
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
                once: None,
            }],
            memory: PrivateMemory::new(),
            counters: BTreeMap::new(),
            joins: BTreeSet::new(),
            tables: BTreeMap::new(),
            destroys: None,
            held: BTreeMap::new(),
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

impl State {
    /// A condition holds: a register that is compared with 0, or is 0 or 1 itself, is known from here on.
    pub fn learn(&mut self, condition: &Expr) {
        match condition {
            // Not 0; what it is else is only known if it is boolean, and then nothing but 1 remains.
            Expr::Atom(register) => self.replace(*register, 1),
            Expr::Unary(UnaryOp::Not, _, inner) => {
                if let Expr::Atom(register) = **inner {
                    self.replace(register, 0);
                }
            }
            Expr::Binary(BinaryOp::Eq, _, left, right) => {
                if let (Expr::Atom(register), Expr::Const(0)) = (&**left, &**right) {
                    self.replace(*register, 0);
                }
            }
            Expr::Binary(BinaryOp::And, _, left, right) => {
                self.learn(left);
                self.learn(right);
            }
            _ => {}
        }
    }

    /// Puts a value for a register wherever it is mentioned.
    fn replace(&mut self, register: RegId, value: i64) {
        for frame in &mut self.frames {
            frame.values.values_mut().for_each(|datum| replace(datum, register, value));
        }
        for contents in self.memory.values_mut() {
            contents.for_each_mut(|datum| replace(datum, register, value));
        }
    }
}

fn replace(datum: &mut Datum, register: RegId, value: i64) {
    match datum {
        Datum::Parts(parts) => parts.iter_mut().for_each(|part| replace(part, register, value)),
        Datum::Computed(expr) if mentions(expr, register) => {
            let atom = |atom: &RegId| if *atom == register { Expr::Const(value) } else { Expr::Atom(*atom) };
            let replaced = expr.map_atoms(&mut |own| atom(own));
            // A fault in it, such as a division by 0, is left for the step that computes it.
            *datum = replaced.constant().map_or(Datum::Computed(replaced), Datum::Int);
        }
        _ => {}
    }
}
