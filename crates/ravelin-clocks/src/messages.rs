//! Atomic accesses that only synchronise: those inside locks, channels and reference counts of a trusted library.
//!
//! Such an access is not checked, and its position after another one proves nothing by itself: the program cannot
//! observe that a lock was found taken a moment too early. Only C11's synchronisation counts. A thread that acquires
//! what another released knows it, both by happens-before and in the sc sense, as with a lock of the C library. There
//! is no history; a message is a [`ReleaseClocks`]. Under x86-TSO each access counts as a fence, which hides violations
//! and causes none.

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
                self.learn_message(message.published(), order);
                self.changed = self.epoch;
            }
            if !order.acquires() {
                self.acquire_stores(message.drained());
            }
        }
        if touch == MessageAccess::Load {
            self.advance();
            return;
        }
        let mut own = if order.releases() { Some(self.release()) } else { self.released_by_fence() };
        if self.buffer.is_some() && !order.releases() {
            // On x86 every store publishes.
            self.release_stores(true, own.get_or_insert_default().drained_mut());
        }
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
    fn released_by_fence(&mut self) -> Option<ReleaseClocks> {
        let rel: &PublishedClocks = self.rel.as_ref()?;
        self.rel_copied = true;
        Some(ReleaseClocks::of(rel.clone()))
    }
}
