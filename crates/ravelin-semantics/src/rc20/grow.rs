//! Grows one graph along a run: under SC step by step, and then by one step that need not be SC; or with the places in
//! modification order given for every step.
//!
//! This turns a run that a fast engine found into a graph that the axioms can check. Programs may have loops here,
//! because only the events of the run are added.

use super::search::initial_value;
use super::thread::{LocalThread, TransitionOutcome};
use super::{Graph, GraphEvent, GraphThread, Label, OrderReading, Relation, Relations, ThreadFailure, rc20_consistent};
use crate::Action;
use ravelin_program::{Instruction, Program, ThreadId, TransitionId, Value};
use thiserror::Error;

/// A graph and the threads after its events.
#[derive(Clone, Debug)]
pub struct GrowingGraph<'a> {
    program: &'a Program,
    graph: Graph,
    threads: Vec<GraphThread>,
}

/// A step that can be taken: where it reads and writes in modification order, as for [`GrowingGraph::follow_at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphStep {
    pub action: Action,
    pub reads: Option<usize>,
    pub writes: Option<usize>,
}

/// One way to take a step.
struct Extension {
    /// If the step has an event.
    graph: Option<Graph>,
    /// Its event there.
    event: Option<usize>,
    reads: Option<usize>,
    writes: Option<usize>,
    /// A compare-exchange that fails although it need not.
    spurious: bool,
    failure: Option<ThreadFailure>,
}

impl Extension {
    fn address(&self) -> Option<Value> {
        let graph = self.graph.as_ref()?;
        graph.events[self.event?].label.address()
    }
}

/// A step that cannot be taken at its place in the run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("thread `{thread}` cannot take the step: {why}")]
pub struct NoSuchStep {
    pub thread: String,
    pub why: String,
}

impl<'a> GrowingGraph<'a> {
    /// The graph of no steps. `memory` contains the values of cells that may start with any value.
    pub fn new(program: &'a Program, memory: &[(Value, Value)]) -> GrowingGraph<'a> {
        let mut graph = Graph::default();
        for &(address, value) in memory {
            if program.memory.initial_at(address) == ravelin_program::InitialValue::Any {
                graph.initialise(address, value);
            }
        }
        let threads = (program.threads.iter())
            .map(|thread| GraphThread {
                location: thread.initial,
                registers: thread.registers.iter().map(|register| register.initial).collect(),
                failure: None,
            })
            .collect();
        GrowingGraph { program, graph, threads }
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn threads(&self) -> &[GraphThread] {
        &self.threads
    }

    /// The newest event of a thread.
    pub fn newest(graph: &Graph, thread: ThreadId) -> Option<usize> {
        let end = graph.events.partition_point(|event| event.thread <= Some(thread));
        let event = end.checked_sub(1)?;
        (graph.events[event].thread == Some(thread)).then_some(event)
    }

    /// Takes a step under SC: it reads the latest write and writes after it.
    pub fn follow(&mut self, action: Action) -> Result<(), NoSuchStep> {
        self.follow_at(action, None, None)
    }

    /// Takes a step that reads, and writes, at given places in modification order; at the end of it where none is given. Places count
    /// from the initial write, which is 0. Consistency is not checked.
    pub fn follow_at(&mut self, action: Action, reads: Option<usize>, writes: Option<usize>) -> Result<(), NoSuchStep> {
        let Action::Step { thread, transition, choice } = action else {
            return Err(NoSuchStep { thread: String::new(), why: "there are no store buffers under SC".to_owned() });
        };
        let name = self.program.threads[thread.0].name.clone();
        let refused = |why: &str| NoSuchStep { thread: name.clone(), why: why.to_owned() };
        let step = &self.program.threads[thread.0].transitions[transition.0];
        if step.from != self.threads[thread.0].location {
            return Err(refused("it is not at its start"));
        }
        // The run determines the value of a havoc, and whether a weak compare-exchange fails.
        let chosen = match &step.instruction {
            Instruction::Havoc { reg, .. } => Instruction::Havoc { reg: *reg, lo: choice, hi: choice },
            other => other.clone(),
        };
        let address = self.local(thread).read_address(&chosen).map_err(|fault| refused(&fault.to_string()))?;
        let source = match address {
            None => None,
            Some(address) => {
                Some(self.write_at(address, reads).ok_or_else(|| refused("there is no such write to read"))?)
            }
        };
        let outcomes = self.local(thread).outcomes(&chosen, self.value(source));
        let fails = |outcome: &TransitionOutcome| matches!(outcome.label, Some(Label::Read { .. }));
        let compares = matches!(chosen, Instruction::CompareExchange { .. });
        let outcome = match (compares, choice) {
            (true, 1) => outcomes.into_iter().find(fails),
            _ => outcomes.into_iter().next(),
        };
        let Some(TransitionOutcome { label, registers }) = outcome else { return Err(refused("it is blocked")) };
        let registers = registers.map_err(|failure| refused(&failure.to_string()))?;
        if let Some(label) = label {
            let position = label.address().filter(|_| label.writes()).map(|address| {
                self.latest(address);
                writes.unwrap_or(self.graph.writes[&address].len())
            });
            if let (Some(address), Some(position)) = (label.address(), position)
                && !(1..=self.graph.writes[&address].len()).contains(&position)
            {
                return Err(refused("there is no such place to write to"));
            }
            // Adding the initial write may have moved the source.
            let source = label.address().filter(|_| label.reads());
            let source = source.and_then(|address| self.write_at(address, reads));
            self.graph.extend(self.event(thread, transition, label), source, position);
        }
        self.threads[thread.0] = GraphThread { location: step.to, registers, failure: None };
        Ok(())
    }

    /// All graphs with the event of one more step, for every source and every position in modification order, those
    /// closest to SC first. Their consistency is not checked. A step that fails because of the value it read is
    /// included with its event.
    pub fn extensions(&self, thread: ThreadId, transition: TransitionId) -> Vec<Graph> {
        let instruction = &self.program.threads[thread.0].transitions[transition.0].instruction;
        self.extended(thread, transition, instruction).into_iter().filter_map(|extended| extended.graph).collect()
    }

    /// How a step can fail, if the model allows what it reads.
    pub fn failures(&self, thread: ThreadId, transition: TransitionId, reading: OrderReading) -> Vec<ThreadFailure> {
        let instruction = &self.program.threads[thread.0].transitions[transition.0].instruction;
        if let Err(fault) = self.local(thread).read_address(instruction) {
            return vec![fault.into()];
        }
        let mut failures = Vec::new();
        for Extension { graph, failure, .. } in self.extended(thread, transition, instruction) {
            if let Some(failure) = failure
                && !failures.contains(&failure)
                && graph.is_none_or(|graph| rc20_consistent(&graph, reading))
            {
                failures.push(failure);
            }
        }
        failures
    }

    /// All steps that the model allows next, those closest to SC first in each thread. Steps that fail are left out.
    pub fn steps(&self, reading: OrderReading) -> Vec<GraphStep> {
        let mut steps = Vec::new();
        let hb = Relations::of(&self.graph, reading).hb;
        for thread in (0..self.program.threads.len()).map(ThreadId) {
            let location = self.threads[thread.0].location;
            for (transition, step) in self.program.threads[thread.0].outgoing(location) {
                // A havoc is one step for every value.
                let instructions: Vec<(Value, Instruction)> = match step.instruction {
                    Instruction::Havoc { reg, lo, hi } => {
                        (lo..=hi).map(|value| (value, Instruction::Havoc { reg, lo: value, hi: value })).collect()
                    }
                    ref other => vec![(0, other.clone())],
                };
                for (choice, instruction) in instructions {
                    for extended in self.extended(thread, transition, &instruction) {
                        let read = extended.reads.unwrap_or(usize::MAX);
                        let written = extended.writes.map_or(usize::MAX, |place| place - 1);
                        let address = extended.address();
                        let coherent =
                            address.is_none_or(|address| read.min(written) >= self.oldest(&hb, thread, address));
                        if extended.failure.is_none()
                            && coherent
                            && extended.graph.is_none_or(|graph| rc20_consistent(&graph, reading))
                        {
                            let choice = choice.max(Value::from(extended.spurious));
                            let action = Action::Step { thread, transition, choice };
                            steps.push(GraphStep { action, reads: extended.reads, writes: extended.writes });
                        }
                    }
                }
            }
        }
        steps
    }

    /// The place of the oldest write that a thread can still read, or write behind, without looking at the whole graph: what it knows happens
    /// before its next step. Nearly all places of a long modification order are excluded by it.
    fn oldest(&self, hb: &Relation, thread: ThreadId, address: Value) -> usize {
        let Some(writes) = self.graph.writes.get(&address) else { return 0 };
        let last = GrowingGraph::newest(&self.graph, thread);
        let known = |event: usize| last.is_some_and(|last| event == last || hb.contains(event, last));
        let read =
            |write: usize| (0..self.graph.len()).any(|read| self.graph.sources[read] == Some(write) && known(read));
        writes.iter().rposition(|&write| known(write) || read(write)).unwrap_or(0)
    }

    /// All ways to take a step.
    fn extended(&self, thread: ThreadId, transition: TransitionId, instruction: &Instruction) -> Vec<Extension> {
        let mut grown = self.clone();
        let mut extended = Vec::new();
        let Ok(address) = self.local(thread).read_address(instruction) else { return extended };
        let sources: Vec<Option<usize>> = match address {
            None => vec![None],
            Some(address) => {
                grown.latest(address);
                (0..grown.graph.writes[&address].len()).rev().map(Some).collect()
            }
        };
        for reads in sources {
            let source = address.zip(reads).map(|(address, place)| grown.graph.writes[&address][place]);
            let outcomes = grown.local(thread).outcomes(instruction, grown.value(source));
            for (number, outcome) in outcomes.into_iter().enumerate() {
                let failure = outcome.registers.err();
                // What a compare-exchange does for a reason comes first.
                let spurious = number > 0 && matches!(instruction, Instruction::CompareExchange { .. });
                let Some(label) = outcome.label else {
                    extended.push(Extension { graph: None, event: None, reads: None, writes: None, spurious, failure });
                    continue;
                };
                let mut grown = grown.clone();
                let positions: Vec<Option<usize>> = match (label.address().filter(|_| label.writes()), reads) {
                    (None, _) => vec![None],
                    (Some(address), None) => {
                        grown.latest(address);
                        (1..=grown.graph.writes[&address].len()).rev().map(Some).collect()
                    }
                    (Some(_), Some(place)) => vec![Some(place + 1)],
                };
                for writes in positions {
                    let mut graph = grown.graph.clone();
                    graph.extend(self.event(thread, transition, label), source, writes);
                    let event = GrowingGraph::newest(&graph, thread);
                    extended.push(Extension { graph: Some(graph), event, reads, writes, spurious, failure });
                }
            }
        }
        extended
    }

    fn local(&self, thread: ThreadId) -> LocalThread<'_> {
        let registers = &self.threads[thread.0].registers;
        LocalThread { program: self.program, thread: &self.program.threads[thread.0], registers }
    }

    fn event(&self, thread: ThreadId, transition: TransitionId, label: Label) -> GraphEvent {
        let span = self.program.threads[thread.0].transitions[transition.0].span;
        GraphEvent { thread: Some(thread), label, transition: Some(transition), span }
    }

    /// The latest write of an address, after adding the initial one if needed.
    fn latest(&mut self, address: Value) -> usize {
        if !self.graph.writes.contains_key(&address) {
            self.graph.initialise(address, initial_value(self.program, address));
        }
        self.graph.writes[&address].last().copied().unwrap_or(0)
    }

    /// The write at a place in modification order, or the latest.
    fn write_at(&mut self, address: Value, place: Option<usize>) -> Option<usize> {
        let latest = self.latest(address);
        place.map_or(Some(latest), |place| self.graph.writes[&address].get(place).copied())
    }

    fn value(&self, write: Option<usize>) -> Value {
        write.and_then(|write| self.graph.events[write].label.value_written()).unwrap_or(0)
    }
}
