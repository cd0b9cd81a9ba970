//! A schedule of the same trace with few changes of threads, for people to read.
//!
//! A thread that has the turn keeps it as long as what its events wait for has happened: giving it up earlier never
//! helps, because then less has happened. So only the order of threads is searched, in steps of one turn each, and a few
//! of the most advanced beginnings are kept.

use super::trace::Trace;
use crate::{Choice, RecordedRun, Script};
use ravelin_findings::events::RunEvent;

/// How many beginnings are kept.
const KEPT: usize = 32;

/// A script that leads to the same trace as these events of a run, with as few changes of threads as were found.
pub fn shorten(events: &[RunEvent]) -> Script {
    let mut trace = Trace::default();
    trace.read(&RecordedRun { events: events.to_vec(), ..RecordedRun::default() });
    let threads = trace.threads();
    // All turns, each with the one before: thread and how many events it makes.
    let mut turns: Vec<(usize, usize, usize)> = Vec::new();
    let mut beginnings = vec![(vec![0; threads.len()], usize::MAX, 0)];
    while beginnings.iter().all(|(_, _, count)| *count < trace.len()) {
        let mut next: Vec<(Vec<u32>, usize, usize)> = Vec::new();
        let last_thread = |turn: usize| turns.get(turn).map(|&(_, thread, _)| thread);
        let mut added = Vec::new();
        for (made, turn, count) in &beginnings {
            for thread in (0..threads.len()).filter(|&thread| Some(thread) != last_thread(*turn)) {
                let mut made = made.clone();
                let mut length = 0;
                while let Some(&at) = threads[thread].get(made[thread] as usize)
                    && trace.is_ready(at, &made)
                {
                    made[thread] += 1;
                    length += 1;
                }
                if length > 0 && !next.iter().any(|(other, _, _)| *other == made) {
                    next.push((made, turns.len() + added.len(), count + length));
                    added.push((*turn, thread, length));
                }
            }
        }
        turns.extend(added);
        // Those that have made most come first.
        next.sort_by_key(|&(_, turn, count)| (std::cmp::Reverse(count), turn));
        next.truncate(KEPT);
        if next.is_empty() {
            // Impossible: the order of the run is always a way to continue.
            break;
        }
        beginnings = next;
    }
    let mut order = Vec::new();
    let mut turn = beginnings.first().map_or(usize::MAX, |&(_, turn, _)| turn);
    while let Some(&(before, thread, length)) = turns.get(turn) {
        order.push((thread, length));
        turn = before;
    }
    let mut made = vec![0; threads.len()];
    let mut choices = Vec::with_capacity(trace.len());
    for (thread, length) in order.into_iter().rev() {
        let events = &threads[thread][made[thread]..made[thread] + length];
        choices.extend(events.iter().map(|&at| trace.step(at).choice()));
        made[thread] += length;
    }
    Script { choices, ..Script::default() }
}

/// How often another thread gets the turn in a script.
pub fn changes(choices: &[Choice]) -> usize {
    choices.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}
