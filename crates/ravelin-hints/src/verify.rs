//! What is run under every schedule.

use crate::runtime::{Function, other};

/// Runs the closure: once under `cargo test`, and under every schedule of its threads under `cargo ravelin verify`.
///
/// What comes before happens in one order only, also if it starts threads: it does not multiply runs. Without this function
/// runs begin where a test starts its first thread. In a test that calls it more than once, the first call counts. What comes
/// after the closure happens in one order, too, when the other threads have ended or wait: a run is judged by it, but it does
/// not multiply runs.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// let counter = AtomicU32::new(0);
/// ravelin_hints::verify(|| {
///     std::thread::scope(|scope| {
///         scope.spawn(|| counter.fetch_add(1, Relaxed));
///         scope.spawn(|| counter.fetch_add(1, Relaxed));
///     });
/// });
/// assert_eq!(counter.into_inner(), 2);
/// ```
pub fn verify<R>(test: impl FnOnce() -> R) -> R {
    call(Function::VerifyBegin);
    let result = test();
    call(Function::VerifyEnd);
    result
}

/// Calls a function of the runtime that takes nothing, if it is there.
fn call(function: Function) {
    let function = other(function);
    if function != 0 {
        // SAFETY: the runtime's functions that say where runs begin and end have this type.
        let function: extern "C" fn() = unsafe { std::mem::transmute(function) };
        function();
    }
}
