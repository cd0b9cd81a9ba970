//! One thread's share of a constraint under PSO: where it is, and what its store buffers and its load buffer must hold.
//!
//! There is one store buffer for each cell. A demand on it is a word of values that later steps need to reach memory in this order, and
//! whether it is *closed*: then the newest pending store is the last of the word, or, if the word is empty, nothing is pending.
//! A buffer satisfies a demand if the word is a subword of it, and, if closed, ends with the word's last value. What is
//! pending beyond that does no harm: it can reach memory right before what is needed.
//!
//! The word of the load buffer is as in `dual`. Where it has a message on a cell, from memory or its own, all the thread's stores to the
//! cell have reached memory, and the demand on the cell's store buffer is closed and empty (unless nothing can be pending anyway): a
//! later update would leave a newer own message.

use crate::reachability::dual::part::{Control, Letter, is_subword};
use crate::reachability::finite::{CellId, ValueId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A part of one thread, by number.
pub type PartId = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Demand {
    pub cell: CellId,
    pub closed: bool,
    /// Oldest first.
    pub word: Vec<ValueId>,
}

impl Demand {
    fn covers(&self, other: Option<&Demand>) -> bool {
        let Some(other) = other else { return false };
        is_subword(&self.word, &other.word) && (!self.closed || other.closed && self.word.last() == other.word.last())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub control: Control,
    /// Sorted by cell; none for a buffer of which nothing is asked.
    pub demands: Vec<Demand>,
    /// What later loads need in the load buffer, oldest first.
    pub word: Vec<Letter>,
}

impl Shape {
    pub fn demand(&self, cell: CellId) -> Option<&Demand> {
        self.demands.iter().find(|demand| demand.cell == cell)
    }

    /// The demand on a cell's buffer, to be changed.
    pub fn at(&mut self, cell: CellId) -> &mut Demand {
        let at = match self.demands.binary_search_by_key(&cell, |demand| demand.cell) {
            Ok(at) => at,
            Err(at) => {
                self.demands.insert(at, Demand { cell, closed: false, word: Vec::new() });
                at
            }
        };
        &mut self.demands[at]
    }

    /// What a part with this shape takes in memory, roughly: the shape is kept twice.
    pub fn bytes(&self) -> usize {
        let words: usize = self.demands.iter().map(|demand| size_of::<Demand>() + 2 * demand.word.len() + 16).sum();
        2 * (words + size_of_val(&*self.word)) + size_of::<PsoPart>() + size_of::<Shape>() + 64
    }

    /// No store needs to be pending.
    pub fn is_drained(&self) -> bool {
        self.demands.iter().all(|demand| demand.word.is_empty())
    }
}

pub struct PsoPart {
    pub shape: Shape,
    /// A set of 64 that contains the place of each value and each message asked for.
    pub mask: u64,
    /// The parts from which silent steps lead here, itself included, once they were asked for.
    pub closure: Option<Rc<[PartId]>>,
    /// The same with loads from the load buffer.
    pub late_closure: Option<Rc<[PartId]>>,
    /// One of these is an initial one.
    pub starts: bool,
}

/// The parts of one thread.
#[derive(Default)]
pub struct PsoParts {
    all: Vec<PsoPart>,
    numbers: FxHashMap<Shape, PartId>,
}

impl PsoParts {
    pub fn get(&self, part: PartId) -> &PsoPart {
        &self.all[part as usize]
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn get_mut(&mut self, part: PartId) -> &mut PsoPart {
        &mut self.all[part as usize]
    }

    pub fn intern(&mut self, mut shape: Shape) -> PartId {
        shape.demands.retain(|demand| demand.closed || !demand.word.is_empty());
        if let Some(known) = self.numbers.get(&shape) {
            return *known;
        }
        let part = self.all.len() as PartId;
        let place = |cell: CellId, value: ValueId| 1u64 << ((u32::from(cell) * 7 + u32::from(value)) % 64);
        let pairs = shape.demands.iter().flat_map(|demand| demand.word.iter().map(|value| (demand.cell, *value)));
        let letters = shape.word.iter().map(|letter| 1u64 << (letter.wrapping_mul(0x9e37_79b1) >> 26));
        let mask = pairs.map(|(cell, value)| place(cell, value)).chain(letters).fold(0, |mask, place| mask | place);
        self.numbers.insert(shape.clone(), part);
        self.all.push(PsoPart { shape, mask, closure: None, late_closure: None, starts: false });
        part
    }

    /// The buffers that satisfy `large` satisfy `small`; control is not compared.
    pub fn buffers_cover(&self, small: PartId, large: PartId) -> bool {
        if small == large {
            return true;
        }
        let (small, large) = (self.get(small), self.get(large));
        small.mask & !large.mask == 0
            && small.shape.demands.iter().all(|demand| demand.covers(large.shape.demand(demand.cell)))
            && is_subword(&small.shape.word, &large.shape.word)
    }
}
