//! Why the reference refuses a request.

use ravelin_program::Model;
use ravelin_program::{Fault, ThreadId, TransitionId, Value};
use thiserror::Error;

/// Why a program has no operational semantics here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotModelled {
    #[error("{0} has no store buffers; there are sc, tso and pso")]
    NotHardware(Model),
    #[error("thread `{0}` has any number of copies; take an instance of the program with a fixed number")]
    AnyCopies(String),
    #[error("a havoc of thread `{thread}` has more than {limit} values")]
    WideHavoc { thread: String, limit: u64 },
    #[error("the program is not valid: {0}")]
    Invalid(String),
}

/// There are too many initial states to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("cells that start with any value make more than {limit} initial states")]
pub struct TooMany {
    pub limit: usize,
}

/// Why an action is not possible in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("there is no thread number {}", .0.0)]
    NoSuchThread(ThreadId),
    #[error("the thread has no transition number {}", .0.0)]
    NoSuchTransition(TransitionId),
    #[error("the thread is not at the start of the transition")]
    NotThere,
    #[error("the transition leaves no choice {0} open")]
    NoSuchChoice(Value),
    #[error("another thread holds the bus lock")]
    BusHeld { by: ThreadId },
    #[error("the thread holds the bus lock already")]
    BusHeldAlready,
    #[error("the instruction needs an empty store buffer")]
    BufferNotEmpty,
    #[error("the store buffer is full")]
    BufferFull { bound: usize },
    #[error("the assumption does not hold")]
    AssumeFails,
    #[error("the assertion does not hold")]
    AssertFails,
    #[error("the cell holds {found}, which is not what the instruction waits for")]
    Waits { found: Value },
    #[error("the cell holds {found}, so a compare-exchange cannot fail spuriously")]
    FailsForAReason { found: Value },
    #[error("the value {value} is outside a blocking domain")]
    Blocked { value: Value },
    #[error("{0}")]
    Fault(#[from] Fault),
    #[error("no pending store to address {address} may reach memory next")]
    NothingToFlush { address: Value },
}
