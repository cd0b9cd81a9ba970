//! From an SC run of an extended program to the TSO run of the original that it emulates.
//!
//! A store that is held back is issued where the extension puts it into a register and reaches memory where the extension
//! writes it; every other step is the original's own. The run is replayed on the reference semantics, so a mistake
//! in the extension is an internal error and never an answer.

use super::extend::{ExtendedProgram, OriginalEffect};
use crate::InternalError;
use crate::witness::{Witness, replay, start_of};
use ravelin_machine::{Purpose, Reductions, Run, Settings, Violation};
use ravelin_program::{Model, Program, ThreadId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{PendingEntry, Reference, State};

/// `program` is the original as it was given.
pub(super) fn witness(
    program: &Program,
    extended: &ExtendedProgram,
    violation: Violation,
    run: &Run,
) -> Result<Witness, InternalError> {
    let internal = |what: String| InternalError(format!("a run of an extended program cannot be read: {what}"));
    let reference = Reference::new(program, Model::Tso, None).map_err(|error| internal(error.to_string()))?;
    let start = start_of(&reference, &run.start).map_err(internal)?;
    let mut original = Original { reference: &reference, state: start, actions: Vec::new(), longest: 0 };
    for action in &run.actions {
        let Action::Step { thread, transition, choice } = *action else {
            return Err(internal("it is not an SC run".to_owned()));
        };
        let origin = extended.origins[thread.0][transition.0];
        let step = Action::Step { thread, transition: origin.transition, choice };
        match origin.effect {
            OriginalEffect::Nothing => {}
            OriginalEffect::Takes => original.take(step).map_err(internal)?,
            OriginalEffect::Stores => {
                original.take(step).map_err(internal)?;
                original.flush(thread).map_err(internal)?;
            }
            OriginalEffect::Flushes => original.flush(thread).map_err(internal)?,
        }
    }
    let Original { state, actions, longest, .. } = original;
    let violation = match violation {
        Violation::Goal(goal) => Violation::Goal(goal),
        Violation::Assert { thread, transition } => {
            let transition = extended.origins[thread.0][transition.0].transition;
            Violation::Assert { thread, transition }
        }
        Violation::Fault { thread, transition, .. } => {
            // An address or a value that is checked in a register of its own is another fault of the same instruction.
            let transition = extended.origins[thread.0][transition.0].transition;
            let faults = reference.steps(&state).faults;
            let same = faults.iter().find(|(by, at, _)| *by == thread && *at == transition);
            let &(_, _, fault) = same.ok_or_else(|| internal("the original does not fault there".to_owned()))?;
            Violation::Fault { thread, transition, fault }
        }
        Violation::Deadlock => return Err(internal("it was not asked about deadlocks".to_owned())),
    };
    let settings = Settings {
        model: Model::Tso,
        buffer: longest + 1,
        purpose: Purpose::Goals,
        reductions: Reductions::NONE,
        deadlocks: false,
    };
    replay(program, settings, violation, &Run { start: run.start.clone(), actions })
}

/// The original, as the run goes on.
struct Original<'a> {
    reference: &'a Reference,
    state: State,
    actions: Vec<Action>,
    /// The most stores that were pending in one thread.
    longest: usize,
}

impl Original<'_> {
    fn take(&mut self, action: Action) -> Result<(), String> {
        let refused = |refusal| format!("step {}: {refusal}", self.actions.len() + 1);
        self.state = self.reference.apply(&self.state, action).map_err(refused)?;
        self.longest = self.longest.max(self.state.threads[action.thread().0].buffer.pending());
        self.actions.push(action);
        Ok(())
    }

    fn flush(&mut self, thread: ThreadId) -> Result<(), String> {
        let oldest = self.state.threads[thread.0].buffer.entries().first().copied();
        let address: Value = match oldest {
            Some(PendingEntry::Store { address, .. }) => address,
            _ => return Err("it writes a store that is not pending".to_owned()),
        };
        self.take(Action::Flush { thread, address })
    }
}
