//! Answers of `cover`: whether a marking of a Petri net can be covered.

use crate::measure::Limit;
use serde::{Deserialize, Serialize};

/// Can a target of a net be covered?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverability {
    /// The net, as named by the user.
    pub file: String,
    /// Whether it can.
    pub verdict: CoverOutcome,
    /// Numbers of the rules that lead there, from 1.
    pub sequence: Option<Vec<u32>>,
    /// What each of these takes and gives.
    pub steps: Vec<Firing>,
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// The net's places.
    pub places: usize,
    /// Its transitions.
    pub transitions: usize,
    /// Markings generated backwards.
    pub markings_generated: u64,
    /// Pruned.
    pub markings_pruned: u64,
    /// Kept.
    pub markings_kept: u64,
    /// Minimal at the end.
    pub markings_minimal: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Whether a target can be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoverOutcome {
    /// By a sequence of rules.
    Coverable,
    /// By none.
    Uncoverable,
    /// Not settled.
    Unknown,
}

/// A rule that fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Firing {
    /// Its number, from 1.
    pub rule: u32,
    /// The tokens it takes.
    pub takes: String,
    /// The tokens it gives.
    pub gives: String,
}
