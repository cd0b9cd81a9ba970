//! Data about an object of the C library, by its address or handle.
//!
//! A sorted array with a spin lock. It is used only when threads are started or joined and at barriers, and stays
//! small. A thread that holds the lock counts as inside the runtime, so that no signal handler runs in between.

use crate::{kernel, this_thread};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct ObjectTable<V> {
    locked: AtomicBool,
    entries: UnsafeCell<Vec<(usize, V)>>,
}

// SAFETY: only the holder of the lock touches the entries.
unsafe impl<V: Send> Sync for ObjectTable<V> {}

impl<V: Copy> ObjectTable<V> {
    pub const fn new() -> ObjectTable<V> {
        ObjectTable { locked: AtomicBool::new(false), entries: UnsafeCell::new(Vec::new()) }
    }

    pub fn get(&self, key: usize) -> Option<V> {
        self.change(key, |value| value.copied())
    }

    /// Inserts `value`, or replaces what was known under this key.
    pub fn insert(&self, key: usize, value: V) {
        self.with(|entries| match entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(place) => entries[place].1 = value,
            Err(place) => entries.insert(place, (key, value)),
        });
    }

    /// Removes the entry if it satisfies `meant`.
    pub fn remove_if(&self, key: usize, meant: impl FnOnce(&V) -> bool) {
        self.with(|entries| {
            if let Ok(place) = entries.binary_search_by_key(&key, |entry| entry.0)
                && meant(&entries[place].1)
            {
                entries.remove(place);
            }
        });
    }

    /// Reads the entry, and possibly changes it, under the lock.
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

    /// See [`ObjectTable::lock`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_last_is_found_under_its_key_only() {
        let table = ObjectTable::new();
        for (key, value) in [(5, 'a'), (3, 'b'), (9, 'c'), (5, 'd')] {
            table.insert(key, value);
        }
        assert_eq!([3, 4, 5, 9].map(|key| table.get(key)), [Some('b'), None, Some('d'), Some('c')]);
    }

    #[test]
    fn an_entry_is_taken_out_only_if_it_is_meant() {
        let table = ObjectTable::new();
        table.insert(1, 10);
        table.remove_if(1, |value| *value == 11);
        assert_eq!(table.get(1), Some(10));
        table.remove_if(2, |_| panic!("there is no such entry"));
        table.remove_if(1, |value| *value == 10);
        assert_eq!(table.get(1), None);
    }

    #[test]
    fn a_change_stays() {
        let table = ObjectTable::new();
        table.insert(1, 10);
        let before = table.change(1, |value| value.map(|value| std::mem::replace(value, 20)));
        assert_eq!((before, table.get(1)), (Some(10), Some(20)));
        assert!(table.change(2, |value| value.is_none()));
    }

    #[test]
    fn no_change_is_lost_between_threads() {
        const TIMES: usize = 2_000;
        let table = ObjectTable::new();
        table.insert(1, 0);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let table = &table;
                scope.spawn(move || {
                    for time in 0..TIMES {
                        table.change(1, |value| *value.expect("an entry") += 1);
                        // Neighbouring entries are inserted and removed.
                        table.insert(10 + thread, time);
                        table.remove_if(10 + thread, |value| *value == time);
                    }
                });
            }
        });
        assert_eq!(table.get(1), Some(3 * TIMES));
        assert_eq!([10, 11, 12].map(|key| table.get(key)), [None; 3]);
    }

    #[test]
    fn whoever_has_locked_the_table_keeps_changes_out() {
        let table = ObjectTable::new();
        table.lock();
        std::thread::scope(|scope| {
            let changed = scope.spawn(|| table.insert(1, 2));
            // SAFETY: the lock is held.
            assert!(unsafe { &*table.entries.get() }.is_empty());
            table.unlock();
            changed.join().expect("the other thread goes on");
        });
        assert_eq!(table.get(1), Some(2));
    }
}
