//! Functions by which code bases inform any sanitizer of what it cannot see: the compilers'
//! `sanitizer/tsan_interface.h`, and the older dynamic annotations.
//!
//! They are weak symbols, because code that carries the annotations often defines empty versions of them too.
//!
//! An annotated order is assumed ([`sync::acquire_assumed`]): "after" comes after every "before" at that address so
//! far, which may be more than the code means. An annotated lock is taken as a lock, and its implementation is not
//! watched.

use super::rwlock::left_by_readers;
use crate::spin::Spin;
use crate::{memory, sync, this_thread, threads};
use libc::{c_int, c_uint};
use std::sync::atomic::{AtomicBool, Ordering};

interpose! {
    fn __tsan_acquire(object: usize) {
        sync::acquire_assumed(object);
    }

    fn __tsan_release(object: usize) {
        sync::release_join(object);
    }

    fn __tsan_mutex_create(mutex: usize, _flags: c_uint) {
        new_lock(mutex);
    }

    fn __tsan_mutex_destroy(mutex: usize, _flags: c_uint) {
        new_lock(mutex);
    }

    fn __tsan_mutex_pre_lock(_mutex: usize, _flags: c_uint) {
        this_thread::hide();
    }

    fn __tsan_mutex_post_lock(mutex: usize, flags: c_uint, _recursion: c_int) {
        this_thread::show();
        if flags & FAILED == 0 {
            locked(mutex, flags & READS == 0);
        }
    }

    fn __tsan_mutex_pre_unlock(mutex: usize, flags: c_uint) -> c_int {
        unlocking(mutex, flags & READS == 0);
        this_thread::hide();
        0
    }

    fn __tsan_mutex_post_unlock(_mutex: usize, _flags: c_uint) {
        this_thread::show();
    }

    fn __tsan_mutex_pre_signal(_mutex: usize, _flags: c_uint) {
        this_thread::hide();
    }

    fn __tsan_mutex_post_signal(_mutex: usize, _flags: c_uint) {
        this_thread::show();
    }

    /// The lock's code calls back.
    fn __tsan_mutex_pre_divert(_mutex: usize, _flags: c_uint) {
        this_thread::show();
    }

    fn __tsan_mutex_post_divert(_mutex: usize, _flags: c_uint) {
        this_thread::hide();
    }

    fn AnnotateHappensBefore(_file: usize, _line: c_int, object: usize) {
        sync::release_join(object);
    }

    fn AnnotateHappensAfter(_file: usize, _line: c_int, object: usize) {
        sync::acquire_assumed(object);
    }

    fn AnnotateRWLockCreate(_file: usize, _line: c_int, lock: usize) {
        new_lock(lock);
    }

    fn AnnotateRWLockCreateStatic(_file: usize, _line: c_int, lock: usize) {
        new_lock(lock);
    }

    fn AnnotateRWLockDestroy(_file: usize, _line: c_int, lock: usize) {
        new_lock(lock);
    }

    /// The last argument is a `long` in some versions and an `int` in others.
    fn AnnotateRWLockAcquired(_file: usize, _line: c_int, lock: usize, writes: c_int) {
        locked(lock, writes != 0);
    }

    fn AnnotateRWLockReleased(_file: usize, _line: c_int, lock: usize, writes: c_int) {
        unlocking(lock, writes != 0);
    }

    fn AnnotateBenignRace(_file: usize, _line: c_int, address: usize, _why: usize) {
        benign(address, 1);
    }

    fn AnnotateBenignRaceSized(_file: usize, _line: c_int, address: usize, size: usize, _why: usize) {
        benign(address, size);
    }

    fn AnnotateIgnoreReadsBegin(_file: usize, _line: c_int) {
        ignore(0, true);
    }

    fn AnnotateIgnoreReadsEnd(_file: usize, _line: c_int) {
        ignore(0, false);
    }

    fn AnnotateIgnoreWritesBegin(_file: usize, _line: c_int) {
        ignore(1, true);
    }

    fn AnnotateIgnoreWritesEnd(_file: usize, _line: c_int) {
        ignore(1, false);
    }

    fn AnnotateNewMemory(_file: usize, _line: c_int, address: usize, size: usize) {
        memory::forget(address, size);
    }

    fn AnnotateThreadName(_file: usize, _line: c_int, name: usize) {
        let number = this_thread::enter_unwatched().map(|mut inside| inside.thread().number as u32);
        if let Some(number) = number {
            // SAFETY: the program's string.
            threads::named(number, unsafe { std::ffi::CStr::from_ptr(name as *const _) }.to_bytes());
        }
    }

    /// For tests that switch their tool off. Accesses that are not watched for a while lead to false alarms later.
    fn AnnotateEnableRaceDetection(_file: usize, _line: c_int, _on: c_int) {}
}

/// Flags of the functions for mutexes: as a reader, and after a failed attempt.
const READS: c_uint = 1 << 3;
const FAILED: c_uint = 1 << 5;

fn new_lock(lock: usize) {
    sync::forget(lock);
    sync::forget(left_by_readers(lock));
}

fn locked(lock: usize, writes: bool) {
    sync::acquire(lock);
    if writes {
        sync::acquire(left_by_readers(lock));
    }
}

fn unlocking(lock: usize, writes: bool) {
    if writes {
        sync::release(lock);
    } else {
        sync::release_join(left_by_readers(lock));
    }
}

/// Starts or stops ignoring the calling thread's reads (0) or writes (1).
fn ignore(which: usize, begins: bool) {
    if let Some(mut inside) = this_thread::enter_unwatched() {
        let count = &mut inside.thread().ignored[which];
        *count = if begins { count.saturating_add(1) } else { count.saturating_sub(1) };
    }
}

/// Where races are intended: first addresses and ends.
static BENIGN: Spin<Vec<(usize, usize)>> = Spin::new(Vec::new());
static ANY_BENIGN: AtomicBool = AtomicBool::new(false);

fn benign(address: usize, size: usize) {
    if let Some(_inside) = this_thread::enter_unwatched() {
        let range = (address, address.saturating_add(size));
        let mut all = BENIGN.lock();
        if !all.contains(&range) {
            all.push(range);
        }
        ANY_BENIGN.store(true, Ordering::Relaxed);
    }
}

/// Whether the program intends races here. The caller is inside.
pub fn is_benign(address: usize, size: usize) -> bool {
    ANY_BENIGN.load(Ordering::Relaxed)
        && BENIGN.lock().iter().any(|&(start, end)| address < end && start < address + size)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::shadow::tests::unused;
    use crate::threads::tests::{beside, now, watched, with_clocks};

    /// Records that races here are intended. The calling thread is known.
    pub fn benign(address: usize, size: usize) {
        super::benign(address, size);
    }

    #[test]
    fn a_race_is_meant_if_it_touches_a_byte_of_a_range_that_was_told() {
        let start = unused(64) + 16;
        watched(|| {
            assert!(!is_benign(start, 8));
            benign(start, 8);
            benign(start, 8);
            for (address, size, expected) in
                [(0, 1, true), (7, 1, true), (8, 1, false), (-1, 1, false), (-1, 2, true), (-8, 64, true)]
            {
                assert_eq!(is_benign(start.wrapping_add_signed(address), size), expected, "{size} bytes at {address}");
            }
        });
        assert_eq!(BENIGN.lock().iter().filter(|range| range.0 == start).count(), 1, "told twice, remembered once");
    }

    #[test]
    fn ignoring_may_be_nested_and_ended_once_too_often() {
        watched(|| {
            let ignored = || this_thread::enter().expect("a watched thread").thread().ignored;
            ignore(0, true);
            ignore(0, true);
            ignore(1, true);
            assert_eq!(ignored(), [2, 1]);
            ignore(0, false);
            ignore(1, false);
            ignore(1, false);
            assert_eq!(ignored(), [1, 0]);
        });
    }

    /// Whether the calling thread knows what another thread did before it released a lock, each as a writer or not.
    fn knows_after(lock: usize, other_writes: bool, writes: bool) -> bool {
        let ((tid, epoch), _) = beside(|| {
            let moment = now();
            unlocking(lock, other_writes);
            moment
        });
        locked(lock, writes);
        with_clocks(|clocks| clocks.happens_after(tid, epoch))
    }

    #[test]
    fn a_lock_orders_everybody_but_two_readers() {
        watched(|| {
            assert!(knows_after(unused(8), true, true), "a writer after a writer");
            assert!(knows_after(unused(8), true, false), "a reader after a writer");
            assert!(knows_after(unused(8), false, true), "a writer after a reader");
            assert!(!knows_after(unused(8), false, false), "a reader after a reader");
        });
    }

    #[test]
    fn how_a_lock_is_made_is_not_watched_but_what_it_calls_back_is() {
        let lock = unused(8);
        watched(|| {
            // SAFETY: nothing is accessed through the lock's address.
            unsafe {
                __tsan_mutex_pre_lock(lock, 0);
                assert!(!this_thread::watched());
                __tsan_mutex_pre_divert(lock, 0);
                assert!(this_thread::watched());
                __tsan_mutex_post_divert(lock, 0);
                assert!(!this_thread::watched());
                __tsan_mutex_post_lock(lock, 0, 0);
                assert!(this_thread::watched());
                assert_eq!(__tsan_mutex_pre_unlock(lock, 0), 0);
                assert!(!this_thread::watched());
                __tsan_mutex_post_unlock(lock, 0);
                assert!(this_thread::watched());
            }
        });
    }

    #[test]
    fn a_lock_that_was_not_taken_orders_nothing() {
        let lock = unused(8);
        watched(|| {
            let ((tid, epoch), _) = beside(|| {
                let moment = now();
                unlocking(lock, true);
                moment
            });
            for (flags, expected) in [(FAILED, false), (0, true)] {
                // SAFETY: nothing is accessed through the lock's address.
                unsafe {
                    __tsan_mutex_pre_lock(lock, flags);
                    __tsan_mutex_post_lock(lock, flags, 0);
                }
                assert_eq!(with_clocks(|clocks| clocks.happens_after(tid, epoch)), expected);
            }
        });
    }

    #[test]
    fn a_lock_that_is_made_anew_knows_nothing_of_the_old_one() {
        let lock = unused(8);
        watched(|| {
            let ((tid, epoch), _) = beside(|| {
                let moment = now();
                unlocking(lock, true);
                unlocking(lock, false);
                moment
            });
            new_lock(lock);
            locked(lock, true);
            assert!(!with_clocks(|clocks| clocks.happens_after(tid, epoch)));
        });
    }
}
