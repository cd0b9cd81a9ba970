//! What happened before what: events, and edges between them.

use ravelin_program::Position;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a thread did in memory in one atomic step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// Null for an initial write.
    pub thread: Option<String>,
    /// The position of its instruction.
    #[serde(flatten, with = "crate::place")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::place::LineAndColumn"))]
    pub position: Option<Position>,
    /// `W x = 1`, `R y = 0 (acquire)`, `U z 0 → 1`, `F (seq_cst)`, and `x = 0` for an initial write.
    pub text: String,
    /// Its steps in the run, from 0, including those that bring its stores to memory. The access after a run has none.
    pub steps: Vec<usize>,
}

/// An edge between two events, by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edge {
    /// The earlier event.
    pub from: usize,
    /// The later event.
    pub to: usize,
    /// Which relation it belongs to.
    pub kind: EdgeKind,
    /// The cell of the edge; null for program order, and under ra and rc20.
    pub cell: Option<String>,
}

/// A relation between events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Program order.
    Po,
    /// Reads-from: from a write to a read of it.
    Rf,
    /// Coherence: the order in which stores to a cell reach memory.
    Co,
    /// Modification order: C11's name for coherence.
    Mo,
    /// From-read: a read, and a write that overwrites what it read.
    Fr,
}

impl EdgeKind {
    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Po => "po",
            EdgeKind::Rf => "rf",
            EdgeKind::Co => "co",
            EdgeKind::Mo => "mo",
            EdgeKind::Fr => "fr",
        }
    }

    /// What it says of its two events, for users.
    pub fn meaning(self) -> &'static str {
        match self {
            EdgeKind::Po => "program order: the thread does the one before the other",
            EdgeKind::Rf => "read from: the read gets its value from the write",
            EdgeKind::Co => "order of stores: the one reaches memory before the other",
            EdgeKind::Mo => "modification order: the one write comes before the other",
            EdgeKind::Fr => "read before: the read misses the write, which comes later",
        }
    }
}

impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
