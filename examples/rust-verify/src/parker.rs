//! A thread waits until another one wakes it, as crossbeam's `Parker` does it.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};

const EMPTY: usize = 0;
const PARKED: usize = 1;
const NOTIFIED: usize = 2;

/// Where one thread parks.
#[derive(Default)]
pub struct Parker {
    state: AtomicUsize,
    lock: Mutex<()>,
    condition: Condvar,
}

impl Parker {
    /// Waits for a notification, and consumes it.
    pub fn park(&self) {
        if self.state.compare_exchange(NOTIFIED, EMPTY, SeqCst, SeqCst).is_ok() {
            return;
        }
        let mut guard = self.lock.lock().unwrap();
        if self.state.compare_exchange(EMPTY, PARKED, SeqCst, SeqCst).is_err() {
            self.state.swap(EMPTY, SeqCst);
            return;
        }
        loop {
            guard = self.condition.wait(guard).unwrap();
            if self.state.compare_exchange(NOTIFIED, EMPTY, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    /// Wakes the thread, or lets its next `park` return at once.
    pub fn unpark(&self) {
        if self.state.swap(NOTIFIED, SeqCst) == PARKED {
            // The thread may have said that it parks and not wait yet. It holds the lock until then.
            drop(self.lock.lock().unwrap());
            self.condition.notify_one();
        }
    }

    /// The same without the lock: the notification can be lost.
    pub fn unpark_too_early(&self) {
        if self.state.swap(NOTIFIED, SeqCst) == PARKED {
            self.condition.notify_one();
        }
    }
}
