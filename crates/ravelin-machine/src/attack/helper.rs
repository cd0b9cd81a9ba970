//! Steps of the helpers on the happens-before path: figure 7 of the paper, by Lemma 3.
//!
//! An action is on the path if its thread is on it already. It is also on the path if it loads a cell that was stored
//! on the path, or stores one that was loaded or stored there (H1). A thread on the path runs freely and raises the
//! levels of what it accesses (H2). One that is not on the path may do nothing else (H0).
//!
//! RMWs and locked blocks are one action: they join if any of their accesses does, and raise the levels of all.
//! Everything that a thread does between taking and releasing the bus lock is also one action. A thread that has not
//! joined may take the lock. Its accesses are then recorded as tentative, and count as soon as one of them joins. A
//! block that ends without having joined is a dead end.

use super::Attacks;
use super::log::AccessLog;
use super::view::{LOADED, NO_ACCESS, STORED};
use crate::compile::{CompiledStep, StepOp};
use crate::step::StepOutcome;
use ravelin_program::Value;

impl Attacks<'_> {
    /// Takes a step of a helper in place, if it may be taken.
    pub(super) fn take_helping(
        &self,
        thread: usize,
        step: &CompiledStep,
        choice: Value,
        state: &mut [u64],
        log: &mut AccessLog,
    ) -> StepOutcome {
        let joined = self.view.joined[thread].get(state) == 1;
        let in_block = self.holds_bus(thread, state);
        log.clear();
        let outcome = self.machine.take_logged(thread, step, choice, state, log);
        if outcome != StepOutcome::Taken {
            return outcome;
        }
        let joins = joined || log.iter().any(|(slot, writes)| self.reaches(slot, writes, state));
        if joins {
            if !joined {
                self.view.joined[thread].set(state, 1);
                self.settle_tentative(state);
            }
            for (slot, writes) in log.iter() {
                self.view.raise(slot, level(writes), state);
            }
            return StepOutcome::Taken;
        }
        let begins_block = matches!(step.op, StepOp::BusLock);
        let stays_in_block = in_block && self.holds_bus(thread, state);
        if !begins_block && !stays_in_block {
            return StepOutcome::Disabled;
        }
        for (slot, writes) in log.iter() {
            if let Some(tentative) = self.view.levels[slot].and_then(|level| level.tentative)
                && tentative.get(state) < level(writes)
            {
                tentative.set(state, level(writes));
            }
        }
        StepOutcome::Taken
    }

    /// Lemma 3 (ii) and (iii).
    #[inline]
    fn reaches(&self, slot: usize, writes: bool, state: &[u64]) -> bool {
        let least = if writes { LOADED } else { STORED };
        self.view.levels[slot].is_some_and(|level| level.settled.get(state) >= least)
    }

    /// Accesses of a block before it joined count from now on.
    fn settle_tentative(&self, state: &mut [u64]) {
        for (slot, level) in self.view.levels.iter().enumerate() {
            let Some(tentative) = level.and_then(|level| level.tentative) else { continue };
            let reached = tentative.get(state);
            tentative.set(state, NO_ACCESS);
            self.view.raise(slot, reached, state);
        }
    }

    pub(super) fn holds_bus(&self, thread: usize, state: &[u64]) -> bool {
        self.machine.layout.bus.is_some_and(|bus| bus.get(state) == thread as Value + 1)
    }

    /// The bus lock is free.
    pub(super) fn bus_is_free(&self, state: &[u64]) -> bool {
        self.machine.layout.bus.is_none_or(|bus| bus.get(state) == 0)
    }
}

fn level(writes: bool) -> Value {
    if writes { STORED } else { LOADED }
}
