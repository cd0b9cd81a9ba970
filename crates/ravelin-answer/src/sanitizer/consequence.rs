//! What a program would do with a stale value: the answer of `--consequences`.

use serde::{Deserialize, Serialize};

/// What happened in runs in which one access was stale and everything else was sequentially consistent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Consequence {
    /// The worst that happened.
    pub outcome: StaleOutcome,
    /// The same in a sentence.
    pub sentence: String,
    /// What happened with each stale value, worst first; empty if nothing was tried.
    pub values: Vec<StaleValue>,
    /// How many runs were tried.
    pub runs: u64,
}

/// The worst that happened with a stale value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StaleValue {
    /// The value, in decimal.
    pub value: String,
    /// The worst that happened with it.
    pub outcome: StaleOutcome,
    /// The schedule that shows it.
    pub schedule: String,
}

/// What can happen after a stale access, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StaleOutcome {
    /// A signal such as SIGSEGV ended the program.
    Crash,
    /// An assertion failed, or the program aborted itself.
    Abort,
    /// No thread could continue, or one went round a loop for ever.
    Standstill,
    /// The program ended with another exit code.
    ExitCode,
    /// There was a data race that is not there otherwise.
    DataRace,
    /// The program went on in another way, and nothing of the above happened.
    NotDecided,
    /// In all runs the threads made the same visible steps as without the stale value.
    Rejoins,
}

impl StaleOutcome {
    /// Whether it is one of those that end a run badly.
    pub fn is_failure(self) -> bool {
        self <= StaleOutcome::ExitCode
    }
}
