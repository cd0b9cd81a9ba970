//! All successors of a state, and the reports about it: the machine as a [`System`] for ravelin-explore.

use crate::chain::FusedChain;
use crate::compile::Machine;
use crate::layout::Overflow;
use crate::moves::{self, KnownMove, MoveTable};
use crate::settings::Purpose;
use crate::step::StepOutcome;
use ravelin_explore::{Sink, System};
use ravelin_program::GoalKind;

/// With more initial states than this, no further local steps are taken before the search begins.
const MOST_FUSED_STARTS: usize = 4096;

/// What is reported about a state, as a number: goals first, then two per transition of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportNumber {
    Goal(usize),
    Assert { thread: usize, step: usize },
    Fault { thread: usize, step: usize },
    Final,
    Stuck,
    Deadlock,
}

const FINAL: u32 = u32::MAX;
const STUCK: u32 = u32::MAX - 1;
const DEADLOCK: u32 = u32::MAX - 2;

impl Machine {
    fn step_base(&self, thread: usize) -> usize {
        self.goals.len() + 2 * self.threads[..thread].iter().map(|code| code.steps.len()).sum::<usize>()
    }

    fn report_number(&self, report: ReportNumber) -> u32 {
        match report {
            ReportNumber::Goal(goal) => goal as u32,
            ReportNumber::Assert { thread, step } => (self.step_base(thread) + 2 * step) as u32,
            ReportNumber::Fault { thread, step } => (self.step_base(thread) + 2 * step + 1) as u32,
            ReportNumber::Final => FINAL,
            ReportNumber::Stuck => STUCK,
            ReportNumber::Deadlock => DEADLOCK,
        }
    }

    pub(crate) fn report_of(&self, number: u32) -> ReportNumber {
        match number {
            FINAL => return ReportNumber::Final,
            STUCK => return ReportNumber::Stuck,
            DEADLOCK => return ReportNumber::Deadlock,
            _ => {}
        }
        let number = number as usize;
        if number < self.goals.len() {
            return ReportNumber::Goal(number);
        }
        let thread = (0..self.threads.len()).rev().find(|&thread| self.step_base(thread) <= number).unwrap_or(0);
        let offset = number - self.step_base(thread);
        let step = offset / 2;
        if offset.is_multiple_of(2) {
            ReportNumber::Assert { thread, step }
        } else {
            ReportNumber::Fault { thread, step }
        }
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
pub struct ExpandScratch {
    next: Vec<u64>,
    pub(crate) chain: FusedChain,
    /// Successors of the state, before they are emitted.
    pub(crate) found: Vec<u64>,
    canonical: crate::symmetry::SymmetryScratch,
    /// The moves that are looked up, after some states.
    pub(crate) moves: Option<Box<MoveTable>>,
    /// States to be expanded before moves are looked up.
    pub(crate) before_moves: u32,
}

/// States of more words are expanded step by step.
const MOST_WORDS_LOOKED_UP: usize = 4;

/// What happened while one thread was moved.
#[derive(Default)]
pub(crate) struct MoveEffect {
    /// A step back in the control flow was taken, or the change is visible to a goal.
    pub visible: bool,
    /// Something other than a plain step: a fault, a failed assertion, a full buffer.
    pub trouble: bool,
    /// A successor went to the sink already.
    pub any: bool,
}

impl System for Machine {
    type Scratch = ExpandScratch;
    type Interrupt = Overflow;

    fn width(&self) -> usize {
        self.layout.words
    }

    fn scratch(&self) -> ExpandScratch {
        ExpandScratch {
            next: vec![0; self.layout.words],
            chain: FusedChain::new(self.layout.words),
            found: Vec::new(),
            canonical: crate::symmetry::SymmetryScratch::default(),
            moves: None,
            before_moves: moves::BEFORE,
        }
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        let emitted = self.fused_initial_states(emit);
        debug_assert!(emitted.is_ok(), "`run` looks before it explores");
    }

    fn expand(&self, state: &[u64], scratch: &mut ExpandScratch, sink: &mut Sink) -> Result<(), Overflow> {
        if scratch.before_moves > 0 {
            scratch.before_moves -= 1;
            if scratch.before_moves == 0 && self.layout.bus.is_none() && self.layout.words <= MOST_WORDS_LOOKED_UP {
                scratch.moves = Some(Box::new(MoveTable::new(self)));
            }
        }
        let Some(mut moves) = scratch.moves.take() else { return self.expand_step_by_step(state, scratch, sink) };
        let expanded = match *state {
            [a] => self.expand_by_table(&[a], &mut moves, scratch, sink),
            [a, b] => self.expand_by_table(&[a, b], &mut moves, scratch, sink),
            [a, b, c] => self.expand_by_table(&[a, b, c], &mut moves, scratch, sink),
            [a, b, c, d] => self.expand_by_table(&[a, b, c, d], &mut moves, scratch, sink),
            _ => self.expand_step_by_step(state, scratch, sink),
        };
        scratch.moves = Some(moves);
        expanded
    }
}

impl Machine {
    fn expand_step_by_step(&self, state: &[u64], scratch: &mut ExpandScratch, sink: &mut Sink) -> Result<(), Overflow> {
        self.report_goals(state, sink);
        if self.reduces_order() && self.expand_persistent(state, scratch, sink)? {
            return Ok(());
        }
        let mut any = false;
        for thread in 0..self.threads.len() {
            scratch.found.clear();
            let mut moved = MoveEffect::default();
            self.move_thread(thread, state, scratch, Some(sink), &mut moved)?;
            if self.buffer_len(thread, state) > 0 {
                self.flush_thread(thread, state, scratch, &mut moved)?;
            }
            any |= moved.any || !scratch.found.is_empty();
            self.give_away(scratch, sink);
        }
        self.report_end(state, !any, sink);
        Ok(())
    }

    fn reduces_order(&self) -> bool {
        self.settings.reductions.partial_order && self.layout.bus.is_none() && self.threads.len() > 1
    }

    /// The same as [`Machine::expand_step_by_step`], with moves that are looked up.
    fn expand_by_table<const W: usize>(
        &self,
        state: &[u64; W],
        moves: &mut MoveTable,
        scratch: &mut ExpandScratch,
        sink: &mut Sink,
    ) -> Result<(), Overflow> {
        self.report_goals(state, sink);
        if self.reduces_order() && self.expand_persistent_by_table(state, moves, scratch, sink)? {
            return Ok(());
        }
        let mut any = false;
        for (thread, location) in self.layout.locations.iter().enumerate() {
            let location = location.get(state) as usize;
            // Those without fused steps come first, as they do step by step.
            let mut after = (0, None);
            match moves.step(self, thread, location, state, scratch) {
                Some(known) => {
                    any |= known.successors > 0;
                    let fused = !known.direct & ((1 << known.successors) - 1);
                    self.emit_known(known, !fused, state, moves, scratch, sink);
                    after = (fused, Some(known));
                    scratch.found.clear();
                }
                None => {
                    scratch.found.clear();
                    let mut moved = MoveEffect::default();
                    self.move_thread(thread, state, scratch, Some(sink), &mut moved)?;
                    any |= moved.any;
                }
            }
            if let (fused @ 1.., Some(known)) = after {
                self.emit_known(known, fused, state, moves, scratch, sink);
            }
            if self.buffer_len(thread, state) > 0 {
                let is_known = scratch.found.is_empty() && !self.threads[thread].fusible[location];
                let known = is_known.then(|| moves.flush(self, thread, state, scratch));
                match known {
                    Some(Some(known)) => {
                        any |= known.successors > 0;
                        self.emit_known(known, u32::MAX, state, moves, scratch, sink);
                    }
                    Some(None) => {
                        scratch.found.clear();
                        self.flush_thread(thread, state, scratch, &mut MoveEffect::default())?;
                    }
                    None => self.flush_thread(thread, state, scratch, &mut MoveEffect::default())?,
                }
            }
            any |= !scratch.found.is_empty();
            self.give_away(scratch, sink);
        }
        self.report_end(state, !any, sink);
        Ok(())
    }

    /// Emits those successors of a known move that are wanted: a bit for each.
    #[inline]
    fn emit_known<const W: usize>(
        &self,
        known: KnownMove,
        wanted: u32,
        state: &[u64; W],
        moves: &MoveTable,
        scratch: &mut ExpandScratch,
        sink: &mut Sink,
    ) {
        for number in (0..known.successors).filter(|number| wanted >> number & 1 == 1) {
            let mut next = moves.successor(known, number, state);
            self.symmetry.canonicalise(&mut next, &mut scratch.canonical);
            sink.push(&next);
        }
    }

    /// The same as [`Machine::expand_persistent`], with moves that are looked up.
    fn expand_persistent_by_table<const W: usize>(
        &self,
        state: &[u64; W],
        moves: &mut MoveTable,
        scratch: &mut ExpandScratch,
        sink: &mut Sink,
    ) -> Result<bool, Overflow> {
        for (thread, location) in self.layout.locations.iter().enumerate() {
            let location = location.get(state) as usize;
            if moves.may_be_independent(thread, location) && self.steps_are_independent(thread, location, state) {
                match moves.step(self, thread, location, state, scratch) {
                    Some(known) if known.successors > 0 && !known.visible => {
                        self.emit_known(known, u32::MAX, state, moves, scratch, sink);
                        return Ok(true);
                    }
                    Some(_) => {}
                    None if self.expand_alone(thread, state, scratch, sink)? => return Ok(true),
                    None => {}
                }
            }
            if self.buffer_len(thread, state) > 0 && self.flush_alone(thread, state, scratch, sink)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Machine {
    /// Reports the goals that a state violates.
    pub(crate) fn report_goals(&self, state: &[u64], sink: &mut Sink) {
        if self.purpose() == Purpose::Goals && self.may_violate(state) {
            for goal in 0..self.goals.len() {
                if self.violates(goal, state) {
                    sink.report(self.report_number(ReportNumber::Goal(goal)));
                }
            }
        }
    }

    /// Reports a state in which nothing can move.
    pub(crate) fn report_end(&self, state: &[u64], nothing_moves: bool, sink: &mut Sink) {
        if !nothing_moves {
            return;
        }
        let report = match self.purpose() {
            Purpose::Finals if self.is_final(state) => ReportNumber::Final,
            Purpose::Finals => ReportNumber::Stuck,
            Purpose::Goals if self.settings.deadlocks && self.is_deadlock(state) => ReportNumber::Deadlock,
            _ => return,
        };
        sink.report(self.report_number(report));
    }

    /// The initial states after the local steps of every thread; or what does not fit.
    pub(crate) fn fused_initial_states(&self, emit: &mut dyn FnMut(&[u64])) -> Result<(), Overflow> {
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
                    if let Err(what) = self.run_chain(thread, start, &mut scratch, &mut MoveEffect::default()) {
                        outgrown = Err(what);
                    }
                }
            }
            let ExpandScratch { found, canonical, .. } = &mut scratch;
            for state in found.chunks_exact_mut(self.layout.words) {
                self.symmetry.canonicalise(state, canonical);
                emit(state);
            }
        })?;
        outgrown
    }

    /// Tries to expand the steps of one thread, or one pending store, instead of all.
    fn expand_persistent(&self, state: &[u64], scratch: &mut ExpandScratch, sink: &mut Sink) -> Result<bool, Overflow> {
        for thread in 0..self.threads.len() {
            let location = self.layout.locations[thread].get(state) as usize;
            if self.steps_are_independent(thread, location, state) && self.expand_alone(thread, state, scratch, sink)? {
                return Ok(true);
            }
            if self.buffer_len(thread, state) > 0 && self.flush_alone(thread, state, scratch, sink)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tries to expand the steps of one thread, which are independent of other threads, instead of all.
    fn expand_alone(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut ExpandScratch,
        sink: &mut Sink,
    ) -> Result<bool, Overflow> {
        scratch.found.clear();
        let mut moved = MoveEffect::default();
        self.move_thread(thread, state, scratch, None, &mut moved)?;
        Ok(self.accept(&moved, scratch, sink))
    }

    /// Tries to expand the oldest pending store of one thread instead of everything.
    fn flush_alone(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut ExpandScratch,
        sink: &mut Sink,
    ) -> Result<bool, Overflow> {
        let slot = self.layout.buffers[thread].entries[0].slot.get(state) as usize;
        if !self.slot_is_independent(thread, slot, true, state) {
            return Ok(false);
        }
        scratch.found.clear();
        let mut moved = MoveEffect::default();
        self.flush_entry(thread, 0, state, scratch, &mut moved)?;
        Ok(self.accept(&moved, scratch, sink))
    }

    fn accept(&self, moved: &MoveEffect, scratch: &mut ExpandScratch, sink: &mut Sink) -> bool {
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
        scratch: &mut ExpandScratch,
        mut sink: Option<&mut Sink>,
        moved: &mut MoveEffect,
    ) -> Result<(), Overflow> {
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
                    StepOutcome::Taken => match sink.as_deref_mut() {
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
                    StepOutcome::Outgrown(outgrown) => Err(outgrown),
                    StepOutcome::Disabled => Ok(()),
                    StepOutcome::CutOff | StepOutcome::AssertFailed | StepOutcome::Fault(_) => {
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

    pub(crate) fn report_trouble(&self, thread: usize, step: usize, outcome: StepOutcome, sink: &mut Sink) {
        match outcome {
            StepOutcome::CutOff => sink.cut_off(),
            StepOutcome::AssertFailed if self.purpose() == Purpose::Goals => {
                sink.report(self.report_number(ReportNumber::Assert { thread, step }));
            }
            StepOutcome::Fault(_) if self.purpose() == Purpose::Goals => {
                sink.report(self.report_number(ReportNumber::Fault { thread, step }));
            }
            _ => {}
        }
    }

    /// All pending stores of a thread that may reach memory next.
    pub(crate) fn flush_thread(
        &self,
        thread: usize,
        state: &[u64],
        scratch: &mut ExpandScratch,
        moved: &mut MoveEffect,
    ) -> Result<(), Overflow> {
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
        scratch: &mut ExpandScratch,
        moved: &mut MoveEffect,
    ) -> Result<(), Overflow> {
        let mut next = std::mem::take(&mut scratch.next);
        next.copy_from_slice(state);
        self.flush(thread, entry, &mut next);
        let result = self.run_chain(thread, &next, scratch, moved);
        scratch.next = next;
        result
    }

    /// Takes fused steps of a thread from a state until none is left; the ends are appended to `found`.
    pub(crate) fn run_chain(
        &self,
        thread: usize,
        start: &[u64],
        scratch: &mut ExpandScratch,
        moved: &mut MoveEffect,
    ) -> Result<(), Overflow> {
        let code = &self.threads[thread];
        let location = self.layout.locations[thread].get(start) as usize;
        let ExpandScratch { chain, found, .. } = scratch;
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
    fn give_away(&self, scratch: &mut ExpandScratch, sink: &mut Sink) {
        if scratch.found.is_empty() {
            return;
        }
        let ExpandScratch { found, canonical, .. } = scratch;
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
