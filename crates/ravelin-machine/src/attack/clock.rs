//! Limits over all stages and searches of a hunt together.

use crate::layout::Overflow;
use crate::run::UnreadablePath;
use ravelin_explore::{Budget, Limit, LostProcess, Peers};
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

/// Words of a stop.
pub(super) const STOP_WORDS: usize = 4;

impl HuntStop {
    /// As words, for the other processes.
    pub fn words(&self) -> [u64; STOP_WORDS] {
        match self {
            HuntStop::Limit(limit) => {
                let [kind, value] = limit.words();
                [0, kind, value, 0]
            }
            HuntStop::Outgrown(outgrown) => {
                let [kind, first, second] = outgrown.words();
                [1, kind, first, second]
            }
            HuntStop::Halted => [2, 0, 0, 0],
            HuntStop::Unreadable(path) => [3, path.step as u64, 0, 0],
        }
    }

    /// From the words of another process.
    pub fn of_words([kind, first, second, third]: [u64; STOP_WORDS]) -> HuntStop {
        match kind {
            0 => HuntStop::Limit(Limit::of_words([first, second])),
            1 => HuntStop::Outgrown(Overflow::of_words([first, second, third])),
            2 => HuntStop::Halted,
            _ => HuntStop::Unreadable(UnreadablePath { step: first as usize }),
        }
    }
}

impl From<LostProcess> for HuntStop {
    fn from(lost: LostProcess) -> HuntStop {
        HuntStop::Limit(lost.into())
    }
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

    /// The other processes, if there are any.
    pub fn peers(&self) -> Option<&'a dyn Peers> {
        self.budget.storage.peers.filter(|peers| peers.processes() > 1)
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
