//! Silent steps backwards: local steps, stores, and loads of own pending stores.
//!
//! They concern nobody but the thread and its buffers, so they can be assumed to come right after the thread's last step that is not
//! silent: a store that is pending earlier does no harm. A thread waits for others only where it is about to do such a
//! step.

use super::StoreBuffers;
use super::part::{PartId, Shape};
use crate::reachability::dual::part::Control;
use crate::reachability::finite::{CellPair, EdgeEffect};
use ravelin_explore::Limit;
use rustc_hash::FxHashMap;
use std::rc::Rc;

impl StoreBuffers<'_> {
    /// The minimal parts from which silent steps lead into this one, itself included. After a limit was hit these are not all, and
    /// nothing is remembered.
    pub(super) fn closure(&mut self, thread: usize, part: PartId) -> Rc<[PartId]> {
        if let Some(known) = &self.parts[thread].get(part).closure {
            return known.clone();
        }
        let finite = self.finite;
        let mut found = vec![part];
        // By control: only the first may be a set of states, which covers its members.
        let mut by_control: FxHashMap<Control, Vec<PartId>> = FxHashMap::default();
        by_control.insert(self.parts[thread].get(part).shape.control, vec![part]);
        let mut next = 0;
        while next < found.len() {
            let into = found[next];
            next += 1;
            let control = self.parts[thread].get(into).shape.control;
            for edge in self.edges_into(thread, control) {
                let edge = &finite.threads[thread].edges[edge as usize];
                let mut shape = self.parts[thread].get(into).shape.clone();
                shape.control = edge.from;
                let happens = match &edge.effect {
                    EdgeEffect::Local => true,
                    EdgeEffect::Store((cell, value)) => store(&mut shape, *cell, *value),
                    EdgeEffect::Load(reads) => reads.iter().all(|read| self.load_own(thread, &mut shape, *read)),
                    _ => false,
                };
                if !happens || !self.is_possible(thread, &shape) {
                    continue;
                }
                self.forget_void(thread, &mut shape);
                let Ok(before) = self.intern(thread, shape) else { return found.into() };
                let covered = |small: PartId| {
                    let (one, other) = (self.parts[thread].get(small), self.parts[thread].get(before));
                    self.controls.threads[thread].control_covers(one.shape.control, other.shape.control)
                        && self.parts[thread].demands_cover(small, before)
                };
                let control = self.parts[thread].get(before).shape.control;
                let group = by_control.entry(control).or_default();
                if self.watch.steps(1 + group.len() / 16).is_err() {
                    return found.into();
                }
                if !covered(part) && !group.iter().any(|known| covered(*known)) {
                    group.push(before);
                    found.push(before);
                }
            }
        }
        let starts = found.iter().any(|part| {
            let shape = &self.parts[thread].get(*part).shape;
            self.controls.threads[thread].is_initial(shape.control) && shape.is_drained()
        });
        let closure: Rc<[PartId]> = found.into();
        let part = self.parts[thread].get_mut(part);
        part.closure = Some(closure.clone());
        part.starts = starts;
        closure
    }

    /// The number of a part; a new one counts.
    pub(super) fn intern(&mut self, thread: usize, shape: Shape) -> Result<PartId, Limit> {
        let known = self.parts[thread].len();
        let part = self.parts[thread].intern(shape);
        if self.parts[thread].len() > known {
            self.watch.hold(self.parts[thread].get(part).shape.bytes())?;
        }
        self.watch.step().map(|()| part)
    }

    /// The thread reads its own newest pending store. `false` if it cannot.
    pub(super) fn load_own(&self, thread: usize, shape: &mut Shape, (cell, value): CellPair) -> bool {
        if !self.controls.threads[thread].may_own(shape.control, (cell, value)) {
            return false;
        }
        let demand = shape.at(cell);
        if demand.closed {
            return demand.word.last() == Some(&value);
        }
        if demand.word.last() != Some(&value) {
            demand.word.push(value);
        }
        demand.closed = true;
        true
    }

    /// All that is asked for may be pending where the thread is.
    pub(super) fn is_possible(&self, thread: usize, shape: &Shape) -> bool {
        let Some(pending) = self.pending[thread].get(shape.control as usize) else { return true };
        shape
            .demands
            .iter()
            .all(|demand| demand.word.iter().all(|value| pending.binary_search(&(demand.cell, *value)).is_ok()))
    }

    /// Nothing needs to be said of a buffer that is empty anyway.
    pub(super) fn forget_void(&self, thread: usize, shape: &mut Shape) {
        let control = shape.control;
        shape.demands.retain(|demand| {
            !demand.word.is_empty() || demand.closed && self.controls.may_pend(thread, control, demand.cell)
        });
    }
}

/// The buffer before a store: the store is the one that is asked for if it can be, else one that nobody asks for.
fn store(shape: &mut Shape, cell: u16, value: u16) -> bool {
    let demand = shape.at(cell);
    if demand.word.last() == Some(&value) {
        demand.word.pop();
        demand.closed = false;
        return true;
    }
    !demand.closed
}
