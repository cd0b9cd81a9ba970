//! What an attack adds to a state: the attacker's delayed stores, the access level of each cell, and which threads have
//! joined.
//!
//! The additional fields are in separate words after the packed SC state, so an SC state becomes a state of an attack
//! by appending zeros. They are the auxiliary addresses of section 5 of the paper: `(a, d)` is a flag and a value for
//! each cell the attacker may store to, `(a, hb)` a level for each cell at which threads can meet. One entry per cell
//! is enough for a buffer of any length: the attacker reads only its newest store, and no other thread reads any.

use crate::compile::Machine;
use crate::layout::{Field, Packer};
use crate::ranges::Interval;
use ravelin_program::Value;

/// The progress of a cell on the happens-before path: `lda` and `sta` of the paper.
pub(crate) const NO_ACCESS: Value = 0;
pub(crate) const LOADED: Value = 1;
pub(crate) const STORED: Value = 2;

/// The fields after an SC state.
pub(crate) struct AttackFields {
    /// Words of the SC state, and of the whole state.
    pub sc_words: usize,
    pub words: usize,
    /// 0: nothing is delayed yet; 1: the attacker delays stores (τ2); 2: it has done its load (τ3).
    pub phase: Field,
    /// The attacking thread plus 1; only if several may attack.
    pub attacker: Option<Field>,
    /// Which of the attacker's stores was delayed first: a number that the search chooses.
    pub store: Field,
    /// The slot of that store.
    pub target: Field,
    /// By slot: cells that an attacker may delay a store to.
    pub delayed: Vec<Option<DelayedFields>>,
    /// PSO: a marker was passed, so all stores to come are delayed.
    pub marked: Option<Field>,
    /// By slot: cells at which threads can meet.
    pub levels: Vec<Option<Level>>,
    /// By thread: has done something that is happens-before-after the attacked load. Of the attacker, during τ2: has
    /// accessed memory.
    pub joined: Vec<Field>,
}

#[derive(Clone, Copy)]
pub(crate) struct DelayedFields {
    pub present: Field,
    pub value: Field,
}

#[derive(Clone, Copy)]
pub(crate) struct Level {
    pub settled: Field,
    /// What a thread that holds the bus lock and has not joined did in its block so far. It counts if the block joins,
    /// because such a block is one action.
    pub tentative: Option<Field>,
}

impl AttackFields {
    /// For attacks by these threads, with at most `stores` distinguishable stores.
    pub fn new(machine: &Machine, attackers: &[usize], stores: usize, pso: bool) -> AttackFields {
        let layout = &machine.layout;
        let slots = layout.cells.len();
        let bit = Interval { lo: 0, hi: 1 };
        let mut packer = Packer::behind(layout.words);
        let phase = packer.field(Interval { lo: 0, hi: 3 });
        let attacker =
            (attackers.len() > 1).then(|| packer.field(Interval { lo: 0, hi: machine.program.threads.len() as Value }));
        let store = packer.field(Interval { lo: 0, hi: stores.max(1) as Value - 1 });
        let target = packer.field(Interval { lo: 0, hi: slots.max(1) as Value - 1 });
        let marked = pso.then(|| packer.field(bit));
        let joined = machine.threads.iter().map(|_| packer.field(bit)).collect();
        let footprint = |thread: usize| &machine.threads[thread].futures[machine.program.threads[thread].initial.0];
        let threads = 0..machine.threads.len();
        let levels = (0..slots)
            .map(|slot| {
                let touching = threads.clone().filter(|&thread| {
                    let future = footprint(thread);
                    future.reads.contains(slot) || future.writes.contains(slot)
                });
                let written = threads.clone().any(|thread| footprint(thread).writes.contains(slot));
                (touching.count() > 1 && written).then(|| Level {
                    settled: packer.field(Interval { lo: NO_ACCESS, hi: STORED }),
                    tentative: layout.bus.map(|_| packer.field(Interval { lo: NO_ACCESS, hi: STORED })),
                })
            })
            .collect();
        let delayed = (0..slots)
            .map(|slot| {
                let stored = attackers.iter().any(|&thread| footprint(thread).writes.contains(slot));
                // No other thread reads a private cell, so its stores need not be delayed.
                (stored && machine.private[slot].is_none()).then(|| {
                    let cell = layout.cells[slot];
                    let width = Interval { lo: cell.lo, hi: cell.lo.wrapping_add(cell.mask as Value) };
                    DelayedFields { present: packer.field(bit), value: packer.field(width) }
                })
            })
            .collect();
        AttackFields {
            sc_words: layout.words,
            words: packer.words(),
            phase,
            attacker,
            store,
            target,
            delayed,
            marked,
            levels,
            joined,
        }
    }

    /// The newest delayed store to a cell.
    #[inline]
    pub fn delayed_value(&self, slot: usize, state: &[u64]) -> Option<Value> {
        let delayed = self.delayed[slot]?;
        (delayed.present.get(state) == 1).then(|| delayed.value.get(state))
    }

    /// Raises the level of a cell.
    #[inline]
    pub fn raise(&self, slot: usize, to: Value, state: &mut [u64]) {
        if let Some(level) = self.levels[slot]
            && level.settled.get(state) < to
        {
            level.settled.set(state, to);
        }
    }

    /// Resets the path: no thread has joined, no cell was accessed.
    pub fn clear_path(&self, state: &mut [u64]) {
        for level in self.levels.iter().flatten() {
            level.settled.set(state, NO_ACCESS);
            if let Some(tentative) = level.tentative {
                tentative.set(state, NO_ACCESS);
            }
        }
        for joined in &self.joined {
            joined.set(state, 0);
        }
    }

    /// Forgets what no longer matters once the attacker has stopped: its delayed stores.
    pub fn clear_delayed(&self, state: &mut [u64]) {
        for delayed in self.delayed.iter().flatten() {
            delayed.present.set(state, 0);
            delayed.value.set(state, delayed.value.lo);
        }
        if let Some(marked) = self.marked {
            marked.set(state, 0);
        }
    }

    /// A thread on the path accessed the attacked store's cell: equation 13.
    #[inline]
    pub fn is_closed(&self, state: &[u64]) -> bool {
        let target = self.target.get(state) as usize;
        self.levels[target].is_some_and(|level| level.settled.get(state) != NO_ACCESS)
    }
}
