//! What a run has to do, and what it did.

use ravelin_findings::events::Event;
use ravelin_findings::steering::SteeredEnd;

/// One decision of a script: which thread makes the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    pub thread: u32,
    /// The wait in which it stands ends because its time is over.
    pub times_out: bool,
}

/// What a run has to do: the first choices, and the threads that are asleep after them. After the script a run continues
/// by itself, without threads that are asleep, until it ends or only these could run. A thread wakes up when another one
/// makes a step that conflicts with its next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub choices: Vec<Choice>,
    pub sleepers: Vec<u32>,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// In order; also those that are part of a round of a waiting loop (`flags::ROUND`).
    pub events: Vec<Event>,
    /// What each thread that had not ended would have done next.
    pub pending: Vec<Event>,
    /// How it ended, if not as the program ends by itself, or in a state in which no thread can run.
    pub end: Option<SteeredEnd>,
    /// The process ended with the last event although threads could still run: it exited or crashed, or an assertion
    /// failed. This distinguishes such runs from those in which all threads that are left wait.
    pub ended_early: bool,
}
