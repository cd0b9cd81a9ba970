//! What is known about all schedules of a program: the answer of `verify`.

use ravelin_program::Model;
use serde::{Deserialize, Serialize};

/// How many runs were made, and what they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Runs that were made.
    pub runs: u64,
    /// Runs among them that showed nothing new: another run has the same order of conflicting steps, or the steps were
    /// not possible.
    pub redundant: u64,
    /// The most threads of a run, including the first one.
    pub threads: u64,
    /// The steps of the longest run.
    pub events: u64,
    /// Every schedule is equivalent to one that was run.
    pub complete: bool,
    /// An estimate of the number of runs that all schedules need; null if none are left.
    pub estimated_runs: Option<u64>,
    /// Why not every schedule counts, one sentence each.
    pub limits: Vec<String>,
    /// Runs that ended by themselves, but not with 0.
    pub failures: Vec<Failure>,
    /// Accesses that could be stale were looked for.
    pub checks_robustness: bool,
    /// Data races were not looked for; omitted if they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_races: bool,
    /// The model for which they were judged, `rc20` or `tso`. Documents of older versions do not have it; it was rc20.
    #[serde(default)]
    pub model: Option<Model>,
    /// How long it took.
    pub seconds: u64,
}

/// A run that ended by itself, but not with 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// Its exit code.
    pub exit_code: u8,
    /// Its schedule.
    pub schedule: String,
}
