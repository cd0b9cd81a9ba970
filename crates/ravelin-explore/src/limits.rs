//! How far an exploration may go, and how far it has come.

use crate::peers::LostProcess;
use std::fmt;
use std::time::{Duration, Instant};

/// Limits; without a value there is none. Reaching one ends the exploration in order, never by an abort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub states: Option<u64>,
    /// Bytes.
    pub memory: Option<u64>,
    pub time: Option<Duration>,
    /// The time limit as the user gave it, where `time` is what is left of it. Messages name this one.
    pub given_time: Option<Duration>,
}

impl Limits {
    /// What is left of them after a start and so many states, for those who explore several times for one answer.
    pub fn left(self, start: Instant, states: u64) -> Limits {
        Limits {
            states: self.states.map(|most| most.saturating_sub(states)),
            time: self.time.map(|time| time.saturating_sub(start.elapsed())),
            given_time: self.given_time.or(self.time),
            ..self
        }
    }

    /// A limit that was reached with what was left of these, as it was given.
    pub fn as_given(self, limit: Limit) -> Limit {
        match limit {
            Limit::Time(left) => Limit::Time(self.given_time.or(self.time).unwrap_or(left)),
            Limit::States(left) => Limit::States(self.states.unwrap_or(left)),
            Limit::Memory(left) => Limit::Memory(self.memory.unwrap_or(left)),
            limit => limit,
        }
    }

    /// The limit of states, if there are more than it permits. A limit of N permits N; this holds for each of them.
    pub fn check_states(self, states: u64) -> Option<Limit> {
        self.states.filter(|&most| states > most).map(Limit::States)
    }

    /// The limit of memory, if more bytes are used than it permits.
    pub fn check_memory(self, bytes: u64) -> Option<Limit> {
        self.memory.filter(|&most| bytes > most).map(Limit::Memory)
    }

    /// The time limit, as it was given, if it is over.
    pub fn late(self, start: Instant) -> Option<Duration> {
        let late = self.time.filter(|&most| start.elapsed() > most);
        late.map(|time| self.given_time.unwrap_or(time))
    }
}

/// Which limit ended an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    States(u64),
    Memory(u64),
    Time(Duration),
    /// Somebody asked to stop.
    Stopped,
    /// A process that held a part of the states is gone.
    Lost(LostProcess),
}

impl Limit {
    /// As words, for the other processes of a search.
    pub fn words(self) -> [u64; 2] {
        match self {
            Limit::States(states) => [0, states],
            Limit::Memory(bytes) => [1, bytes],
            Limit::Time(time) => [2, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)],
            Limit::Stopped => [3, 0],
            Limit::Lost(lost) => [4, lost.process as u64],
        }
    }

    /// From the words of another process.
    pub fn of_words([kind, value]: [u64; 2]) -> Limit {
        match kind {
            0 => Limit::States(value),
            1 => Limit::Memory(value),
            2 => Limit::Time(Duration::from_nanos(value)),
            3 => Limit::Stopped,
            _ => Limit::Lost(LostProcess { process: value as usize }),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::States(states) => write!(f, "the limit of {states} states was reached"),
            Limit::Memory(bytes) => write!(f, "the limit of {} MiB of memory was reached", bytes >> 20),
            Limit::Time(time) => write!(f, "the time limit of {} s was reached", time.as_secs_f64()),
            Limit::Stopped => f.write_str("it was interrupted"),
            Limit::Lost(lost) => lost.fmt(f),
        }
    }
}

impl std::error::Error for Limit {}

/// A look at a running exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// What is being done, where it is no search.
    pub phase: &'static str,
    pub states: u64,
    pub transitions: u64,
    /// States found but not expanded yet.
    pub frontier: u64,
    pub depth: u64,
    pub bytes: u64,
    pub elapsed: Duration,
}
