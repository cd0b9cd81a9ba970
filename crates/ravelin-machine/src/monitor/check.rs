//! Checks a state for an access that may be stale, or a race.
//!
//! A thread about to access x may do so in a way that no SC run has if two conditions hold: the latest write to x is
//! SC-before it (x ∈ `T_sc`), and a write that it would have to respect is not known (the fact ∉ `cur`). This is
//! theorem 2.2 of the paper, with the conditions of sections 4.1 and 4.3 in the fact. For an access that waits for a
//! value it does not matter whether it can be done *now*: the check is whether a stale value would let it pass.
//!
//! Non-atomic writes are not in `T_sc`. Suppose the latest write to x is one, and the access may read, or be placed,
//! before it. Then it does not happen before the access, so the two race. For a load that can be done now the marks
//! give the same result. An access that waits may never be done under SC (`d.write(1); y.store(1) ∥ wait(y == 1);
//! wait(d == 0)`), and then only this check finds the race.
//!
//! The latest write is enough: an atomic write after the non-atomic one is either SC-before the thread, which is a
//! violation by itself, or can be omitted from the run. A non-atomic access that may be stale races with the write that
//! it misses.

use super::Monitor;
use super::effect::{AccessStrength, MonitorEffect};
use super::plan::Class;
use super::search::MonitorFindingKind;
use crate::code::WaitCode;
use crate::compile::{CellTarget, CompiledStep, StepOp};
use crate::layout::Overflow;
use crate::step::{Attempt, StepOutcome, admit};
use ravelin_program::Value;

impl<const N: usize> Monitor<'_, N> {
    /// Whether a step of a thread, which is at its start, may use a stale value, and what is wrong then.
    #[inline]
    pub(super) fn out_of_date(
        &self,
        thread: usize,
        index: usize,
        state: &[u64],
    ) -> Result<Option<MonitorFindingKind>, Overflow> {
        let step = &self.machine.threads[thread].steps[index];
        let place = match &step.op {
            StepOp::Load { place, .. }
            | StepOp::Store { place, .. }
            | StepOp::Rmw { place, .. }
            | StepOp::CompareExchange { place, .. }
            | StepOp::Wait { place, .. }
            | StepOp::BlockingCas { place, .. } => place,
            _ => return Ok(None),
        };
        match self.asked_and_unknown(thread, index, step, place, state) {
            Ok(found) => Ok(found),
            Err(StepOutcome::Outgrown(outgrown)) => Err(outgrown),
            // A step that fails, or that no value could let pass, is no access.
            Err(_) => Ok(None),
        }
    }

    fn asked_and_unknown(
        &self,
        thread: usize,
        index: usize,
        step: &CompiledStep,
        place: &CellTarget,
        state: &[u64],
    ) -> Attempt<Option<MonitorFindingKind>> {
        let machine = self.machine;
        let slot = machine.slot(place, state)?;
        let Some(cell) = self.plan.cell_of[slot] else { return Ok(None) };
        let Some(column) = self.plan.cells[cell].sc_column else { return Ok(None) };
        let Some((access, _, writes)) = self.plan.effects[thread][index].accesses().next() else { return Ok(None) };
        // The latest write to a cell is in these sets, unless it is non-atomic. These sets are kept for such an access.
        let latest = if writes { &self.rows.access_sc } else { &self.rows.write_sc };
        let found = if !access.atomic || !latest[cell].contains(state, column) {
            MonitorFindingKind::Race
        } else {
            MonitorFindingKind::Stale
        };
        let looked_for = match found {
            MonitorFindingKind::Race => self.races,
            MonitorFindingKind::Stale | MonitorFindingKind::Use => self.rows.thread_sc[thread].contains(state, column),
        };
        if !looked_for {
            return Ok(None);
        }
        let admits = |value: Value| admit(machine.cell_domains[slot], value).is_ok();
        let eval = |code: &crate::code::Code| -> Attempt<Value> { Ok(code.eval(state)?) };
        let unknown_fact = |mode: AccessStrength, fact: Option<usize>| {
            let Some(fact) = fact else { return false };
            if let Some(buffers) = &self.rows.buffers {
                return !self.known_to_access(buffers, thread, mode, writes, state).contains(fact);
            }
            let known = match mode.fence_before {
                true => self.behind_fence(thread, state).known,
                false => self.rows.cur[thread].known.get(state),
            };
            // A chain of seq_cst accesses leads from a write that it would miss to this one.
            let chained = mode.chained && self.rows.thread_chain[thread].contains(state, fact);
            !known.contains(fact) && !chained
        };
        let unknown = |mode: AccessStrength, squeezes: bool, class: Class| {
            unknown_fact(mode, self.plan.fact(cell, squeezes, class))
        };
        // A stale value other than this one: there may be a fact for it, or the fact about different values answers. A
        // fact that only other accesses ask for may be forgotten here (`rows.rs`).
        let other_than = |expected: Value, admitted: Class| {
            let different = || {
                let ((any, different), last) = self.plan.cells[cell].different.zip(self.rows.last_stale[cell])?;
                Some(if last.get(state) == expected { different } else { any })
            };
            let asked = |fact: &usize| self.plan.asked[thread][index].contains(fact);
            self.plan.fact(cell, false, admitted.but(expected)).filter(asked).or_else(different)
        };
        let may_be_stale = match (&step.op, self.plan.effects[thread][index]) {
            (StepOp::Load { target, .. }, MonitorEffect::Read(mode)) => {
                unknown(mode, false, Class::admitted(Some(target.domain)))
            }
            (StepOp::Store { value, .. }, MonitorEffect::Write(mode)) => {
                unknown(mode, true, Class::ANY) && admits(eval(value)?)
            }
            (StepOp::Rmw { operand, old, op, .. }, MonitorEffect::Update(mode)) => {
                let operand = eval(operand)?;
                unknown(mode, true, Class::admitted(old.map(|old| old.domain)))
                    && (op.binary().is_some() || admits(operand))
            }
            (StepOp::Wait { condition, old, .. }, MonitorEffect::Read(mode)) => {
                match (&self.plan.passing[thread][index], condition) {
                    (Some(passing), _) => {
                        let registers = &machine.layout.registers[thread];
                        let valuation: Vec<Value> =
                            passing.registers.iter().map(|register| registers[register.0].get(state)).collect();
                        passing.row(&valuation).iter().any(|class| unknown(mode, false, *class))
                    }
                    (None, WaitCode::OneOf(values)) => {
                        let admitted = Class::admitted(old.map(|old| old.domain));
                        let mut stale = false;
                        for value in values {
                            let value = eval(value)?;
                            stale |= admitted.contains(value) && unknown(mode, false, Class::only(value));
                        }
                        stale
                    }
                    // No other thread writes the cells that it can read.
                    (None, WaitCode::Stack { .. }) => false,
                }
            }
            (StepOp::BlockingCas { expected, new, .. }, MonitorEffect::Update(mode)) => {
                let (expected, new) = (eval(expected)?, eval(new)?);
                unknown(mode, true, Class::only(expected)) && admits(new)
            }
            (
                StepOp::CompareExchange { expected, new, weak, old, ok, .. },
                MonitorEffect::Compare(success, failure),
            ) => {
                let admitted = Class::admitted(old.map(|old| old.domain));
                let reports = |outcome: bool| Class::admitted(ok.map(|ok| ok.domain)).contains(Value::from(outcome));
                let (expected, new) = (eval(expected)?, eval(new)?);
                let failing =
                    if *weak { self.plan.fact(cell, false, admitted) } else { other_than(expected, admitted) };
                reports(false) && unknown_fact(failure, failing)
                    || reports(true)
                        && admitted.contains(expected)
                        && unknown(success, true, Class::only(expected))
                        && admits(new)
            }
            _ => false,
        };
        Ok(may_be_stale.then_some(found))
    }

    /// Whether the access that has just led to this state races with an earlier one. The access's own acquire counts.
    pub(super) fn races(&self, thread: usize, step: usize, slot: usize, writes: bool, next: &[u64]) -> bool {
        let Some(cell) = self.plan.cell_of[slot] else { return false };
        let atomic = self.plan.effects[thread][step].accesses().next().is_some_and(|(mode, ..)| mode.atomic);
        let conflicts = self.conflicts[thread][cell][usize::from(atomic)][usize::from(writes)];
        !(conflicts & !self.rows.cur[thread].known.get(next)).is_empty()
    }
}
