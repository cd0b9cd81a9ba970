//! How hard to try: limits, workers, the ways to watch and to end a search, and where its states go.

use crate::{Beyond, Limit, Limits, Progress};
use std::fmt;
use std::sync::atomic::AtomicBool;
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
    pub beyond: Beyond<'a>,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget { limits: Limits::default(), workers: 1, stop: None, progress: None, beyond: Beyond::default() }
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

    /// What is left of it after a start and so many states, for those who search several times for one answer.
    pub fn child(self, start: Instant, states: u64) -> Self {
        Budget { limits: self.limits.left(start, states), ..self }
    }

    /// The limit that is used up, if one is.
    pub fn check(self, start: Instant, states: u64) -> Option<Limit> {
        self.limits.spent(start, states, self.stop)
    }
}
