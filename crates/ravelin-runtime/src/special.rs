//! What happens before an atomic access in a thread whose accesses need more than usual: a scheduling point, a stronger
//! order than the program's, a suggested fence.

use crate::repair;
use crate::schedule;
use crate::this_thread;
use ravelin_findings::AccessKind;

/// Runs before an access that returns to `pc` with the order of this code. Returns the order that it must have.
#[inline(always)]
pub fn before(pc: usize, code: i32, kind: AccessKind) -> i32 {
    let thread = this_thread::active();
    // SAFETY: the calling thread's own state.
    if !thread.is_null() && unsafe { (*thread).special } != 0 { prepare(pc, code, kind) } else { code }
}

/// The same for a compare-exchange, with an order for success and one for failure.
#[inline(always)]
pub fn before_exchange(pc: usize, codes: (i32, i32)) -> (i32, i32) {
    let thread = this_thread::active();
    // SAFETY: the calling thread's own state.
    if !thread.is_null() && unsafe { (*thread).special } != 0 { prepare_exchange(pc, codes) } else { codes }
}

#[cold]
#[inline(never)]
fn prepare(pc: usize, code: i32, kind: AccessKind) -> i32 {
    schedule::point(pc);
    if repair::is_on() { repair::prepare(pc, code, kind) } else { code }
}

#[cold]
#[inline(never)]
fn prepare_exchange(pc: usize, codes: (i32, i32)) -> (i32, i32) {
    schedule::point(pc);
    if repair::is_on() { repair::prepare_exchange(pc, codes) } else { codes }
}

/// Before a fence.
#[inline(always)]
pub fn before_fence(pc: usize) {
    let thread = this_thread::active();
    // SAFETY: the calling thread's own state.
    if !thread.is_null() && unsafe { (*thread).special } != 0 {
        schedule::point(pc);
    }
}
