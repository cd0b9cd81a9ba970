//! How far a search went, and what ended it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What ended a search early.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Limit {
    /// The number of states.
    States {
        /// The limit.
        value: u64,
    },
    /// Memory.
    Memory {
        /// The limit in bytes.
        value: u64,
    },
    /// Time.
    Time {
        /// The limit in seconds.
        value: f64,
    },
    /// A signal, or another request to stop.
    Interrupted,
    /// A process that held a part of the states is gone.
    ProcessLost {
        /// Its number.
        process: usize,
    },
}

impl From<ravelin_explore::Limit> for Limit {
    fn from(limit: ravelin_explore::Limit) -> Limit {
        use ravelin_explore::Limit as Reached;
        match limit {
            Reached::States(value) => Limit::States { value },
            Reached::Memory(value) => Limit::Memory { value },
            Reached::Time(time) => Limit::Time { value: time.as_secs_f64() },
            Reached::Stopped => Limit::Interrupted,
            Reached::Lost(lost) => Limit::ProcessLost { process: lost.process },
        }
    }
}

impl From<Limit> for ravelin_explore::Limit {
    fn from(limit: Limit) -> ravelin_explore::Limit {
        use ravelin_explore::Limit as Reached;
        match limit {
            Limit::States { value } => Reached::States(value),
            Limit::Memory { value } => Reached::Memory(value),
            // A document may hold any number.
            Limit::Time { value } => Reached::Time(Duration::try_from_secs_f64(value).unwrap_or_default()),
            Limit::Interrupted => Reached::Stopped,
            Limit::ProcessLost { process } => Reached::Lost(ravelin_explore::LostProcess { process }),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ravelin_explore::Limit::from(*self).fmt(f)
    }
}

/// What a search explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statistics {
    /// Stored states.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// The most steps from an initial state to any state.
    pub depth: u64,
    /// States stored but not expanded.
    pub frontier: u64,
    /// Memory for states, in bytes.
    pub bytes: u64,
    /// Bytes of one packed state; only for an explicit search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_bytes: Option<u64>,
    /// Wall-clock time.
    pub seconds: f64,
    /// Threads that searched; omitted if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
}

impl From<&ravelin_explore::Statistics> for Statistics {
    fn from(found: &ravelin_explore::Statistics) -> Statistics {
        Statistics {
            states: found.states,
            transitions: found.transitions,
            depth: found.depth,
            frontier: found.frontier,
            bytes: found.bytes,
            state_bytes: None,
            seconds: found.elapsed.as_secs_f64(),
            workers: Some(found.workers),
        }
    }
}

impl From<&ravelin_explore::Progress> for Statistics {
    fn from(last: &ravelin_explore::Progress) -> Statistics {
        Statistics {
            states: last.states,
            transitions: last.transitions,
            depth: last.depth,
            frontier: last.frontier,
            bytes: last.bytes,
            state_bytes: None,
            seconds: last.elapsed.as_secs_f64(),
            workers: None,
        }
    }
}
