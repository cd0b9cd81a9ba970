//! Questions about a program's graphs: all executions, final states, robustness.

use super::search::{GraphSearch, GraphState, initial_value};
use super::{Graph, GraphThread, OrderReading, ThreadFailure, atomics_sc_consistent, races};
use ravelin_program::{Observable, Program, Span, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use thiserror::Error;

/// The executions of a program that cannot continue.
///
/// Each thread is at its end, has failed, or is blocked: none of its transitions can be taken by reading the mo-last
/// write of an address. (Possibly one could be taken by reading an older write. The execution that does so is listed
/// too, and this one represents the thread that never passes. Every SC-consistent execution here is a deadlock or an
/// end of an SC run.) Every consistent graph of a prefix is part of the graph of one of these: a thread that is not
/// blocked can always read the latest write, which violates no axiom.
#[derive(Clone, Debug)]
pub struct Enumeration {
    pub executions: Vec<Execution>,
    /// Search states visited, including prefixes.
    pub states: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    pub graph: Graph,
    pub threads: Vec<GraphThread>,
    /// Every thread is at its end.
    pub complete: bool,
}

/// What an observer sees after a complete execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FinalState {
    /// Of each thread.
    pub registers: Vec<Vec<Value>>,
    /// The named cells, and those others that do not hold their initial value.
    pub memory: BTreeMap<Value, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphRobustness {
    /// Every consistent graph is SC-consistent.
    Robust,
    /// A consistent graph that is not, while its prefix without the last added event still is.
    NotRobust(Box<Graph>),
}

impl GraphRobustness {
    pub fn is_robust(&self) -> bool {
        matches!(self, GraphRobustness::Robust)
    }
}

/// Limits of the enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLimits {
    pub executions: usize,
    pub states: usize,
    /// The most values of one `havoc`, and the most initial memories of a program whose cells start with any value.
    pub values: u64,
}

impl Default for GraphLimits {
    fn default() -> GraphLimits {
        GraphLimits { executions: 100_000, states: 1_000_000, values: 1_000 }
    }
}

/// Why a program's graphs are not enumerated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EnumerationRefusal {
    #[error("thread `{thread}` has a loop; only the graphs of loop-free programs can be enumerated")]
    Loop { thread: String },
    #[error("thread `{thread}` stands for any number of copies; fix their number first")]
    AnyCopies { thread: String },
    #[error("thread `{thread}` uses {what}, which RC20 does not have")]
    Unsupported { thread: String, what: &'static str, span: Span },
    #[error("there are more than {limit} values to choose from for {what}")]
    TooManyValues { what: String, limit: u64 },
    #[error("there are more than {0} executions")]
    TooManyExecutions(usize),
    #[error("there are more than {0} graphs, prefixes included")]
    TooManyStates(usize),
}

/// All executions that cannot continue.
pub fn enumerate(
    program: &Program,
    reading: OrderReading,
    limits: GraphLimits,
) -> Result<Enumeration, EnumerationRefusal> {
    let search = GraphSearch::new(program, reading, limits)?;
    let mut executions = Vec::new();
    let states = search.run(|state| {
        if search.can_go_on(state) {
            return ControlFlow::Continue(());
        }
        if executions.len() == limits.executions {
            return ControlFlow::Break(());
        }
        let GraphState { graph, threads } = state.clone();
        let complete = (threads.iter().zip(&program.threads)).all(|(state, thread)| thread.is_end(state.location));
        executions.push(Execution { graph, threads, complete });
        ControlFlow::Continue(())
    })?;
    match states {
        Some(states) => Ok(Enumeration { executions, states }),
        None => Err(EnumerationRefusal::TooManyExecutions(limits.executions)),
    }
}

/// Whether every consistent graph, also of blocked and unfinished executions, is SC-consistent on atomic accesses.
///
/// A program with a data race has no meaning in C11; check [`Enumeration::has_race`] first. For such a program the
/// answer treats non-atomic accesses as relaxed ones that are not watched.
pub fn robust(
    program: &Program,
    reading: OrderReading,
    limits: GraphLimits,
) -> Result<GraphRobustness, EnumerationRefusal> {
    let mut witness = None;
    GraphSearch::new(program, reading, limits)?.run(|state| {
        if atomics_sc_consistent(&state.graph) {
            return ControlFlow::Continue(());
        }
        witness = Some(Box::new(state.graph.clone()));
        ControlFlow::Break(())
    })?;
    Ok(witness.map_or(GraphRobustness::Robust, GraphRobustness::NotRobust))
}

/// The goals that some consistent graph violates, prefixes included: a thread stands where the graph ends for it, and a cell holds
/// its mo-last value. Goals about final states are about complete graphs.
pub fn violated_goals(
    program: &Program,
    reading: OrderReading,
    limits: GraphLimits,
) -> Result<BTreeSet<usize>, EnumerationRefusal> {
    let mut violated = BTreeSet::new();
    GraphSearch::new(program, reading, limits)?.run_all(|GraphState { graph, threads }| {
        let complete = (threads.iter().zip(&program.threads)).all(|(state, thread)| thread.is_end(state.location));
        let mut observe = |atom: &Observable| match *atom {
            Observable::At(thread, location) => Value::from(threads[thread.0].location == location),
            Observable::Register(thread, register) => threads[thread.0].registers[register.0],
            Observable::Memory(address) => graph.latest(address).unwrap_or(initial_value(program, address)),
        };
        for (number, goal) in program.goals.iter().enumerate() {
            let counts = complete || !goal.is_final();
            if counts && goal.condition.eval(&mut observe).is_ok_and(|value| goal.is_violated_by(value)) {
                violated.insert(number);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(violated)
}

impl Enumeration {
    /// The final states, of complete executions only.
    pub fn final_states(&self, program: &Program) -> BTreeSet<FinalState> {
        self.executions.iter().filter(|execution| execution.complete).map(|done| done.state(program)).collect()
    }

    /// Some execution has a data race.
    pub fn has_race(&self, reading: OrderReading) -> bool {
        self.executions.iter().any(|execution| !races(&execution.graph, reading).is_empty())
    }

    /// What can go wrong, and in which thread.
    pub fn failures(&self) -> Vec<(ThreadId, ThreadFailure)> {
        let mut failures = Vec::new();
        for execution in &self.executions {
            for (index, thread) in execution.threads.iter().enumerate() {
                if let Some(failure) = thread.failure
                    && !failures.contains(&(ThreadId(index), failure))
                {
                    failures.push((ThreadId(index), failure));
                }
            }
        }
        failures
    }
}

impl Execution {
    /// Registers, and the mo-last value of each cell.
    pub fn state(&self, program: &Program) -> FinalState {
        let initial = |address| initial_value(program, address);
        let mut memory: BTreeMap<Value, Value> =
            program.memory.named_addresses().map(|address| (address, initial(address))).collect();
        for &address in self.graph.writes.keys() {
            let value = self.graph.latest(address).unwrap_or(initial(address));
            if memory.contains_key(&address) || value != initial(address) {
                memory.insert(address, value);
            }
        }
        let registers = self.threads.iter().map(|thread| thread.registers.clone()).collect();
        FinalState { registers, memory }
    }
}
