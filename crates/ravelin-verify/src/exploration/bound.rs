//! The bound on preemptions.
//!
//! A preemption: another thread makes the next step although the one that has the turn could go on. It could if its next
//! event, in the run from which the script comes, does not block. If that event blocks, it could if nothing between
//! conflicts with it. Only the steps of the script are counted: after them a thread keeps the turn as long as it can run.

use super::Exploration;
use super::step::PlannedStep;
use super::trace::Trace;
use ravelin_findings::events::RunEvent;

impl Exploration {
    /// Whether the first `depth` events of a run, and then `steps`, have no more preemptions than allowed.
    pub(super) fn is_within_bound(&self, trace: &Trace, depth: usize, steps: &[PlannedStep]) -> bool {
        let Some(most) = self.options.preemptions else { return true };
        let beginning = trace.events()[..depth].iter().map(PlannedStep::of);
        let schedule: Vec<PlannedStep> = beginning.chain(steps.iter().copied()).collect();
        preemptions(&schedule, trace.events()) <= most
    }
}

/// Counts preemptions in a schedule of a run with these events.
fn preemptions(schedule: &[PlannedStep], events: &[RunEvent]) -> u32 {
    let mut count = 0;
    for (at, pair) in schedule.windows(2).enumerate() {
        let thread = pair[0].thread;
        if thread == pair[1].thread {
            continue;
        }
        let made = schedule[..=at].iter().filter(|step| step.thread == thread).count();
        let Some(next) = events.iter().filter(|event| event.thread == thread).nth(made) else { continue };
        let until = schedule[at + 1..].iter().position(|step| step.thread == thread);
        let between = until.map(|until| &schedule[at + 1..at + 1 + until]);
        let free = |between: &[PlannedStep]| !between.iter().any(|step| step.operation.conflicts(&next.operation));
        if !next.blocks() || between.is_some_and(free) {
            count += 1;
        }
    }
    count
}
