//! Partial order reduction by persistent sets.
//!
//! In a state, the next steps of one thread form a persistent set if no other thread can ever conflict with them from
//! its location on. Two accesses to a cell conflict if one of them writes. Whatever the others do first, the steps stay
//! possible and have the same effect. It is therefore enough to take these steps first. The same holds for one pending
//! store that no other thread will read or overwrite. Which cells a thread can still touch comes from
//! [`crate::access`].
//!
//! Two conditions make this correct for goals (not only for final states). The steps must be invisible to every
//! `never`, and no cycle of reduced states may postpone a thread for ever. Every cycle takes some thread around a loop
//! of its code, so it is enough that a step *back* in the control flow is never taken alone.
//!
//! Programs with a bus lock are not reduced: taking it disables every other thread's accesses.

use crate::access::Future;
use crate::compile::{CellTarget, Machine, StepOp, ThreadCode};
use crate::settings::Purpose;
use ravelin_program::{LocId, Thread};

/// By transition: whether it closes a cycle of the control flow, seen from a depth-first walk.
pub(crate) fn back_transitions(thread: &Thread) -> Vec<bool> {
    const UNSEEN: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut back = vec![false; thread.transitions.len()];
    let mut colour = vec![UNSEEN; thread.locations.len()];
    for root in std::iter::once(thread.initial.0).chain(0..thread.locations.len()) {
        if colour[root] != UNSEEN {
            continue;
        }
        colour[root] = OPEN;
        let mut stack = vec![(root, 0)];
        while let Some((location, next)) = stack.pop() {
            match thread.outgoing(LocId(location)).nth(next) {
                None => colour[location] = DONE,
                Some((id, transition)) => {
                    stack.push((location, next + 1));
                    match colour[transition.to.0] {
                        UNSEEN => {
                            colour[transition.to.0] = OPEN;
                            stack.push((transition.to.0, 0));
                        }
                        OPEN => back[id.0] = true,
                        _ => {}
                    }
                }
            }
        }
    }
    back
}

/// By thread and location: whether its steps can be independent of what the others can still do, wherever these are. It is
/// cheaper not to ask for the locations where that is impossible: in a loop without end, every thread can touch every cell
/// for ever.
pub(crate) fn may_be_independent(machine: &Machine) -> Vec<Vec<bool>> {
    let common: Vec<Future> = (machine.program.threads.iter().zip(&machine.threads))
        .map(|(thread, code)| {
            let reached = reached(thread);
            Future::common(code.futures.iter().zip(reached).filter(|(_, reached)| *reached).map(|(future, _)| future))
        })
        .collect();
    let may_be = |thread: usize, op: &StepOp| match op.constant_slot() {
        None => true,
        Some((slot, writes)) => {
            common.iter().enumerate().all(|(other, future)| other == thread || !future.conflicts(slot, writes))
        }
    };
    let of_thread = |(thread, code): (usize, &ThreadCode)| {
        let steps = |location: usize| &code.steps[code.starts[location]..code.starts[location + 1]];
        let locations = 0..code.futures.len();
        locations.map(|at| steps(at).iter().all(|step| !step.back && may_be(thread, &step.op))).collect()
    };
    machine.threads.iter().enumerate().map(of_thread).collect()
}

/// By location: whether the control flow leads there.
fn reached(thread: &Thread) -> Vec<bool> {
    let mut reached = vec![false; thread.locations.len()];
    reached[thread.initial.0] = true;
    let mut left = vec![thread.initial];
    while let Some(location) = left.pop() {
        for (_, transition) in thread.outgoing(location) {
            if !std::mem::replace(&mut reached[transition.to.0], true) {
                left.push(transition.to);
            }
        }
    }
    reached
}

impl StepOp {
    /// The one cell that it accesses, if that is known, and whether it may write it.
    fn constant_slot(&self) -> Option<(usize, bool)> {
        let (place, writes) = match self {
            StepOp::Load { place, .. } | StepOp::Wait { place, .. } => (place, false),
            StepOp::Store { place, .. }
            | StepOp::Rmw { place, .. }
            | StepOp::CompareExchange { place, .. }
            | StepOp::BlockingCas { place, .. } => (place, true),
            _ => return None,
        };
        match place {
            CellTarget::Slot(slot) => Some((*slot, writes)),
            CellTarget::Computed { .. } => None,
        }
    }
}

impl Machine {
    /// Whether the steps of a thread at a location are independent of everything that other threads can still do.
    pub(crate) fn steps_are_independent(&self, thread: usize, location: usize, state: &[u64]) -> bool {
        let code = &self.threads[thread];
        if self.purpose() == Purpose::Goals && code.observed_location[location] {
            return false;
        }
        let steps = &code.steps[code.starts[location]..code.starts[location + 1]];
        // A step that waits for an empty buffer depends on the thread's own flushes, which are not in the set.
        if self.buffer_len(thread, state) > 0 && steps.iter().any(|step| step.op.waits_for_buffer()) {
            return false;
        }
        !steps.is_empty()
            && steps.iter().all(|step| {
                let visible = self.purpose() == Purpose::Goals && step.writes_watched;
                !step.back && !visible && self.op_is_independent(thread, &step.op, state)
            })
    }

    fn op_is_independent(&self, thread: usize, op: &StepOp, state: &[u64]) -> bool {
        match op {
            StepOp::Nop
            | StepOp::Assign { .. }
            | StepOp::Havoc { .. }
            | StepOp::Assume(_)
            | StepOp::Assert(_)
            | StepOp::Drain => true,
            StepOp::Marker => true,
            StepOp::Load { place, .. } | StepOp::Wait { place, .. } => {
                self.place_is_independent(thread, place, false, state)
            }
            StepOp::Store { place, .. } if !self.settings.model.is_buffered() => {
                self.place_is_independent(thread, place, true, state)
            }
            // No other thread sees the issue of a store, but a condition on memory waits for empty buffers.
            StepOp::Store { .. } => !self.observed.memory(),
            StepOp::Rmw { place, .. } | StepOp::CompareExchange { place, .. } | StepOp::BlockingCas { place, .. } => {
                self.place_is_independent(thread, place, true, state)
            }
            // Its addresses may depend on what it loads on the way.
            StepOp::Locked { .. } | StepOp::BusLock | StepOp::BusUnlock => false,
        }
    }

    fn place_is_independent(&self, thread: usize, place: &CellTarget, writes: bool, state: &[u64]) -> bool {
        let Ok(slot) = self.slot(place, state) else { return false };
        self.slot_is_independent(thread, slot, writes, state)
    }

    /// No other thread can touch the cell in conflict from here on, nor has a store to it pending.
    pub(crate) fn slot_is_independent(&self, thread: usize, slot: usize, writes: bool, state: &[u64]) -> bool {
        if writes && self.observed.memory() {
            return false;
        }
        (0..self.threads.len()).filter(|&other| other != thread).all(|other| {
            let location = self.layout.locations[other].get(state) as usize;
            let future = &self.threads[other].futures[location];
            let entries = &self.layout.buffers[other].entries[..self.buffer_len(other, state)];
            !future.conflicts(slot, writes) && entries.iter().all(|entry| entry.slot.get(state) != slot as i64)
        })
    }
}
