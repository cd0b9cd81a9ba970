//! A value that is freed with the last reference to it, as `Arc` does it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

struct Counted<T> {
    count: AtomicUsize,
    value: T,
}

/// How a reference is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// As it should be: the last one acquires what the others released.
    Ordered,
    /// Nothing orders the uses of the others before the end of the value.
    Relaxed,
    /// The count is looked at first and changed later.
    Late,
}

/// A reference to a value.
pub struct Reference<T> {
    counted: NonNull<Counted<T>>,
    release: Release,
}

// SAFETY: as for `Arc`.
unsafe impl<T: Send + Sync> Send for Reference<T> {}

impl<T> Reference<T> {
    pub fn new(value: T, release: Release) -> Reference<T> {
        let counted = Box::new(Counted { count: AtomicUsize::new(1), value });
        Reference { counted: NonNull::from(Box::leak(counted)), release }
    }

    pub fn get(&self) -> &T {
        // SAFETY: it exists as long as there is a reference.
        unsafe { &self.counted.as_ref().value }
    }

    fn is_last(&self) -> bool {
        // SAFETY: as above.
        let count = unsafe { &self.counted.as_ref().count };
        match self.release {
            Release::Ordered => {
                let last = count.fetch_sub(1, Ordering::Release) == 1;
                if last {
                    fence(Ordering::Acquire);
                }
                last
            }
            Release::Relaxed => count.fetch_sub(1, Ordering::Relaxed) == 1,
            Release::Late => {
                let last = count.load(Ordering::Acquire) == 1;
                if !last {
                    count.fetch_sub(1, Ordering::AcqRel);
                }
                last
            }
        }
    }
}

impl<T> Clone for Reference<T> {
    fn clone(&self) -> Reference<T> {
        // SAFETY: as above.
        unsafe { self.counted.as_ref() }.count.fetch_add(1, Ordering::Relaxed);
        Reference { counted: self.counted, release: self.release }
    }
}

impl<T> Drop for Reference<T> {
    fn drop(&mut self) {
        if self.is_last() {
            // SAFETY: nobody else has a reference.
            drop(unsafe { Box::from_raw(self.counted.as_ptr()) });
        }
    }
}
