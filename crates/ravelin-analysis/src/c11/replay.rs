//! From a run of the machine with messages to a witness: the run, grown into a graph, judged by the axioms, told step by step.
//!
//! Nothing that the search says is taken on trust. Every step is taken on the labelled transition system of the program with the write that it is
//! said to read; the graph must be consistent; and the violation must show at the end.

use super::graph::{cycle_through, edges};
use super::witness::{MadeBy, tell};
use crate::InternalError;
use crate::witness::{
    Computation, RunGraph, Witness, accessed, cell_value, describe, initial, start_of, without_accesses,
};
use ravelin_answer::{AccessStorage, RunStep};
use ravelin_machine::messages::{MessageRun, MessageStep};
use ravelin_machine::{UnpackedState, Violation};
use ravelin_program::{LocId, Model, Observable, Program, ThreadId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, WaitingThread};
use ravelin_semantics::rc20::{
    Graph, GraphStep, GrowingGraph, OrderReading, ThreadFailure, deadlock, rc20_consistent, sc_consistent,
};

/// A run as a graph, and its steps for people.
#[derive(Clone)]
pub struct ReplayedRun<'a> {
    program: &'a Program,
    grown: GrowingGraph<'a>,
    made_by: MadeBy,
    pub steps: Vec<RunStep>,
    actions: Vec<Action>,
}

impl<'a> ReplayedRun<'a> {
    /// Begins where cells that start with any value have these.
    pub fn new(program: &'a Program, memory: &[(Value, Value)]) -> ReplayedRun<'a> {
        ReplayedRun {
            program,
            grown: GrowingGraph::new(program, memory),
            made_by: MadeBy::new(program),
            steps: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Follows a whole run.
    pub fn of(program: &'a Program, run: &MessageRun) -> Result<ReplayedRun<'a>, InternalError> {
        let mut replayed = ReplayedRun::new(program, &run.start.memory);
        for &MessageStep { action, reads, writes } in &run.steps {
            let place = |place: Option<(Value, usize)>| place.map(|(_, place)| place);
            let step = GraphStep { action, reads: place(reads), writes: place(writes) };
            replayed.follow(&step).map_err(InternalError)?;
        }
        Ok(replayed)
    }

    pub fn graph(&self) -> &Graph {
        self.grown.graph()
    }

    pub fn grown(&self) -> &GrowingGraph<'a> {
        &self.grown
    }

    /// Takes a step.
    pub fn follow(&mut self, step: &GraphStep) -> Result<(), String> {
        let before = self.grown.clone();
        let number = self.actions.len();
        let refused = |error: &dyn std::fmt::Display| format!("step {}: {error}", number + 1);
        self.grown.follow_at(step.action, step.reads, step.writes).map_err(|error| refused(&error))?;
        self.made_by.note(step.action.thread(), number, self.grown.graph());
        self.steps.push(self.narrate(&before, step.action));
        self.actions.push(step.action);
        Ok(())
    }

    fn narrate(&self, before: &GrowingGraph, action: Action) -> RunStep {
        let program = self.program;
        let ThreadId(number) = action.thread();
        let (old, new) = (&before.threads()[number], &self.grown.threads()[number]);
        let mut told = without_accesses(program, action, &old.registers, &new.registers);
        let graph = self.graph();
        let own = |graph: &Graph| graph.events.iter().filter(|event| event.thread == Some(ThreadId(number))).count();
        let event = GrowingGraph::newest(graph, ThreadId(number)).filter(|_| own(graph) > own(before.graph()));
        let Some(event) = event else { return told };
        let label = graph.events[event].label;
        let Some(address) = label.address() else { return told };
        let access = |value, place| accessed(cell_value(program, address, value), place);
        let writes = &graph.writes[&address];
        let is_last = |write: usize| writes.last() == Some(&write);
        if let (Some(value), Some(source)) = (label.value_read(), graph.sources[event]) {
            // Its own write, if it has one, stands right behind what it reads.
            let latest = is_last(source) || label.writes() && is_last(event);
            let place = if latest { AccessStorage::Memory } else { AccessStorage::Older };
            told.reads.push(access(value, place));
        }
        if let Some(value) = label.value_written() {
            let place = if is_last(event) { AccessStorage::Memory } else { AccessStorage::Older };
            told.writes.push(access(value, place));
            if is_last(event) {
                told.memory.push(cell_value(program, address, value));
            }
        }
        told
    }

    /// The mo-latest value of a cell.
    pub fn cell(&self, address: Value) -> Value {
        let initial = match self.program.memory.initial_at(address) {
            ravelin_program::InitialValue::Value(value) => value,
            ravelin_program::InitialValue::Any => 0,
        };
        self.graph().latest(address).unwrap_or(initial)
    }

    /// What an observer of the whole program sees: control locations and registers where the graph ends for each thread, and
    /// the mo-latest values.
    pub fn observe(&self, atom: &Observable) -> Value {
        let threads = self.grown.threads();
        match *atom {
            Observable::At(thread, location) => Value::from(threads[thread.0].location == location),
            Observable::Register(thread, register) => threads[thread.0].registers[register.0],
            Observable::Memory(address) => self.cell(address),
        }
    }

    /// Every thread is at its end.
    pub fn is_final(&self) -> bool {
        let threads = self.program.threads.iter().zip(self.grown.threads());
        threads.into_iter().all(|(thread, state)| thread.is_end(state.location))
    }

    /// The goals that are violated here.
    pub fn violated_goals(&self) -> Vec<usize> {
        let violated = |goal: &ravelin_program::Goal| {
            (!goal.is_final() || self.is_final())
                && goal.condition.eval(&mut |atom| self.observe(atom)).is_ok_and(|value| goal.is_violated_by(value))
        };
        (0..self.program.goals.len()).filter(|&goal| violated(&self.program.goals[goal])).collect()
    }

    fn location(&self, thread: ThreadId) -> LocId {
        self.grown.threads()[thread.0].location
    }

    /// The threads that wait, if this is a deadlock.
    fn deadlock(&self) -> Option<Vec<WaitingThread>> {
        deadlock(self.program, self.grown.threads(), &|address| self.cell(address))
    }

    /// The violation shows here.
    fn shows(&self, violation: Violation, reading: OrderReading) -> bool {
        let stands_at = |thread: ThreadId, transition: ravelin_program::TransitionId| {
            self.program.threads[thread.0].transitions[transition.0].from == self.location(thread)
        };
        match violation {
            Violation::Goal(goal) => self.violated_goals().contains(&goal),
            Violation::Assert { thread, transition } => {
                stands_at(thread, transition)
                    && self.grown.failures(thread, transition, reading).contains(&ThreadFailure::Assertion)
            }
            Violation::Fault { thread, transition, fault } => {
                stands_at(thread, transition)
                    && self.grown.failures(thread, transition, reading).contains(&ThreadFailure::Fault(fault))
            }
            Violation::Deadlock => self.deadlock().is_some(),
        }
    }

    /// The events of a graph that has one event more.
    pub(super) fn told(&self, graph: &Graph) -> Vec<ravelin_answer::Event> {
        tell(self.program, graph, &self.made_by.0)
    }

    /// The graph for people; a cycle if SC forbids it.
    pub fn told_graph(&self) -> RunGraph {
        let graph = self.graph();
        let cycle = (!sc_consistent(graph)).then(|| {
            let cycles = (0..graph.len()).filter_map(|event| cycle_through(graph, event));
            cycles.min_by_key(Vec::len).unwrap_or_default()
        });
        RunGraph {
            events: tell(self.program, graph, &self.made_by.0),
            edges: edges(graph),
            cycle: cycle.unwrap_or_default(),
        }
    }

    /// How the run began.
    pub fn initial(&self, start: &UnpackedState) -> Result<ravelin_answer::InitialState, InternalError> {
        let reference = Reference::as_written(self.program).map_err(|error| InternalError(error.to_string()))?;
        let start = start_of(&reference, start).map_err(InternalError)?;
        Ok(initial(&reference, &start, &self.steps))
    }
}

/// The witness of a violation. `Ok(None)` if the axioms forbid the graph, which can be only where `reading` is stricter than the search was.
pub(super) fn replay(
    program: &Program,
    model: Model,
    reading: OrderReading,
    violation: Violation,
    run: &MessageRun,
) -> Result<Option<Witness>, InternalError> {
    let internal = |what: &str| InternalError(format!("a run under {model} does not replay: {what}"));
    let replayed = ReplayedRun::of(program, run).map_err(|InternalError(what)| internal(&what))?;
    if !rc20_consistent(replayed.graph(), reading) {
        return Ok(None);
    }
    if !replayed.shows(violation, reading) {
        return Err(internal("its last state does not show the violation"));
    }
    Ok(Some(Witness {
        model,
        violation: describe(program, violation, &replayed.deadlock().unwrap_or_default()),
        initial: replayed.initial(&run.start)?,
        graph: Some(replayed.told_graph()),
        shortest: false,
        computation: Computation {
            issued: vec![None; replayed.actions.len()],
            actions: replayed.actions,
            messages: Some(Box::new((violation, run.clone()))),
        },
        steps: replayed.steps,
    }))
}
