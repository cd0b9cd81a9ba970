//! Threads: their numbers, what they inherit and leave.

/// What a new thread needs to know; made by its parent, used once by the child.
pub struct Seed(());

/// The calling thread is about to start another, by a call that returns to `pc`. The first call of all makes the
/// program watched. `None` if the new thread cannot be watched.
pub fn starting(_pc: usize) -> Option<Box<Seed>> {
    None
}

/// Starting failed: the seed is given back.
pub fn not_started(_seed: Box<Seed>) {}

/// The new thread begins, as its first act.
pub fn begin(_seed: Box<Seed>) {}

/// The calling thread is about to end (after its own destructors, as late as possible).
pub fn end() {}

/// The parent learned the handle of the thread with this seed's number; called before anybody can join it.
pub fn number_of(_seed: &Seed) -> u32 {
    0
}

/// The calling thread has joined the thread with this number: it knows everything that thread knew.
pub fn joined(_number: u32) {}

/// Nobody will join this thread.
pub fn detached(_number: u32) {}

/// The thread got a name.
pub fn named(_number: u32, _name: &[u8]) {}
