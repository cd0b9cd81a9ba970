//! What is run under every schedule.

/// Runs the closure: once under `cargo test`, and under every schedule of its threads under `cargo ravelin verify`.
///
/// Schedules begin where a test starts its first thread, with or without this function. It says to readers which part of
/// a test that is: what comes before should start no thread, and what comes after should find all threads ended.
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
    test()
}
