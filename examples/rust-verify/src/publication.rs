//! One thread writes a value and says so; the other reads it if it was told.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// A place for a value that is written once.
#[derive(Default)]
pub struct Publication {
    value: UnsafeCell<u32>,
    ready: AtomicBool,
}

// SAFETY: the value is read after it was written, if the orders are right.
unsafe impl Sync for Publication {}

impl Publication {
    /// Writes the value. `order` should be `Release`.
    pub fn publish(&self, value: u32, order: Ordering) {
        // SAFETY: nobody reads before `ready`.
        unsafe { *self.value.get() = value };
        self.ready.store(true, order);
    }

    /// The value, if it is there. `order` should be `Acquire`.
    pub fn get(&self, order: Ordering) -> Option<u32> {
        // SAFETY: it was written before `ready`.
        self.ready.load(order).then(|| unsafe { *self.value.get() })
    }
}
