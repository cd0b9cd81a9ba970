//! What is known about waiting loops: with which values a thread only goes round, and with which it goes on.
//!
//! A loop is recognised by the thread's state at its first access, which says where that is. Everything here was seen in a
//! run; a thread in the same state that reads the same values does the same again.

use crate::RecordedRun;
use ravelin_findings::events::{Act, RunEvent, flags};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most values that are remembered. What is not remembered is tried again, which costs runs and nothing else.
const MOST_VALUES: usize = 1 << 20;

/// A read in a state of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    pub state: u64,
    pub address: u64,
    pub value: u64,
}

/// What a thread does after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Passes,
    GoesRound,
    Unknown,
}

#[derive(Default)]
pub struct Waiting {
    /// Reads that are a whole round.
    fails: FxHashSet<Reading>,
    /// Reads after which a thread went on.
    passes: FxHashSet<Reading>,
    /// States in which rounds of several reads begin.
    long: FxHashSet<u64>,
    rounds: FxHashMap<u32, Vec<Reading>>,
}

impl Waiting {
    /// Takes what a run shows.
    pub fn learn(&mut self, run: &RecordedRun) {
        let reads = |event: &&RunEvent| event.state != 0 && matches!(event.operation.act, Act::Load | Act::Update);
        for event in run.events.iter().filter(reads) {
            let reading = reading(event, event.read);
            if event.is(flags::ROUND) {
                let begins = |round: &&mut Vec<Reading>| round[0].state != reading.state;
                match self.rounds.get_mut(&event.thread).filter(begins) {
                    Some(round) => round.push(reading),
                    None => {
                        if let Some(round) = self.rounds.insert(event.thread, vec![reading]) {
                            self.end_round(&round);
                        }
                    }
                }
                continue;
            }
            if let Some(round) = self.rounds.remove(&event.thread) {
                self.end_round(&round);
            }
            if self.passes.len() < MOST_VALUES {
                self.passes.insert(reading);
            }
        }
        for round in std::mem::take(&mut self.rounds).into_values() {
            self.end_round(&round);
        }
    }

    /// Takes that a thread could not go on with this value.
    pub fn learn_failure(&mut self, reading: Reading) {
        if self.fails.len() < MOST_VALUES {
            self.fails.insert(reading);
        }
    }

    /// What a thread does that reads `value` where it made `event`, or would have.
    pub fn fate(&self, event: &RunEvent, value: Option<u64>) -> Fate {
        if event.state == 0 {
            return Fate::Passes;
        }
        let Some(value) = value else { return Fate::Unknown };
        if let Some(awaited) = event.awaited() {
            return if value == awaited { Fate::Passes } else { Fate::GoesRound };
        }
        let reading = reading(event, value);
        if self.fails.contains(&reading) {
            Fate::GoesRound
        } else if self.passes.contains(&reading) && !self.long.contains(&event.state) {
            Fate::Passes
        } else {
            Fate::Unknown
        }
    }

    fn end_round(&mut self, round: &[Reading]) {
        match round {
            [reading] => self.learn_failure(*reading),
            [first, .., last] => {
                // The state contains what was read before.
                self.learn_failure(*last);
                if self.long.len() < MOST_VALUES {
                    self.long.insert(first.state);
                }
            }
            [] => {}
        }
    }
}

/// The read of an event, if it reads `value`.
pub fn reading(event: &RunEvent, value: u64) -> Reading {
    Reading { state: event.state, address: event.operation.address, value }
}
