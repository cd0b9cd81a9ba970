//! Limits over all stages and searches of a hunt together.

use crate::layout::Overflow;
use crate::run::UnreadablePath;
use ravelin_explore::{Budget, Limit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Expansions of a hunter between two checks of the limits.
pub(super) const BETWEEN_LOOKS: u32 = 1024;
/// States that a hunter finds between two checks, if there is a limit of states.
const STATES_BETWEEN_LOOKS: u64 = 64;

/// Limits over all stages and searches together.
pub(super) struct HuntClock<'a> {
    pub start: Instant,
    pub budget: Budget<'a>,
}

/// States and bytes of all searches, as of the last check.
#[derive(Default)]
pub(super) struct HuntUsage {
    pub states: AtomicU64,
    pub bytes: AtomicU64,
}

/// Why a search ended early.
pub(super) enum HuntStop {
    Limit(Limit),
    Outgrown(Overflow),
    /// A search that comes before this one has ended the stage.
    Halted,
    Unreadable(UnreadablePath),
}

impl From<UnreadablePath> for HuntStop {
    fn from(unreadable: UnreadablePath) -> HuntStop {
        HuntStop::Unreadable(unreadable)
    }
}

impl From<Overflow> for HuntStop {
    fn from(outgrown: Overflow) -> HuntStop {
        HuntStop::Outgrown(outgrown)
    }
}

impl<'a> HuntClock<'a> {
    pub fn new(budget: Budget<'a>) -> HuntClock<'a> {
        HuntClock { start: Instant::now(), budget }
    }

    /// States that the SC space may have, if the hunters have taken so many.
    pub fn left(&self, taken: u64) -> u64 {
        self.budget.limits.states.map_or(u64::MAX, |states| states.saturating_sub(taken))
    }

    /// How many states a hunter may find before the next check of the limits. The others do not know of them, so they
    /// are few.
    pub fn allowance(&self, used: &HuntUsage) -> u64 {
        let Some(most) = self.budget.limits.states else { return u64::MAX };
        let left = most.saturating_sub(used.states.load(Ordering::Relaxed));
        (left / 4).min(STATES_BETWEEN_LOOKS)
    }

    /// The limit as the user gave it.
    pub fn named(&self, limit: Limit) -> Limit {
        self.budget.limits.as_given(limit)
    }

    pub fn look(&self, used: &HuntUsage) -> Result<(), HuntStop> {
        let budget = self.budget;
        let states = used.states.load(Ordering::Relaxed);
        if let Some(limit) = budget.check(self.start, states) {
            return Err(HuntStop::Limit(limit));
        }
        let bytes = used.bytes.load(Ordering::Relaxed);
        budget.limits.check_memory(bytes).map_or(Ok(()), |limit| Err(HuntStop::Limit(limit)))
    }
}
