//! How hard to try: limits, workers, the ways to watch and to end a search, and where its states go.

use crate::{Limit, Limits, Progress, Storage};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a question may take. Without limits a question takes what it needs.
///
/// ```
/// use ravelin_explore::Budget;
///
/// let budget = Budget::seconds(10).states(1_000_000).workers(2);
/// assert_eq!(budget.limits.states, Some(1_000_000));
/// ```
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    pub limits: Limits,
    /// Threads to search with, at least one.
    pub workers: usize,
    /// Set to true, it ends the search, which says what is known so far.
    pub stop: Option<&'a AtomicBool>,
    /// Called now and then.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
    /// What there is beyond the memory of this process, for those who explore explicitly.
    pub storage: Storage<'a>,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget { limits: Limits::default(), workers: 1, stop: None, progress: None, storage: Storage::default() }
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("limits", &self.limits).field("workers", &self.workers).finish_non_exhaustive()
    }
}

impl<'a> Budget<'a> {
    /// No limit, one worker.
    pub fn unlimited() -> Self {
        Budget::default()
    }

    /// At most so many seconds.
    pub fn seconds(seconds: u64) -> Self {
        Budget::default().time(Duration::from_secs(seconds))
    }

    /// At most so much time.
    pub fn time(mut self, time: Duration) -> Self {
        self.limits.time = Some(time);
        self
    }

    /// At most so many states.
    pub fn states(mut self, states: u64) -> Self {
        self.limits.states = Some(states);
        self
    }

    /// At most so many bytes.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.memory = Some(bytes);
        self
    }

    /// Threads to search with.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Ends when the flag becomes true.
    pub fn stop(mut self, stop: &'a AtomicBool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Reports how far the search has come.
    pub fn progress(mut self, progress: &'a (dyn Fn(&Progress) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// At most so many states, and no more than before.
    pub fn at_most(self, states: u64) -> Self {
        self.states(self.limits.states.map_or(states, |given| given.min(states)))
    }

    /// Without reports of progress, for a search beside the one that is reported.
    pub fn silent(self) -> Self {
        Budget { progress: None, ..self }
    }

    /// In the memory of this process alone: without peers, spilling and checkpoints.
    pub fn in_memory(self) -> Self {
        Budget { storage: Storage::default(), ..self }
    }

    /// What is left of it after a start and so many states, for those who search several times for one answer.
    pub fn child(self, start: Instant, states: u64) -> Self {
        Budget { limits: self.limits.left(start, states), ..self }
    }

    /// What is left of it beside so many bytes that are held already.
    pub fn holding(mut self, bytes: u64) -> Self {
        self.limits.memory = self.limits.memory.map(|most| most.saturating_sub(bytes));
        self
    }

    /// Whether the flag asks to stop.
    pub fn is_stopped(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Why it is time to end, if it is: the flag asks to stop, or the time is over.
    pub fn late(self, start: Instant) -> Option<Limit> {
        if self.is_stopped() {
            return Some(Limit::Stopped);
        }
        self.limits.late(start).map(Limit::Time)
    }

    /// Why a search ends that began at `start` and has stored so many states, if it does. Where memory is counted too, see
    /// [`Limits::check_memory`].
    pub fn check(self, start: Instant, states: u64) -> Option<Limit> {
        self.late(start).or_else(|| self.limits.check_states(states))
    }

    /// Why there is no other search after so many states, if there is none: it would store one state at least.
    pub fn spent(self, start: Instant, states: u64) -> Option<Limit> {
        self.check(start, states.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_n_permits_n() {
        let start = Instant::now();
        let budget = Budget::unlimited().states(3).memory(5);
        assert_eq!((budget.check(start, 3), budget.check(start, 4)), (None, Some(Limit::States(3))));
        assert_eq!((budget.spent(start, 2), budget.spent(start, 3)), (None, Some(Limit::States(3))));
        let memory = |bytes| budget.limits.check_memory(bytes);
        assert_eq!((memory(5), memory(6)), (None, Some(Limit::Memory(5))));
        assert_eq!((budget.at_most(2).limits.states, budget.at_most(4).limits.states), (Some(2), Some(3)));
    }

    #[test]
    fn the_wish_to_stop_comes_before_the_limits() {
        let stop = AtomicBool::new(true);
        let budget = Budget::seconds(0).states(0).stop(&stop);
        assert_eq!(budget.check(Instant::now(), 1), Some(Limit::Stopped));
    }
}
