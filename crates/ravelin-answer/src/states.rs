//! Answers of `states`: all states in which a program can end.

use crate::graph::{Edge, Event};
use crate::measure::{Limit, Statistics};
use crate::run::{InitialState, RunStep};
use crate::verdict::Stops;
use ravelin_program::{Model, Value};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// In which states can a program end?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FinalStates {
    /// The program, as named by the user.
    pub file: String,
    /// The program's own name.
    pub name: String,
    /// The memory model.
    pub model: Model,
    /// The first condition about final states, if the program has one.
    pub condition: Option<FinalCondition>,
    /// Nothing was omitted.
    pub complete: bool,
    /// The bound on pending stores of a thread; null except under tso and pso.
    pub buffer: Option<usize>,
    /// The bound on the messages of a cell, under ra and rc20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<usize>,
    /// Some store had to wait for room in its buffer, or some cell had more messages than the bound.
    pub cut_off: bool,
    /// States, not listed, that seq_cst accesses allow if they are release/acquire ones and no more, and of which it is not known whether
    /// C11 allows them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seq_cst_open: usize,
    /// What ended the search early.
    pub limit: Option<Limit>,
    /// Every thread is at its end.
    #[serde(rename = "final")]
    pub finals: Vec<EndState>,
    /// Nothing can move although some thread is not at its end.
    pub stuck: Vec<EndState>,
    /// What was explored.
    pub statistics: Statistics,
    /// Where threads can stop under sc; omitted if a limit was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<Stops>,
}

/// A condition about final states, without its quantifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FinalCondition {
    /// What it requires of the states.
    pub quantifier: Quantifier,
    /// The condition as written.
    pub text: String,
}

/// What a condition requires of the states that satisfy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantifier {
    /// There is one.
    Exists,
    /// There is none.
    NotExists,
    /// All do.
    Forall,
}

/// One final state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndState {
    /// By thread: its location, and its registers.
    pub threads: Vec<EndThread>,
    /// Cells by name: the named ones, and others that do not hold 0.
    #[serde(with = "named")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Value>"))]
    pub memory: Vec<(String, Value)>,
    /// Values that are not written as signed numbers, as the program names them: by cell, or by `thread.register`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// The values that the program's observation selects, as `name=value;` each; without one, every register and named
    /// cell.
    pub shown: String,
    /// Whether the condition holds here; null if there is none.
    pub condition: Option<bool>,
    /// Sequential consistency forbids it; null if that could not be determined.
    pub beyond_sc: Option<bool>,
    /// A run to it, if sequential consistency forbids it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<EndRun>>,
}

/// A run to a final state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndRun {
    /// Before the first step.
    pub initial: InitialState,
    /// The run.
    pub steps: Vec<RunStep>,
    /// What the threads did in memory; null if the run is too long for a graph.
    pub events: Option<Vec<Event>>,
    /// What happened before what. Edges that follow from others are omitted.
    pub edges: Option<Vec<Edge>>,
    /// A cycle that sequential consistency forbids.
    pub cycle: Option<Vec<Edge>>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A thread at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndThread {
    /// Its name.
    pub thread: String,
    /// Its location.
    pub location: String,
    /// It is at its end.
    pub at_end: bool,
    /// Its registers by name.
    #[serde(with = "named")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, Value>"))]
    pub registers: Vec<(String, Value)>,
}

/// Names and values as an object, in their order.
pub(crate) mod named {
    use super::*;

    pub fn serialize<S: Serializer>(values: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(values.iter().map(|(name, value)| (name, value)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Value)>, D::Error> {
        struct Values;

        impl<'de> Visitor<'de> for Values {
            type Value = Vec<(String, Value)>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("names and values")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut values = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(values)
            }
        }

        deserializer.deserialize_map(Values)
    }
}
