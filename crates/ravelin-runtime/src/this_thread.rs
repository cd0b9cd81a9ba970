//! The thread that runs: its state, and whether it is inside the runtime.

/// Whether accesses of the calling thread are watched: false before the first thread is started, inside the runtime,
/// in a forked child, and in threads the runtime does not know.
pub fn watched() -> bool {
    false
}

/// Marks the calling thread as inside the runtime until dropped; interposed functions called meanwhile do only what
/// the C library does. `None` if it is inside already or not watched.
pub fn enter() -> Option<Inside> {
    None
}

/// See [`enter`].
pub struct Inside(());

impl Drop for Inside {
    fn drop(&mut self) {}
}
