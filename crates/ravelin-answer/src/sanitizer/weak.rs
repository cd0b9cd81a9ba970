//! What weak runs did: runs in which accesses took old values, as C11 allows.

use super::FirstRun;
use super::access::{WatchedAccess, WatchedLocation};
use crate::text::grouped;
use serde::{Deserialize, Serialize};

/// All weak runs of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WeakRuns {
    /// How many accesses took an old value, in all runs.
    pub stale: u64,
    /// In how many runs some access did.
    pub stale_runs: usize,
    /// Runs that ended badly, by how they ended.
    pub failures: Vec<WeakFailure>,
}

/// Runs that ended badly in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WeakFailure {
    /// Such as `killed by signal 6 (SIGABRT)`, `ended with 3` or `deadlock`.
    pub how: String,
    /// No thread could continue; it is listed among these runs, too.
    pub standstill: bool,
    /// How many.
    pub runs: usize,
    /// The run that is shown: the one in which the fewest accesses took old values.
    #[serde(default)]
    pub first_run: Option<FirstRun>,
    /// The accesses of that run that took old values, the last one first. If there are none, the run is sequentially
    /// consistent.
    pub stale: Vec<StaleAccess>,
}

/// A place at which an access took an old value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StaleAccess {
    /// The last time, in a sentence.
    pub sentence: String,
    /// How often.
    pub count: u64,
    /// What it read the last time, in decimal; what it wrote if it only writes.
    pub value: String,
    /// The newest value at that time.
    pub newest: String,
    pub access: WatchedAccess,
    pub location: WatchedLocation,
    /// The newest write at the first time, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<WatchedAccess>,
}

impl WeakFailure {
    /// What old values have to do with it.
    pub fn explanation(&self) -> &'static str {
        match self.stale.is_empty() {
            true => "no access took an old value: sequential consistency is enough for that",
            false => "accesses that took old values, the last one first:",
        }
    }
}

impl StaleAccess {
    /// `read 0 although 1 was newer`.
    pub fn words(access: &WatchedAccess, value: &str, newest: &str) -> String {
        if access.kind == super::AccessKind::Store {
            format!("wrote {value}, which came before {newest} in modification order")
        } else {
            format!("read {value} although {newest} was newer")
        }
    }

    /// How often, if more than once.
    pub fn times(&self) -> String {
        if self.count == 1 { String::new() } else { format!(", the last of {} times", grouped(self.count)) }
    }
}
