//! Answers about any number of threads.

use serde::{Deserialize, Serialize};

/// The instance that shows a fault, or the proof that there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnyNumber {
    /// The instance that the witness is a run of.
    pub instance: Option<Instance>,
    /// The Petri nets that were searched.
    pub nets: Vec<NetSearch>,
    /// How many instances were explored before.
    pub instances_explored: usize,
    /// With at most this many copies.
    pub explored_up_to: Option<usize>,
}

/// A program with a number of copies of each thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Instance {
    /// How many of each.
    pub copies: Vec<CopyCount>,
    /// All with fewer copies were explored.
    pub smallest: bool,
}

/// A thread and its number of copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyCount {
    /// The thread.
    pub thread: String,
    /// How many.
    pub copies: usize,
}

impl Instance {
    /// `2 copies of p and 1 of q`.
    pub fn words(&self) -> String {
        let copies = self.copies.iter().enumerate().map(|(number, CopyCount { thread, copies })| {
            let noun = match (number, copies) {
                (0, 1) => " copy",
                (0, _) => " copies",
                _ => "",
            };
            format!("{copies}{noun} of {thread}")
        });
        copies.collect::<Vec<_>>().join(" and ")
    }
}

/// A net and the effort of its search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetSearch {
    /// The thread whose attacks it covers; null for goals.
    pub attacker: Option<String>,
    /// Its places.
    pub places: usize,
    /// Its transitions.
    pub transitions: usize,
    /// Sets of threads are enough; numbers do not matter.
    pub sets: bool,
    /// A target can be covered; null if that was not determined.
    pub coverable: Option<bool>,
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
