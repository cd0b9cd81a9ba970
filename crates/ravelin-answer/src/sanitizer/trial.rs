//! Suggestions that were tried: the answer of `run --try-fix` and `--fix-all`, and of `verify --fix-all`.

use super::Verification;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// The findings in runs of a program without and with fixes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FixTrial {
    /// The program as it was called.
    pub program: String,
    /// With the fixes. Unknown if nothing remains, but not everything was watched and recorded.
    pub verdict: Verdict,
    /// How many runs there were.
    pub runs: u64,
    /// All suggestions were tried, not only those that were named.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// The fixes.
    pub fixes: Vec<String>,
    /// Findings that are gone, in a sentence each.
    pub gone: Vec<String>,
    /// Findings that remain.
    pub remaining: Vec<String>,
    /// Findings that occur only with the fixes.
    pub new: Vec<String>,
    /// How many fixes are fences.
    pub fences: usize,
    /// How many are stronger orders.
    pub strengthened: usize,
    /// Accesses that would have to be changed to make all seq_cst.
    pub weaker_than_seq_cst: usize,
    /// What is known about all schedules of the program with the fixes, if all were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The fixes as a change of the source, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Fixes that the diff does not contain, because they cannot be written as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_hand: Vec<String>,
}
