//! Relations over the events of one graph, as square Boolean matrices with the operators of relational axioms.
//!
//! A row is a string of bits, so composition and closure take n² row operations.

use std::fmt;

/// A set of pairs of events, which are numbered `0..size`.
#[derive(Clone, PartialEq, Eq)]
pub struct Relation {
    size: usize,
    /// Words in a row.
    width: usize,
    bits: Vec<u64>,
}

impl Relation {
    pub fn empty(size: usize) -> Relation {
        let width = size.div_ceil(64);
        Relation { size, width, bits: vec![0; size * width] }
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

    pub fn contains(&self, from: usize, to: usize) -> bool {
        self.row(from)[to / 64] >> (to % 64) & 1 == 1
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size)
            .flat_map(move |from| (0..self.size).map(move |to| (from, to)))
            .filter(|&(a, b)| self.contains(a, b))
    }

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
        for (from, middle) in self.pairs() {
            for (word, add) in other.row(middle).iter().enumerate() {
                composed.bits[from * self.width + word] |= add;
            }
        }
        composed
    }

    /// `self⁻¹`.
    pub fn inverse(&self) -> Relation {
        Relation::of(self.size, |from, to| self.contains(to, from))
    }

    /// The pairs that also have the property.
    pub fn filter(&self, mut holds: impl FnMut(usize, usize) -> bool) -> Relation {
        Relation::of(self.size, |from, to| self.contains(from, to) && holds(from, to))
    }

    /// `self?`: with the identity.
    pub fn optional(&self) -> Relation {
        self.union(&Relation::on(self.size, |_| true))
    }

    /// `self⁺`, by Warshall's algorithm.
    pub fn closure(&self) -> Relation {
        let mut closure = self.clone();
        for middle in 0..self.size {
            let through = closure.row(middle).to_vec();
            for from in 0..self.size {
                if closure.contains(from, middle) {
                    for (word, add) in through.iter().enumerate() {
                        closure.bits[from * self.width + word] |= add;
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

    fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.width..][..self.width]
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.pairs()).finish()
    }
}
