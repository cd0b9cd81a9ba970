//! All traces of a program, by trying every thread everywhere.

use crate::simulated::Simulator;
use ravelin_findings::events::{RunEvent, RunOperation};
use ravelin_verify::{Choice, Script};
use std::collections::{BTreeSet, HashSet};

/// Each event (thread, number within the thread, operation, old value) with the earlier ones that it conflicts with.
pub type Key = Vec<(u32, usize, u8, u64, u64, Vec<(u32, usize)>)>;

/// What runs with the same order of conflicting events have in common.
pub fn key(events: &[RunEvent]) -> Key {
    let mut made: Vec<(u32, usize, RunOperation)> = Vec::new();
    let mut key = Key::new();
    for event in events {
        let number = made.iter().filter(|(thread, _, _)| *thread == event.thread).count();
        let conflicts = |(thread, _, operation): &&(u32, usize, RunOperation)| {
            *thread != event.thread && event.operation.conflicts(operation)
        };
        let mut before: Vec<_> = made.iter().filter(conflicts).map(|&(thread, number, _)| (thread, number)).collect();
        before.sort_unstable();
        let RunOperation { act, address, .. } = event.operation;
        key.push((event.thread, number, act as u8, address, event.read, before));
        made.push((event.thread, number, event.operation));
    }
    key.sort();
    key
}

pub fn script(threads: &[u32]) -> Script {
    let choices = threads.iter().map(|&thread| Choice { thread, times_out: false }).collect();
    Script { choices, ..Script::default() }
}

/// What can happen.
#[derive(Default)]
pub struct All {
    /// Of runs that end by themselves or in a standstill.
    pub traces: BTreeSet<Key>,
    /// The threads whose assertions can fail.
    pub failures: BTreeSet<u32>,
}

/// Everything that a program can do; `None` if there is too much. Beginnings that are the same trace continue in the same
/// way, so only one of them is continued.
pub fn all(simulator: &Simulator, threads: u32, limit: usize) -> Option<All> {
    all_after(simulator, &[], threads, limit)
}

/// Everything that it can do after these steps, which are possible.
pub fn all_after(simulator: &Simulator, steps: &[u32], threads: u32, limit: usize) -> Option<All> {
    let mut all = All::default();
    let mut beginning = simulator.beginning();
    for &thread in steps {
        beginning = simulator.continued(&beginning, thread).expect("a step that is possible");
    }
    // A thread can fail before its first event.
    all.failures.extend(beginning.failed);
    let mut seen = HashSet::new();
    let mut pending = vec![beginning];
    while let Some(before) = pending.pop() {
        let mut is_maximal = true;
        for next in (0..threads).filter_map(|thread| simulator.continued(&before, thread)) {
            is_maximal = false;
            if let Some(thread) = next.failed {
                all.failures.insert(thread);
            } else if seen.insert(key(&next.run.events)) {
                pending.push(next);
            }
            if seen.len() > limit {
                return None;
            }
        }
        if is_maximal {
            all.traces.insert(key(&before.run.events));
        }
    }
    Some(all)
}
