//! Grows graphs event by event: the search for enumeration and robustness.
//!
//! A search state is a graph and the state of each thread after its events. In one step one thread takes one
//! transition: a read reads any write to its address in the graph, a write goes anywhere in the modification order, and
//! an RMW goes directly after the write it reads. Graphs that fail an axiom are abandoned at once, which loses nothing
//! because the axioms are closed under prefixes ([`super::consistency`]). Graphs are canonical, so a set of seen states
//! avoids following the many orders of growing the same graph twice.
//!
//! Cost: the number of consistent graphs of all prefixes, each with a few products of Boolean matrices.

use super::thread::{Local, Outcome};
use super::{Event, Failure, Graph, Label, Limits, Reading, Refusal, ThreadState, rc20_consistent};
use ravelin_program::{Copies, Initial, Instruction, Program, Thread, ThreadId, Transition, TransitionId, Value};
use std::collections::HashSet;
use std::ops::ControlFlow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub graph: Graph,
    pub threads: Vec<ThreadState>,
}

pub(super) struct Search<'a> {
    program: &'a Program,
    reading: Reading,
    limits: Limits,
    initial: Vec<State>,
}

impl<'a> Search<'a> {
    pub fn new(program: &'a Program, reading: Reading, limits: Limits) -> Result<Search<'a>, Refusal> {
        for thread in &program.threads {
            refuse_thread(thread, limits)?;
        }
        let threads: Vec<ThreadState> = program.threads.iter().map(start).collect();
        let initial = initial_graphs(program, limits)?
            .into_iter()
            .map(|graph| State { graph, threads: threads.clone() })
            .collect();
        Ok(Search { program, reading, limits, initial })
    }

    /// Calls `visit` with every reachable state and returns their number, or `None` if `visit` breaks off.
    pub fn run(&self, mut visit: impl FnMut(&State) -> ControlFlow<()>) -> Result<Option<usize>, Refusal> {
        let mut seen: HashSet<State> = self.initial.iter().cloned().collect();
        let mut pending = self.initial.clone();
        while let Some(state) = pending.pop() {
            if visit(&state).is_break() {
                return Ok(None);
            }
            for next in self.successors(&state) {
                if seen.len() > self.limits.states {
                    return Err(Refusal::TooManyStates(self.limits.states));
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
    fn successors(&self, state: &State) -> Vec<State> {
        let threads = || (0..self.program.threads.len()).map(ThreadId);
        for thread in threads().filter(|&thread| self.is_within_itself(state, thread)) {
            let next = self.thread_successors(state, thread);
            if !next.is_empty() {
                return next;
            }
        }
        threads().flat_map(|thread| self.thread_successors(state, thread)).collect()
    }

    fn is_within_itself(&self, state: &State, thread: ThreadId) -> bool {
        let location = state.threads[thread.0].location;
        self.program.threads[thread.0].outgoing(location).all(|(_, transition)| transition.instruction.is_local())
    }

    fn thread_successors(&self, state: &State, thread: ThreadId) -> Vec<State> {
        let mut successors = Vec::new();
        if state.threads[thread.0].failure.is_some() {
            return successors;
        }
        for (id, transition) in self.program.threads[thread.0].outgoing(state.threads[thread.0].location) {
            let step = Step { thread, id, transition };
            let local = self.local(state, thread);
            match local.read_address(&transition.instruction) {
                Err(fault) => successors.push(failed(state, thread, Failure::Fault(fault))),
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
    fn follow(&self, state: &State, step: Step, outcome: Outcome, source: Option<usize>, successors: &mut Vec<State>) {
        let graphs = match outcome.label {
            None => vec![state.graph.clone()],
            Some(label) => self.extensions(&state.graph, step, label, source),
        };
        match outcome.registers {
            Ok(registers) => {
                let mut threads = state.threads.clone();
                threads[step.thread.0] = ThreadState { location: step.transition.to, registers, failure: None };
                successors.extend(graphs.into_iter().map(|graph| State { graph, threads: threads.clone() }));
            }
            Err(failure) if !graphs.is_empty() => successors.push(failed(state, step.thread, failure)),
            Err(_) => {}
        }
    }

    /// The consistent graphs with one more event.
    fn extensions(&self, graph: &Graph, step: Step, label: Label, source: Option<usize>) -> Vec<Graph> {
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
        let event = Event { thread: Some(step.thread), label, transition: Some(step.id), span: step.transition.span };
        let extended = positions.into_iter().map(|position| {
            let mut extended = graph.clone();
            extended.extend(event.clone(), source, position);
            extended
        });
        extended.filter(|graph| rc20_consistent(graph, self.reading)).collect()
    }

    /// Some thread can take a step by reading the latest write.
    pub fn can_go_on(&self, state: &State) -> bool {
        (0..self.program.threads.len()).map(ThreadId).any(|thread| {
            let ThreadState { location, failure, .. } = state.threads[thread.0];
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

    fn local<'s>(&self, state: &'s State, thread: ThreadId) -> Local<'s>
    where
        'a: 's,
    {
        let registers = &state.threads[thread.0].registers;
        Local { program: self.program, thread: &self.program.threads[thread.0], registers }
    }

    fn with_initial_write(&self, state: &State, address: Value) -> State {
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
struct Step<'a> {
    thread: ThreadId,
    id: TransitionId,
    transition: &'a Transition,
}

fn refuse_thread(thread: &Thread, limits: Limits) -> Result<(), Refusal> {
    let name = || thread.name.clone();
    if thread.copies == Copies::Any {
        return Err(Refusal::AnyCopies { thread: name() });
    }
    if !thread.is_acyclic() {
        return Err(Refusal::Loop { thread: name() });
    }
    for transition in &thread.transitions {
        let what = match &transition.instruction {
            Instruction::BusLock | Instruction::BusUnlock => "the bus lock",
            Instruction::Locked { .. } => "a locked block",
            Instruction::Havoc { lo, hi, .. } if i128::from(*hi) - i128::from(*lo) >= i128::from(limits.values) => {
                let what = format!("a havoc of thread `{}`", thread.name);
                return Err(Refusal::TooManyValues { what, limit: limits.values });
            }
            _ => continue,
        };
        return Err(Refusal::Unsupported { thread: name(), what, span: transition.span });
    }
    Ok(())
}

fn start(thread: &Thread) -> ThreadState {
    let registers = thread.registers.iter().map(|register| register.initial).collect();
    ThreadState { location: thread.initial, registers, failure: None }
}

fn failed(state: &State, thread: ThreadId, failure: Failure) -> State {
    let mut next = state.clone();
    next.threads[thread.0].failure = Some(failure);
    next
}

/// One graph per initial memory. Cells that may start with any value are initialised here and all others at their first
/// access, so that large arrays cost nothing.
fn initial_graphs(program: &Program, limits: Limits) -> Result<Vec<Graph>, Refusal> {
    let mut graphs = vec![Graph::default()];
    for address in program.memory.named_addresses() {
        if program.memory.initial_at(address) != Initial::Any {
            continue;
        }
        let domain = program.memory.domain_at(address);
        let count = domain.size().and_then(|size| size.checked_mul(graphs.len() as u64));
        if count.is_none_or(|count| count > limits.values) {
            return Err(Refusal::TooManyValues { what: "the initial memory".to_owned(), limit: limits.values });
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
        Initial::Value(value) => value,
        Initial::Any => 0,
    }
}
