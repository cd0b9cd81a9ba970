//! Successors of a state of an attack, and, if a path must be read back, the actions that lead to each.

use super::Attacks;
use super::attacker::Pace;
use super::log::AccessLog;
use super::view::{LOADED, STORED};
use crate::chain::FusedChain;
use crate::compile::CompiledStep;
use crate::expand::MoveEffect;
use crate::layout::Overflow;
use crate::step::StepOutcome;
use ravelin_program::{ThreadId, TransitionId, Value};
use ravelin_semantics::Action;

/// Collects successors. Reused from state to state so that nothing is allocated.
pub(super) struct Successors {
    words: usize,
    states: Vec<u64>,
    /// For each successor the actions that lead to it, if requested.
    trails: Option<Vec<Vec<Trail>>>,
    chain: FusedChain,
    /// The state under construction.
    pub next: Vec<u64>,
    pub log: AccessLog,
}

impl Successors {
    pub fn new(words: usize) -> Successors {
        Successors {
            words,
            states: Vec::new(),
            trails: None,
            chain: FusedChain::new(words),
            next: vec![0; words],
            log: AccessLog::default(),
        }
    }

    /// Remembers how each successor is reached.
    pub fn recording(words: usize) -> Successors {
        Successors { trails: Some(Vec::new()), ..Successors::new(words) }
    }

    pub fn clear(&mut self) {
        self.states.clear();
        if let Some(trails) = &mut self.trails {
            trails.clear();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    pub fn states(&self) -> impl Iterator<Item = &[u64]> {
        self.states.chunks_exact(self.words)
    }

    /// The actions that lead to a successor.
    pub fn trail_to(&self, state: &[u64]) -> Option<Vec<Trail>> {
        let index = self.states().position(|found| found == state)?;
        Some(self.trails.as_ref()?[index].clone())
    }

    /// Collects `next` without continuing from it.
    pub fn keep_as_it_is(&mut self, trail: Trail) {
        self.states.extend_from_slice(&self.next);
        if let Some(trails) = &mut self.trails {
            trails.push(vec![trail]);
        }
    }

    /// Begins a successor from a state, which may be an SC state: missing words are 0.
    #[inline]
    pub fn begin(&mut self, state: &[u64]) {
        let (known, rest) = self.next.split_at_mut(state.len());
        known.copy_from_slice(state);
        rest.fill(0);
    }
}

/// An action, and whether a store that it issues stays in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trail {
    pub action: Action,
    pub delayed: bool,
}

/// Taking a step under SC.
pub(super) fn plainly(thread: usize, step: usize, choice: Value) -> Trail {
    let action = Action::Step { thread: ThreadId(thread), transition: TransitionId(step), choice };
    Trail { action, delayed: false }
}

/// Taking a step while stores are delayed.
pub(super) fn delaying(thread: usize, step: usize, choice: Value, pace: Pace) -> Trail {
    Trail { delayed: pace == Pace::Delayed, ..plainly(thread, step, choice) }
}

impl Attacks<'_> {
    /// The initial states of the machine, in none of which an attack has begun. There must be few enough of them.
    pub(super) fn initial_states(&self, emit: &mut dyn FnMut(&[u64])) {
        let mut whole = vec![0; self.view.words];
        let emitted = self.machine.fused_initial_states(&mut |state| {
            whole[..state.len()].copy_from_slice(state);
            emit(&whole);
        });
        debug_assert!(emitted.is_ok(), "callers look before they explore");
    }

    /// Steps of a thread in a state, by index.
    #[inline]
    pub(super) fn steps(&self, thread: usize, state: &[u64]) -> impl Iterator<Item = (usize, &CompiledStep)> {
        let code = &self.machine.threads[thread];
        let location = self.machine.layout.locations[thread].get(state) as usize;
        let range = code.starts[location]..code.starts[location + 1];
        range.map(|index| (index, &code.steps[index]))
    }

    /// Collects `next` and the states that the thread's fused steps lead to.
    pub(super) fn follow(&self, thread: usize, first: Trail, out: &mut Successors) -> Result<(), Overflow> {
        let location = self.machine.layout.locations[thread].get(&out.next) as usize;
        if !self.machine.threads[thread].fusible[location] {
            out.states.extend_from_slice(&out.next);
            if let Some(trails) = &mut out.trails {
                trails.push(vec![first]);
            }
            return Ok(());
        }
        self.machine.walk(thread, &out.next, &mut out.chain, &mut MoveEffect::default())?;
        for (node, end) in out.chain.ends() {
            out.states.extend_from_slice(end);
            if let Some(trails) = &mut out.trails {
                let mut trail = vec![first];
                // Fused stores go to private cells; while others are delayed they wait after them.
                let delayed = self.view.phase.get(end) == 1 && first.delayed;
                trail.extend(out.chain.actions(thread, node).into_iter().map(|action| Trail { action, delayed }));
                trails.push(trail);
            }
        }
        Ok(())
    }

    /// All steps of a thread under SC, whichever thread attacks.
    pub(super) fn run(&self, thread: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        for (index, step) in self.steps(thread, state) {
            for choice in self.machine.choices(&step.op) {
                out.begin(state);
                match self.machine.take(thread, step, choice, &mut out.next) {
                    StepOutcome::Taken => self.follow(thread, plainly(thread, index, choice), out)?,
                    StepOutcome::Outgrown(outgrown) => return Err(outgrown),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// All steps of a helper that keep it on the happens-before path, or bring it there.
    pub(super) fn help(&self, thread: usize, state: &[u64], out: &mut Successors) -> Result<(), Overflow> {
        for (index, step) in self.steps(thread, state) {
            for choice in self.machine.choices(&step.op) {
                out.begin(state);
                let Successors { next, log, .. } = out;
                match self.take_helping(thread, step, choice, next, log) {
                    StepOutcome::Taken => self.follow(thread, plainly(thread, index, choice), out)?,
                    StepOutcome::Outgrown(outgrown) => return Err(outgrown),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// One step of the attacker while it delays stores; `next` and `log` contain the effects. Returns whether it was
    /// taken.
    pub(super) fn delay(
        &self,
        thread: usize,
        step: &CompiledStep,
        choice: Value,
        pace: Pace,
        state: &[u64],
        out: &mut Successors,
    ) -> Result<bool, Overflow> {
        out.begin(state);
        let Successors { next, log, .. } = out;
        match self.take_delaying(thread, step, choice, pace, next, log) {
            StepOutcome::Taken => Ok(true),
            StepOutcome::Outgrown(outgrown) => Err(outgrown),
            _ => Ok(false),
        }
    }

    /// The paces to try for a step.
    pub(super) fn paces(&self, step: &CompiledStep) -> &'static [Pace] {
        let may_overtake =
            self.view.marked.is_some() && matches!(step.op, crate::compile::StepOp::Store { marker: false, .. });
        if may_overtake { &[Pace::Delayed, Pace::Now] } else { &[Pace::Delayed] }
    }

    /// Issues the attacked store: equation 1. `next` is the state in which it is delayed. Returns whether it can be.
    pub(super) fn start(
        &self,
        thread: usize,
        step: &CompiledStep,
        number: usize,
        state: &[u64],
        out: &mut Successors,
    ) -> Result<bool, Overflow> {
        let crate::compile::StepOp::Store { place, .. } = &step.op else { return Ok(false) };
        if !self.bus_is_free(state) {
            return Ok(false);
        }
        let slot = match self.machine.slot(place, state) {
            Ok(slot) => slot,
            Err(StepOutcome::Outgrown(outgrown)) => return Err(outgrown),
            Err(_) => return Ok(false),
        };
        // If no other thread accesses the cell, no path can lead back.
        if self.view.levels[slot].is_none() || self.view.delayed[slot].is_none() {
            return Ok(false);
        }
        if !self.delay(thread, step, 0, Pace::Delayed, state, out)? {
            return Ok(false);
        }
        if let Some(attacker) = self.view.attacker {
            attacker.set(&mut out.next, thread as Value + 1);
        }
        // A marker before all stores orders nothing.
        if let Some(marked) = self.view.marked {
            marked.set(&mut out.next, 0);
        }
        self.view.phase.set(&mut out.next, 1);
        self.view.store.set(&mut out.next, number as Value);
        self.view.target.set(&mut out.next, slot as Value);
        Ok(true)
    }

    /// The attacker continues after it read memory, or under PSO wrote it. From now on helpers have something to do
    /// during τ2.
    pub(super) fn note_access(&self, thread: usize, out: &mut Successors) {
        if !out.log.is_empty() {
            self.view.joined[thread].set(&mut out.next, 1);
        }
    }

    /// The attacker did something in τ2 that a helper could depend on.
    #[inline]
    pub(super) fn helpers_may_move(&self, thread: usize, state: &[u64]) -> bool {
        self.view.joined[thread].get(state) == 1
    }

    /// The attacker has just done its load, and stops: equation 2. Its knowledge no longer matters, so `next` forgets
    /// it.
    pub(super) fn stop_attacker(&self, thread: usize, out: &mut Successors) {
        let Successors { next, log, .. } = out;
        self.view.phase.set(next, 2);
        self.view.store.set(next, 0);
        self.view.clear_path(next);
        self.view.clear_delayed(next);
        for (slot, writes) in log.iter() {
            self.view.raise(slot, if writes { STORED } else { LOADED }, next);
        }
        self.machine.layout.locations[thread].set(next, 0);
        for register in &self.machine.layout.registers[thread] {
            register.set(next, register.lo);
        }
    }

    /// A cycle is closed, and the delayed stores can reach memory.
    #[inline]
    pub(super) fn succeeds(&self, state: &[u64]) -> bool {
        self.view.is_closed(state) && self.bus_is_free(state)
    }
}
