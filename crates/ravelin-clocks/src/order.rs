//! Memory orders.

/// The order of an atomic access or fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOrder {
    /// No ordering.
    Relaxed,
    /// Reads acquire.
    Acquire,
    /// Writes release.
    Release,
    /// Both.
    AcqRel,
    /// Both, and part of the order of all such operations.
    SeqCst,
}

impl AtomicOrder {
    /// Whether a read with this order acquires.
    pub fn acquires(self) -> bool {
        matches!(self, AtomicOrder::Acquire | AtomicOrder::AcqRel | AtomicOrder::SeqCst)
    }

    /// Whether a write with this order releases.
    pub fn releases(self) -> bool {
        matches!(self, AtomicOrder::Release | AtomicOrder::AcqRel | AtomicOrder::SeqCst)
    }
}
