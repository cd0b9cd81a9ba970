//! Limits over all stages and searches of a hunt together.

use crate::compile::Machine;
use crate::layout::Overflow;
use crate::run::UnreadablePath;
use ravelin_explore::{End, Limit, Options, Space, Until, explore};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Stages up to this size are explored by one worker: they are not worth sharing.
const SMALL_STAGE: u64 = 100_000;

/// Expansions of a hunter between two checks of the limits.
pub(super) const BETWEEN_LOOKS: u32 = 1024;
/// States that a hunter finds between two checks, if there is a limit of states.
const STATES_BETWEEN_LOOKS: u64 = 64;

/// Limits over all stages and searches together.
pub(super) struct HuntClock<'a> {
    pub start: Instant,
    pub options: &'a Options<'a>,
    /// States that the searches of the first stage may take together.
    first_stage: Option<u64>,
}

/// States and bytes of all searches, as of the last check.
pub(super) struct HuntUsage {
    pub states: AtomicU64,
    pub bytes: AtomicU64,
    pub is_first_stage: bool,
}

/// Why a search ended early.
pub(super) enum HuntStop {
    Limit(Limit),
    Outgrown(Overflow),
    /// Another search reached a limit.
    Halted,
    /// The first stage takes more states than permitted.
    Endless,
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
    pub fn new(options: &'a Options<'a>, first_stage: Option<u64>) -> HuntClock<'a> {
        HuntClock { start: Instant::now(), options, first_stage }
    }

    pub fn explore(&self, machine: &Machine, size: u64) -> Space<Overflow> {
        // A hunt starts from the states themselves, so they have to be here.
        let budget = self.options.budget.child(self.start, 0).in_memory();
        // What is searched does not depend on the number of workers as long as only the stage ends.
        let enough = Some(size).filter(|&size| budget.limits.states.is_none_or(|states| states > size));
        let budget = if size <= SMALL_STAGE { budget.workers(1) } else { budget };
        explore(machine, &Options { budget, enough, until: Until::Exhausted })
    }

    /// Whether a limit is the user's, and not the size of the stage.
    pub fn is_final(&self, limit: Limit, size: u64) -> bool {
        match limit {
            Limit::States(_) => {
                self.options.budget.limits.states.is_some_and(|states| states <= size) || size >= u64::from(u32::MAX)
            }
            _ => true,
        }
    }

    /// How many states of a stage are offered. A search exceeds its limit by a few states; how many depends on the
    /// number of workers.
    pub fn offered(&self, space: &Space<Overflow>, size: u64) -> usize {
        match space.end {
            End::Limit(Limit::States(_)) => usize::try_from(size).unwrap_or(usize::MAX),
            _ => usize::MAX,
        }
    }

    /// How many states a hunter may find before the next check of the limits. The others do not know of them, so they
    /// are few.
    pub fn allowance(&self, used: &HuntUsage) -> u64 {
        let Some(most) = self.options.budget.limits.states else { return u64::MAX };
        let left = most.saturating_sub(used.states.load(Ordering::Relaxed));
        (left / 4).min(STATES_BETWEEN_LOOKS)
    }

    /// The limit as the user gave it.
    pub fn named(&self, limit: Limit) -> Limit {
        self.options.budget.limits.as_given(limit)
    }

    pub fn look(&self, used: &HuntUsage) -> Result<(), HuntStop> {
        let budget = self.options.budget;
        let states = used.states.load(Ordering::Relaxed);
        if let Some(limit) = budget.check(self.start, states) {
            return Err(HuntStop::Limit(limit));
        }
        if used.is_first_stage && self.first_stage.is_some_and(|most| states > most) {
            return Err(HuntStop::Endless);
        }
        let bytes = used.bytes.load(Ordering::Relaxed);
        budget.limits.check_memory(bytes).map_or(Ok(()), |limit| Err(HuntStop::Limit(limit)))
    }
}
