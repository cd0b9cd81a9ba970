//! A judge that forgets nothing: every thread, lock and message carries the set of all events that happen before.

use super::steps::{LOCKS, Memory, Step, THREADS};
use ravelin_clocks::AtomicOrder;
use std::collections::{BTreeMap, BTreeSet};

type Events = BTreeSet<usize>;

/// What a thread knows.
#[derive(Clone, Default)]
struct Known {
    events: Events,
    /// What it will know after an acquire fence.
    pending: Events,
    /// What it knew at its last release fence.
    fenced: Events,
}

pub struct Judge {
    threads: Vec<Known>,
    locks: Vec<Events>,
    /// What a reader learns at each atomic location.
    messages: BTreeMap<usize, Events>,
    accesses: Vec<(usize, Memory, u64)>,
}

/// A race on one byte with an access that the detector knows by this stamp.
#[derive(Debug)]
pub struct Race {
    pub byte: usize,
    pub stamp: u64,
}

impl Judge {
    pub fn new() -> Judge {
        Judge {
            threads: vec![Known::default(); THREADS],
            locks: vec![Events::new(); LOCKS],
            messages: BTreeMap::new(),
            accesses: Vec::new(),
        }
    }

    /// What an access would race with.
    pub fn races(&self, memory: Memory) -> Vec<Race> {
        let known = &self.threads[memory.thread].events;
        let mut races = Vec::new();
        for (event, earlier, stamp) in &self.accesses {
            let conflict = (earlier.write || memory.write) && !(earlier.atomic && memory.atomic);
            if conflict && earlier.thread != memory.thread && !known.contains(event) {
                let shared = earlier.bytes().filter(|byte| memory.bytes().contains(byte));
                races.extend(shared.map(|byte| Race { byte, stamp: *stamp }));
            }
        }
        races
    }

    pub fn remember(&mut self, event: usize, memory: Memory, stamp: u64) {
        self.accesses.push((event, memory, stamp));
        self.threads[memory.thread].events.insert(event);
    }

    pub fn synchronise(&mut self, step: Step) {
        match step {
            Step::Release { thread, lock } => self.locks[lock] = self.threads[thread].events.clone(),
            Step::Acquire { thread, lock } => {
                let handed = self.locks[lock].clone();
                self.threads[thread].events.extend(&handed);
                self.threads[thread].pending.extend(&handed);
            }
            Step::Fence { thread, order } => {
                let known = &mut self.threads[thread];
                if matches!(order, AtomicOrder::Acquire | AtomicOrder::AcqRel) {
                    known.events.extend(&known.pending);
                }
                if matches!(order, AtomicOrder::Release | AtomicOrder::AcqRel) {
                    known.fenced = known.events.clone();
                }
            }
            Step::Access(Memory { thread, at, write: true, order, .. }) => {
                let known = &self.threads[thread];
                let message = if order == AtomicOrder::Release { &known.events } else { &known.fenced };
                self.messages.insert(at, message.clone());
            }
            Step::Access(Memory { thread, at, order, .. }) => {
                let message = self.messages.get(&at).cloned().unwrap_or_default();
                let known = &mut self.threads[thread];
                known.pending.extend(&message);
                if order == AtomicOrder::Acquire {
                    known.events.extend(&message);
                }
            }
        }
    }
}
