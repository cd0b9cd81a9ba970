//! The C library's functions that matter, and what happens around each.
//!
//! One file a family. Every function here is a weak symbol of the executable (or of the shared runtime), so that a
//! program which brings its own, as allocators do, still links and is served by its own; the C library's function is
//! found behind it when the process starts. A thread that the runtime does not watch, or that is inside the runtime,
//! gets what the C library does and nothing else.
//!
//! What has to hold everywhere: a lock's `release` comes before the real unlock and its `acquire` after the real lock,
//! because in between another thread may already own it; memory is forgotten before it is given back, because
//! afterwards another thread may already use it. Frames of this module hold no destructors while the real function
//! runs where that function is a cancellation point or calls back, because cancellation and C++ exceptions unwind
//! through them.

#[macro_use]
mod export;
#[macro_use]
mod thread_words;

pub mod annotations;
mod barrier;
mod clocks;
mod condition;
mod copies;
mod descriptors;
mod entropy;
mod exec;
mod futex;
mod guard;
mod heap;
mod jumps;
mod mappings;
mod mutex;
mod once;
mod operators;
mod outside;
mod polling;
mod process;
mod real;
mod rwlock;
mod semaphore;
pub mod signals;
mod sleeping;
mod table;
mod threads;

/// Runs before the constructors of the program: later calls of `dlsym` could come from a signal handler.
extern "C" fn start_up() {
    real::find_all();
    heap::open();
    threads::prepare();
    process::prepare();
    // Whoever waits in turn needs the functions that were just found.
    crate::schedule::begin();
    crate::watchdog::begin();
}

/// The linker sorts constructors by the number; up to 100 they belong to the implementation.
#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array.00099"))]
static START_UP: extern "C" fn() = start_up;
