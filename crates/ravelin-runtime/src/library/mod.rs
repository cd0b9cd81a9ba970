//! Rust's standard library in a watched program.
//!
//! It comes compiled, so the compiler could not instrument it; but its small and its generic functions are compiled
//! again inside every program, instrumented. A mutex is then half visible: taking a free one is seen, waiting for a taken
//! one is not. Seen as atomics such halves make no sense. So nothing of them is seen as atomics:
//!
//! - Atomic accesses that belong to the standard library are sent here instead of to [`crate::atomics`]
//!   ([`accesses`]): they synchronise as their orders say and are neither checked nor evidence. Which they are, the host
//!   side knows from the debug information, and changes the calls after linking.
//! - The compiled functions behind them are wrapped by the linker ([`functions`]): what they synchronise is added around.

mod accesses;
mod functions;

use std::sync::atomic::{AtomicBool, Ordering};

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Whether the program was made from Rust, by `cargo ravelin`.
#[inline(always)]
pub fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// What the host side links into Rust programs calls this before `main`.
#[unsafe(no_mangle)]
pub extern "C" fn __ravelin_library_is_there() {
    IS_THERE.store(true, Ordering::Relaxed);
}

/// Where readers of a read-write lock leave what they know: only writers look there. Two readers that follow each other
/// are not ordered.
fn left_by_readers(lock: usize) -> usize {
    lock + 1
}
