//! The vocabulary of runs: what one step was.

use ravelin_program::{ThreadId, TransitionId, Value};

/// One step of a run. Together with the state it starts from it determines the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// A thread takes a transition. `choice` decides what the transition leaves open: the value of a `havoc`, or 1 for
    /// a weak compare-exchange that fails although the values agree; 0 otherwise.
    Step { thread: ThreadId, transition: TransitionId, choice: Value },
    /// The oldest pending store of a thread to this address reaches memory.
    Flush { thread: ThreadId, address: Value },
}

impl Action {
    pub fn thread(&self) -> ThreadId {
        match self {
            Action::Step { thread, .. } | Action::Flush { thread, .. } => *thread,
        }
    }
}
