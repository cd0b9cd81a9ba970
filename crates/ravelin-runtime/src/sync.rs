//! Happens-before through locks and other synchronisation of the C library: known as what it is, never as atomics.
//!
//! Each function is for the calling thread, does nothing if it is not watched, and enters the runtime by itself. An
//! object is known by its address; the memory it is in may be forgotten at any time.

/// The calling thread learns what was released at `object`.
pub fn acquire(_object: usize) {}

/// What the calling thread knows replaces what was released at `object`: right for whoever had acquired it (unlock).
pub fn release(_object: usize) {}

/// What the calling thread knows is added to what was released at `object` (semaphores, readers, barriers).
pub fn release_join(_object: usize) {}

/// An atomic store with release order of one byte that code without instrumentation made (the guard of a static
/// variable): later instrumented loads read from it.
pub fn stored_byte(_address: usize) {}
