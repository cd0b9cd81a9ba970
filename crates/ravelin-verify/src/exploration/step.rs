//! Steps of scripts, and whether one covers a sequence of others.
//!
//! A [`PlannedStep`] is a choice together with the operation that the thread makes by it. The operation is known because a run
//! has made it, or would have made it next. Only a compare-exchange and an attempt to lock depend on where they happen:
//! such a step may not be [exact](PlannedStep::exact), and then its operation is the one with more conflicts.

use crate::Choice;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};

/// One choice and its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    pub thread: u32,
    /// The thread's wait ends because its time is over.
    pub times_out: bool,
    /// Whether the operation is certain.
    pub exact: bool,
    /// The process ended with it. It stays asleep, so that others continue without it; but it covers nothing.
    pub ends: bool,
    pub operation: RunOperation,
}

impl PlannedStep {
    /// The step that a run made.
    pub fn of(event: &RunEvent) -> PlannedStep {
        let times_out = event.is(flags::TIMED_OUT);
        PlannedStep { thread: event.thread, times_out, exact: true, ends: false, operation: event.operation }
    }

    pub fn choice(&self) -> Choice {
        Choice { thread: self.thread, times_out: self.times_out }
    }

    /// Whether the order of two steps can matter.
    pub fn depends(&self, other: &PlannedStep) -> bool {
        self.thread == other.thread || self.operation.conflicts(&other.operation)
    }

    /// Whether `event` is this step, as far as that is certain.
    pub fn is(&self, event: &RunEvent) -> bool {
        let (mine, done) = (&self.operation, &event.operation);
        // Threads are numbered in the order of their starts, so the number can differ after a reversal.
        let place = mine.act == Act::Start || (mine.address == done.address && mine.size == done.size);
        let act = if self.exact { mine.act == done.act } else { alternatives(mine.act, done.act) };
        self.thread == event.thread && place && act
    }
}

/// Whether an operation that is not certain can turn out as the other one.
fn alternatives(guess: Act, done: Act) -> bool {
    guess == done
        || matches!((guess, done), (Act::Update, Act::Load) | (Act::Lock | Act::LockShared, Act::LockFails))
        || matches!((guess, done), (Act::Lock, Act::LockShared))
}

/// How a step stands to a sequence of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is in the sequence, and nothing before it in the sequence conflicts with it (`I` in the paper): the number of
    /// its position.
    Initial(usize),
    /// It is not in the sequence, and nothing there conflicts with it. With the former, these are the weak initials (`WI`).
    Independent,
    /// Neither, because of the step with this position.
    Woken(usize),
}

/// How `step` stands to `sequence`.
pub fn relation(step: &PlannedStep, sequence: impl Iterator<Item = PlannedStep>) -> Relation {
    for (position, other) in sequence.enumerate() {
        if other.thread == step.thread && other.times_out == step.times_out {
            return Relation::Initial(position);
        }
        if step.depends(&other) {
            return Relation::Woken(position);
        }
    }
    Relation::Independent
}

/// Whether a step is a weak initial of a sequence, so that what begins with the step contains it.
pub fn covers(step: &PlannedStep, sequence: impl Iterator<Item = PlannedStep>) -> bool {
    match relation(step, sequence) {
        Relation::Initial(_) => true,
        Relation::Independent => !step.ends,
        Relation::Woken(_) => false,
    }
}

/// Removes from `sleep` what a step wakes.
pub fn wake(sleep: &mut Vec<PlannedStep>, step: &PlannedStep) {
    sleep.retain(|sleeper| !sleeper.depends(step));
}
