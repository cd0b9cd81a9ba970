//! What all threads know, now and from now on.
//!
//! Views only grow, and a new thread begins with that of another. So what every thread knows at one moment stays known to
//! every thread, and a history needs nothing older than a write that all know ([`crate::history`]): no access can miss
//! such a write, and none can be forced to see less. Computing it takes one look at each thread and none at locations.
//!
//! A thread that sleeps for long knows little, and would keep everything since then from being common. So threads that did
//! nothing lately are *idle* and counted apart: what all others know, and no idle thread does, is of no use to anyone as
//! long as the idle ones learn nothing.

use crate::clock::{Epoch, Tid};
use crate::thread::{ReleaseClocks, ThreadClocks};

/// For each thread, the epoch up to which all others know what it did.
#[derive(Clone, Debug, Default)]
pub struct CommonView {
    all: Least,
    /// The threads that are not idle.
    active: Least,
    /// For each thread, the last of its epochs that some idle thread knows. Those beyond the end are 0.
    idle: Vec<Epoch>,
}

/// The least that some threads know.
#[derive(Clone, Debug, Default)]
struct Least {
    /// Epochs beyond the end are 0.
    epochs: Vec<Epoch>,
    has_threads: bool,
}

impl CommonView {
    /// There are no threads. Nothing is common then.
    pub const fn new() -> CommonView {
        CommonView { all: Least::new(), active: Least::new(), idle: Vec::new() }
    }

    /// Removes all threads, but keeps the memory.
    pub fn clear(&mut self) {
        self.all.clear();
        self.active.clear();
        self.idle.clear();
    }

    /// Adds a thread.
    pub fn thread(&mut self, thread: &ThreadClocks) {
        self.all.thread(thread);
        self.active.thread(thread);
    }

    /// Adds an idle thread.
    pub fn idle_thread(&mut self, thread: &ThreadClocks) {
        self.all.thread(thread);
        let known = thread.cur.view().epochs();
        let width = known.len().max(usize::from(thread.tid) + 1);
        self.idle.resize(width.max(self.idle.len()), 0);
        self.idle.iter_mut().zip(known).for_each(|(most, known)| *most = (*most).max(*known));
        self.idle[usize::from(thread.tid)] = Epoch::MAX;
    }

    /// Adds a thread that will know this before its next event.
    pub fn beginning(&mut self, released: &ReleaseClocks) {
        self.all.beginning(released);
        self.active.beginning(released);
    }

    /// Whether every thread knows what `tid` did at `epoch`.
    #[inline]
    pub fn covers(&self, tid: Tid, epoch: Epoch) -> bool {
        self.all.covers(tid, epoch)
    }

    /// Whether there are idle threads, and others.
    pub(crate) fn has_idle(&self) -> bool {
        self.active.has_threads && !self.idle.is_empty()
    }

    /// Whether every thread that is not idle knows what `tid` did at `epoch`.
    pub(crate) fn is_known_to_active(&self, tid: Tid, epoch: Epoch) -> bool {
        self.active.covers(tid, epoch)
    }

    /// Whether some idle thread knows what `tid` did at `epoch`.
    pub(crate) fn is_known_to_idle(&self, tid: Tid, epoch: Epoch) -> bool {
        self.idle.get(tid as usize).is_some_and(|&known| known >= epoch)
    }
}

impl Least {
    const fn new() -> Least {
        Least { epochs: Vec::new(), has_threads: false }
    }

    fn clear(&mut self) {
        self.epochs.clear();
        self.has_threads = false;
    }

    fn thread(&mut self, thread: &ThreadClocks) {
        let view = thread.cur.view();
        // It knows what it did so far. A thread that begins later may know that, but not what this one does later.
        let knows = |tid: Tid| if tid == thread.tid { thread.epoch - 1 } else { view.get(tid) };
        let width = view.epochs().len().max(usize::from(thread.tid) + 1);
        // The views of x86-TSO are others, and are not compared here.
        self.add(if thread.readers_are_seen() { width } else { 0 }, knows);
    }

    fn beginning(&mut self, released: &ReleaseClocks) {
        let view = released.published().view();
        let width = view.moment().map_or(0, |(by, _)| usize::from(by) + 1);
        self.add(view.epochs().len().max(width), |tid| view.get(tid));
    }

    fn covers(&self, tid: Tid, epoch: Epoch) -> bool {
        self.epochs.get(tid as usize).is_some_and(|&known| known >= epoch)
    }

    /// Adds a thread that knows the epochs that `knows` gives; none from `width` on.
    fn add(&mut self, width: usize, knows: impl Fn(Tid) -> Epoch) {
        if !std::mem::replace(&mut self.has_threads, true) {
            self.epochs.extend((0..width).map(|tid| knows(tid as Tid)));
        }
        self.epochs.truncate(width);
        let known = self.epochs.iter_mut().enumerate();
        known.for_each(|(tid, common)| *common = (*common).min(knows(tid as Tid)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(threads: &[&ThreadClocks]) -> CommonView {
        let mut common = CommonView::new();
        threads.iter().for_each(|thread| common.thread(thread));
        common
    }

    #[test]
    fn a_thread_alone_knows_what_it_did_and_not_what_it_does_later() {
        let alone = ThreadClocks::new(2, 5);
        let common = common(&[&alone]);
        assert!(common.covers(2, 4) && !common.covers(2, 5));
        assert!(!common.covers(1, 1) && !common.covers(3, 1));
    }

    #[test]
    fn what_one_thread_does_not_know_is_not_common() {
        let (mut one, mut other, third) = (ThreadClocks::new(0, 5), ThreadClocks::new(3, 8), ThreadClocks::new(1, 1));
        let released = one.release();
        assert!(!common(&[&one, &other]).covers(0, 1));
        other.acquire(&released);
        assert!(common(&[&one, &other]).covers(0, 5) && !common(&[&one, &other]).covers(0, 6));
        assert!(!common(&[&one, &other]).covers(3, 1), "the first does not know the second");
        assert!(!common(&[&one, &other, &third]).covers(0, 1) && !common(&[&third, &one, &other]).covers(0, 1));
    }

    #[test]
    fn a_thread_that_has_not_begun_knows_what_it_will_begin_with() {
        let mut parent = ThreadClocks::new(0, 5);
        let begins = parent.release();
        let mut common = common(&[&parent]);
        assert!(common.covers(0, 5));
        parent.advance();
        common.clear();
        common.thread(&parent);
        assert!(common.covers(0, 6));
        common.beginning(&begins);
        assert!(common.covers(0, 5) && !common.covers(0, 6));
    }

    #[test]
    fn nothing_is_common_without_threads_and_with_store_buffers() {
        assert!(!CommonView::new().covers(0, 1));
        let mut thread = ThreadClocks::new(0, 5);
        thread.buffer_stores(true);
        assert!(!common(&[&thread]).covers(0, 1) && !common(&[&ThreadClocks::new(1, 5), &thread]).covers(1, 1));
    }

    #[test]
    fn idle_threads_are_counted_apart() {
        let (mut one, mut other, mut idle) =
            (ThreadClocks::new(0, 5), ThreadClocks::new(3, 8), ThreadClocks::new(1, 4));
        idle.acquire(&one.release());
        other.acquire(&one.release());
        let mut common = common(&[&one, &other]);
        assert!(!common.has_idle() && common.covers(0, 6));
        common.idle_thread(&idle);
        assert!(common.has_idle() && common.covers(0, 5) && !common.covers(0, 6), "the idle thread counts");
        assert!(common.is_known_to_active(0, 6) && !common.is_known_to_active(0, 7));
        assert!(common.is_known_to_idle(0, 5) && !common.is_known_to_idle(0, 6) && !common.is_known_to_idle(3, 1));
        assert!(common.is_known_to_idle(1, 1_000), "a thread knows what it does itself");
        common.clear();
        common.idle_thread(&idle);
        assert!(!common.has_idle(), "without others nothing is known to all others");
    }
}
