//! What is run under every schedule.

use crate::runtime::{Function, other};

/// Runs the closure: once under `cargo test`, and under every schedule of its threads under `cargo ravelin verify`.
///
/// What comes before happens in one order only, also if it starts threads: it does not multiply runs. Without this function
/// runs begin where a test starts its first thread. In a test that calls it more than once, the first call counts. What comes
/// after the closure is explored too, so it should find all threads ended.
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
    let begin = other(Function::VerifyBegin);
    if begin != 0 {
        // SAFETY: the runtime's function of this name has this type.
        let begin: extern "C" fn() = unsafe { std::mem::transmute(begin) };
        begin();
    }
    test()
}
