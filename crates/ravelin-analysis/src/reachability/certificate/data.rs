//! What a certificate looks like on paper.

use serde::{Deserialize, Serialize};

use ravelin_program::Value;

/// The version of the format.
pub const FORMAT: &str = "ravelin load-buffer certificate 1";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachabilityCertificate {
    pub format: String,
    /// The name of the program, for people.
    pub program: String,
    /// What may be in a load buffer; words speak of these by number.
    pub messages: Vec<MessageData>,
    /// By thread: the sets of local states that constraints speak of by number.
    pub controls: Vec<Vec<Vec<LocalStateData>>>,
    pub constraints: Vec<ConstraintData>,
}

/// Addresses with values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageData {
    /// What memory held at one moment.
    Memory(Vec<(Value, Value)>),
    /// The thread's own newest store.
    Own((Value, Value)),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LocalStateData {
    /// The number of the location, or `None` after a failure.
    pub location: Option<usize>,
    /// The transition that failed, and the fault unless it was an assertion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<(usize, Option<String>)>,
    pub registers: Vec<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_bus: bool,
    /// Addresses and values of pending stores that never reach memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stranded: Vec<(Value, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstraintData {
    pub threads: Vec<ThreadConstraint>,
    /// Addresses with the values they hold; other cells hold anything.
    pub memory: Vec<(Value, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadConstraint {
    pub control: usize,
    /// Messages, oldest first.
    pub word: Vec<u16>,
}
