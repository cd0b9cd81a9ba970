//! Replaying a run on the reference semantics. Only what replays becomes a witness.

use super::graph::RunGraph;
use super::initial::initial;
use super::narrate::narrate;
use crate::InternalError;
use ravelin_answer::{InitialState, RunStep, Violation};
use ravelin_machine::messages::MessageRun;
use ravelin_machine::{Run, Settings, UnpackedState, Violation as Violated};
use ravelin_program::{GoalKind, Model, Program, ThreadId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{PendingEntry, Reference, State, WaitingThread};

/// A run, replayed, and what it shows.
#[derive(Clone, Debug)]
pub struct Witness {
    pub model: Model,
    pub violation: Violation,
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    /// What happened before what, unless the run is too long to be drawn.
    pub graph: Option<RunGraph>,
    /// No run with fewer steps shows a violation.
    pub shortest: bool,
    /// The run itself.
    pub computation: Computation,
}

/// A run as it was replayed, for those who want to know what would have forbidden it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Computation {
    pub actions: Vec<Action>,
    /// By action: the address of the store that it left pending.
    pub issued: Vec<Option<Value>>,
    /// Under RA and RC20, where messages were explored: the run with the writes that are read, and what it violates.
    pub messages: Option<Box<(Violated, MessageRun)>>,
}

impl Computation {
    /// Adds an action that led from one state to the next.
    pub(crate) fn push(&mut self, action: Action, before: &State, after: &State) {
        self.actions.push(action);
        self.issued.push(issued(action.thread(), before, after));
    }
}

/// The address of the store that a step of a thread left pending.
fn issued(thread: ThreadId, before: &State, after: &State) -> Option<Value> {
    let entries = |state: &'_ State| -> Vec<Value> {
        let entries = state.threads[thread.0].buffer.entries().iter();
        entries
            .filter_map(|entry| if let PendingEntry::Store { address, .. } = entry { Some(*address) } else { None })
            .collect()
    };
    let (old, new) = (entries(before), entries(after));
    let count = |entries: &[Value], address: Value| entries.iter().filter(|other| **other == address).count();
    new.iter().copied().find(|&address| count(&new, address) > count(&old, address))
}

/// A run that replays, told.
pub(crate) struct RetoldRun {
    reference: Reference,
    start: State,
    /// The last state.
    pub state: State,
    pub steps: Vec<RunStep>,
    computation: Computation,
}

impl RetoldRun {
    pub fn initial(&self) -> InitialState {
        initial(&self.reference, &self.start, &self.steps)
    }

    pub fn graph(&self) -> Option<RunGraph> {
        RunGraph::of(&self.reference, &self.start, &self.computation.actions)
    }
}

/// Replays a run.
pub(crate) fn retell(program: &Program, settings: Settings, run: &Run) -> Result<RetoldRun, InternalError> {
    let internal = |what: String| InternalError(format!("a run under {} does not replay: {what}", settings.model));
    let bound = settings.model.is_buffered().then_some(settings.buffer);
    let reference = Reference::new(program, settings.model, bound).map_err(|error| internal(error.to_string()))?;
    let start = start_of(&reference, &run.start).map_err(internal)?;
    let mut state = start.clone();
    let mut steps = Vec::with_capacity(run.actions.len());
    let mut computation = Computation::default();
    for (number, action) in run.actions.iter().enumerate() {
        let next =
            reference.apply(&state, *action).map_err(|refusal| internal(format!("step {}: {refusal}", number + 1)))?;
        steps.push(narrate(&reference, &state, *action, &next));
        computation.push(*action, &state, &next);
        state = next;
    }
    Ok(RetoldRun { reference, start, state, steps, computation })
}

/// Replays a run, and checks that its last state shows the violation.
pub fn replay(program: &Program, settings: Settings, violation: Violated, run: &Run) -> Result<Witness, InternalError> {
    let retold = retell(program, settings, run)?;
    let (reference, state) = (&retold.reference, &retold.state);
    let ahead = reference.steps(state);
    let waiting = reference.deadlock(state);
    let shown = match violation {
        Violated::Goal(goal) => reference.violated_goals(state).contains(&goal),
        Violated::Assert { thread, transition } => ahead.failed_asserts.contains(&(thread, transition)),
        Violated::Fault { thread, transition, fault } => ahead.faults.contains(&(thread, transition, fault)),
        Violated::Deadlock => ahead.next.is_empty() && waiting.is_some(),
    };
    if !shown {
        let what =
            format!("a run under {} does not replay: its last state does not show the violation", settings.model);
        return Err(InternalError(what));
    }
    Ok(Witness {
        model: settings.model,
        violation: describe(reference.program(), violation, waiting.as_deref().unwrap_or_default()),
        initial: retold.initial(),
        graph: retold.graph(),
        steps: retold.steps,
        shortest: false,
        computation: retold.computation,
    })
}

/// The initial state that a machine's run starts from, or what is wrong with it.
pub(crate) fn start_of(reference: &Reference, start: &UnpackedState) -> Result<State, String> {
    let starts = reference.initial_states().map_err(|error| error.to_string())?;
    let same_memory = |state: &State| start.memory.iter().all(|(address, value)| state.cell(*address) == *value);
    starts.into_iter().find(same_memory).ok_or_else(|| "no such initial state".to_owned())
}

pub(crate) fn describe(program: &Program, violation: Violated, waiting: &[WaitingThread]) -> Violation {
    let step = |thread: ravelin_program::ThreadId, transition: ravelin_program::TransitionId| {
        let thread = &program.threads[thread.0];
        let transition = &thread.transitions[transition.0];
        let text = program.tell_transition(thread, transition);
        (thread.name.clone(), text, program.source.position(transition.span))
    };
    match violation {
        Violated::Goal(number) => {
            let goal = &program.goals[number];
            let text = match program.source.quote(goal.span) {
                "" => program.show_condition(&goal.condition),
                quoted => quoted.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" "),
            };
            let exists = goal.kind == GoalKind::Exists;
            Violation::Goal { number, text, exists, position: program.source.position(goal.span) }
        }
        Violated::Assert { thread, transition } => {
            let quoted = quoted_assertion(program, thread, transition);
            let (thread, text, position) = step(thread, transition);
            Violation::Assert { thread, text: quoted.unwrap_or(text), position }
        }
        Violated::Fault { thread, transition, fault } => {
            let (thread, text, position) = step(thread, transition);
            Violation::Fault { thread, text, fault: fault.to_string(), position }
        }
        Violated::Deadlock => {
            let told = |waiting: &WaitingThread| {
                let (thread, text, position) = step(waiting.thread, waiting.transition);
                let cell = program.memory.name_of(waiting.address);
                let name = program.memory.notation_at(waiting.address).special(waiting.found);
                ravelin_answer::WaitingThread { thread, text, cell, value: waiting.found, name, position }
            };
            Violation::Deadlock { threads: waiting.iter().map(told).collect() }
        }
    }
}

/// What the source says where an assertion is about values without names, as in a lifted program: `assert(count == 2)`.
fn quoted_assertion(
    program: &Program,
    thread: ravelin_program::ThreadId,
    transition: ravelin_program::TransitionId,
) -> Option<String> {
    let thread = &program.threads[thread.0];
    let transition = &thread.transitions[transition.0];
    let text = program.tell_transition(thread, transition);
    let mut hidden = thread.registers.iter().filter(|register| register.hidden).map(|register| &register.name);
    let says_little = hidden.any(|name| text.contains(name.as_str())) || text == "assert(0)";
    let quoted = program.source.quote(transition.span);
    (says_little && quoted.ends_with(')')).then(|| quoted.split_whitespace().collect::<Vec<_>>().join(" "))
}
