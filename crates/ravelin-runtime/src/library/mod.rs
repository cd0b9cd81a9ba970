//! Rust's standard library in a watched program.
//!
//! It comes compiled, so the compiler could not instrument it. But its small and its generic functions are compiled
//! again inside every program, with instrumentation. A mutex is then half visible: locking a free one is seen, waiting
//! for a locked one is not. Such halves make no sense as atomics. They are therefore not treated as atomics:
//!
//! - Atomic accesses that belong to the standard library are sent here instead of to [`crate::atomics`] ([`accesses`]).
//!   They synchronise as their orders say and are neither checked nor used as evidence. The host side finds them by the
//!   debug information, and changes the calls after linking.
//! - The linker wraps the compiled functions that they call ([`functions`]). The wrappers add the synchronisation.
//!
//! Mutexes and read-write locks are also locks as those of the C library are ([`locks`]): a thread holds them, and may lock
//! them twice or in different orders.

mod accesses;
pub mod channel;
mod functions;
mod locks;
pub mod scope;

use std::sync::atomic::{AtomicBool, Ordering};

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Whether the program was built from Rust, by `cargo ravelin`.
#[inline(always)]
pub fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// Code that the host side links into Rust programs calls this before `main`.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_library_is_there() {
    IS_THERE.store(true, Ordering::Relaxed);
}

/// Where readers of a read-write lock release what they know. Only writers acquire there, so two successive readers are
/// not ordered.
fn left_by_readers(lock: usize) -> usize {
    lock + 1
}
