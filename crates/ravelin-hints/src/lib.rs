//! What a program can tell Ravelin's sanitizer. Without the sanitizer everything here does the same and tells nobody.
//!
//! **Waiting loops.** A thread that waits for a value may read an old one and go round once more; that is no bug, but
//! it looks like any other stale read. [`wait`] and [`bcas`] say what a loop waits for:
//!
//! ```
//! use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
//!
//! static READY: AtomicBool = AtomicBool::new(false);
//! static LOCK: AtomicU32 = AtomicU32::new(0);
//!
//! std::thread::spawn(|| READY.store(true, Release));
//! ravelin_hints::wait(&READY, true, Acquire); // while !READY.load(Acquire) {}
//! ravelin_hints::bcas(&LOCK, 0, 1, Acquire); // while LOCK.compare_exchange(0, 1, …).is_err() {}
//! assert_eq!(LOCK.load(Relaxed), 1);
//! ```
//!
//! **Compare-exchanges.** rustc does not tell weak and strong ones apart, and the sanitizer takes all for strong, which reports
//! less. [`cas_weak`] and [`cas_strong`] say which one is meant.
//!
//! **Atomics.** The types in [`atomic`] take the place of those in `std::sync::atomic` for programs that cannot be built by
//! `cargo ravelin`: they call the runtime themselves, if it is there, and `ravelin run` puts it there. Only they are seen
//! then, and threads being started and joined; for what the program synchronises by other means there are
//! [`released`] and [`acquired`].
//!
//! This crate depends on nothing and knows nothing of how the sanitizer works. On systems the runtime does not exist for, it
//! is only what it wraps.

pub mod atomic;
mod runtime;
mod waiting;

pub use waiting::{Atomic, acquired, bcas, cas_strong, cas_weak, released, wait};
