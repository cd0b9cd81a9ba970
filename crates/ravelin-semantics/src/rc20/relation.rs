//! Relations over the events of one graph, as square Boolean matrices with the operators of relational axioms.
//!
//! A row is a string of bits, so composition and closure take n² row operations. Graphs are small and judged by the
//! million, so few rows are kept without an allocation.

use smallvec::{SmallVec, smallvec};
use std::fmt;

/// How many words of a matrix are kept in place.
const FEW: usize = 24;

/// A set of pairs of events, which are numbered `0..size`.
#[derive(Clone, PartialEq, Eq)]
pub struct Relation {
    size: usize,
    /// Words in a row.
    width: usize,
    bits: SmallVec<[u64; FEW]>,
}

impl Relation {
    pub fn empty(size: usize) -> Relation {
        let width = size.div_ceil(64);
        Relation { size, width, bits: smallvec![0; size * width] }
    }

    /// All pairs with the property.
    pub fn of(size: usize, mut holds: impl FnMut(usize, usize) -> bool) -> Relation {
        let mut relation = Relation::empty(size);
        for from in 0..size {
            for to in 0..size {
                if holds(from, to) {
                    relation.insert(from, to);
                }
            }
        }
        relation
    }

    /// `[S]`: the identity on a set of events.
    pub fn on(size: usize, mut member: impl FnMut(usize) -> bool) -> Relation {
        let mut relation = Relation::empty(size);
        for event in 0..size {
            if member(event) {
                relation.insert(event, event);
            }
        }
        relation
    }

    pub fn size(&self) -> usize {
        self.size
    }

    #[inline]
    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.row(from)[to / 64] >> (to % 64) & 1 == 1
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size)
            .flat_map(move |from| (0..self.size).map(move |to| (from, to)))
            .filter(|&(a, b)| self.contains(a, b))
    }

    /// Calls `visit` with each pair, in ascending order.
    #[inline]
    fn each(&self, mut visit: impl FnMut(usize, usize)) {
        for from in 0..self.size {
            for (number, &word) in self.row(from).iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    visit(from, number * 64 + left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        }
    }

    #[inline]
    pub fn insert(&mut self, from: usize, to: usize) {
        debug_assert!(from < self.size && to < self.size);
        self.bits[from * self.width + to / 64] |= 1 << (to % 64);
    }

    /// `self ∪ other`.
    pub fn union(&self, other: &Relation) -> Relation {
        debug_assert_eq!(self.size, other.size);
        let bits = self.bits.iter().zip(&other.bits).map(|(a, b)| a | b).collect();
        Relation { bits, ..*self }
    }

    /// `self; other`.
    pub fn then(&self, other: &Relation) -> Relation {
        debug_assert_eq!(self.size, other.size);
        let mut composed = Relation::empty(self.size);
        self.each(|from, middle| {
            let row = &mut composed.bits[from * self.width..][..self.width];
            row.iter_mut().zip(other.row(middle)).for_each(|(word, add)| *word |= add);
        });
        composed
    }

    /// `self⁻¹`.
    pub fn inverse(&self) -> Relation {
        let mut inverse = Relation::empty(self.size);
        self.each(|from, to| inverse.insert(to, from));
        inverse
    }

    /// The pairs that also have the property.
    pub fn filter(&self, mut holds: impl FnMut(usize, usize) -> bool) -> Relation {
        let mut filtered = Relation::empty(self.size);
        self.each(|from, to| {
            if holds(from, to) {
                filtered.insert(from, to);
            }
        });
        filtered
    }

    /// `self?`: with the identity.
    pub fn optional(&self) -> Relation {
        let mut optional = self.clone();
        (0..self.size).for_each(|event| optional.insert(event, event));
        optional
    }

    /// `self⁺`, by Warshall's algorithm.
    pub fn closure(&self) -> Relation {
        let mut closure = self.clone();
        if self.width == 1 {
            for middle in 0..self.size {
                let through = closure.bits[middle];
                // All ones if the row leads to the one in the middle.
                closure.bits.iter_mut().for_each(|row| *row |= through & (*row >> middle & 1).wrapping_neg());
            }
            return closure;
        }
        for middle in 0..self.size {
            for from in 0..self.size {
                if closure.contains(from, middle) {
                    for word in 0..self.width {
                        closure.bits[from * self.width + word] |= closure.bits[middle * self.width + word];
                    }
                }
            }
        }
        closure
    }

    /// `self*`.
    pub fn star(&self) -> Relation {
        self.closure().optional()
    }

    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.contains(event, event))
    }

    pub fn is_acyclic(&self) -> bool {
        self.closure().is_irreflexive()
    }

    #[inline]
    fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.width..][..self.width]
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.pairs()).finish()
    }
}
