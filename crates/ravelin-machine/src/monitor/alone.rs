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
//! **Guarded cells** are accessed by the thread that has their lock, and by no other before it gives the lock back
//! (`known_facts.rs`). So its accesses to them are taken alone.
//!
//! The fewest steps to a finding may be more than without the reduction.

use super::Monitor;
use super::plan::MonitorPlan;
use super::search::{MonitorInterrupt, MonitorScratch};
use crate::compile::Machine;
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
            let guarded = |step: usize| plan.guarded[thread][step] && !code.steps[step].back;
            match maybe {
                _ if !steps.is_empty() && steps.clone().all(guarded) => StepAlone::Always,
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
    ) -> Result<bool, MonitorInterrupt> {
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

#[cfg(test)]
mod tests {
    use super::super::MonitorParts;
    use super::super::columns::WIDTHS;
    use super::super::effect::C11Settings;
    use super::super::search::{machine_settings, on_hardware};
    use super::*;
    use crate::layout::Growth;
    use crate::observe::GoalFootprint;
    use crate::settings::{Purpose, Reductions};
    use ravelin_explore::{System, Watch};
    use ravelin_program::{Model, Program, SeqCstReading, Value};
    use ravelin_testing::Random;
    use ravelin_testing::programs::{Config, Generator, InstructionKind};

    type AnyMonitor<'a> = Monitor<'a, { WIDTHS[2] }>;

    /// A step that a thread can make in a state, what it leads to, what it touches, and whether it races.
    struct MonitorStep {
        thread: usize,
        step: usize,
        choice: Value,
        next: Vec<u64>,
        touched: Vec<(usize, bool)>,
        races: bool,
    }

    fn take(monitor: &AnyMonitor, (thread, step, choice): (usize, usize, Value), state: &[u64]) -> Option<MonitorStep> {
        let mut scratch = monitor.scratch();
        monitor.take(thread, step, choice, false, state, &mut scratch).ok()??;
        let (next, touched) = (scratch.next.clone(), scratch.accesses.iter().collect::<Vec<_>>());
        let writes = touched.iter().any(|(_, writes)| *writes);
        let races = touched.first().is_some_and(|&(slot, _)| monitor.races(thread, step, slot, writes, &next));
        Some(MonitorStep { thread, step, choice, next, touched, races })
    }

    fn steps(monitor: &AnyMonitor, state: &[u64]) -> Vec<MonitorStep> {
        let mut found = Vec::new();
        for (thread, code) in monitor.machine.threads.iter().enumerate() {
            let location = monitor.machine.layout.locations[thread].get(state) as usize;
            for step in code.starts[location]..code.starts[location + 1] {
                let choices = monitor.machine.choices(&code.steps[step].op).take(2);
                found.extend(choices.filter_map(|choice| take(monitor, (thread, step, choice), state)));
            }
        }
        found
    }

    /// Compares both orders of two steps that touch different cells or only read, from a state.
    fn commute(monitor: &AnyMonitor, state: &[u64], one: &MonitorStep, other: &MonitorStep) -> Result<bool, String> {
        let meet = |&(slot, writes): &(usize, bool)| other.touched.iter().any(|&(o, w)| o == slot && (w || writes));
        if one.thread == other.thread || one.touched.iter().any(meet) {
            return Ok(false);
        }
        let after = |first: &MonitorStep, then: &MonitorStep| {
            take(monitor, (then.thread, then.step, then.choice), &first.next).ok_or("a step is no longer possible")
        };
        let (ahead, behind) = (after(other, one)?, after(one, other)?);
        let forgotten = |state: &[u64]| {
            let mut state = state.to_vec();
            monitor.rows.forget(monitor.machine, &mut state);
            state
        };
        if forgotten(&ahead.next) != forgotten(&behind.next) {
            return Err("the two orders lead to different states".to_owned());
        }
        if ahead.races != one.races || behind.races != other.races {
            return Err("one order has a race that the other has not".to_owned());
        }
        for (first, then) in [(one, other), (other, one)] {
            let stale = |state: &[u64]| monitor.out_of_date(then.thread, then.step, state).ok();
            if stale(state) != stale(&first.next) {
                return Err("an access is stale in one order, and not in the other".to_owned());
            }
        }
        Ok(true)
    }

    /// Walks at random, and compares all pairs of steps on the way. Returns how many were independent.
    fn walk(program: &Program, settings: C11Settings, seed: u64) -> Result<usize, String> {
        let machine = Machine::new(program, machine_settings(settings), &Growth::default(), &Watch::unlimited());
        let Ok(machine) = machine else { return Ok(0) };
        let Ok(plan) = MonitorPlan::new(&machine, settings, &Watch::unlimited()) else { return Ok(0) };
        if plan.is_idle() {
            return Ok(0);
        }
        let goals = GoalFootprint::new(program, Purpose::Goals);
        let parts = MonitorParts { plan, settings, goals: &goals, old_values: None };
        let Ok(monitor) = AnyMonitor::new(&machine, parts, &Watch::unlimited()) else { return Ok(0) };
        let mut states = Vec::new();
        monitor.initial(&mut |state| states.push(state.to_vec()));
        let (mut random, mut pairs) = (Random::new(seed), 0);
        let mut state = random.pick(&states);
        for _ in 0..30 {
            let steps = steps(&monitor, &state);
            for (number, one) in steps.iter().enumerate() {
                for other in &steps[number + 1..] {
                    pairs += usize::from(commute(&monitor, &state, one, other)?);
                }
            }
            if steps.is_empty() {
                break;
            }
            state = steps[random.below(steps.len())].next.clone();
            monitor.rows.forget(&machine, &mut state);
        }
        Ok(pairs)
    }

    #[test]
    fn independent_steps_commute_under_every_model() {
        let with_loops = Config { domains: true, ..Config::c11() };
        let mut hardware = Config { loops: true, ..Config::loop_free() };
        hardware.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::BusLock | InstructionKind::Locked));
        for (model, config) in [
            (Model::Ra, with_loops.clone()),
            (Model::Rc20, with_loops),
            (Model::Tso, hardware.clone()),
            (Model::Pso, hardware),
        ] {
            let mut pairs = 0;
            for seed in ravelin_testing::seeds(1_500) {
                let mut program = Generator::new(config.clone()).program(seed);
                if model.is_hardware() {
                    program = on_hardware(&program);
                }
                program.goals.clear();
                let readings = [SeqCstReading::RelAcq, SeqCstReading::After, SeqCstReading::Before];
                let seq_cst = readings[seed as usize % if model == Model::Rc20 { 3 } else { 1 }];
                let chains = model == Model::Rc20 && seq_cst == SeqCstReading::RelAcq && seed.is_multiple_of(2);
                let (races, reductions) = (!model.is_hardware(), Reductions { fuse: false, ..Reductions::ALL });
                let settings = C11Settings { model, seq_cst, chains, observational: false, races, reductions };
                match walk(&program, settings, seed) {
                    Ok(found) => pairs += found,
                    Err(what) => {
                        panic!("seed {seed} under {model}: {what}\n{}", ravelin_frontend::print::rav(&program))
                    }
                }
            }
            assert!(pairs > 1_000 || !ravelin_testing::is_default_run(), "only {pairs} pairs under {model}");
        }
    }
}
