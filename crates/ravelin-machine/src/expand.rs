//! All successors of a state, and the reports about it: the machine as a [`System`] for ravelin-explore.

use crate::chain::Chain;
use crate::compile::Machine;
use crate::layout::Outgrown;
use crate::settings::Purpose;
use crate::step::Outcome;
use ravelin_explore::{Sink, System};
use ravelin_program::GoalKind;

/// With more initial states than this, no further local steps are taken before the search begins.
const MOST_FUSED_STARTS: usize = 4096;

/// What is reported about a state, as a number: goals first, then two per transition of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Goal(usize),
    Assert { thread: usize, step: usize },
    Fault { thread: usize, step: usize },
    Final,
    Stuck,
}

const FINAL: u32 = u32::MAX;
const STUCK: u32 = u32::MAX - 1;

impl Machine {
    fn step_base(&self, thread: usize) -> usize {
        self.goals.len() + 2 * self.threads[..thread].iter().map(|code| code.steps.len()).sum::<usize>()
    }

    fn report_number(&self, report: Report) -> u32 {
        match report {
            Report::Goal(goal) => goal as u32,
            Report::Assert { thread, step } => (self.step_base(thread) + 2 * step) as u32,
            Report::Fault { thread, step } => (self.step_base(thread) + 2 * step + 1) as u32,
            Report::Final => FINAL,
            Report::Stuck => STUCK,
        }
    }

    pub(crate) fn report_of(&self, number: u32) -> Report {
        match number {
            FINAL => return Report::Final,
            STUCK => return Report::Stuck,
            _ => {}
        }
        let number = number as usize;
        if number < self.goals.len() {
            return Report::Goal(number);
        }
        let thread = (0..self.threads.len()).rev().find(|&thread| self.step_base(thread) <= number).unwrap_or(0);
        let offset = number - self.step_base(thread);
        let step = offset / 2;
        if offset.is_multiple_of(2) { Report::Assert { thread, step } } else { Report::Fault { thread, step } }
    }

    /// Every thread is at its end, nothing is pending.
    pub(crate) fn is_final(&self, state: &[u64]) -> bool {
        self.threads.iter().zip(&self.layout.locations).all(|(code, location)| {
            let location = location.get(state) as usize;
            code.starts[location] == code.starts[location + 1]
        }) && self.is_quiet(state)
    }

    /// A cheap check, which is mostly false: no goal is violated unless a thread is at a location that the goals need.
    #[inline]
    fn may_violate(&self, state: &[u64]) -> bool {
        !self.goals_need_locations
            || self.threads.iter().zip(&self.layout.locations).any(|(code, location)| {
                let location = location.get(state) as usize;
                code.observed_location[location]
            })
    }

    pub(crate) fn violates(&self, goal: usize, state: &[u64]) -> bool {
        let goal = &self.goals[goal];
        if goal.needs_quiet && !self.is_quiet(state) {
            return false;
        }
        if goal.goal.kind != GoalKind::Never && !self.is_final(state) {
            return false;
        }
        // A condition that cannot be computed (it overflows) is not met, as in the reference semantics.
        goal.condition.eval(state).is_ok_and(|value| goal.goal.is_violated_by(value))
    }
}

/// Buffers of one worker.
pub struct Scratch {
    next: Vec<u64>,
    chain: Chain,
    /// Successors of the state, before they are emitted.
    found: Vec<u64>,
    canonical: crate::symmetry::Scratch,
}

/// What happened while one thread was moved.
#[derive(Default)]
pub(crate) struct Moved {
    /// A step back in the control flow was taken, or the change is visible to a goal.
    pub visible: bool,
    /// Something other than a plain step: a fault, a failed assertion, a full buffer.
    pub trouble: bool,
    /// A successor went to the sink already.
    pub any: bool,
}

impl System for Machine {
    type Scratch = Scratch;
    type Interrupt = Outgrown;

    fn width(&self) -> usize {
        self.layout.words
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            next: vec![0; self.layout.words],
            chain: Chain::new(self.layout.words),
            found: Vec::new(),
            canonical: crate::symmetry::Scratch::default(),
        }
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        let emitted = self.fused_initial_states(emit);
        debug_assert!(emitted.is_ok(), "`run` looks before it explores");
    }

    fn expand(&self, state: &[u64], scratch: &mut Scratch, sink: &mut Sink) -> Result<(), Outgrown> {
        if self.purpose() == Purpose::Goals && self.may_violate(state) {
            for goal in 0..self.goals.len() {
                if self.violates(goal, state) {
                    sink.report(self.report_number(Report::Goal(goal)));
                }
            }
        }
        if self.settings.reductions.partial_order
            && self.layout.bus.is_none()
            && self.threads.len() > 1
            && self.expand_persistent(state, scratch, sink)?
        {
            return Ok(());
        }
        let mut any = false;
        for thread in 0..self.threads.len() {
            scratch.found.clear();
            let mut moved = Moved::default();
            self.move_thread(thread, state, scratch, Some(sink), &mut moved)?;
            if self.buffer_len(thread, state) > 0 {
                self.flush_thread(thread, state, scratch, &mut moved)?;
            }
            any |= moved.any || !scratch.found.is_empty();
            self.give_away(scratch, sink);
        }
        if self.purpose() == Purpose::Finals && !any {
            let report = if self.is_final(state) { Report::Final } else { Report::Stuck };
            sink.report(self.report_number(report));
        }
        Ok(())
    }
}

impl Machine {
    /// The initial states after the local steps of every thread; or what does not fit.
    pub(crate) fn fused_initial_states(&self, emit: &mut dyn FnMut(&[u64])) -> Result<(), Outgrown> {
        let mut scratch = self.scratch();
        let mut outgrown = Ok(());
        self.initial_states(&mut |state| {
            scratch.found.clear();
            scratch.found.extend_from_slice(state);
            for thread in 0..self.threads.len() {
                if scratch.found.len() > MOST_FUSED_STARTS * self.layout.words {
                    break;
                }
                let starts = std::mem::take(&mut scratch.found);
                for start in starts.chunks_exact(self.layout.words) {
                    if let Err(what) = self.run_chain(thread, start, &mut scratch, &mut Moved::default()) {
                        outgrown = Err(what);
                    }
                }
            }
            let Scratch { found, canonical, .. } = &mut scratch;
            for state in found.chunks_exact_mut(self.layout.words) {
                self.symmetry.canonicalise(state, canonical);
                emit(state);
            }
        })?;
        outgrown
    }

    /// Tries to expand the steps of one thread, or one pending store, instead of all.
    fn expand_persistent(&self, state: &[u64], scratch: &mut Scratch, sink: &mut Sink) -> Result<bool, Outgrown> {
        for thread in 0..self.threads.len() {
            let location = self.layout.locations[thread].get(state) as usize;
            if self.steps_are_independent(thread, location, state) {
                scratch.found.clear();
                let mut moved = Moved::default();
                self.move_thread(thread, state, scratch, None, &mut moved)?;
                if self.accept(&moved, scratch, sink) {
                    return Ok(true);
                }
            }
            if self.buffer_len(thread, state) > 0 {
                let slot = self.layout.buffers[thread].entries[0].slot.get(state) as usize;
                if self.slot_is_independent(thread, slot, true, state) {
                    scratch.found.clear();
                    let mut moved = Moved::default();
                    self.flush_entry(thread, 0, state, scratch, &mut moved)?;
                    if self.accept(&moved, scratch, sink) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn accept(&self, moved: &Moved, scratch: &mut Scratch, sink: &mut Sink) -> bool {
        let accepted = !scratch.found.is_empty() && !moved.visible && !moved.trouble;
        if accepted {
            self.give_away(scratch, sink);
        }
        accepted
    }

    /// All steps of a thread, each followed by its fused steps. Reports go to the sink if there is one.
    fn move_thread(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut Scratch,
        mut sink: Option<&mut Sink>,
        moved: &mut Moved,
    ) -> Result<(), Outgrown> {
        let code = &self.threads[thread];
        let location = self.layout.locations[thread].get(state) as usize;
        for index in code.starts[location]..code.starts[location + 1] {
            let step = &code.steps[index];
            let (mut choice, last) = self.choices(&step.op).into_inner();
            loop {
                let mut next = std::mem::take(&mut scratch.next);
                copy(state, &mut next);
                let outcome = self.take(thread, step, choice, &mut next);
                let result = match outcome {
                    Outcome::Taken => match sink.as_deref_mut() {
                        // Nothing to fuse, and all threads are expanded anyway: it can be emitted at once.
                        Some(sink) if !code.fusible[step.to as usize] => {
                            self.symmetry.canonicalise(&mut next, &mut scratch.canonical);
                            sink.push(&next);
                            moved.any = true;
                            Ok(())
                        }
                        _ => {
                            moved.visible |= step.back;
                            self.run_chain(thread, &next, scratch, moved)
                        }
                    },
                    Outcome::Outgrown(outgrown) => Err(outgrown),
                    Outcome::Disabled => Ok(()),
                    Outcome::CutOff | Outcome::AssertFailed | Outcome::Fault(_) => {
                        moved.trouble = true;
                        if let Some(sink) = sink.as_deref_mut() {
                            self.report_trouble(thread, index, outcome, sink);
                        }
                        Ok(())
                    }
                };
                scratch.next = next;
                result?;
                if choice == last {
                    break;
                }
                choice += 1;
            }
        }
        Ok(())
    }

    fn report_trouble(&self, thread: usize, step: usize, outcome: Outcome, sink: &mut Sink) {
        match outcome {
            Outcome::CutOff => sink.cut_off(),
            Outcome::AssertFailed if self.purpose() == Purpose::Goals => {
                sink.report(self.report_number(Report::Assert { thread, step }));
            }
            Outcome::Fault(_) if self.purpose() == Purpose::Goals => {
                sink.report(self.report_number(Report::Fault { thread, step }));
            }
            _ => {}
        }
    }

    /// All pending stores of a thread that may reach memory next.
    fn flush_thread(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut Scratch,
        moved: &mut Moved,
    ) -> Result<(), Outgrown> {
        let len = self.buffer_len(thread, state);
        if len == 0 || self.needs_bus(thread, state).is_err() {
            return Ok(());
        }
        for entry in 0..len {
            if self.may_flush(thread, entry, state) {
                self.flush_entry(thread, entry, state, scratch, moved)?;
            }
        }
        Ok(())
    }

    fn flush_entry(
        &self,
        thread: usize,
        entry: usize,
        state: &[u64],
        scratch: &mut Scratch,
        moved: &mut Moved,
    ) -> Result<(), Outgrown> {
        let mut next = std::mem::take(&mut scratch.next);
        next.copy_from_slice(state);
        self.flush(thread, entry, &mut next);
        let result = self.run_chain(thread, &next, scratch, moved);
        scratch.next = next;
        result
    }

    /// Takes fused steps of a thread from a state until none is left; the ends are appended to `found`.
    fn run_chain(
        &self,
        thread: usize,
        start: &[u64],
        scratch: &mut Scratch,
        moved: &mut Moved,
    ) -> Result<(), Outgrown> {
        let code = &self.threads[thread];
        let location = self.layout.locations[thread].get(start) as usize;
        let Scratch { chain, found, .. } = scratch;
        if !code.fusible[location] {
            moved.visible |= code.observed_location[location];
            found.extend_from_slice(start);
            return Ok(());
        }
        self.walk(thread, start, chain, moved)?;
        for (_, end) in chain.ends() {
            found.extend_from_slice(end);
        }
        Ok(())
    }

    #[inline]
    fn give_away(&self, scratch: &mut Scratch, sink: &mut Sink) {
        if scratch.found.is_empty() {
            return;
        }
        let Scratch { found, canonical, .. } = scratch;
        for state in found.chunks_exact_mut(self.layout.words) {
            self.symmetry.canonicalise(state, canonical);
            sink.push(state);
        }
    }
}

/// Copies a state of a few words without a call.
#[inline]
fn copy(from: &[u64], to: &mut [u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
