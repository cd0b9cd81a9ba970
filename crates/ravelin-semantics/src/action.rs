//! The vocabulary of runs: which model, and what one step was.

use ravelin_program::{ThreadId, TransitionId, Value};
use std::fmt;

/// The operational memory models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Model {
    /// Sequential consistency: stores reach memory at once.
    Sc,
    /// Total store order: one FIFO store buffer a thread.
    Tso,
    /// Partial store order: one FIFO store buffer a thread and address.
    Pso,
}

impl Model {
    pub const ALL: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }

    pub fn is_buffered(self) -> bool {
        self != Model::Sc
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One step of a run. Together with the state it starts from it determines the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// A thread takes a transition. `choice` settles what the transition leaves open: the value of a `havoc`, 1 for a weak
    /// compare-exchange that fails although the values agree; 0 otherwise.
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
