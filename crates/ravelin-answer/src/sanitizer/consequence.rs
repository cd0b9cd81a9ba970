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
    /// Whether these are all schedules after the stale access.
    pub all_schedules: bool,
    /// What the program wrote differently, if that is the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<OutputDifference>,
}

/// The first line in which the output of a program differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputDifference {
    pub stream: OutputStream,
    /// Its number, from 1.
    pub line: u64,
    /// The beginning of the line that was written with the stale value, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
    /// That of a run without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutputStream {
    StandardOutput,
    StandardError,
}

impl OutputDifference {
    /// As the end of a sentence about the program.
    pub fn sentence(&self) -> String {
        let to = match self.stream {
            OutputStream::StandardOutput => "",
            OutputStream::StandardError => " to standard error",
        };
        match (&self.stale, &self.usual) {
            (Some(stale), Some(usual)) => format!("writes `{stale}` instead of `{usual}`{to}"),
            (Some(stale), None) => format!("writes one more line{to}: `{stale}`"),
            (None, Some(usual)) => format!("does not write the line `{usual}`{to}"),
            (None, None) => format!("writes something else{to}"),
        }
    }
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
    /// The program wrote something that it did not write in any run without the stale value.
    Output,
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
