//! Steps of the attacker while it delays stores (τ2): ⟦−⟧A2 of the paper, figure 5.
//!
//! - A store goes to the attacker's own shadow of the cell: equation 3. Issuing it needs no bus.
//! - A load reads that shadow if it exists, else memory: equation 4. Only reads from memory are logged.
//! - Local steps are as usual: equation 5. Fences and locked instructions are removed: equation 6.
//!
//! Under PSO a store to a cell without a delayed store may also reach memory at once, before those that are delayed,
//! unless a release fence or store came in between: [`Pace::Now`].

use super::Attacks;
use super::log::AccessLog;
use crate::compile::{CellTarget, CompiledStep, RegisterTarget, StepOp};
use crate::step::{Attempt, Log, StepOutcome, admit};
use ravelin_program::Value;

/// What happens to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Delayed,
    /// PSO only.
    Now,
}

impl Attacks<'_> {
    /// Takes a step of the attacker in place, and logs its accesses to memory in `log`.
    pub(super) fn take_delaying(
        &self,
        thread: usize,
        step: &CompiledStep,
        choice: Value,
        pace: Pace,
        state: &mut [u64],
        log: &mut AccessLog,
    ) -> StepOutcome {
        log.clear();
        match self.perform_delaying(thread, &step.op, choice, pace, state, log) {
            Ok(()) => {
                self.machine.arrive(thread, step, state);
                StepOutcome::Taken
            }
            Err(outcome) => outcome,
        }
    }

    fn perform_delaying(
        &self,
        thread: usize,
        op: &StepOp,
        choice: Value,
        pace: Pace,
        state: &mut [u64],
        log: &mut AccessLog,
    ) -> Attempt {
        let machine = self.machine;
        match op {
            StepOp::Nop | StepOp::Assign { .. } | StepOp::Havoc { .. } | StepOp::Assume(_) | StepOp::Assert(_) => {
                machine.perform(thread, op, choice, state, &mut ())
            }
            StepOp::Load { target, place } => {
                machine.needs_bus(thread, state)?;
                self.load(target, place, state, log)
            }
            StepOp::Wait { place, condition, old } => {
                machine.needs_bus(thread, state)?;
                let slot = machine.slot(place, state)?;
                let read = self.read(slot, state, log);
                if !condition.holds(read, state)? {
                    return Err(StepOutcome::Disabled);
                }
                machine.write_optional(old, read, state)
            }
            StepOp::Locked { body, drains: false } => {
                machine.needs_bus(thread, state)?;
                for part in body {
                    match part {
                        StepOp::Load { target, place } => self.load(target, place, state, log)?,
                        part => machine.perform(thread, part, 0, state, &mut ())?,
                    }
                }
                Ok(())
            }
            StepOp::Store { place, value, marker } => {
                let slot = machine.slot(place, state)?;
                let value = value.eval(state)?;
                if *marker {
                    self.mark(state);
                }
                self.store(thread, slot, value, pace, state, log)
            }
            StepOp::Marker => {
                self.mark(state);
                Ok(())
            }
            StepOp::Drain
            | StepOp::Rmw { .. }
            | StepOp::CompareExchange { .. }
            | StepOp::BlockingCas { .. }
            | StepOp::BusLock
            | StepOp::BusUnlock
            | StepOp::Locked { .. } => Err(StepOutcome::Disabled),
        }
    }

    fn load(&self, target: &RegisterTarget, place: &CellTarget, state: &mut [u64], log: &mut AccessLog) -> Attempt {
        let slot = self.machine.slot(place, state)?;
        let read = self.read(slot, state, log);
        self.machine.write_register(target, read, state)
    }

    fn read(&self, slot: usize, state: &[u64], log: &mut AccessLog) -> Value {
        match self.view.delayed_value(slot, state) {
            Some(value) => value,
            None => {
                log.read(slot);
                self.machine.layout.cells[slot].get(state)
            }
        }
    }

    fn store(
        &self,
        thread: usize,
        slot: usize,
        value: Value,
        pace: Pace,
        state: &mut [u64],
        log: &mut AccessLog,
    ) -> Attempt {
        let Some(delayed) = self.view.delayed[slot] else {
            // A private cell: the moment makes no difference.
            return match pace {
                Pace::Delayed => self.machine.write_cell(slot, value, state),
                Pace::Now => Err(StepOutcome::Disabled),
            };
        };
        if pace == Pace::Now {
            let waits = delayed.present.get(state) == 1 || self.view.marked.is_none_or(|marked| marked.get(state) == 1);
            if waits {
                return Err(StepOutcome::Disabled);
            }
            self.machine.needs_bus(thread, state)?;
            log.write(slot);
            return self.machine.write_cell(slot, value, state);
        }
        let value = admit(self.machine.cell_domains[slot], value)?;
        if !delayed.value.holds(value) {
            return Err(StepOutcome::Outgrown(crate::layout::Overflow::Cell { slot }));
        }
        delayed.present.set(state, 1);
        delayed.value.set(state, value);
        Ok(())
    }

    fn mark(&self, state: &mut [u64]) {
        if let Some(marked) = self.view.marked {
            marked.set(state, 1);
        }
    }
}
