//! What all threads know, now and from now on.
//!
//! Views only grow, and a new thread begins with that of another. So what every thread knows at one moment stays known to
//! every thread, and a history needs nothing older than a write that all know ([`crate::history`]): no access can miss
//! such a write, and none can be forced to see less. Computing it takes one look at each thread and none at locations.

use crate::clock::{Epoch, Tid};
use crate::thread::{ReleaseClocks, ThreadClocks};

/// For each thread, the epoch up to which all others know what it did.
#[derive(Clone, Debug, Default)]
pub struct CommonView {
    /// Those beyond the end are 0.
    epochs: Vec<Epoch>,
    has_threads: bool,
}

impl CommonView {
    /// There are no threads. Nothing is common then.
    pub const fn new() -> CommonView {
        CommonView { epochs: Vec::new(), has_threads: false }
    }

    /// Removes all threads, but keeps the memory.
    pub fn clear(&mut self) {
        self.epochs.clear();
        self.has_threads = false;
    }

    /// Adds a thread.
    pub fn thread(&mut self, thread: &ThreadClocks) {
        let view = thread.cur.view();
        // It knows what it did so far. A thread that begins later may know that, but not what this one does later.
        let knows = |tid: Tid| if tid == thread.tid { thread.epoch - 1 } else { view.get(tid) };
        let width = view.epochs().len().max(usize::from(thread.tid) + 1);
        // The views of x86-TSO are others, and are not compared here.
        self.add(if thread.readers_are_seen() { width } else { 0 }, knows);
    }

    /// Adds a thread that will know this before its next event.
    pub fn beginning(&mut self, released: &ReleaseClocks) {
        let view = released.published().view();
        let width = view.moment().map_or(0, |(by, _)| usize::from(by) + 1);
        self.add(view.epochs().len().max(width), |tid| view.get(tid));
    }

    /// Whether every thread knows what `tid` did at `epoch`.
    #[inline]
    pub fn covers(&self, tid: Tid, epoch: Epoch) -> bool {
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
}
