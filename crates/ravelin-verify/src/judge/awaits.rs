//! Which values only make a waiting loop go round.
//!
//! A thread that comes back to the same access in the same state, and has done nothing else in between, has read a value
//! with which the loop goes round. An access that could read such a value from an older write could only wait longer,
//! and that is no different run. Rounds with several accesses are left alone: which of their values matters is not known.

use ravelin_findings::events::RunEvent;
use rustc_hash::FxHashMap;

/// The rounds that threads are in, and what is known from rounds about initial values.
#[derive(Default)]
pub(super) struct Rounds {
    /// By thread: the indices of the rounds directly before its next event.
    current: FxHashMap<u32, Vec<usize>>,
    /// By range, where a round was its first access.
    initial: FxHashMap<(u64, u32), u64>,
}

impl Rounds {
    /// An event that is a part of a round.
    pub fn note(&mut self, index: usize, event: &RunEvent) {
        self.current.entry(event.thread).or_default().push(index);
    }

    /// The thread has made an event.
    pub fn finish(&mut self, thread: u32) {
        if !self.current.is_empty() {
            self.current.remove(&thread);
        }
    }

    /// What a range held before its first write, if a round read that.
    pub fn initial(&self, address: u64, size: u32) -> Option<u64> {
        self.initial.get(&(address, size)).copied()
    }

    /// Remembers that a range that was not written yet holds this value.
    pub fn read_initial(&mut self, event: &RunEvent) {
        self.initial.entry((event.operation.address, event.operation.size)).or_insert(event.read);
    }

    /// Whether a round with this value led directly back to the event.
    pub fn goes_round(&self, events: &[RunEvent], event: &RunEvent, value: u64) -> bool {
        let Some(rounds) = self.current.get(&event.thread) else { return false };
        let comes_back =
            |next: &RunEvent| next.state == event.state && next.operation.address == event.operation.address;
        event.state != 0
            && rounds.iter().enumerate().any(|(number, &round)| {
                let next = rounds.get(number + 1).map_or(event, |&next| &events[next]);
                events[round].read == value && comes_back(&events[round]) && comes_back(next)
            })
    }
}
