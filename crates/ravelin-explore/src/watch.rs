//! A budget for work that is no search: compiling, expanding goals, closures, lists of places.
//!
//! Such work counts its steps and what it holds. After a number of steps the watch looks at the clock and at the wish to stop; growth is
//! compared with the limit of memory at once. The first limit that is hit is kept: every later step gets it too, so that work which
//! cannot return at once ends soon. A step costs one decrement, a look some tens of nanoseconds.

use crate::{Budget, Limit, Progress};
use std::cell::Cell;
use std::time::Instant;

/// Steps between two looks at the clock. A step should take less than a tenth of a millisecond.
const PATIENCE: u32 = 256;

/// Watches over a phase. It belongs to one thread.
///
/// ```
/// use ravelin_explore::{Budget, Limit, Watch};
/// use std::time::Duration;
///
/// let watch = Watch::new(Budget::unlimited().time(Duration::ZERO), "counting");
/// let ended = (0..1_000_000).try_for_each(|_| watch.step());
/// assert_eq!(ended, Err(Limit::Time(Duration::ZERO)));
/// ```
#[derive(Debug)]
pub struct Watch<'a> {
    budget: Budget<'a>,
    /// What is shown of the phase: its name, or how far its search has come.
    shown: Cell<Progress>,
    start: Instant,
    /// Steps until the next look.
    left: Cell<u32>,
    looks: Cell<u64>,
    bytes: Cell<u64>,
    /// Bytes that others hold beside the phase.
    beside: Cell<u64>,
    limit: Cell<Option<Limit>>,
}

impl<'a> Watch<'a> {
    /// A phase that begins now. Its name is for the line that shows progress: "expanding goals".
    pub fn new(budget: Budget<'a>, phase: &'static str) -> Watch<'a> {
        Watch::since(budget, phase, Instant::now())
    }

    /// A phase of work that began before.
    pub fn since(budget: Budget<'a>, phase: &'static str, start: Instant) -> Watch<'a> {
        // The first step looks: a wish to stop, or a time that is over, ends a phase before it begins.
        let (left, looks) = (Cell::new(1), Cell::new(0));
        let (bytes, beside) = (Cell::new(0), Cell::new(0));
        let shown = Cell::new(Progress { phase, ..Progress::default() });
        Watch { budget, shown, start, left, looks, bytes, beside, limit: Cell::new(None) }
    }

    /// A phase without limits.
    pub fn unlimited() -> Watch<'static> {
        Watch::new(Budget::unlimited(), "")
    }

    /// One step of the work.
    #[inline]
    pub fn step(&self) -> Result<(), Limit> {
        match self.left.get() {
            0 | 1 => self.look(),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }

    /// So many steps at once.
    pub fn steps(&self, count: usize) -> Result<(), Limit> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match self.left.get().checked_sub(count) {
            Some(left @ 1..) => {
                self.left.set(left);
                Ok(())
            }
            _ => self.look(),
        }
    }

    /// The phase holds so many bytes more.
    pub fn hold(&self, bytes: usize) -> Result<(), Limit> {
        self.bytes.set(self.bytes.get().saturating_add(bytes as u64));
        let held = self.bytes.get().saturating_add(self.beside.get());
        if self.counts_memory()
            && let Some(limit) = self.budget.limits.check_memory(held)
        {
            return Err(self.end(limit));
        }
        self.step()
    }

    /// The phase is a search, and this is what it has kept and where it is. Its states and bytes are compared with their limits at once.
    pub fn keep(&self, searched: Progress) -> Result<(), Limit> {
        self.shown.set(searched);
        self.set_beside(searched.bytes as usize);
        let held = self.bytes.get().saturating_add(searched.bytes);
        let limits = self.budget.limits;
        match limits.check_states(searched.states).or_else(|| limits.check_memory(held)) {
            Some(limit) => Err(self.end(limit)),
            None => self.step(),
        }
    }

    /// The phase holds so many bytes less.
    pub fn release(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes as u64));
    }

    /// Others hold so many bytes, which count too.
    pub fn set_beside(&self, bytes: usize) {
        self.beside.set(bytes as u64);
    }

    /// What the phase says that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// The limit that ended the phase, if one did.
    pub fn limit(&self) -> Option<Limit> {
        self.limit.get()
    }

    /// How often it looked at the clock.
    pub fn looks(&self) -> u64 {
        self.looks.get()
    }

    /// What is left for the phases that follow, while this one's results are kept.
    pub fn rest(&self) -> Budget<'a> {
        let rest = self.budget.child(self.start, 0);
        if self.counts_memory() { rest.holding(self.bytes.get()) } else { rest }
    }

    /// With a directory to spill to, the limit of memory is that of a search, which goes on without.
    fn counts_memory(&self) -> bool {
        self.budget.storage.spill.is_none()
    }

    #[cold]
    fn look(&self) -> Result<(), Limit> {
        if let Some(limit) = self.limit.get() {
            return Err(limit);
        }
        self.left.set(PATIENCE);
        self.looks.set(self.looks.get() + 1);
        if let Some(progress) = self.budget.progress {
            let bytes = self.bytes.get().saturating_add(self.beside.get());
            progress(&Progress { bytes, elapsed: self.start.elapsed(), ..self.shown.get() });
        }
        self.budget.late(self.start).map_or(Ok(()), |limit| Err(self.end(limit)))
    }

    /// Keeps the first limit; from now on every step gets it.
    fn end(&self, limit: Limit) -> Limit {
        let first = self.limit.get().unwrap_or(limit);
        self.limit.set(Some(first));
        self.left.set(0);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    #[test]
    fn a_wish_to_stop_ends_a_phase_at_its_first_step() {
        let stop = AtomicBool::new(true);
        let watch = Watch::new(Budget::unlimited().stop(&stop), "");
        assert_eq!((watch.step(), watch.looks()), (Err(Limit::Stopped), 1));
        assert_eq!(watch.step(), Err(Limit::Stopped), "and every later one");
        assert_eq!(watch.looks(), 1, "without another look");
    }

    #[test]
    fn the_clock_is_looked_at_now_and_then() {
        let watch = Watch::new(Budget::seconds(3600), "");
        assert!((0..10 * PATIENCE).all(|_| watch.step().is_ok()));
        assert_eq!(watch.looks(), 10);
        assert!((0..10).all(|_| watch.steps(PATIENCE as usize).is_ok()));
        assert_eq!(watch.looks(), 20);
        assert!(watch.steps(usize::MAX).is_ok());
        assert_eq!(watch.looks(), 21);
    }

    #[test]
    fn what_is_held_counts_and_what_is_released_does_not() {
        let watch = Watch::new(Budget::unlimited().memory(100), "");
        assert_eq!(watch.hold(60), Ok(()));
        watch.release(30);
        assert_eq!((watch.hold(70), watch.bytes()), (Ok(()), 100));
        assert_eq!(watch.rest().limits.memory, Some(0));
        watch.release(50);
        watch.set_beside(50);
        assert_eq!(watch.hold(0), Ok(()));
        assert_eq!(watch.hold(1), Err(Limit::Memory(100)));
        assert_eq!((watch.step(), watch.limit()), (Err(Limit::Memory(100)), Some(Limit::Memory(100))));
    }

    #[test]
    fn what_a_search_keeps_is_limited_and_shown() {
        let shown = std::sync::Mutex::new(Vec::new());
        let note = |progress: &Progress| shown.lock().unwrap().push((progress.phase, progress.states, progress.bytes));
        let watch = Watch::new(Budget::unlimited().states(3).memory(100).progress(&note), "preparing");
        assert_eq!(watch.hold(10), Ok(()));
        let kept = |states, bytes| watch.keep(Progress { states, bytes, ..Progress::default() });
        assert!((0..PATIENCE).all(|_| kept(3, 90).is_ok()));
        assert_eq!(*shown.lock().unwrap(), [("preparing", 0, 10), ("", 3, 100)]);
        assert_eq!((kept(3, 91), watch.limit()), (Err(Limit::Memory(100)), Some(Limit::Memory(100))));
        let watch = Watch::new(Budget::unlimited().states(3), "");
        assert_eq!(watch.keep(Progress { states: 4, ..Progress::default() }), Err(Limit::States(3)));
        assert_eq!(watch.step(), Err(Limit::States(3)), "and every later step");
    }

    #[test]
    fn what_is_left_is_named_as_it_was_given() {
        let budget = Budget::seconds(5).memory(100);
        let watch = Watch::new(budget, "");
        assert_eq!(watch.hold(40), Ok(()));
        let rest = watch.rest();
        assert_eq!(rest.limits.memory, Some(60));
        let reached = rest.limits.check_memory(61).map(|limit| budget.limits.as_given(limit));
        assert_eq!(reached, Some(Limit::Memory(100)));
        assert_eq!(rest.limits.given_time, Some(Duration::from_secs(5)));
    }
}
