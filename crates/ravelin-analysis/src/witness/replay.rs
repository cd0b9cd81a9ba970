//! Replaying a run on the reference semantics. Only what replays becomes a witness.

use super::narrate::{Narrated, narrate};
use crate::InternalError;
use ravelin_machine::{Run, Settings, Snapshot, Violation};
use ravelin_program::{Position, Program};
use ravelin_semantics::Model;
use ravelin_semantics::operational::{Reference, State};

/// A run, replayed, and what it shows.
#[derive(Clone, Debug)]
pub struct Witness {
    pub model: Model,
    pub violation: WitnessViolation,
    pub steps: Vec<Narrated>,
    /// No run with fewer steps shows a violation.
    pub shortest: bool,
}

/// What a run ends in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WitnessViolation {
    Goal { number: usize, text: String, position: Option<Position> },
    Assert { thread: String, text: String, position: Option<Position> },
    Fault { thread: String, text: String, fault: String, position: Option<Position> },
}

impl WitnessViolation {
    pub fn position(&self) -> Option<Position> {
        match self {
            WitnessViolation::Goal { position, .. }
            | WitnessViolation::Assert { position, .. }
            | WitnessViolation::Fault { position, .. } => *position,
        }
    }
}

/// Replays a run, and checks that its last state shows the violation.
pub fn replay(
    program: &Program,
    settings: Settings,
    violation: Violation,
    run: &Run,
) -> Result<Witness, InternalError> {
    let internal = |what: String| InternalError(format!("a run under {} does not replay: {what}", settings.model));
    let bound = settings.model.is_buffered().then_some(settings.buffer);
    let reference = Reference::new(program, settings.model, bound).map_err(|error| internal(error.to_string()))?;
    let mut state = start_of(&reference, &run.start).map_err(internal)?;
    let mut steps = Vec::with_capacity(run.actions.len());
    for (number, action) in run.actions.iter().enumerate() {
        let next =
            reference.apply(&state, *action).map_err(|refusal| internal(format!("step {}: {refusal}", number + 1)))?;
        steps.push(narrate(&reference, &state, *action, &next));
        state = next;
    }
    let ahead = reference.steps(&state);
    let shown = match violation {
        Violation::Goal(goal) => reference.violated_goals(&state).contains(&goal),
        Violation::Assert { thread, transition } => ahead.failed_asserts.contains(&(thread, transition)),
        Violation::Fault { thread, transition, fault } => ahead.faults.contains(&(thread, transition, fault)),
    };
    if !shown {
        return Err(internal("its last state does not show the violation".to_owned()));
    }
    let violation = describe(reference.program(), violation);
    Ok(Witness { model: settings.model, violation, steps, shortest: false })
}

/// The initial state that a machine's run starts from, or what is wrong with it.
pub(crate) fn start_of(reference: &Reference, start: &Snapshot) -> Result<State, String> {
    let starts = reference.initial_states().map_err(|error| error.to_string())?;
    let same_memory = |state: &State| start.memory.iter().all(|(address, value)| state.cell(*address) == *value);
    starts.into_iter().find(same_memory).ok_or_else(|| "no such initial state".to_owned())
}

fn describe(program: &Program, violation: Violation) -> WitnessViolation {
    let step = |thread: ravelin_program::ThreadId, transition: ravelin_program::TransitionId| {
        let thread = &program.threads[thread.0];
        let transition = &thread.transitions[transition.0];
        let text = program.show_instruction(thread, &transition.instruction);
        (thread.name.clone(), text, program.source.position(transition.span))
    };
    match violation {
        Violation::Goal(number) => {
            let goal = &program.goals[number];
            let text = match program.source.quote(goal.span) {
                "" => program.show_condition(&goal.condition),
                quoted => quoted.trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" "),
            };
            WitnessViolation::Goal { number, text, position: program.source.position(goal.span) }
        }
        Violation::Assert { thread, transition } => {
            let (thread, text, position) = step(thread, transition);
            WitnessViolation::Assert { thread, text, position }
        }
        Violation::Fault { thread, transition, fault } => {
            let (thread, text, position) = step(thread, transition);
            WitnessViolation::Fault { thread, text, fault: fault.to_string(), position }
        }
    }
}
