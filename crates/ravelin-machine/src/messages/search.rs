//! All successors of a state: one for every message that can be read and every gap that can be written to.

use super::future::{ThreadFuture, thread_futures};
use super::memory::{MOST_FENCES, Memory, Message};
use super::pack::{BitReader, BitWriter, Packing};
use super::read_back::MessageStep;
use super::run::MessageSettings;
use crate::attack::AccessLog;
use crate::chain::FusedChain;
use crate::compile::{CellTarget, Machine, StepOp};
use crate::expand::MoveEffect;
use crate::layout::Overflow;
use crate::monitor::{AccessStrength, C11Settings, MonitorEffect};
use crate::settings::{Purpose, Reductions};
use crate::step::StepOutcome;
use ravelin_explore::{Sink, System};
use ravelin_program::{ThreadId, TransitionId, Value};
use ravelin_semantics::Action;

/// A machine whose memory has messages.
pub(super) struct MessageMachine<'a> {
    pub machine: &'a Machine,
    settings: MessageSettings,
    /// The slots of the cells that have messages, and the cell of each slot.
    slots: Vec<usize>,
    cells: Vec<Option<usize>>,
    /// By thread and transition.
    effects: Vec<Vec<MonitorEffect>>,
    /// By thread and location.
    futures: Vec<Vec<ThreadFuture>>,
    packing: Packing,
    /// Words for the messages.
    words: usize,
}

/// Room for one worker.
pub(super) struct MessageScratch {
    /// The memory of the state that is expanded, of a successor, and of a successor at the end of its fused steps.
    memory: Memory,
    next: Memory,
    end: Memory,
    base: Vec<u64>,
    chain: FusedChain,
    log: AccessLog,
    writer: BitWriter,
    removed: Vec<usize>,
    state: Vec<u64>,
    /// Successors that wait until it is clear that no others are needed.
    found: Vec<u64>,
}

/// A successor, and how it was reached.
pub(super) struct Successor<'a> {
    pub state: &'a [u64],
    pub step: MessageStep,
    /// The fused steps after it, and the last of these.
    pub chain: Option<(&'a FusedChain, usize)>,
    /// By cell: messages that were forgotten.
    pub removed: &'a [usize],
}

/// What becomes of successors and of steps that fail.
pub(super) trait Successors {
    fn successor(&mut self, successor: &Successor);
    fn trouble(&mut self, thread: usize, step: usize, outcome: StepOutcome);
}

impl<'a> MessageMachine<'a> {
    pub fn new(machine: &'a Machine, settings: MessageSettings, words: usize) -> MessageMachine<'a> {
        let MessageSettings { model, seq_cst, .. } = settings;
        let c11 = C11Settings {
            model,
            seq_cst,
            chains: false,
            observational: false,
            races: false,
            reductions: Reductions::NONE,
        };
        let effects: Vec<Vec<MonitorEffect>> = (machine.program.threads.iter())
            .map(|thread| thread.transitions.iter().map(|step| MonitorEffect::of(&step.instruction, c11)).collect())
            .collect();
        let slots: Vec<usize> = (0..machine.layout.cells.len()).filter(|&slot| has_messages(machine, slot)).collect();
        let mut cells = vec![None; machine.layout.cells.len()];
        for (cell, &slot) in slots.iter().enumerate() {
            cells[slot] = Some(cell);
        }
        let futures: Vec<Vec<ThreadFuture>> = (0..machine.threads.len())
            .map(|thread| thread_futures(machine, thread, &effects[thread], &slots))
            .collect();
        let packing = Packing {
            fields: slots.iter().map(|&slot| machine.layout.cells[slot]).collect(),
            fences: futures.iter().flatten().any(|future| future.seq_cst),
        };
        MessageMachine { machine, settings, slots, cells, effects, futures, packing, words }
    }

    /// The slots of the cells that have messages.
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }

    /// The machine's part of a state.
    pub fn base<'s>(&self, state: &'s [u64]) -> &'s [u64] {
        &state[..self.machine.layout.words]
    }

    fn location(&self, thread: usize, base: &[u64]) -> usize {
        self.machine.layout.locations[thread].get(base) as usize
    }

    fn futures_at(&self, base: &[u64]) -> Vec<&ThreadFuture> {
        (self.futures.iter().enumerate()).map(|(thread, futures)| &futures[self.location(thread, base)]).collect()
    }

    pub fn new_scratch(&self) -> MessageScratch {
        let memory = || Memory::new(self.slots.len(), self.machine.threads.len());
        MessageScratch {
            memory: memory(),
            next: memory(),
            end: memory(),
            base: Vec::new(),
            chain: FusedChain::new(self.machine.layout.words),
            log: AccessLog::default(),
            writer: BitWriter::default(),
            removed: Vec::new(),
            state: Vec::new(),
            found: Vec::new(),
        }
    }

    /// The messages of an initial state: one per cell.
    pub fn initial_state(&self, base: &[u64], scratch: &mut MessageScratch) -> Result<Vec<u64>, Overflow> {
        let memory = &mut scratch.end;
        memory.clear();
        for cell in 0..self.slots.len() {
            let row = memory.add_row() as u32;
            let value = self.packing.fields[cell].get(base);
            memory.messages[cell].push(Message { value, row, ..Message::default() });
        }
        self.pack(base, &mut scratch.end, &mut scratch.writer, &mut scratch.removed, &mut scratch.state)?;
        Ok(scratch.state.clone())
    }

    /// Reads the messages of a state.
    pub fn unpack(&self, state: &[u64], scratch: &mut MessageScratch) {
        let (base, packed) = state.split_at(self.machine.layout.words);
        self.packing.code(&mut scratch.memory, base, &self.futures_at(base), &mut BitReader::new(packed));
    }

    /// Puts a canonical state together.
    fn pack(
        &self,
        base: &[u64],
        memory: &mut Memory,
        writer: &mut BitWriter,
        removed: &mut Vec<usize>,
        state: &mut Vec<u64>,
    ) -> Result<(), Overflow> {
        let futures = self.futures_at(base);
        memory.forget(&futures, removed);
        writer.clear();
        self.packing.code(memory, base, &futures, writer);
        if writer.words.len() > self.words {
            return Err(Overflow::Messages { words: writer.words.len() });
        }
        state.clear();
        state.extend_from_slice(base);
        state.extend_from_slice(&writer.words);
        state.resize(self.machine.layout.words + self.words, 0);
        Ok(())
    }

    /// All steps of a thread from a state whose messages are in `scratch.memory`. Returns whether something is visible to a goal or leads
    /// back in the control flow, and whether something failed or did not fit into the bound.
    pub fn move_thread(
        &self,
        thread: usize,
        base: &[u64],
        scratch: &mut MessageScratch,
        successors: &mut dyn Successors,
    ) -> Result<MoveEffect, Overflow> {
        let code = &self.machine.threads[thread];
        let location = self.location(thread, base);
        let mut moved = MoveEffect::default();
        for index in code.starts[location]..code.starts[location + 1] {
            let step = &code.steps[index];
            for choice in self.machine.choices(&step.op) {
                let action = Action::Step { thread: ThreadId(thread), transition: TransitionId(index), choice };
                let mut attempt =
                    StepAttempt { search: self, thread, index, base, scratch, successors, moved: &mut moved, action };
                match attempt.take(choice) {
                    Ok(()) | Err(StepOutcome::Disabled) | Err(StepOutcome::Taken) => {}
                    Err(StepOutcome::Outgrown(overflow)) => return Err(overflow),
                    Err(outcome) => {
                        attempt.moved.trouble = true;
                        attempt.successors.trouble(thread, index, outcome);
                    }
                }
            }
        }
        Ok(moved)
    }

    /// Nothing can move, if every read gives the mo-latest value: each thread is at its end, blocked, or has failed. Threads that may
    /// read something older do not count, because a store reaches all threads in the end.
    pub fn is_stuck(&self, base: &[u64]) -> bool {
        (0..self.machine.threads.len()).all(|thread| !self.can_pass(thread, base))
    }

    /// The thread can take a step by reading the mo-latest values.
    fn can_pass(&self, thread: usize, base: &[u64]) -> bool {
        let code = &self.machine.threads[thread];
        let location = self.location(thread, base);
        (code.starts[location]..code.starts[location + 1]).any(|index| self.passes(thread, index, base))
    }

    /// The step can be taken by reading the mo-latest value.
    fn passes(&self, thread: usize, index: usize, base: &[u64]) -> bool {
        let step = &self.machine.threads[thread].steps[index];
        self.machine.choices(&step.op).any(|choice| {
            !matches!(
                self.machine.take(thread, step, choice, &mut base.to_vec()),
                StepOutcome::Disabled | StepOutcome::AssertFailed | StepOutcome::Fault(_)
            )
        })
    }

    /// Whether the steps of a thread commute with everything that others can still do, so that they may be taken first. A graph
    /// may be built in any order that respects po and rf. So a store or a fence that is next in its thread is part of every graph to come, and
    /// so is a read whose messages are all there: no other thread can write the cell.
    fn goes_first(&self, thread: usize, base: &[u64]) -> bool {
        let code = &self.machine.threads[thread];
        let location = self.location(thread, base);
        let goals = self.machine.purpose() == Purpose::Goals;
        if goals && code.observed_location[location] {
            return false;
        }
        let steps = code.starts[location]..code.starts[location + 1];
        !steps.is_empty()
            && steps.clone().all(|index| {
                let step = &code.steps[index];
                let visible = goals && step.writes_watched;
                !step.back && !visible && self.commutes(thread, index, base)
            })
            // A thread that only an older value lets pass may also wait for ever.
            && steps.clone().all(|index| {
                let reads = self.effects[thread][index].accesses().any(|(_, reads, _)| reads);
                !reads || self.passes(thread, index, base)
            })
    }

    fn commutes(&self, thread: usize, index: usize, base: &[u64]) -> bool {
        let effect = self.effects[thread][index];
        let Some(place) = place(&self.machine.threads[thread].steps[index].op) else { return true };
        let Ok(slot) = self.machine.slot(place, base) else { return false };
        let writes = !matches!(effect, MonitorEffect::Read(_));
        if writes && self.machine.observed.memory() {
            return false;
        }
        match (self.cells[slot], effect) {
            (None, _) | (_, MonitorEffect::Write(_)) => true,
            (Some(cell), _) => {
                let others = self.futures_at(base).into_iter().enumerate().filter(|(other, _)| *other != thread);
                others.into_iter().all(|(_, future)| !future.writes[cell])
            }
        }
    }
}

/// Several threads touch the cell, and one of them writes it.
fn has_messages(machine: &Machine, slot: usize) -> bool {
    let mut touched = 0;
    let mut written = false;
    for (thread, code) in machine.threads.iter().enumerate() {
        let future = &code.futures[machine.program.threads[thread].initial.0];
        let writes = future.writes.contains(slot);
        touched += usize::from(writes || future.reads.contains(slot));
        written |= writes;
    }
    touched > 1 && written
}

/// The cell that a step accesses.
fn place(op: &StepOp) -> Option<&CellTarget> {
    match op {
        StepOp::Load { place, .. }
        | StepOp::Store { place, .. }
        | StepOp::Rmw { place, .. }
        | StepOp::CompareExchange { place, .. }
        | StepOp::Wait { place, .. }
        | StepOp::BlockingCas { place, .. } => Some(place),
        _ => None,
    }
}

/// One step of a thread with all its outcomes.
struct StepAttempt<'s, 'a> {
    search: &'s MessageMachine<'a>,
    thread: usize,
    index: usize,
    /// The machine's part of the state before.
    base: &'s [u64],
    scratch: &'s mut MessageScratch,
    successors: &'s mut dyn Successors,
    moved: &'s mut MoveEffect,
    action: Action,
}

impl StepAttempt<'_, '_> {
    fn take(&mut self, choice: Value) -> Result<(), StepOutcome> {
        let machine = self.search.machine;
        let effect = self.search.effects[self.thread][self.index];
        let op = &machine.threads[self.thread].steps[self.index].op;
        let cell = match place(op) {
            None => None,
            Some(place) => self.search.cells[machine.slot(place, self.base)?],
        };
        match (cell, effect) {
            (Some(cell), MonitorEffect::Write(strength)) => self.write(cell, strength, choice),
            (Some(cell), MonitorEffect::Read(strength)) => self.read(cell, strength, strength, choice),
            (Some(cell), MonitorEffect::Update(strength)) => self.read(cell, strength, strength, choice),
            (Some(cell), MonitorEffect::Compare(success, failure)) => self.read(cell, success, failure, choice),
            _ => self.alone(effect, choice),
        }
    }

    /// A step that needs no message: local, a fence, or on a cell of the thread's own.
    fn alone(&mut self, effect: MonitorEffect, choice: Value) -> Result<(), StepOutcome> {
        self.reset();
        self.perform(choice)?;
        match effect {
            MonitorEffect::Fence { acquire, release, seq_cst } => {
                if seq_cst {
                    self.seq_cst_fence()?;
                } else {
                    if acquire {
                        self.scratch.next.acquire_fence(self.thread);
                    }
                    if release {
                        self.scratch.next.release_fence(self.thread);
                    }
                }
            }
            _ => {
                // Which of the two a compare-exchange was is known by what it did.
                let wrote = self.scratch.log.iter().any(|(_, writes)| writes);
                let strength = match effect {
                    MonitorEffect::Compare(_, failure) if !wrote => Some(failure),
                    _ => effect.accesses().next().map(|(strength, ..)| strength),
                };
                if strength.is_some_and(|strength| strength.has_hidden_fence()) {
                    self.seq_cst_fence()?;
                }
            }
        }
        self.arrive(None, None)
    }

    /// A store, behind every message that it may stand behind.
    fn write(&mut self, cell: usize, strength: AccessStrength, choice: Value) -> Result<(), StepOutcome> {
        let field = self.search.packing.fields[cell];
        let latest = field.get(self.base);
        let count = self.scratch.memory.messages[cell].len();
        for behind in self.scratch.memory.oldest_readable(self.thread, cell)..count {
            if !self.scratch.memory.is_open(cell, behind) {
                continue;
            }
            self.reset();
            if strength.fence_before {
                self.seq_cst_fence()?;
                if behind < self.scratch.next.oldest_readable(self.thread, cell) {
                    continue;
                }
            }
            self.perform(choice)?;
            let value = field.get(&self.scratch.base);
            if self.scratch.next.write(self.thread, cell, behind, value, strength, false).is_err() {
                continue;
            }
            if behind + 1 < count {
                field.set(&mut self.scratch.base, latest);
            }
            if strength.fence_after {
                self.seq_cst_fence()?;
            }
            self.arrive(None, Some((cell, behind + 1)))?;
        }
        Ok(())
    }

    /// A read of every message that may be read; if it writes, right behind that message.
    fn read(
        &mut self,
        cell: usize,
        success: AccessStrength,
        failure: AccessStrength,
        choice: Value,
    ) -> Result<(), StepOutcome> {
        let field = self.search.packing.fields[cell];
        let latest = field.get(self.base);
        let count = self.scratch.memory.messages[cell].len();
        let mut failed = None;
        for position in self.scratch.memory.oldest_readable(self.thread, cell)..count {
            self.reset();
            field.set(&mut self.scratch.base, self.scratch.memory.messages[cell][position].value);
            // What it does with the value decides which strength it has.
            let outcome = self.perform(choice);
            let writes = match outcome {
                Err(StepOutcome::Disabled) => continue,
                Err(other @ StepOutcome::Outgrown(_)) => return Err(other),
                _ => self.scratch.log.iter().any(|(_, writes)| writes),
            };
            let strength = if writes { success } else { failure };
            if writes && !self.scratch.memory.is_open(cell, position) {
                continue;
            }
            if strength.fence_before {
                self.seq_cst_fence()?;
                if position < self.scratch.next.oldest_readable(self.thread, cell) {
                    continue;
                }
            }
            if self.scratch.next.read(self.thread, cell, position, strength).is_err() {
                continue;
            }
            let written = field.get(&self.scratch.base);
            if writes && self.scratch.next.write(self.thread, cell, position, written, strength, true).is_err() {
                continue;
            }
            // A failure counts only if memory can give this answer.
            if let Err(outcome) = outcome {
                failed = Some(outcome);
                continue;
            }
            if !writes || position + 1 < count {
                field.set(&mut self.scratch.base, latest);
            }
            if strength.fence_after {
                self.seq_cst_fence()?;
            }
            self.arrive(Some((cell, position)), writes.then_some((cell, position + 1)))?;
        }
        failed.map_or(Ok(()), Err)
    }

    /// Starts again from the state before the step.
    fn reset(&mut self) {
        let MessageScratch { memory, next, base, log, .. } = &mut *self.scratch;
        next.copy_from(memory);
        base.clear();
        base.extend_from_slice(self.base);
        log.clear();
    }

    /// The step on the machine's part, which reads what the cell holds there.
    fn perform(&mut self, choice: Value) -> Result<(), StepOutcome> {
        let machine = self.search.machine;
        let MessageScratch { base, log, .. } = &mut *self.scratch;
        let step = &machine.threads[self.thread].steps[self.index];
        match machine.take_logged(self.thread, step, choice, base, log) {
            StepOutcome::Taken => Ok(()),
            outcome => Err(outcome),
        }
    }

    fn seq_cst_fence(&mut self) -> Result<(), StepOutcome> {
        if self.scratch.next.fences.len() == MOST_FENCES {
            return Err(StepOutcome::CutOff);
        }
        self.scratch.next.seq_cst_fence(self.thread);
        Ok(())
    }

    /// The step is done: takes the fused steps after it, and gives the states at their ends away.
    fn arrive(&mut self, reads: Option<(usize, usize)>, writes: Option<(usize, usize)>) -> Result<(), StepOutcome> {
        let search = self.search;
        let code = &search.machine.threads[self.thread];
        let MessageScratch { next, end, base, chain, writer, removed, state, .. } = &mut *self.scratch;
        let step = MessageStep { action: self.action, reads, writes };
        self.moved.visible |= code.steps[self.index].back;
        let location = search.location(self.thread, base);
        let most = search.settings.messages;
        if !code.fusible[location] {
            self.moved.visible |= code.observed_location[location];
            search.pack(base, next, writer, removed, state).map_err(StepOutcome::Outgrown)?;
            if next.messages.iter().any(|messages| messages.len() > most) {
                self.moved.trouble = true;
                self.successors.trouble(self.thread, self.index, StepOutcome::CutOff);
            } else {
                self.successors.successor(&Successor { state, step, chain: None, removed });
            }
            return Ok(());
        }
        search.machine.walk(self.thread, base, chain, self.moved).map_err(StepOutcome::Outgrown)?;
        for (node, reached) in chain.ends() {
            end.copy_from(next);
            search.pack(reached, end, writer, removed, state).map_err(StepOutcome::Outgrown)?;
            if end.messages.iter().any(|messages| messages.len() > most) {
                self.moved.trouble = true;
                self.successors.trouble(self.thread, self.index, StepOutcome::CutOff);
            } else {
                self.successors.successor(&Successor { state, step, chain: Some((chain, node)), removed });
            }
        }
        Ok(())
    }
}

/// Successors that go to the sink at once.
struct ToSink<'a> {
    machine: &'a Machine,
    sink: &'a mut Sink,
}

impl Successors for ToSink<'_> {
    fn successor(&mut self, successor: &Successor) {
        self.sink.push(successor.state);
    }

    fn trouble(&mut self, thread: usize, step: usize, outcome: StepOutcome) {
        self.machine.report_trouble(thread, step, outcome, self.sink);
    }
}

/// Successors that are kept until it is clear that they are enough.
struct KeptSuccessors(Vec<u64>);

impl Successors for KeptSuccessors {
    fn successor(&mut self, successor: &Successor) {
        self.0.extend_from_slice(successor.state);
    }

    fn trouble(&mut self, _: usize, _: usize, _: StepOutcome) {}
}

impl System for MessageMachine<'_> {
    type Scratch = MessageScratch;
    type Interrupt = Overflow;

    fn width(&self) -> usize {
        self.machine.layout.words + self.words
    }

    fn scratch(&self) -> MessageScratch {
        self.new_scratch()
    }

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        let mut scratch = self.new_scratch();
        let emitted = self.machine.fused_initial_states(&mut |base| {
            // One message per cell needs next to no room, and `run` looks before it explores.
            if let Ok(state) = self.initial_state(base, &mut scratch) {
                emit(&state);
            }
        });
        debug_assert!(emitted.is_ok(), "`run` looks before it explores");
    }

    fn expand(&self, state: &[u64], scratch: &mut MessageScratch, sink: &mut Sink) -> Result<(), Overflow> {
        let base = self.base(state);
        self.machine.report_goals(base, sink);
        self.unpack(state, scratch);
        if self.settings.reductions.partial_order && self.expand_first(base, scratch, sink)? {
            return Ok(());
        }
        for thread in 0..self.machine.threads.len() {
            self.move_thread(thread, base, scratch, &mut ToSink { machine: self.machine, sink })?;
        }
        self.machine.report_end(base, self.is_stuck(base), sink);
        Ok(())
    }
}

impl MessageMachine<'_> {
    /// Tries to expand the steps of one thread instead of all.
    fn expand_first(&self, base: &[u64], scratch: &mut MessageScratch, sink: &mut Sink) -> Result<bool, Overflow> {
        for thread in (0..self.machine.threads.len()).filter(|&thread| self.goes_first(thread, base)) {
            scratch.found.clear();
            let mut kept = KeptSuccessors(std::mem::take(&mut scratch.found));
            let moved = self.move_thread(thread, base, scratch, &mut kept)?;
            scratch.found = kept.0;
            if !scratch.found.is_empty() && !moved.visible && !moved.trouble {
                for state in scratch.found.chunks_exact(self.width()) {
                    sink.push(state);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }
}
