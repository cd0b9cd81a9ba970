//! The C library's functions that the runtime watches, and what it does around each.
//!
//! There is one file per family. Every function here is a weak symbol of the executable (or of the shared runtime). A
//! program that brings its own function, as allocators do, still links and uses its own. The C library's function is
//! looked up when the process starts. For a thread that the runtime does not watch, or that is inside the runtime, only
//! the C library's function runs.
//!
//! Two rules hold everywhere. A lock's `release` comes before the real unlock and its `acquire` after the real lock,
//! because in between another thread may already own it. Memory is forgotten before it is given back, because
//! afterwards another thread may already use it.
//!
//! Some real functions are cancellation points or call back. Frames of this module hold no destructors while such a
//! function runs, because cancellation and C++ exceptions unwind through them.

#[macro_use]
mod export;
#[macro_use]
mod thread_words;
#[macro_use]
mod formats;

pub mod annotations;
mod barrier;
mod clocks;
mod condition;
mod copies;
pub mod crash;
mod descriptors;
mod entropy;
mod exec;
mod files;
mod futex;
mod guard;
mod heap;
pub mod identity;
mod jumps;
mod mappings;
mod mutex;
mod once;
pub mod openmp;
mod openmp_tool;
mod operators;
mod outside;
mod polling;
pub mod process;
#[macro_use]
mod ranges;
mod real;
mod rwlock;
mod scanning;
mod semaphore;
pub mod signals;
mod sleeping;
mod steady_heap;
mod table;
pub mod threads;
mod touching;
mod wide;

/// Runs before the constructors of the program: later calls of `dlsym` could come from a signal handler.
extern "C" fn start_up() {
    real::find_all();
    heap::open();
    threads::prepare();
    process::prepare();
    crash::prepare();
    crate::server::begin(crate::process::variable(c"RAVELIN_ARENA"));
    // Waiting in turn needs the functions that were just found.
    crate::schedule::begin();
    // In a process with several threads the kernel takes milliseconds for this, and the next line starts a thread.
    crate::this_thread::allow_stopping();
    crate::watchdog::begin();
}

/// The linker sorts constructors by the number; up to 100 they belong to the implementation.
#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array.00099"))]
static START_UP: extern "C" fn() = start_up;
