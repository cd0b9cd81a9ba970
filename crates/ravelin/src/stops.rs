//! What accompanies answers: where threads can stop under SC, because nothing after such a place was explored.

use crate::answers;
use crate::error::Error;
use crate::program::Program;
use ravelin_analysis::stops::stops;
use ravelin_answer::{Answer, Verdict};
use ravelin_explore::Budget;
use std::time::Instant;

/// The search for stops is not worth more states than this, unless the question itself took more.
const MOST_STATES: u64 = 1_000_000;

/// Adds the stops to an answer whose question began at `start`, within the rest of its budget. They are searched for
/// once per program.
pub(crate) fn add_stops(program: &Program, budget: Budget, start: Instant, answer: &mut Answer) -> Result<(), Error> {
    let states = answer.states();
    // Of several processes that find the same answer, one reports it.
    let is_other = budget.storage.peers.is_some_and(|peers| peers.number() != 0);
    if budget.spent(start, states).is_some() || is_other {
        return Ok(());
    }
    let found = match program.stops.get() {
        Some(found) => found,
        None => {
            // An answer that ran into a limit of memory has taken long enough.
            let is_unknown = answer.verdict() == Some(Verdict::Unknown);
            let most = if is_unknown { MOST_STATES } else { MOST_STATES.max(2 * states) };
            let left = budget.child(start, states).at_most(most).silent().in_memory();
            let found = stops(&program.program, left)?;
            program.stops.get_or_init(|| found)
        }
    };
    answer.set_stops(answers::stops(found));
    Ok(())
}
