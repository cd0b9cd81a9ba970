//! TSO and PSO: how the sets change with each step, and what is known before an access.
//!
//! The axioms (*ghb* = ppo ∪ rfe ∪ co ∪ fr is acyclic, and so is coherence for each cell) are closed under removing an
//! event that is last in po ∪ rf, and po ∪ rf is acyclic. A shortest execution that is not SC is therefore an SC
//! execution and one more event that reads, or is placed, before the latest write of its cell although that is
//! SC-before it. ppo is po without the pairs from a store to a later load, and under PSO without those from a store to a
//! later store of another cell.
//!
//! | set | here | holds the facts that are … |
//! | --- | --- | --- |
//! | `VR[t]` | `cur` | ghb-before the next load of t |
//! | `VW[t]` | `stores` | ghb-before its next store |
//! | `U[t]` | `seen` | about cells that t accessed since their latest write (coherence) |
//! | `PW[t]` | `carried` | carried by the stores of t (PSO) |
//! | `L[x]` | `next` | ghb-before the next write to x |
//! | `M[x]` | `msg` | ghb-before the latest write to x, or about it |
//!
//! The `_sc` sets are those of the other models. Whether the latest write to x is the thread's own is kept beside them: a
//! load that reads it early is not ordered after it.

use super::Monitor;
use super::columns::Columns;
use super::effect::{AccessStrength, MonitorEffect};
use super::rows::BufferRows;
use crate::attack::AccessLog;
use ravelin_program::{Model, Value};

impl<const N: usize> Monitor<'_, N> {
    /// The facts that an access must respect: those that the model orders before it.
    pub(super) fn known_to_access(
        &self,
        buffers: &BufferRows<N>,
        thread: usize,
        mode: AccessStrength,
        writes: bool,
        state: &[u64],
    ) -> Columns<N> {
        let loads = self.rows.cur[thread].known.get(state);
        let (stores, carried) = (buffers.stores[thread].get(state), buffers.carried[thread].get(state));
        let ordered = match (mode.fence_before, writes) {
            (true, _) => loads | stores | carried,
            (false, true) if mode.release => stores | carried,
            (false, true) => stores,
            (false, false) => loads,
        };
        ordered | buffers.seen[thread].get(state)
    }

    /// Changes the sets of `next`, which a step of a thread has led to. `overwritten` is the previous value of a written
    /// cell.
    pub(super) fn update_buffers(
        &self,
        buffers: &BufferRows<N>,
        thread: usize,
        step: usize,
        accesses: &AccessLog,
        overwritten: impl Fn(usize) -> Value,
        next: &mut [u64],
    ) {
        let effect = self.plan.effects[thread][step];
        if let MonitorEffect::Fence { acquire, .. } = effect {
            return if acquire { self.drain(buffers, thread, next) } else { order_stores(buffers, thread, next) };
        }
        let Some((slot, _)) = accesses.iter().next() else { return };
        let Some((mode, ..)) = effect.accesses().next() else { return };
        let writes = accesses.iter().any(|(_, writes)| writes);
        if mode.fence_before {
            self.drain(buffers, thread, next);
        } else if mode.release {
            order_stores(buffers, thread, next);
        }
        let Some(cell) = self.plan.cell_of[slot] else { return };
        if writes {
            self.store(buffers, thread, cell, mode.fence_before, overwritten(slot), next);
        } else {
            self.load(buffers, thread, cell, next);
        }
    }

    fn load(&self, buffers: &BufferRows<N>, thread: usize, cell: usize, state: &mut [u64]) {
        let rows = &self.rows;
        let mut known = rows.cur[thread].known.get(state);
        if buffers.owns[thread][cell].get(state) == 0 {
            known |= rows.msg[cell].known.get(state);
        }
        rows.cur[thread].known.set(state, known);
        buffers.stores[thread].add(state, known);
        buffers.next[cell].add(state, known);
        buffers.seen[thread].add(state, self.own[cell]);
        let before = rows.thread_sc[thread].get(state) | rows.write_sc[cell].get(state);
        rows.thread_sc[thread].set(state, before);
        rows.access_sc[cell].add(state, before);
    }

    fn store(&self, buffers: &BufferRows<N>, thread: usize, cell: usize, update: bool, old: Value, state: &mut [u64]) {
        let rows = &self.rows;
        buffers.next[cell].add(state, buffers.stores[thread].get(state));
        rows.thread_sc[thread].add(state, rows.access_sc[cell].get(state));
        self.lose(cell, update, old, state);
        buffers.owns[thread][cell].set(state, 1);

        let own = self.own[cell];
        let latest = buffers.next[cell].get(state) | own;
        buffers.next[cell].set(state, latest);
        rows.msg[cell].known.set(state, latest);
        buffers.seen[thread].add(state, own);
        if update {
            rows.cur[thread].known.add(state, latest);
            buffers.stores[thread].add(state, latest);
        } else if self.plan.hardware == Some(Model::Pso) {
            buffers.carried[thread].add(state, latest);
        } else {
            buffers.stores[thread].add(state, latest);
        }
        let column = self.plan.cells[cell].sc_column.map_or(Columns::NONE, Columns::one);
        let before = rows.thread_sc[thread].get(state) | column;
        rows.thread_sc[thread].set(state, before);
        rows.access_sc[cell].add(state, before);
        rows.write_sc[cell].set(state, before);
    }

    /// A fence: all stores so far reach memory before what follows.
    fn drain(&self, buffers: &BufferRows<N>, thread: usize, state: &mut [u64]) {
        order_stores(buffers, thread, state);
        let loads = &self.rows.cur[thread].known;
        loads.add(state, buffers.stores[thread].get(state));
        buffers.stores[thread].set(state, loads.get(state));
    }
}

/// A store-store fence.
fn order_stores<const N: usize>(buffers: &BufferRows<N>, thread: usize, state: &mut [u64]) {
    buffers.stores[thread].add(state, buffers.carried[thread].get(state));
}
