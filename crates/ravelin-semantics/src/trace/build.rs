//! The trace of a run, built action by action as in Appendix A of *Checking and Enforcing Robustness against TSO*.
//!
//! A store becomes an event when it is issued and takes its place in memory order when it is flushed. A load's source
//! is determined when the load is executed: the newest pending store of its own thread if it reads early, else the
//! newest store in memory. (The paper corrects the source of an early load at the flush, which is equivalent.)

use super::touch::touches;
use super::{EventAccess, EventStep, NoTrace, Read, Trace, TraceEvent, ValueSource, Write};
use crate::Action;
use crate::operational::{Reference, Refusal, State};
use ravelin_program::{Instruction, ThreadId, TransitionId, Value};
use std::collections::{BTreeMap, VecDeque};

impl Trace {
    /// The trace of the run that takes these actions from a state with empty store buffers.
    pub fn of(reference: &Reference, start: &State, actions: &[Action]) -> Result<Trace, NoTrace> {
        if start.threads.iter().any(|thread| !thread.buffer.is_empty()) {
            return Err(NoTrace::PendingAtStart);
        }
        let mut build = TraceBuilder::new(start.threads.len());
        let mut state = start.clone();
        for (at, &action) in actions.iter().enumerate() {
            let refused = |refusal| NoTrace::NotARun { at, refusal };
            let next = reference.apply(&state, action).map_err(refused)?;
            match action {
                Action::Step { thread, transition, choice } => {
                    build.step(reference, &state, (thread, transition, choice), &next, at).map_err(refused)?;
                }
                Action::Flush { thread, address } => build.flush(thread, address, at),
            }
            state = next;
        }
        let pending = build.pending.iter().flat_map(BTreeMap::values).map(VecDeque::len).sum();
        Ok(Trace { pending, ..build.trace })
    }
}

/// A trace under construction.
struct TraceBuilder {
    trace: Trace,
    /// For each thread and address the pending stores, oldest first: event, and number of the access in it.
    pending: Vec<BTreeMap<Value, VecDeque<(usize, usize)>>>,
    /// The event of the bus lock's holder, once there is one.
    open: Option<usize>,
}

impl TraceBuilder {
    fn new(threads: usize) -> TraceBuilder {
        let trace = Trace {
            events: Vec::new(),
            program_order: vec![Vec::new(); threads],
            memory_order: BTreeMap::new(),
            pending: 0,
        };
        TraceBuilder { trace, pending: vec![BTreeMap::new(); threads], open: None }
    }

    fn step(
        &mut self,
        reference: &Reference,
        before: &State,
        step: (ThreadId, TransitionId, Value),
        after: &State,
        at: usize,
    ) -> Result<(), Refusal> {
        let (thread, transition, _) = step;
        let touches = touches(reference, before, step, after)?;
        let instruction = &reference.program().threads[thread.0].transitions[transition.0].instruction;
        if matches!(instruction, Instruction::BusLock | Instruction::BusUnlock) {
            self.open = None;
        }
        if touches.is_empty() {
            return Ok(());
        }
        let event = self.event(thread, before.bus == Some(thread));
        self.trace.events[event].steps.push(EventStep { transition, at });
        let step = self.trace.events[event].steps.len() - 1;
        for touch in touches {
            let address = touch.address;
            let read = touch.read.map(|value| Read { value, source: self.source(thread, address) });
            let reached = (!touch.buffered).then_some(at);
            let write = touch.written.map(|value| Write { value, reached });
            self.trace.events[event].accesses.push(EventAccess { address, read, write, step });
            if write.is_some() {
                let access = self.trace.events[event].accesses.len() - 1;
                match touch.buffered {
                    true => self.pending[thread.0].entry(address).or_default().push_back((event, access)),
                    false => self.reach_memory(event, address),
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self, thread: ThreadId, address: Value, at: usize) {
        let oldest = self.pending[thread.0].get_mut(&address).and_then(VecDeque::pop_front);
        debug_assert!(oldest.is_some(), "every pending store was issued in this run");
        if let Some((event, access)) = oldest {
            if let Some(write) = &mut self.trace.events[event].accesses[access].write {
                write.reached = Some(at);
            }
            self.reach_memory(event, address);
        }
    }

    /// The event that an access belongs to.
    fn event(&mut self, thread: ThreadId, holds_bus: bool) -> usize {
        if let Some(open) = self.open.filter(|_| holds_bus) {
            return open;
        }
        let event = self.trace.events.len();
        self.trace.events.push(TraceEvent { thread, steps: Vec::new(), accesses: Vec::new() });
        self.trace.program_order[thread.0].push(event);
        if holds_bus {
            self.open = Some(event);
        }
        event
    }

    /// What a load reads now.
    fn source(&self, thread: ThreadId, address: Value) -> ValueSource {
        let early = self.pending[thread.0].get(&address).and_then(VecDeque::back).map(|&(event, _)| event);
        let newest = || self.trace.memory_order.get(&address).and_then(|stores| stores.last()).copied();
        early.or_else(newest).map_or(ValueSource::Initial, ValueSource::Event)
    }

    fn reach_memory(&mut self, event: usize, address: Value) {
        let stores = self.trace.memory_order.entry(address).or_default();
        if stores.last() != Some(&event) {
            stores.push(event);
        }
    }
}
