//! Atomic accesses that only synchronise: those inside locks, channels and reference counts of a trusted library.
//!
//! Such an access is not checked, and its position after another one proves nothing by itself: the program cannot
//! observe that a lock was found taken a moment too early. Only C11's synchronisation counts. A thread that acquires
//! what another released knows it, both by happens-before and in the sc sense, as with a lock of the C library. There
//! is no history; a message is a [`ReleaseClocks`].

use crate::knowledge::PublishedClocks;
use crate::order::AtomicOrder;
use crate::thread::{ReleaseClocks, ThreadClocks};

/// What an access does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageAccess {
    Load,
    Store,
    /// A read-modify-write: the message stays, because the release sequence continues.
    Update,
}

impl ThreadClocks {
    /// An access of the given kind to a location that holds `message`.
    pub fn exchange_message(
        &mut self,
        message: &mut Option<Box<ReleaseClocks>>,
        touch: MessageAccess,
        order: AtomicOrder,
    ) {
        if touch != MessageAccess::Store
            && let Some(message) = message
        {
            if order.acquires() {
                self.acquire(message);
            } else if !self.cur.covers(self.tid, message.published()) {
                let acq = self.acq.get_or_insert_with(|| self.cur.clone());
                acq.join(self.tid, message.published());
                self.changed = self.epoch;
            }
        }
        if touch == MessageAccess::Load {
            self.advance();
            return;
        }
        let own = if order.releases() { Some(self.release()) } else { self.released_by_fence() };
        match (own, message) {
            (Some(own), Some(there)) if touch == MessageAccess::Update => there.join(&own),
            (None, _) if touch == MessageAccess::Update => {}
            (own, message) => *message = own.map(Box::new),
        }
        self.changed = self.epoch;
        self.advance();
    }

    /// What a relaxed write publishes: what was known at the last release fence. The sc clock of that moment no longer
    /// exists, so nothing is claimed in the sc sense, which can only hide violations.
    fn released_by_fence(&self) -> Option<ReleaseClocks> {
        let rel: &PublishedClocks = self.rel.as_ref()?;
        Some(ReleaseClocks::of(rel.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AtomicOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    use MessageAccess::{Load, Store, Update};

    /// Whether thread 2 knows what thread 1 did first, after these accesses of one location, each by thread 1, 2 or 3.
    fn known(accesses: &[(usize, MessageAccess, AtomicOrder)]) -> bool {
        let mut threads = [ThreadClocks::new(1, 5), ThreadClocks::new(2, 5), ThreadClocks::new(3, 5)];
        let mut message = None;
        for &(who, touch, order) in accesses {
            threads[who - 1].exchange_message(&mut message, touch, order);
        }
        threads[1].happens_after(1, 5)
    }

    #[test]
    fn a_message_synchronises_as_in_c11() {
        assert!(known(&[(1, Store, Release), (2, Load, Acquire)]));
        assert!(known(&[(1, Update, AcqRel), (2, Update, Acquire)]));
        assert!(known(&[(1, Store, SeqCst), (2, Load, SeqCst)]));
        assert!(!known(&[(1, Store, Relaxed), (2, Load, Acquire)]));
        assert!(!known(&[(1, Store, Release), (2, Load, Relaxed)]));
        assert!(!known(&[(2, Load, Acquire), (1, Store, Release)]));
    }

    #[test]
    fn updates_of_others_do_not_end_a_release_sequence_and_stores_do() {
        assert!(known(&[(1, Store, Release), (3, Update, Relaxed), (2, Load, Acquire)]));
        assert!(!known(&[(1, Store, Release), (3, Store, Relaxed), (2, Load, Acquire)]));
        assert!(!known(&[(1, Store, Release), (3, Store, Release), (2, Load, Acquire)]));
    }

    #[test]
    fn fences_make_synchronisation_of_relaxed_accesses() {
        let (mut first, mut second) = (ThreadClocks::new(1, 5), ThreadClocks::new(2, 5));
        let mut hidden = crate::FenceLocation::new();
        let mut message = None;
        first.fence(Release, &mut hidden);
        first.exchange_message(&mut message, Store, Relaxed);
        second.exchange_message(&mut message, Load, Relaxed);
        assert!(!second.happens_after(1, 5));
        second.fence(Acquire, &mut hidden);
        assert!(second.happens_after(1, 5));
    }
}
