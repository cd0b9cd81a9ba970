//! The locks that a thread holds: mutexes, read-write locks and spin locks of the C library, and locks of Rust's standard
//! library.
//!
//! A short array of the thread. The thread adds what it locks and removes what it unlocks, which costs a few
//! instructions if it holds one lock at a time. Another thread may only empty an entry, when it takes the lock away.
//! Where a lock was locked is found in the thread's trace.

use crate::this_thread::{self, WatchedThread};
use crate::threads;
use crate::trace::{self, Time};
use ravelin_clocks::Tid;
use ravelin_findings::{AccessKind, AccessRecord, RecordedOrder};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many locks are remembered.
const MOST: usize = 32;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Others may read, too.
    Read,
    /// Alone.
    Write,
}

impl LockMode {
    /// Whether two threads can hold a lock at the same time in these ways.
    pub fn shares_with(self, other: LockMode) -> bool {
        self == LockMode::Read && other == LockMode::Read
    }

    pub fn access_kind(self) -> AccessKind {
        match self {
            LockMode::Read => AccessKind::ReadLock,
            LockMode::Write => AccessKind::Lock,
        }
    }
}

/// One lock that a thread holds.
pub struct HeldLock {
    /// Its address; 0 if another thread has unlocked it.
    lock: AtomicUsize,
    pub mode: LockMode,
    /// How often the thread has locked it, for recursive locks.
    times: u32,
    /// When and where it was locked first.
    tid: Tid,
    epoch: u32,
    pc: usize,
}

impl HeldLock {
    const fn none() -> HeldLock {
        HeldLock { lock: AtomicUsize::new(0), mode: LockMode::Write, times: 0, tid: 0, epoch: 0, pc: 0 }
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.lock.load(Ordering::Relaxed)
    }

    /// The call that locked it, by the thread with this number, as far as it is remembered.
    pub fn access(&self, number: u64) -> AccessRecord {
        let address = self.address();
        let found = threads::trace_of(self.tid, |trace| {
            trace.find(Time::Epoch(self.epoch), |at, _, shape| at == address && shape & trace::ATOMIC == 0)
        });
        let stack = found.flatten().map_or_else(|| vec![self.pc as u64], |found| found.stack);
        call_record(number, self.mode.access_kind(), stack)
    }
}

/// A call as a finding has it.
pub fn call_record(thread: u64, kind: AccessKind, stack: Vec<u64>) -> AccessRecord {
    AccessRecord { thread, kind, order: RecordedOrder::Plain, size: 0, stack }
}

/// The locks of one thread.
pub struct HeldLocks {
    locks: [HeldLock; MOST],
    count: usize,
    /// There was no room for a lock: an unknown lock may be held, too.
    overflowed: bool,
    /// The lock of Rust's standard library that it is about to get; 0 if there is none.
    pub wanted: usize,
}

impl HeldLocks {
    pub const fn new() -> HeldLocks {
        HeldLocks { locks: [const { HeldLock::none() }; MOST], count: 0, overflowed: false, wanted: 0 }
    }

    /// Whether no lock is held.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether all locks are known.
    pub fn is_complete(&self) -> bool {
        !self.overflowed
    }

    /// The locks, first locked first.
    pub fn all(&self) -> impl Iterator<Item = &HeldLock> {
        self.locks[..self.count].iter().filter(|held| held.address() != 0)
    }

    /// How a lock is held, if it is.
    pub fn find(&self, lock: usize) -> Option<&HeldLock> {
        self.all().find(|held| held.address() == lock)
    }

    /// A lock that was held alone is held for reading.
    pub fn downgrade(&mut self, lock: usize) {
        if let Some(held) = self.locks[..self.count].iter_mut().find(|held| held.address() == lock) {
            held.mode = LockMode::Read;
        }
    }

    /// A lock is not held any more. Returns whether it was.
    #[inline(always)]
    fn remove(&mut self, lock: usize) -> bool {
        // Usually the last one is unlocked first.
        let Some(index) = (0..self.count).rev().find(|&index| self.locks[index].address() == lock) else {
            return false;
        };
        let held = &mut self.locks[index];
        held.times = held.times.saturating_sub(1);
        if held.times == 0 {
            held.lock.store(0, Ordering::Relaxed);
            self.locks[index..self.count].rotate_left(1);
            self.count -= 1;
        }
        true
    }
}

impl WatchedThread {
    /// The thread, which is inside, has got a lock by a call that returns to `pc`.
    #[inline(always)]
    pub fn took(&mut self, lock: usize, mode: LockMode, pc: usize) {
        if self.held.count > 0 {
            if let Some(held) = self.held.locks[..self.held.count].iter_mut().find(|held| held.address() == lock) {
                held.times += 1;
                return;
            }
            if self.held.count == MOST {
                self.held.overflowed = true;
                return;
            }
        }
        self.trace.access(pc, lock, trace::shape(mode == LockMode::Write, false, 1), self.calls());
        let (tid, epoch) = (self.clocks.tid, self.clocks.epoch);
        let held = &mut self.held.locks[self.held.count];
        (held.mode, held.times, held.tid, held.epoch, held.pc) = (mode, 1, tid, epoch, pc);
        held.lock.store(lock, Ordering::Relaxed);
        self.held.count += 1;
    }

    /// The thread, which is inside, is about to unlock a lock. Returns whether it holds it.
    #[inline(always)]
    pub fn leaves(&mut self, lock: usize) -> bool {
        self.held.remove(lock)
    }
}

/// The calling thread, whose accesses are not watched, has got a lock.
#[cold]
pub fn took_unwatched(lock: usize, mode: LockMode, pc: usize) {
    if let Some(mut inside) = known() {
        inside.thread().took(lock, mode, pc);
    }
}

/// The calling thread, whose accesses are not watched, is about to unlock a lock. Returns whether it holds it, or is
/// not known.
#[cold]
pub fn leaves_unwatched(lock: usize) -> bool {
    known().is_none_or(|mut inside| inside.thread().leaves(lock))
}

/// The calling thread, unless nothing is watched in this process.
pub fn known() -> Option<this_thread::InsideGuard> {
    if threads::is_off() { None } else { this_thread::enter_unwatched() }
}

/// The call by which another thread got a lock that it holds. If `takes_away`, it does not hold it any more.
pub fn held_by_another(lock: usize, takes_away: bool) -> Option<AccessRecord> {
    let me = this_thread::me();
    let mut found = None;
    threads::for_each_running(|thread| {
        if thread == me || found.is_some() {
            return;
        }
        // SAFETY: states are never freed. The owner may change the list meanwhile; then a lock that it unlocks just now
        // is not found.
        let (held, number) = unsafe { (&(*thread).held, (*thread).number) };
        let count = held.count.min(MOST);
        if let Some(held) = held.locks[..count].iter().find(|held| held.address() == lock) {
            found = Some(held.access(number));
            if takes_away {
                let _ = held.lock.compare_exchange(lock, 0, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{beside, watched};

    fn take(lock: usize, mode: LockMode, pc: usize) {
        this_thread::enter().expect("a watched thread").thread().took(lock, mode, pc);
    }

    fn leave(lock: usize) -> bool {
        this_thread::enter().expect("a watched thread").thread().leaves(lock)
    }

    fn held() -> Vec<usize> {
        let mut inside = this_thread::enter().expect("a watched thread");
        inside.thread().held.all().map(HeldLock::address).collect()
    }

    #[test]
    fn locks_are_held_until_they_are_unlocked_in_any_order() {
        watched(|| {
            for lock in [16, 32, 48] {
                take(lock, LockMode::Write, 1);
            }
            assert!(leave(32) && !leave(32));
            assert_eq!(held(), [16, 48]);
            take(16, LockMode::Write, 2);
            assert!(leave(16));
            assert_eq!(held(), [16, 48], "a recursive lock is held until it is unlocked as often as it was locked");
            assert!(leave(16) && leave(48));
            assert_eq!(held(), [0; 0]);
        });
    }

    #[test]
    fn the_place_of_a_lock_is_known_while_it_is_held() {
        watched(|| {
            let thread = this_thread::me();
            // SAFETY: the calling thread's own state.
            unsafe { (*thread).enter_function(0x11, 900) };
            take(64, LockMode::Read, 0x12);
            // SAFETY: as above.
            unsafe { (*thread).leave_function() };
            take(80, LockMode::Write, 0x13);
            let mut inside = this_thread::enter().expect("a watched thread");
            let access = inside.thread().held.find(64).expect("a lock").access(7);
            assert_eq!((access.thread, access.kind), (7, AccessKind::ReadLock));
            assert_eq!(access.stack[..2], [0x12, 0x11]);
        });
    }

    #[test]
    fn a_lock_of_another_thread_is_found_and_can_be_taken_away() {
        watched(|| {
            take(0x1000, LockMode::Write, 0x21);
            beside(|| {
                assert!(held_by_another(0x2000, false).is_none());
                let access = held_by_another(0x1000, true).expect("another thread holds it");
                assert_eq!(access.stack[0], 0x21);
            });
            assert!(!leave(0x1000));
        });
    }

    #[test]
    fn locks_for_which_there_is_no_room_are_not_called_unlocked() {
        watched(|| {
            for lock in 1..=MOST + 1 {
                take(lock * 16, LockMode::Write, 1);
            }
            let mut inside = this_thread::enter().expect("a watched thread");
            assert!(!inside.thread().held.is_complete());
        });
    }
}
