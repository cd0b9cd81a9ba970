//! Silent steps backwards: local steps, stores, loads of own pending stores, and loads from the load buffer.
//!
//! They concern nobody but the thread and its buffers, so they can be assumed to come right after the thread's last step that is not
//! silent: a store that is pending earlier does no harm. A thread waits for others only where it is about to do such a
//! step.
//!
//! Loads from the load buffer come right after a store-store fence, with silent steps only in between: if the thread had not to wait
//! for its stores since the message came, it could have read memory at once. So they are of use only on the way back to such a fence
//! ([`LoadTime::Late`]).

use super::StoreBuffers;
use super::part::{PartId, Shape};
use crate::reachability::dual::part::{Control, Message};
use crate::reachability::finite::{CellPair, EdgeEffect};
use ravelin_explore::Limit;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Which loads are silent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadTime {
    /// Of own pending stores only; others read memory at once, which is not silent.
    AtOnce,
    /// From the load buffer too.
    Late,
}

impl StoreBuffers<'_> {
    /// The minimal parts from which silent steps lead into this one, itself included. After a limit was hit these are not all, and
    /// nothing is remembered.
    pub(super) fn closure(&mut self, thread: usize, part: PartId, time: LoadTime) -> Rc<[PartId]> {
        let known = self.parts[thread].get(part);
        let control = known.shape.control;
        let known = match time {
            LoadTime::AtOnce => &known.closure,
            LoadTime::Late => &known.late_closure,
        };
        if let Some(known) = known {
            return known.clone();
        }
        if time == LoadTime::Late && !self.order[thread].may_be_late(control) {
            return Rc::new([]);
        }
        let Ok(found) = self.silent_search(thread, part, time) else { return Rc::new([part]) };
        let closure: Rc<[PartId]> = found.into();
        match time {
            LoadTime::AtOnce => {
                let starts = closure.iter().any(|part| {
                    let shape = &self.parts[thread].get(*part).shape;
                    self.controls.threads[thread].is_initial(shape.control) && shape.is_drained()
                });
                let part = self.parts[thread].get_mut(part);
                part.closure = Some(closure.clone());
                part.starts = starts;
            }
            LoadTime::Late => self.parts[thread].get_mut(part).late_closure = Some(closure.clone()),
        }
        closure
    }

    fn silent_search(&mut self, thread: usize, part: PartId, time: LoadTime) -> Result<Vec<PartId>, Limit> {
        let finite = self.finite;
        let mut found = vec![part];
        // By control: only the first may be a set of states, which covers its members.
        let mut by_control: FxHashMap<Control, Vec<PartId>> = FxHashMap::default();
        by_control.insert(self.parts[thread].get(part).shape.control, vec![part]);
        let (mut next, mut before) = (0, Vec::new());
        while next < found.len() {
            let into = found[next];
            next += 1;
            let control = self.parts[thread].get(into).shape.control;
            for number in self.edges_into(thread, control) {
                let edge = &finite.threads[thread].edges[number as usize];
                // Whatever follows a store-store fence is late.
                let is_late = time == LoadTime::AtOnce || self.order[thread].may_be_late(edge.from);
                if self.order[thread].fences[number as usize] || !is_late {
                    continue;
                }
                let mut shape = self.parts[thread].get(into).shape.clone();
                shape.control = edge.from;
                match &edge.effect {
                    EdgeEffect::Local => before.push(shape),
                    EdgeEffect::Store(pair) if store(&mut shape, *pair) => before.push(shape),
                    EdgeEffect::Load(reads) => match time {
                        LoadTime::Late => self.late_load(thread, shape, reads, &mut Vec::new(), &mut before),
                        LoadTime::AtOnce if reads.iter().all(|read| self.load_own(thread, &mut shape, *read)) => {
                            before.push(shape);
                        }
                        LoadTime::AtOnce => {}
                    },
                    _ => {}
                }
                for mut shape in before.drain(..) {
                    if !self.is_possible(thread, &shape) {
                        continue;
                    }
                    self.forget_void(thread, &mut shape);
                    let before = self.intern(thread, shape)?;
                    let covered = |small: PartId| {
                        let (one, other) = (self.parts[thread].get(small), self.parts[thread].get(before));
                        self.controls.threads[thread].control_covers(one.shape.control, other.shape.control)
                            && self.parts[thread].buffers_cover(small, before)
                    };
                    let control = self.parts[thread].get(before).shape.control;
                    let group = by_control.entry(control).or_default();
                    self.watch.steps(1 + group.len() / 16)?;
                    if !covered(part) && !group.iter().any(|known| covered(*known)) {
                        group.push(before);
                        found.push(before);
                    }
                }
            }
        }
        Ok(found)
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

    /// A load of several cells at one moment in the past: each is an own store that was pending then, and is pending still or has left
    /// an own message; or it is told by the oldest message of the buffer, which tells all the others (`from_memory`).
    fn late_load(
        &mut self,
        thread: usize,
        shape: Shape,
        reads: &[CellPair],
        from_memory: &mut Vec<CellPair>,
        found: &mut Vec<Shape>,
    ) {
        let Some((&(cell, value), rest)) = reads.split_first() else {
            let mut shape = shape;
            if !from_memory.is_empty() {
                let letter = self.alphabet.letter(Message::Memory(from_memory.as_slice().into()));
                if shape.word.first() != Some(&letter) {
                    shape.word.insert(0, letter);
                }
            }
            return found.push(shape);
        };
        let mut own = shape.clone();
        if self.load_own(thread, &mut own, (cell, value)) {
            self.late_load(thread, own, rest, from_memory, found);
        }
        // Otherwise all its stores to the cell have reached memory.
        let mut shape = shape;
        let demand = shape.at(cell);
        if !demand.word.is_empty() {
            return;
        }
        demand.closed = true;
        if let Some(own) = self.own_message(&shape, cell) {
            if own == value {
                self.late_load(thread, shape, rest, from_memory, found);
            }
            return;
        }
        from_memory.push((cell, value));
        self.late_load(thread, shape.clone(), rest, from_memory, found);
        from_memory.pop();
        if self.controls.threads[thread].may_own(shape.control, (cell, value)) {
            let letter = self.alphabet.letter(Message::Own((cell, value)));
            // A later load of the cell from memory comes after the own message is gone.
            let first = self.first_telling(&shape, cell).unwrap_or(shape.word.len());
            for place in 0..=first {
                let mut shape = shape.clone();
                shape.word.insert(place, letter);
                self.late_load(thread, shape, rest, from_memory, found);
            }
        }
    }

    /// All that is asked for may be pending where the thread is, or may have been stored.
    pub(super) fn is_possible(&self, thread: usize, shape: &Shape) -> bool {
        let (control, order) = (shape.control, &self.order[thread]);
        let pends = |cell: u16, value: u16| order.may_pend(control, (cell, value));
        let owned = |pair: CellPair| self.controls.threads[thread].may_own(control, pair);
        shape.demands.iter().all(|demand| demand.word.iter().all(|value| pends(demand.cell, *value)))
            && shape.word.iter().all(|letter| match self.alphabet.message(*letter) {
                Message::Own(pair) => owned(*pair),
                Message::Memory(_) => true,
            })
    }

    /// Nothing needs to be said of a buffer that is empty anyway.
    pub(super) fn forget_void(&self, thread: usize, shape: &mut Shape) {
        let (control, order) = (shape.control, &self.order[thread]);
        shape
            .demands
            .retain(|demand| !demand.word.is_empty() || demand.closed && order.may_pend_for(control, demand.cell));
    }
}

/// The buffer before a store: the store is the one that is asked for if it can be, else one that nobody asks for.
pub(super) fn store(shape: &mut Shape, (cell, value): CellPair) -> bool {
    let demand = shape.at(cell);
    if demand.word.last() == Some(&value) {
        demand.word.pop();
        demand.closed = false;
        return true;
    }
    !demand.closed
}
