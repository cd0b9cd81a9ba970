//! Threads that stand in the middle of a round of a waiting loop.
//!
//! A loop can read several cells: `while a == 0 || b == 0 {}`. Traces exist in which a thread reads `a`, others write, and
//! then it reads `b` and goes on. A run that is to read `a` at a certain place may continue with a read of `b` that makes
//! the loop go round; then both reads are marked as parts of a round, although the first one was asked for.
//!
//! Such a run still shows what is needed. [`halfway`] makes a run of it in which the thread has read `a`, and would read
//! `b` next. What it did later is left out, and what happens after that.
//!
//! In the same way a thread that waits at the end of a run for `b` has read `a` at last: [`standing`].

use super::step::PlannedStep;
use crate::RecordedRun;
use ravelin_findings::events::{Act, RunEvent, flags};

/// The run in which threads that wait at its end stand before the last read of their last round; `None` if all rounds at
/// its end are single reads.
pub fn standing(run: &RecordedRun) -> Option<RecordedRun> {
    if run.end.is_some() || run.ended_early {
        return None;
    }
    let mut read = Vec::new();
    let mut pending = run.pending.clone();
    for waits in &mut pending {
        let mut mine: Vec<(usize, &RunEvent)> = Vec::new();
        for (at, event) in run.events.iter().enumerate().rev().filter(|(_, event)| event.thread == waits.thread) {
            if !event.is(flags::ROUND) {
                break;
            }
            mine.push((at, event));
            if event.state == waits.state {
                break;
            }
        }
        let current = |&(at, event): &(usize, &RunEvent)| {
            // A write of the same value is none for the loop.
            let writes = |other: &&RunEvent| !other.is(flags::ROUND) && other.operation.conflicts(&event.operation);
            let keeps = |other: &RunEvent| {
                (other.operation.address, other.operation.size, other.written)
                    == (event.operation.address, event.operation.size, event.read)
            };
            run.events[at + 1..].iter().rfind(writes).is_none_or(keeps)
        };
        if let [(_, last), before @ ..] = &mine[..]
            && let Some((_, first)) = before.last()
            && first.state == waits.state
            && mine.iter().all(current)
        {
            read.extend(
                before.iter().rev().map(|(_, event)| RunEvent { flags: event.flags & !flags::ROUND, ..**event }),
            );
            *waits = RunEvent { flags: (last.flags & !flags::ROUND) | flags::PENDING, ..**last };
        }
    }
    if read.is_empty() {
        return None;
    }
    let mut events: Vec<RunEvent> = run.events.iter().filter(|event| !event.is(flags::ROUND)).copied().collect();
    // Nothing comes after the end of the process.
    let end = events.pop_if(|last| last.operation.act == Act::Exit);
    events.extend(read.into_iter().chain(end));
    Some(RecordedRun { events, pending, ..*run })
}

/// The run that stops in the middle of rounds that the script began; `None` if a step of the script ended a round, or
/// something else happened.
pub fn halfway(expected: &[PlannedStep], run: &RecordedRun) -> Option<RecordedRun> {
    let (script, rest) = run.events.split_at_checked(expected.len())?;
    if !script.iter().zip(expected).all(|(event, step)| step.is(event)) {
        return None;
    }
    let mut stopped = Vec::new();
    for (at, event) in script.iter().enumerate().filter(|(_, event)| event.is(flags::ROUND)) {
        if ends_round(&run.events, at) {
            return None;
        }
        stopped.push(event.thread);
    }
    let mut events: Vec<RunEvent> =
        script.iter().map(|&event| RunEvent { flags: event.flags & !flags::ROUND, ..event }).collect();
    let mut left_out: Vec<RunEvent> = Vec::new();
    for event in rest {
        let after = |other: &RunEvent| {
            other.thread == event.thread
                || (!other.is(flags::ROUND) && other.operation.conflicts(&event.operation))
                || other.operation.enables(&event.operation, event.thread)
        };
        // The process ends when all others wait, and those that are stopped do not.
        let ends = event.operation.act == Act::Exit;
        if ends || stopped.contains(&event.thread) || (!event.is(flags::ROUND) && left_out.iter().any(after)) {
            left_out.push(*event);
        } else if !event.is(flags::ROUND) {
            events.push(*event);
        }
    }
    // The first event of each thread that is left out is what it would do next.
    let mut pending: Vec<RunEvent> = Vec::new();
    for event in left_out.iter().chain(&run.pending) {
        if !pending.iter().any(|other| other.thread == event.thread) {
            let flags = (event.flags | flags::PENDING) & !flags::ROUND;
            pending.push(RunEvent { flags, ..*event });
        }
    }
    Some(RecordedRun { events, pending, end: None, ended_early: false })
}

/// Whether an event is the last one of a round.
pub fn ends_round(events: &[RunEvent], at: usize) -> bool {
    let event = &events[at];
    if !event.is(flags::ROUND) {
        return false;
    }
    let mine = |other: &&RunEvent| other.thread == event.thread;
    let before = events[..at].iter().rev().filter(mine);
    let first = before.take_while(|other| other.is(flags::ROUND)).last().unwrap_or(event);
    let next = events[at + 1..].iter().find(mine);
    next.is_none_or(|next| !next.is(flags::ROUND) || next.state == first.state)
}
