//! Hints for Ravelin's sanitizer. Without the sanitizer everything here has the same effect, and no hints are passed.
//!
//! **Waiting loops.** A thread that waits for a value may read an old one and repeat its loop once more. That is no
//! bug, but it looks like any other stale read. [`wait`] and [`bcas`] declare what a loop waits for:
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
//! **Compare-exchanges.** rustc does not distinguish weak and strong ones, and the sanitizer takes all for strong,
//! which reports less. [`cas_weak`] and [`cas_strong`] declare which one is meant.
//!
//! **Atomics.** The types in [`atomic`] replace those in `std::sync::atomic` for programs that cannot be built by
//! `cargo ravelin`. They call the runtime themselves if it is loaded, and `ravelin run` loads it. The sanitizer then
//! sees only these atomics, and the start and join of threads. For synchronisation by other means there are
//! [`released`] and [`acquired`].
//!
//! **Tests.** [`verify`] says where the runs of a test begin, which `cargo ravelin verify` makes under every schedule.
//!
//! This crate has no dependencies and does not know how the sanitizer works. On systems without the runtime, it does
//! only what the wrapped functions do.

pub mod atomic;
mod runtime;
mod verify;
mod waiting;

pub use verify::verify;
pub use waiting::{Atomic, acquired, bcas, cas_strong, cas_weak, released, wait};
