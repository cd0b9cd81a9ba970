//! Happens-before through locks and other synchronisation of the C library. These are modelled precisely, never as
//! atomics.
//!
//! Each function acts for the calling thread, does nothing if that thread is not watched, and enters the runtime by
//! itself. An object is identified by its address; its memory may be forgotten at any time.

use crate::atomics;
use crate::held::{self, LockMode};
use crate::options;
use crate::records;
use crate::this_thread::{self, WatchedThread};
use ravelin_clocks::{ReleaseClocks, ThreadClocks};

/// The calling thread learns what was released at `object`, by a locked instruction.
pub fn acquire(object: usize) {
    learn(object, ThreadClocks::acquire);
}

/// The same by a plain load, as where an initialiser is found to have ended.
pub fn acquire_by_load(object: usize) {
    if let Some(mut inside) = this_thread::enter() {
        learn_released(inside.thread(), object, ThreadClocks::acquire_by_load);
    }
}

/// The same where the order is only assumed: it may excuse an access, but proves nothing.
pub fn acquire_assumed(object: usize) {
    learn(object, ThreadClocks::acquire_views);
}

#[inline(always)]
fn learn(object: usize, acquire: fn(&mut ThreadClocks, &ReleaseClocks)) {
    if let Some(mut inside) = this_thread::enter() {
        learn_inside(inside.thread(), object, acquire);
    }
}

#[inline(always)]
fn learn_inside(thread: &mut WatchedThread, object: usize, acquire: fn(&mut ThreadClocks, &ReleaseClocks)) {
    // Also if nothing was released there yet.
    thread.clocks.drain();
    learn_released(thread, object, acquire);
}

#[inline(always)]
fn learn_released(thread: &mut WatchedThread, object: usize, acquire: fn(&mut ThreadClocks, &ReleaseClocks)) {
    thread.spin.left();
    records::with(object, |record| {
        if let Some(released) = record.released() {
            thread.learns_from(released);
            acquire(&mut thread.clocks, released);
        }
    });
    thread.new_epoch();
}

/// The calling thread has got a lock, by a call that returns to `pc`.
pub fn acquire_lock(lock: usize, mode: LockMode, pc: usize) {
    let Some(mut inside) = this_thread::enter() else {
        return held::took_unwatched(lock, mode, pc);
    };
    let thread = inside.thread();
    if mode == LockMode::Write && thread.held.find(lock).is_some() {
        // A mutex that it has locked before. There is nothing to learn, and the C library only counts.
        thread.spin.left();
    } else {
        learn_inside(thread, lock, ThreadClocks::acquire);
    }
    thread.took(lock, mode, pc);
}

/// The calling thread is about to unlock a lock. Returns whether it holds it; if not, nothing is released. `readers` is
/// where readers release, if the lock is held for reading.
pub fn release_lock(lock: usize, readers: Option<usize>) -> bool {
    let Some(mut inside) = this_thread::enter() else {
        return held::leaves_unwatched(lock);
    };
    let thread = inside.thread();
    if !thread.leaves(lock) {
        return false;
    }
    match readers {
        // Locked several times, it is not unlocked yet.
        None if thread.held.find(lock).is_some() => thread.spin.left(),
        None => release_inside(thread, lock),
        Some(readers) => release_join_inside(thread, readers),
    }
    true
}

/// The same for a lock that is unlocked by a plain store, which leaves the store buffer of x86 as it is.
pub fn release_lock_by_store(lock: usize) -> bool {
    if !options::tso() {
        return release_lock(lock, None);
    }
    let Some(mut inside) = this_thread::enter() else {
        return held::leaves_unwatched(lock);
    };
    let thread = inside.thread();
    if !thread.leaves(lock) {
        return false;
    }
    thread.spin.left();
    records::with(lock, |record| *record.released() = Some(Box::new(thread.clocks.release_by_store())));
    thread.new_epoch();
    true
}

/// What the calling thread knows replaces what was released at `object`. That is correct for a thread that had acquired
/// it (unlock).
pub fn release(object: usize) {
    if let Some(mut inside) = this_thread::enter() {
        release_inside(inside.thread(), object);
    }
}

#[inline(always)]
fn release_inside(thread: &mut WatchedThread, object: usize) {
    thread.spin.left();
    records::with(object, |record| {
        match record.released() {
            Some(released) => thread.clocks.release_into(released),
            none => *none = Some(Box::new(thread.clocks.release())),
        };
    });
    thread.new_epoch();
}

/// What the calling thread knows is added to what was released at `object` (semaphores, readers, barriers).
pub fn release_join(object: usize) {
    if let Some(mut inside) = this_thread::enter() {
        release_join_inside(inside.thread(), object);
    }
}

#[inline(always)]
fn release_join_inside(thread: &mut WatchedThread, object: usize) {
    thread.spin.left();
    records::with(object, |record| {
        let mine = thread.clocks.release();
        match record.released() {
            Some(released) => released.join(&mine),
            none => *none = Some(Box::new(mine)),
        }
    });
    thread.new_epoch();
}

/// What was released at `object` no longer holds, because a new object is there.
pub fn forget(object: usize) {
    if let Some(_inside) = this_thread::enter() {
        records::with(object, |record| *record.released() = None);
    }
}

/// Records that code without instrumentation stored one byte atomically with release order (the guard of a static
/// variable). Later instrumented loads read from that store.
pub fn stored_byte(address: usize) {
    if this_thread::watched() {
        let at = address as *mut u8;
        // SAFETY: the caller has just written this byte.
        atomics::store_from_outside(at, unsafe { at.read_volatile() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::tests::unused;
    use crate::threads::tests::{beside, now, watched, with_clocks};
    use ravelin_clocks::{Epoch, Tid};

    /// Another thread does something and then releases it.
    fn released_by_another(release: impl FnOnce() + Send) -> (Tid, Epoch) {
        let (moment, _) = beside(|| {
            let moment = now();
            release();
            moment
        });
        moment
    }

    fn knows((tid, epoch): (Tid, Epoch)) -> bool {
        with_clocks(|clocks| clocks.happens_after(tid, epoch))
    }

    #[test]
    fn whoever_acquires_knows_what_was_released_and_no_more() {
        watched(|| {
            let (lock, other) = (unused(8), unused(8));
            let moment = released_by_another(|| release(lock));
            let later = released_by_another(|| release(other));
            acquire(lock);
            assert!(knows(moment) && !knows(later));
        });
    }

    #[test]
    fn a_release_takes_the_place_of_the_one_before_it_and_a_joined_one_does_not() {
        watched(|| {
            let lock = unused(8);
            let first = released_by_another(|| release(lock));
            let second = released_by_another(|| release(lock));
            acquire(lock);
            assert!(!knows(first) && knows(second));
            let semaphore = unused(8);
            let first = released_by_another(|| release_join(semaphore));
            let second = released_by_another(|| release_join(semaphore));
            acquire(semaphore);
            assert!(knows(first) && knows(second));
        });
    }

    #[test]
    fn an_assumed_order_is_known_as_well() {
        watched(|| {
            let file = unused(8);
            let moment = released_by_another(|| release_join(file));
            acquire_assumed(file);
            assert!(knows(moment));
        });
    }

    #[test]
    fn what_a_thread_does_after_a_release_is_not_part_of_it() {
        watched(|| {
            let lock = unused(8);
            let (later, _) = beside(|| {
                release(lock);
                now()
            });
            acquire(lock);
            assert!(!knows(later));
        });
    }

    #[test]
    fn a_new_lock_at_the_same_place_hands_on_nothing_of_the_old_one() {
        watched(|| {
            let lock = unused(8);
            let moment = released_by_another(|| release(lock));
            forget(lock);
            acquire(lock);
            assert!(!knows(moment));
        });
    }

    #[test]
    fn a_thread_remembers_from_whom_it_learnt_by_a_lock() {
        watched(|| {
            let lock = unused(8);
            let (tid, _) = released_by_another(|| release(lock));
            let sources = || {
                let mut inside = this_thread::enter().expect("a watched thread");
                inside.thread().sources.all().iter().filter(|reading| reading.source.writer == tid).count()
            };
            assert_eq!(sources(), 0);
            acquire(lock);
            acquire(lock);
            assert_eq!(sources(), 1, "what it knows already is nothing to learn");
        });
    }

    #[test]
    fn a_thread_that_is_not_watched_releases_and_learns_nothing() {
        watched(|| {
            let lock = unused(8);
            this_thread::hide();
            release(lock);
            this_thread::show();
            assert_eq!(records::with(lock, |record| record.released().is_none()), Some(true));
        });
    }
}
