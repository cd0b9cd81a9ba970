//! The search that a programmer writes in an afternoon for one model only: levels in vectors, a hash set of packed
//! states, successors compiled in. What a general engine is measured against.
//!
//! It keeps no parents, so it could not show a path; ravelin-explore does and is not given credit for it.

use rustc_hash::FxHashSet;
use std::hash::Hash;

/// A state that fits in one integer. `u128` leaves room for a model to grow; `u64` is the tightest fit.
pub trait PackedState: Copy + Eq + Hash {
    fn pack(bits: u64) -> Self;
    fn bits(self) -> u64;
}

impl PackedState for u64 {
    fn pack(bits: u64) -> u64 {
        bits
    }

    fn bits(self) -> u64 {
        self
    }
}

impl PackedState for u128 {
    fn pack(bits: u64) -> u128 {
        u128::from(bits)
    }

    fn bits(self) -> u64 {
        self as u64
    }
}

/// A model written out by hand.
pub trait HandwrittenModel {
    fn initial(&self) -> u64;
    fn successors(&self, state: u64, emit: &mut impl FnMut(u64));
    /// Something that must not happen.
    fn is_bad(&self, state: u64) -> bool;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub states: u64,
    pub transitions: u64,
    pub bad: u64,
}

pub fn search<S: PackedState>(model: &impl HandwrittenModel) -> Size {
    let start = S::pack(model.initial());
    let mut visited: FxHashSet<S> = FxHashSet::default();
    visited.insert(start);
    let mut level = vec![start];
    let mut next = Vec::new();
    let (mut transitions, mut bad) = (0, 0);
    while !level.is_empty() {
        for &state in &level {
            bad += u64::from(model.is_bad(state.bits()));
            model.successors(state.bits(), &mut |successor| {
                transitions += 1;
                let successor = S::pack(successor);
                if visited.insert(successor) {
                    next.push(successor);
                }
            });
        }
        level.clear();
        std::mem::swap(&mut level, &mut next);
    }
    Size { states: visited.len() as u64, transitions, bad }
}
