//! Happens-before through locks and other synchronisation of the C library: known as what it is, never as atomics.
//!
//! Each function is for the calling thread, does nothing if it is not watched, and enters the runtime by itself. An
//! object is known by its address; the memory it is in may be forgotten at any time.

use crate::atomics;
use crate::records;
use crate::this_thread;
use ravelin_clocks::{Released, Thread};

/// The calling thread learns what was released at `object`.
pub fn acquire(object: usize) {
    learn(object, Thread::acquire);
}

/// The same where the order is only assumed: it may excuse an access, but proves nothing.
pub fn acquire_assumed(object: usize) {
    learn(object, Thread::acquire_views);
}

#[inline(always)]
fn learn(object: usize, acquire: fn(&mut Thread, &Released)) {
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
    thread.spin.left();
    records::with(object, |record| {
        if let Some(released) = record.released() {
            thread.learns_from(released);
            acquire(&mut thread.clocks, released);
        }
    });
    thread.new_epoch();
}

/// What the calling thread knows replaces what was released at `object`: right for whoever had acquired it (unlock).
pub fn release(object: usize) {
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
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
    let Some(mut inside) = this_thread::enter() else {
        return;
    };
    let thread = inside.thread();
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

/// What was released at `object` does not hold any more: there is another.
pub fn forget(object: usize) {
    if let Some(_inside) = this_thread::enter() {
        records::with(object, |record| *record.released() = None);
    }
}

/// An atomic store with release order of one byte that code without instrumentation made (the guard of a static
/// variable): later instrumented loads read from it.
pub fn stored_byte(address: usize) {
    if this_thread::watched() {
        let at = address as *mut u8;
        // SAFETY: the caller has just written this byte.
        atomics::store_from_outside(at, unsafe { at.read_volatile() });
    }
}
