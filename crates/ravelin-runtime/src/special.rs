//! What happens before an atomic access in a thread whose accesses need more than usual: a scheduling point, a stronger
//! order than the program's, a suggested fence.

use crate::atomics;
use crate::repair;
use crate::schedule;
use crate::this_thread;
use crate::weak;
use ravelin_clocks::AtomicOrder;
use ravelin_findings::AccessKind;

/// An access that is about to be made.
#[derive(Clone, Copy)]
pub struct NextAccess {
    /// Where it returns to.
    pub pc: usize,
    pub address: usize,
    pub size: usize,
    pub act: NextAct,
}

/// What it will do. Values are the low 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NextAct {
    Load,
    Store,
    Update,
    /// It writes a value whatever it reads.
    Exchange(u64),
    /// It writes if it finds this value.
    CompareExchange(u64),
}

/// In the code of an order: the access is to be stale ([`crate::stale`]).
pub const STALE: i32 = 1 << 20;

/// In the code of an order: the run is weak ([`crate::weak`]).
pub const WEAK: i32 = 1 << 21;
/// Either of these.
pub const UNUSUAL: i32 = STALE | WEAK;

/// Whether the accesses of the calling thread need more than usual.
#[inline(always)]
pub fn is_needed() -> bool {
    let thread = this_thread::active();
    // SAFETY: the calling thread's own state.
    !thread.is_null() && unsafe { (*thread).special } != 0
}

/// Runs before an access with the order of this code. Returns the order that it must have.
#[inline(always)]
pub fn before(access: NextAccess, code: i32, kind: AccessKind) -> i32 {
    if is_needed() { prepare(access, code, kind) } else { code }
}

/// The same for a compare-exchange, with an order for success and one for failure.
#[inline(always)]
pub fn before_exchange(access: NextAccess, codes: (i32, i32)) -> (i32, i32) {
    if is_needed() { prepare_exchange(access, codes) } else { codes }
}

#[cold]
#[inline(never)]
fn prepare(access: NextAccess, code: i32, kind: AccessKind) -> i32 {
    schedule::access(access, [atomics::order(code); 2]);
    let code = if repair::is_on() { repair::prepare(access.pc, code, kind) } else { code };
    code | unusual()
}

#[cold]
#[inline(never)]
fn prepare_exchange(access: NextAccess, codes: (i32, i32)) -> (i32, i32) {
    schedule::access(access, [codes.0, codes.1].map(atomics::order));
    let codes = if repair::is_on() { repair::prepare_exchange(access.pc, codes) } else { codes };
    schedule::exchange_orders(atomics::order(codes.0), atomics::order(codes.1));
    (codes.0 | unusual(), codes.1)
}

fn unusual() -> i32 {
    if schedule::steer::is_on() {
        if schedule::steer::is_stale() { STALE } else { 0 }
    } else if weak::is_on() {
        WEAK
    } else {
        0
    }
}

/// Before a fence.
#[inline(always)]
pub fn before_fence(pc: usize, order: AtomicOrder) {
    if is_needed() {
        schedule::fence(pc, order);
    }
}
