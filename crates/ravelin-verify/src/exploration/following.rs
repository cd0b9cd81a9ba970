//! Whether a run did what its script and what is known about it say.

use super::halfway::{ends_round, halfway};
use super::step::PlannedStep;
use super::trace::Trace;
use crate::RecordedRun;
use ravelin_findings::events::flags;
use ravelin_findings::steering::SteeredEnd;

pub enum Following {
    Yes,
    /// As far as this, which the trace is now: see [`halfway`](super::halfway).
    Halfway(RecordedRun),
    /// The step with this number could not happen.
    Impossible(usize),
    Diverged(usize),
}

/// Whether a run did what was expected. Where it did so in another order, because a round of a waiting loop was begun
/// too early, the trace is reordered.
pub fn follow(expected: &[PlannedStep], trace: &mut Trace, run: &RecordedRun) -> Following {
    let differs = |at: &usize| *at >= trace.len() || !expected[*at].is(trace.event(*at));
    let Some(at) = (0..expected.len()).find(differs) else { return Following::Yes };
    let not_enabled = run.end == Some(SteeredEnd::NotEnabled) && trace.len() == at;
    let went_round = run.events.iter().any(|event| event.thread == expected[at].thread && event.is(flags::ROUND));
    if not_enabled && (at + 1 == expected.len() || went_round) {
        return Following::Impossible(at);
    }
    if !went_round {
        return Following::Diverged(at);
    }
    if let Some(events) = trace.beginning_with(expected) {
        let pending = trace.events()[trace.len()..].to_vec();
        trace.read(&RecordedRun { events, pending, ..*run });
        return Following::Yes;
    }
    match halfway(expected, run) {
        Some(stopped) => {
            trace.read(&stopped);
            Following::Halfway(stopped)
        }
        None => {
            // If the last step only went round, it does not matter what else did.
            let last = expected.len() - 1;
            let last_waits = run.events.len() > last
                && run.events[last].thread == expected[last].thread
                && ends_round(&run.events, last);
            Following::Impossible(if last_waits { last } else { at })
        }
    }
}
