//! Answers of `states`: all states in which a program can end.

use crate::measure::{Limit, Statistics};
use crate::verdict::Stops;
use ravelin_program::{Model, Value};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// In which states can a program end?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FinalStates {
    /// The program, as named by the user.
    pub file: String,
    /// The program's own name.
    pub name: String,
    /// `sc`, `tso` or `pso`.
    pub model: Model,
    /// The first condition about final states, if the program has one.
    pub condition: Option<FinalCondition>,
    /// Nothing was omitted.
    pub complete: bool,
    /// The bound on pending stores of a thread; null under sc.
    pub buffer: Option<usize>,
    /// Some store had to wait for room in its buffer.
    pub cut_off: bool,
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
    /// The values that the program's observation selects, as `name=value;` each; without one, every register and named
    /// cell.
    pub shown: String,
    /// Whether the condition holds here; null if there is none.
    pub condition: Option<bool>,
    /// Sequential consistency forbids it; null if that could not be determined.
    pub beyond_sc: Option<bool>,
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
