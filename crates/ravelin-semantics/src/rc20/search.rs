//! Grows graphs event by event: the search for enumeration and robustness.
//!
//! A search state is a graph and the state of each thread after its events. In one step one thread takes one
//! transition: a read reads any write to its address in the graph, a write goes anywhere in the modification order, and
//! an RMW goes directly after the write it reads. Graphs that fail an axiom are abandoned at once, which loses nothing
//! because the axioms are closed under prefixes ([`super::consistency`]). Graphs are canonical, so a set of seen states
//! avoids following the many orders of growing the same graph twice.
//!
//! Cost: the number of consistent graphs of all prefixes, each with a few products of Boolean matrices.

use super::thread::{LocalThread, TransitionOutcome};
use super::{
    EnumerationRefusal, Graph, GraphEvent, GraphLimits, GraphThread, Label, OrderReading, ThreadFailure,
    rc20_consistent,
};
use ravelin_program::{Copies, InitialValue, Instruction, Program, Thread, ThreadId, Transition, TransitionId, Value};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct GraphState {
    pub graph: Graph,
    pub threads: Vec<GraphThread>,
}

pub(super) struct GraphSearch<'a> {
    program: &'a Program,
    reading: OrderReading,
    limits: GraphLimits,
    initial: Vec<GraphState>,
}

impl<'a> GraphSearch<'a> {
    pub fn new(
        program: &'a Program,
        reading: OrderReading,
        limits: GraphLimits,
    ) -> Result<GraphSearch<'a>, EnumerationRefusal> {
        for thread in &program.threads {
            refuse_thread(thread, limits)?;
        }
        let threads: Vec<GraphThread> = program.threads.iter().map(start).collect();
        let initial = initial_graphs(program, limits)?
            .into_iter()
            .map(|graph| GraphState { graph, threads: threads.clone() })
            .collect();
        Ok(GraphSearch { program, reading, limits, initial })
    }

    /// Calls `visit` with every reachable state, except those in which a thread has local steps left that it could have taken, and returns their
    /// number, or `None` if `visit` breaks off.
    pub fn run(&self, visit: impl FnMut(&GraphState) -> ControlFlow<()>) -> Result<Option<usize>, EnumerationRefusal> {
        self.run_by(|state| self.successors(state), visit)
    }

    /// The same with every reachable state.
    pub fn run_all(
        &self,
        visit: impl FnMut(&GraphState) -> ControlFlow<()>,
    ) -> Result<Option<usize>, EnumerationRefusal> {
        let threads = || (0..self.program.threads.len()).map(ThreadId);
        self.run_by(|state| threads().flat_map(|thread| self.thread_successors(state, thread)).collect(), visit)
    }

    fn run_by(
        &self,
        successors: impl Fn(&GraphState) -> Vec<GraphState>,
        mut visit: impl FnMut(&GraphState) -> ControlFlow<()>,
    ) -> Result<Option<usize>, EnumerationRefusal> {
        let mut seen: FxHashSet<GraphState> = self.initial.iter().cloned().collect();
        let mut pending = self.initial.clone();
        while let Some(state) = pending.pop() {
            if visit(&state).is_break() {
                return Ok(None);
            }
            for next in successors(&state) {
                if seen.len() > self.limits.states {
                    return Err(EnumerationRefusal::TooManyStates(self.limits.states));
                }
                if seen.insert(next.clone()) {
                    pending.push(next);
                }
            }
        }
        Ok(Some(seen.len()))
    }

    /// A thread that can only take local steps goes first and alone: its steps commute with everything and it has to
    /// take one before the execution ends.
    fn successors(&self, state: &GraphState) -> Vec<GraphState> {
        let threads = || (0..self.program.threads.len()).map(ThreadId);
        for thread in threads().filter(|&thread| self.is_within_itself(state, thread)) {
            let next = self.thread_successors(state, thread);
            if !next.is_empty() {
                return next;
            }
        }
        threads().flat_map(|thread| self.thread_successors(state, thread)).collect()
    }

    fn is_within_itself(&self, state: &GraphState, thread: ThreadId) -> bool {
        let location = state.threads[thread.0].location;
        self.program.threads[thread.0].outgoing(location).all(|(_, transition)| transition.instruction.is_local())
    }

    fn thread_successors(&self, state: &GraphState, thread: ThreadId) -> Vec<GraphState> {
        let mut successors = Vec::new();
        if state.threads[thread.0].failure.is_some() {
            return successors;
        }
        for (id, transition) in self.program.threads[thread.0].outgoing(state.threads[thread.0].location) {
            let step = ThreadStep { thread, id, transition };
            let local = self.local(state, thread);
            match local.read_address(&transition.instruction) {
                Err(fault) => successors.push(failed(state, thread, ThreadFailure::Fault(fault))),
                Ok(None) => {
                    for outcome in local.outcomes(&transition.instruction, 0) {
                        self.follow(state, step, outcome, None, &mut successors);
                    }
                }
                Ok(Some(address)) => {
                    let state = &self.with_initial_write(state, address);
                    for &write in &state.graph.writes[&address] {
                        let Some(value) = state.graph.events[write].label.value_written() else { continue };
                        for outcome in local.outcomes(&transition.instruction, value) {
                            self.follow(state, step, outcome, Some(write), &mut successors);
                        }
                    }
                }
            }
        }
        successors
    }

    /// Adds the states that an outcome leads to, one per position in mo if it writes.
    fn follow(
        &self,
        state: &GraphState,
        step: ThreadStep,
        outcome: TransitionOutcome,
        source: Option<usize>,
        successors: &mut Vec<GraphState>,
    ) {
        let graphs = match outcome.label {
            None => vec![state.graph.clone()],
            Some(label) => self.extensions(&state.graph, step, label, source),
        };
        match outcome.registers {
            Ok(registers) => {
                let mut threads = state.threads.clone();
                threads[step.thread.0] = GraphThread { location: step.transition.to, registers, failure: None };
                successors.extend(graphs.into_iter().map(|graph| GraphState { graph, threads: threads.clone() }));
            }
            Err(failure) if !graphs.is_empty() => successors.push(failed(state, step.thread, failure)),
            Err(_) => {}
        }
    }

    /// The consistent graphs with one more event.
    fn extensions(&self, graph: &Graph, step: ThreadStep, label: Label, source: Option<usize>) -> Vec<Graph> {
        let mut graph = graph.clone();
        let mut positions = vec![None];
        if let Some(address) = label.address().filter(|_| label.writes()) {
            self.add_initial_write(&mut graph, address);
            let writes = &graph.writes[&address];
            positions = match source {
                Some(source) => {
                    writes.iter().position(|&write| write == source).map(|read| Some(read + 1)).into_iter().collect()
                }
                None => (1..=writes.len()).map(Some).collect(),
            };
        }
        let event =
            GraphEvent { thread: Some(step.thread), label, transition: Some(step.id), span: step.transition.span };
        let extended = positions.into_iter().map(|position| {
            let mut extended = graph.clone();
            extended.extend(event.clone(), source, position);
            extended
        });
        extended.filter(|graph| rc20_consistent(graph, self.reading)).collect()
    }

    /// Some thread can take a step by reading the latest write.
    pub fn can_go_on(&self, state: &GraphState) -> bool {
        (0..self.program.threads.len()).map(ThreadId).any(|thread| {
            let GraphThread { location, failure, .. } = state.threads[thread.0];
            let local = self.local(state, thread);
            failure.is_none()
                && self.program.threads[thread.0].outgoing(location).any(|(_, transition)| {
                    let latest = match local.read_address(&transition.instruction) {
                        Err(_) => return true,
                        Ok(None) => 0,
                        Ok(Some(address)) => {
                            state.graph.latest(address).unwrap_or(initial_value(self.program, address))
                        }
                    };
                    !local.outcomes(&transition.instruction, latest).is_empty()
                })
        })
    }

    fn local<'s>(&self, state: &'s GraphState, thread: ThreadId) -> LocalThread<'s>
    where
        'a: 's,
    {
        let registers = &state.threads[thread.0].registers;
        LocalThread { program: self.program, thread: &self.program.threads[thread.0], registers }
    }

    fn with_initial_write(&self, state: &GraphState, address: Value) -> GraphState {
        let mut state = state.clone();
        self.add_initial_write(&mut state.graph, address);
        state
    }

    fn add_initial_write(&self, graph: &mut Graph, address: Value) {
        if !graph.writes.contains_key(&address) {
            graph.initialise(address, initial_value(self.program, address));
        }
    }
}

#[derive(Clone, Copy)]
struct ThreadStep<'a> {
    thread: ThreadId,
    id: TransitionId,
    transition: &'a Transition,
}

fn refuse_thread(thread: &Thread, limits: GraphLimits) -> Result<(), EnumerationRefusal> {
    let name = || thread.name.clone();
    if thread.copies == Copies::Any {
        return Err(EnumerationRefusal::AnyCopies { thread: name() });
    }
    if !thread.is_acyclic() {
        return Err(EnumerationRefusal::Loop { thread: name() });
    }
    for transition in &thread.transitions {
        let what = match &transition.instruction {
            Instruction::BusLock | Instruction::BusUnlock => "the bus lock",
            Instruction::Locked { .. } => "a locked block",
            Instruction::Havoc { lo, hi, .. } if i128::from(*hi) - i128::from(*lo) >= i128::from(limits.values) => {
                let what = format!("a havoc of thread `{}`", thread.name);
                return Err(EnumerationRefusal::TooManyValues { what, limit: limits.values });
            }
            _ => continue,
        };
        return Err(EnumerationRefusal::Unsupported { thread: name(), what, span: transition.span });
    }
    Ok(())
}

fn start(thread: &Thread) -> GraphThread {
    let registers = thread.registers.iter().map(|register| register.initial).collect();
    GraphThread { location: thread.initial, registers, failure: None }
}

fn failed(state: &GraphState, thread: ThreadId, failure: ThreadFailure) -> GraphState {
    let mut next = state.clone();
    next.threads[thread.0].failure = Some(failure);
    next
}

/// One graph per initial memory. Cells that may start with any value are initialised here and all others at their first
/// access, so that large arrays cost nothing.
fn initial_graphs(program: &Program, limits: GraphLimits) -> Result<Vec<Graph>, EnumerationRefusal> {
    let mut graphs = vec![Graph::default()];
    for address in program.memory.named_addresses() {
        let (InitialValue::Any, Ok(domain)) = (program.memory.initial_at(address), program.memory.domain_at(address))
        else {
            continue;
        };
        let count = domain.size().and_then(|size| size.checked_mul(graphs.len() as u64));
        if count.is_none_or(|count| count > limits.values) {
            return Err(EnumerationRefusal::TooManyValues {
                what: "the initial memory".to_owned(),
                limit: limits.values,
            });
        }
        graphs = graphs
            .iter()
            .flat_map(|graph| {
                (domain.lo..=domain.hi).map(move |value| {
                    let mut graph = graph.clone();
                    graph.initialise(address, value);
                    graph
                })
            })
            .collect();
    }
    Ok(graphs)
}

/// The value a cell starts with. Cells that start with any value have their initial write from the beginning; for them
/// this only gives a default.
pub(super) fn initial_value(program: &Program, address: Value) -> Value {
    match program.memory.initial_at(address) {
        InitialValue::Value(value) => value,
        InitialValue::Any => 0,
    }
}
