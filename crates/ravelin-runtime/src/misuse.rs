//! Objects of the C library that the program uses wrongly: what locks, threads and blocks of the heap do not allow.
//!
//! The functions of [`crate::interpose`] read the state of an object, and say here what they see. Nothing happens here
//! as long as a program does nothing wrong and holds one lock at a time.

use crate::held::{self, HeldLock, LockMode, call_record};
use crate::own_caller::own_caller;
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::{lock_order, options, report, threads};
use ravelin_findings::{AccessKind, AccessRecord, Problem};
use std::sync::atomic::{AtomicBool, Ordering};

/// Who holds a lock that the calling thread unlocks, according to the lock itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// No thread.
    Nobody,
    /// Another thread.
    Another,
    /// The caller, or that is not known.
    MaybeCaller,
}

/// The calling thread is about to wait for a lock, by a call that returns to `pc`. If it holds the lock already,
/// `for_itself` says whether it would wait for ever.
#[inline(always)]
pub fn waits(lock: usize, mode: LockMode, pc: usize, for_itself: impl FnOnce(LockMode) -> bool) {
    let thread = this_thread::me();
    // SAFETY: the calling thread's own state.
    if !thread.is_null() && unsafe { !(*thread).held.is_empty() } {
        waits_holding(lock, mode, pc, for_itself);
    }
}

#[inline(never)]
fn waits_holding(lock: usize, mode: LockMode, pc: usize, for_itself: impl FnOnce(LockMode) -> bool) {
    let Some(mut inside) = held::known() else { return };
    let thread = inside.thread();
    match thread.held.find(lock) {
        Some(held) if for_itself(held.mode) => {
            let first = held.access(thread.number);
            report(thread, Problem::DoubleLock, lock, (mode.access_kind(), pc), first);
        }
        None if !this_thread::active().is_null() => lock_order::waits(thread, lock, mode, pc),
        Some(_) | None => {}
    }
}

/// The calling thread gives a mutex up while it waits for a condition, and will lock it again.
#[inline(always)]
pub fn waits_again(lock: usize, pc: usize) {
    let thread = this_thread::active();
    // SAFETY: the calling thread's own state.
    let holds_another = !thread.is_null() && unsafe { (*thread).held.all().any(|held| held.address() != lock) };
    if holds_another && let Some(mut inside) = this_thread::enter() {
        lock_order::waits(inside.thread(), lock, LockMode::Write, pc);
    }
}

/// The calling thread unlocks a lock that it does not hold as far as the runtime knows.
#[cold]
pub fn unlocks(lock: usize, pc: usize, holder: LockHolder) {
    let Some(mut inside) = held::known() else { return };
    let thread = inside.thread();
    if !thread.held.is_complete() {
        return;
    }
    match holder {
        LockHolder::Nobody => {
            let unknown = call_record(thread.number, AccessKind::Unlock, Vec::new());
            report(thread, Problem::UnlockOfUnlocked, lock, (AccessKind::Unlock, pc), unknown);
        }
        LockHolder::Another => {
            let unknown = || call_record(thread.number, AccessKind::Lock, Vec::new());
            let locked = held::held_by_another(lock, true).unwrap_or_else(unknown);
            report(thread, Problem::UnlockByAnother, lock, (AccessKind::Unlock, pc), locked);
        }
        LockHolder::MaybeCaller => {}
    }
}

/// The calling thread destroys a lock that is locked.
#[cold]
pub fn destroys_locked(lock: usize, pc: usize) {
    let Some(mut inside) = held::known() else { return };
    let thread = inside.thread();
    let mine = thread.held.find(lock).map(|held| HeldLock::access(held, thread.number));
    let unknown = || call_record(thread.number, AccessKind::Lock, Vec::new());
    let locked = mine.or_else(|| held::held_by_another(lock, true)).unwrap_or_else(unknown);
    report(thread, Problem::DestroyOfLocked, lock, (AccessKind::Destroy, pc), locked);
    while thread.leaves(lock) {}
}

/// Where mutexes were destroyed, the last ones.
static DESTROYED: Spin<Vec<(usize, AccessRecord)>> = Spin::new(Vec::new());
const MOST_DESTROYED: usize = 256;

/// The calling thread destroys a lock.
pub fn destroys(lock: usize, pc: usize) {
    let Some(mut inside) = held::known() else { return };
    let access = call(inside.thread(), AccessKind::Destroy, pc);
    let mut destroyed = DESTROYED.lock();
    destroyed.retain(|(other, _)| *other != lock);
    if destroyed.len() == MOST_DESTROYED {
        destroyed.remove(0);
    }
    destroyed.push((lock, access));
}

/// The calling thread uses a lock that was destroyed.
#[cold]
pub fn uses_destroyed(lock: usize, kind: AccessKind, pc: usize) {
    let Some(mut inside) = held::known() else { return };
    let thread = inside.thread();
    let known = DESTROYED.lock().iter().find(|(other, _)| *other == lock).map(|(_, access)| access.clone());
    let destroyed = known.unwrap_or_else(|| call_record(thread.number, AccessKind::Destroy, Vec::new()));
    report(thread, Problem::UseOfDestroyed, lock, (kind, pc), destroyed);
}

/// The program ends: threads that ended but were neither joined nor detached. May be called several times.
pub fn leaves_threads() {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    let Some(_inside) = held::known() else { return };
    if !options::looks_for(Problem::ThreadLeak) || REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    for (number, parent, stack) in threads::left_over() {
        let start = call_record(parent, AccessKind::ThreadStart, stack);
        let end = call_record(number, AccessKind::ThreadEnd, Vec::new());
        report::misuse(Problem::ThreadLeak, 0, start, end, Vec::new());
    }
}

/// A signal handler of the program has returned with another `errno`. It interrupted the instruction at `pc`, with the
/// stack pointer `sp`.
#[cold]
pub fn changes_errno(handler: usize, pc: usize, sp: usize) {
    let Some(mut inside) = held::known() else { return };
    let thread = inside.thread();
    if options::looks_for(Problem::ErrnoChange) {
        // Stacks have addresses of returns, which are after the instruction that counts.
        let handler = call_record(thread.number, AccessKind::SignalHandler, vec![handler as u64 + 1]);
        let mut interrupted = call(thread, AccessKind::InterruptedCode, pc + 1);
        if let Some(caller) = own_caller(pc, sp, thread.calls().last()) {
            interrupted.stack.insert(1, caller as u64);
        }
        report::misuse(Problem::ErrnoChange, 0, handler, interrupted, Vec::new());
    }
}

fn call(thread: &WatchedThread, kind: AccessKind, pc: usize) -> AccessRecord {
    call_record(thread.number, kind, thread.stack_at(pc))
}

fn report(
    thread: &WatchedThread,
    problem: Problem,
    address: usize,
    (kind, pc): (AccessKind, usize),
    other: AccessRecord,
) {
    if options::looks_for(problem) {
        report::misuse(problem, address, call(thread, kind, pc), other, Vec::new());
    }
}
