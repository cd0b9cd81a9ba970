//! Mutexes and read-write locks of the standard library, as locks that a thread holds and waits for.
//!
//! The program's half of a lock is seen as accesses of its functions ([`super::accesses`]): `lock` tries to lock, and calls
//! compiled code if it must wait ([`super::functions`]). Compiled code also locks and unlocks for itself, which is not
//! seen; its calls of the same functions do not count. So a thread says what it wants first, and has it when either
//! the access succeeds or the function returns.

use super::accesses::CodeKind;
use crate::held::{self, LockMode};
use crate::misuse;
use crate::special::{NextAccess, NextAct};
use crate::this_thread::{self, WatchedThread};
use ravelin_clocks::MessageAccess;

/// The calling thread is about to make an access of a lock, by a call that returns to `pc`.
#[inline(always)]
pub fn before(of: CodeKind, next: NextAccess, pc: usize) {
    let NextAccess { address, act, .. } = next;
    match (of, act) {
        (CodeKind::Lock, NextAct::CompareExchange(_)) => wants(address, LockMode::Write, pc),
        (CodeKind::Write, NextAct::CompareExchange(_)) => wants(address, LockMode::Write, pc),
        (CodeKind::Read, NextAct::Load) => wants(address, LockMode::Read, pc),
        // Which of the standard library's functions unlocks depends on what was inlined into what.
        (CodeKind::Inner, _) | (_, NextAct::Load | NextAct::Store | NextAct::CompareExchange(_)) => {}
        // A lock that is downgraded is still held.
        (CodeKind::Writer, _) => {}
        (_, NextAct::Exchange(_) | NextAct::Update) => leaves(address),
    }
}

/// The calling thread has made an access of a lock.
#[inline(always)]
pub fn after(of: CodeKind, next: NextAccess, outcome: MessageAccess, pc: usize) {
    if outcome != MessageAccess::Update {
        return;
    }
    match (of, next.act) {
        (CodeKind::Lock | CodeKind::TryLock | CodeKind::Write | CodeKind::Writer, NextAct::CompareExchange(_)) => {
            took(next.address, LockMode::Write, pc);
        }
        (CodeKind::Read | CodeKind::Reader, NextAct::CompareExchange(_)) => took(next.address, LockMode::Read, pc),
        (CodeKind::Writer, NextAct::Update) => downgraded(next.address),
        _ => {}
    }
}

/// A compiled function in which a thread waits has locked a lock, and returns to `pc`.
pub fn got(lock: usize, mode: LockMode, pc: usize) {
    if with_own(|thread| thread.held.wanted == lock) == Some(true) {
        took(lock, mode, pc);
    }
}

fn wants(lock: usize, mode: LockMode, pc: usize) {
    misuse::waits(lock, mode, pc, |held| {
        // SAFETY: the program's lock, whose first word is 0 exactly if no thread holds it or waits for it.
        let is_free = unsafe { (lock as *const u32).read_volatile() == 0 };
        !is_free && !held.shares_with(mode)
    });
    with_own(|thread| thread.held.wanted = lock);
}

fn took(lock: usize, mode: LockMode, pc: usize) {
    let take = |thread: &mut WatchedThread| {
        thread.held.wanted = 0;
        // A lock that was free is not held by the thread, unless it is another one at the place of one that it never
        // unlocked.
        if mode == LockMode::Write {
            while thread.leaves(lock) {}
        }
        thread.took(lock, mode, pc);
    };
    if let Some(mut inside) = this_thread::enter().or_else(held::known) {
        take(inside.thread());
    }
}

#[inline(always)]
fn leaves(lock: usize) {
    let is_held = with_own(|thread| !thread.held.is_empty() && thread.held.find(lock).is_some());
    if is_held == Some(true)
        && let Some(mut inside) = this_thread::enter().or_else(held::known)
    {
        inside.thread().leaves(lock);
    }
}

fn downgraded(lock: usize) {
    if let Some(mut inside) = this_thread::enter().or_else(held::known) {
        inside.thread().held.downgrade(lock);
    }
}

/// Does something with the calling thread's state.
fn with_own<R>(work: impl FnOnce(&mut WatchedThread) -> R) -> Option<R> {
    let thread = this_thread::me();
    // SAFETY: the calling thread's own state, a field of which no other thread uses.
    unsafe { thread.as_mut() }.map(work)
}
