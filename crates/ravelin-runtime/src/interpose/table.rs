//! What is kept beside an object of the C library, by its address or handle.
//!
//! A sorted array behind a spin lock: it is asked only when threads are started or joined and at barriers, and stays
//! small. Whoever holds the lock counts as inside the runtime, so that no signal handler runs in between.

use crate::{kernel, this_thread};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Table<V> {
    locked: AtomicBool,
    entries: UnsafeCell<Vec<(usize, V)>>,
}

// SAFETY: the entries are touched only by whoever holds the lock.
unsafe impl<V: Send> Sync for Table<V> {}

impl<V: Copy> Table<V> {
    pub const fn new() -> Table<V> {
        Table { locked: AtomicBool::new(false), entries: UnsafeCell::new(Vec::new()) }
    }

    pub fn get(&self, key: usize) -> Option<V> {
        self.change(key, |value| value.copied())
    }

    /// Puts `value` in, or in the place of what was known under this key.
    pub fn insert(&self, key: usize, value: V) {
        self.with(|entries| match entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(place) => entries[place].1 = value,
            Err(place) => entries.insert(place, (key, value)),
        });
    }

    /// Takes the entry out if it is one that is `meant`.
    pub fn remove_if(&self, key: usize, meant: impl FnOnce(&V) -> bool) {
        self.with(|entries| {
            if let Ok(place) = entries.binary_search_by_key(&key, |entry| entry.0)
                && meant(&entries[place].1)
            {
                entries.remove(place);
            }
        });
    }

    /// Looks at the entry, and perhaps changes it, under the lock.
    pub fn change<R>(&self, key: usize, change: impl FnOnce(Option<&mut V>) -> R) -> R {
        self.with(|entries| match entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(place) => change(Some(&mut entries[place].1)),
            Err(_) => change(None),
        })
    }

    /// For `fork`: no other thread is in the middle of a change when the process is copied.
    pub fn lock(&self) {
        let mut tries = 0_u32;
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            tries += 1;
            if tries.is_multiple_of(64) {
                kernel::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// See [`Table::lock`].
    pub fn unlock(&self) {
        self.locked.store(false, Ordering::Release);
    }

    fn with<R>(&self, change: impl FnOnce(&mut Vec<(usize, V)>) -> R) -> R {
        let _inside = this_thread::enter();
        self.lock();
        // SAFETY: the lock is held until after the last use.
        let result = change(unsafe { &mut *self.entries.get() });
        self.unlock();
        result
    }
}
