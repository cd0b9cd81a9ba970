//! The three verdicts, and the violations at the end of a run.

use crate::measure::Limit;
use crate::reach::RunWitness;
use ravelin_program::{Position, Value};
use serde::{Deserialize, Serialize};

/// The three verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Proved, exhaustively.
    Holds,
    /// With a witness.
    Violated,
    /// A limit was hit before the question was settled.
    Unknown,
}

impl Verdict {
    /// Its word in documents.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
        }
    }

    /// The verdict on robustness in a word or two.
    pub fn on_robustness(self) -> &'static str {
        match self {
            Verdict::Holds => "robust",
            Verdict::Violated => "not robust",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The violation at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Violation {
    /// A goal of the program is violated.
    Goal {
        /// Its number, from 0.
        #[serde(rename = "goal")]
        number: usize,
        /// The goal as written.
        text: String,
        /// The goal is an `exists`: the run reaches the state that it asks for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        exists: bool,
        /// Its position.
        #[serde(flatten, with = "crate::place")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
        position: Option<Position>,
    },
    /// An assertion fails.
    Assert {
        /// Its thread.
        thread: String,
        /// The assertion as written.
        text: String,
        /// Its position.
        #[serde(flatten, with = "crate::place")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
        position: Option<Position>,
    },
    /// The program itself is wrong: a value leaves its type, an index its array.
    Fault {
        /// Its thread.
        thread: String,
        /// The instruction as written.
        text: String,
        /// What is wrong.
        fault: String,
        /// Its position.
        #[serde(flatten, with = "crate::place")]
        #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
        position: Option<Position>,
    },
    /// Some thread is not at its end, and every such thread waits for a value that no thread will write.
    Deadlock {
        /// The threads that wait, at least one.
        threads: Vec<WaitingThread>,
    },
}

/// A thread of a deadlock, at an instruction that waits. A thread that waits for one of several has one entry for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitingThread {
    /// The thread.
    pub thread: String,
    /// The instruction as written.
    pub text: String,
    /// The cell that it reads.
    pub cell: String,
    /// The value there, which does not let it pass.
    pub value: Value,
    /// The value as the program names it: of an `enum`, or an unsigned number that is no signed one. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The position of the instruction.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
}

impl WaitingThread {
    /// The thread, the instruction and the value, as a part of a sentence.
    pub fn sentence(&self) -> String {
        let line = self.position.map(|at| format!(" (line {})", at.line)).unwrap_or_default();
        let value = self.name.clone().unwrap_or_else(|| self.value.to_string());
        format!("{} waits at `{}`{line}, where {} = {value}", self.thread, self.text, self.cell)
    }
}

/// What is known about deadlocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeadlockVerdict {
    /// Nothing was asked about them.
    #[default]
    NotAsked,
    /// There is none.
    None,
    /// There is one.
    Found,
    /// Not settled.
    Unknown,
}

/// Deadlocks beside an answer of `check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deadlocks {
    /// Under sc.
    pub sc: DeadlockVerdict,
    /// Under the model of the answer. One under sc is one there, too.
    pub model: DeadlockVerdict,
    /// A run to one; under sc if there is one.
    pub witness: Option<Box<RunWitness>>,
}

impl Violation {
    /// Its position: that of the first thread that waits.
    pub fn position(&self) -> Option<Position> {
        match self {
            Violation::Goal { position, .. }
            | Violation::Assert { position, .. }
            | Violation::Fault { position, .. } => *position,
            Violation::Deadlock { threads } => threads.first().and_then(|waiting| waiting.position),
        }
    }

    /// The thread that fails; a goal and a deadlock have none.
    pub fn thread(&self) -> Option<&str> {
        match self {
            Violation::Goal { .. } | Violation::Deadlock { .. } => None,
            Violation::Assert { thread, .. } | Violation::Fault { thread, .. } => Some(thread),
        }
    }
}

/// Where threads can stop under SC before their end. Nothing after such a place was explored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stops {
    /// One per place, in the order of threads and lines.
    pub found: Vec<StopPlace>,
    /// What ended the search before every place was examined.
    pub limit: Option<Limit>,
    /// For a program with any number of threads: instances with at most this many copies of each were searched, and
    /// with more there may be other stops. Null if the answer covers every number.
    pub copies: Option<usize>,
}

/// A place at which a thread can stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StopPlace {
    /// What stops it; not a goal.
    #[serde(flatten)]
    pub violation: Violation,
    /// The same as a sentence.
    pub message: String,
}
