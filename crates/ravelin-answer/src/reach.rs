//! Answers of `reach`, and random walks of `simulate`.

use crate::graph::{Edge, Event};
use crate::measure::{Limit, Statistics};
use crate::run::{InitialState, RunStep};
use crate::threads::AnyNumber;
use crate::verdict::{DeadlockVerdict, Verdict, Violation};
use ravelin_program::{Model, Value};
use serde::{Deserialize, Serialize};

/// Can a goal be violated, an assertion fail, a fault happen?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reachability {
    /// The program, as named by the user.
    pub file: String,
    /// The memory model.
    pub model: Model,
    /// Holds: nothing forbidden can happen.
    pub verdict: Verdict,
    /// The engine that settled it: `bounded`, `lazy`, `sb`, `dual`; `robust` if the program is robust under ra or rc20, so that
    /// sc decides; with any number of threads `cover`.
    pub engine: String,
    /// Its effort in addition to `statistics`.
    pub effort: Option<ReachEffort>,
    /// Why an engine could not try.
    pub not_tried: Option<String>,
    /// Goals and assertions of the program; faults are always searched for.
    pub goals: usize,
    /// How many of these are `exists`. The verdict on such a goal is *violated* if its state is found, and *holds* if there is no
    /// such state.
    #[serde(default)]
    pub exists: usize,
    /// Whether there is a deadlock. If the verdict is *holds*, this may still be unknown.
    #[serde(default)]
    pub deadlocks: DeadlockVerdict,
    /// The bound on pending stores of a thread; null if there is none.
    pub buffer: Option<usize>,
    /// The bound on the messages of a cell, if they were explored under ra or rc20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<usize>,
    /// Some store had to wait for room in its buffer, or some cell had more messages than the bound.
    pub cut_off: bool,
    /// Unknown because of seq_cst accesses under rc20: there is a violation if they are release/acquire ones and no more, and none was
    /// found with fences before or after each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seq_cst_open: bool,
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// The run that shows it.
    pub witness: Option<Box<RunWitness>>,
    /// What was explored.
    pub statistics: Statistics,
    /// For a program with any number of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub any_number: Option<AnyNumber>,
}

impl Reachability {
    /// The verdict in a word or two. An `exists` is answered in its own words: its state is found, or there is no such state.
    pub fn word(&self) -> &'static str {
        match (self.verdict, self.witness.as_ref().map(|witness| &witness.violation)) {
            (Verdict::Violated, Some(Violation::Goal { exists: true, .. })) => "found",
            (Verdict::Violated, Some(Violation::Deadlock { .. })) => "deadlock",
            (Verdict::Holds, _) if self.exists > 0 && self.exists == self.goals => "no such state",
            (Verdict::Holds, _) if self.exists > 0 => "holds, and no such state",
            (verdict, _) => verdict.name(),
        }
    }
}

/// The effort of an engine that does not go from state to state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ReachEffort {
    /// A backward search over constraints.
    Constraints {
        /// Generated.
        #[serde(rename = "constraints_generated")]
        generated: u64,
        /// Kept.
        #[serde(rename = "constraints_kept")]
        kept: u64,
        /// Minimal at the end.
        #[serde(rename = "constraints_minimal")]
        minimal: u64,
    },
    /// Rounds of `lazy`.
    Rounds {
        /// Extensions of the program.
        rounds: usize,
        /// Paths to delay stores on.
        paths: usize,
        /// States of the extended program under sc.
        sc_states: u64,
        /// States of the oracle.
        oracle_states: u64,
    },
}

/// A run and its violation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunWitness {
    /// The violation at its end.
    pub violation: Violation,
    /// The model that allows it.
    pub model: Model,
    /// No shorter run shows a violation; false means that this was not established.
    pub shortest: bool,
    /// Before the first step.
    pub initial: InitialState,
    /// The run.
    pub steps: Vec<RunStep>,
    /// What the threads did in memory; null if the run is too long for a graph.
    pub events: Option<Vec<Event>>,
    /// What happened before what. Edges that follow from others are omitted.
    pub edges: Option<Vec<Edge>>,
    /// A cycle; empty if the run is an sc run.
    pub cycle: Option<Vec<Edge>>,
}

/// A random walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Simulation {
    /// The program, as named by the user.
    pub file: String,
    /// The memory model.
    pub model: Model,
    /// The same seed gives the same run.
    pub seed: u64,
    /// How the run ended, in words.
    pub end: String,
    /// Violated goals, failing assertions and faults in the last state, in words.
    pub troubles: Vec<String>,
    /// The values of registers and cells at the end.
    #[serde(with = "crate::states::named")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Value>"))]
    pub values: Vec<(String, Value)>,
    /// Before the first step.
    pub initial: InitialState,
    /// The run.
    pub steps: Vec<RunStep>,
}
