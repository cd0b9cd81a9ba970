//! Partial order reduction of the monitored SC space: where only one thread's next steps are taken.
//!
//! The monitor's updates for two accesses of different threads commute if the accesses do: if they go to different cells,
//! or both read. And whether an access may be stale, or races, changes only with writes to its cell, or accesses that
//! conflict with it. So what is found is a property of a step, not of the order of independent steps, and persistent sets
//! keep it (`persistent.rs`): a run to a finding in which the thread does not move leads there also after the thread's
//! step; one in which it moves may begin with its step. No cycle postpones the others for ever, because a step back in
//! the control flow is never taken alone.
//!
//! **Non-atomic accesses**, if races are searched for, are taken alone in any case. Suppose a run to a finding has a
//! conflicting access of another thread before the thread moves. The thread has made no step in between. So nothing
//! orders the two accesses: with the non-atomic one first, the other races, and if that waits for a value that it no
//! longer finds, it may be stale, which is a race with a non-atomic write as well (`check.rs`). The finding is then
//! another one, but there is one.
//!
//! The fewest steps to a finding may be more than without the reduction.

use super::Monitor;
use super::plan::MonitorPlan;
use super::search::MonitorScratch;
use crate::compile::Machine;
use crate::layout::Overflow;
use crate::persistent::may_be_independent;

/// Whether the steps of a thread at a location can be taken alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepAlone {
    Never,
    /// It depends on where the others are.
    Maybe,
    Always,
}

impl StepAlone {
    /// By thread and location.
    pub fn of_all(machine: &Machine, plan: &MonitorPlan) -> Vec<Vec<StepAlone>> {
        let has_marks = !plan.marks.is_empty();
        let of_location = |thread: usize, location: usize, maybe: bool| {
            let code = &machine.threads[thread];
            let mut steps = code.starts[location]..code.starts[location + 1];
            let non_atomic = |step: usize| {
                let mut accesses = plan.effects[thread][step].accesses().peekable();
                accesses.peek().is_some() && accesses.all(|(mode, ..)| !mode.atomic) && !code.steps[step].back
            };
            match maybe {
                _ if has_marks && !steps.is_empty() && steps.all(non_atomic) => StepAlone::Always,
                true => StepAlone::Maybe,
                false => StepAlone::Never,
            }
        };
        let of_thread = |(thread, maybe): (usize, Vec<bool>)| {
            maybe.into_iter().enumerate().map(|(location, maybe)| of_location(thread, location, maybe)).collect()
        };
        may_be_independent(machine).into_iter().enumerate().map(of_thread).collect()
    }
}

impl<const N: usize> Monitor<'_, N> {
    /// The successors by a thread and what is found there, if the others' steps need not be taken here.
    pub(super) fn expand_alone(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut MonitorScratch,
        reports: &mut Vec<u32>,
    ) -> Result<bool, Overflow> {
        let location = self.machine.layout.locations[thread].get(state) as usize;
        let alone = match self.alone[thread][location] {
            StepAlone::Never => false,
            StepAlone::Maybe => self.machine.steps_are_independent(thread, location, state),
            StepAlone::Always => true,
        };
        if !alone {
            return Ok(false);
        }
        let mut found = std::mem::take(&mut scratch.found);
        found.clear();
        reports.clear();
        scratch.went_back = false;
        let emit = |_: &MonitorScratch, next: &mut [u64], _: usize| found.extend_from_slice(next);
        let expanded = self.expand_thread(thread, state, scratch, emit, |number, _, _| reports.push(number));
        let enough = !found.is_empty() && !scratch.went_back;
        scratch.found = found;
        if !enough {
            reports.clear();
        }
        expanded.map(|()| enough)
    }
}
