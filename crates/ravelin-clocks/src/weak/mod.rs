//! Weak memory as messages: an atomic access may read, and be put behind, every message that RC20 allows.
//!
//! [`WeakLocation`] keeps the messages of one location in modification order. Which of them a thread may still read is
//! not kept: every message remembers which threads saw it first and when, and the newest message with a sighting that
//! the thread's happens-before clock covers is the oldest that it may read. So everything that orders threads in the
//! clocks (locks, joins, barriers) excludes old values as well. Seq_cst fences are decided by RC11's psc axiom
//! ([`FenceOrder`]).
//!
//! The rules are those of the machine with messages in `ravelin-machine`:
//!
//! | event of thread t | rule |
//! | --- | --- |
//! | reads message m | t has seen m; `acq` learns what m published, and so does `cur` if the read acquires |
//! | writes behind message m | a new message right behind m, which publishes `cur` (release) or `rel` (relaxed) |
//! | read-modify-write of m | both; what it publishes joins what m published, and nothing can stand between them |
//! | compare-exchange | a strong one fails only on another value; a weak one may fail on any |
//! | acquire fence | `cur := acq` |
//! | release fence | `rel := cur` |
//! | seq_cst fence | both, and a node of the order of fences between them |
//! | seq_cst access | the release/acquire access, and a node before or after it ([`SeqCstPlace`]) |
//!
//! A caller that always chooses the newest message gets sequential consistency: that choice is never excluded. Every
//! restriction of the choices gives fewer executions, and all of them are consistent. Forgetting old messages
//! ([`WeakLocation::forget`], [`WeakLocation::limit`]) and old fences is such a restriction.

mod fences;
mod location;

pub use fences::{FenceOrder, SeqCstPlace};
pub use location::{NewerWrite, PATIENCE, WeakAccess, WeakAct, WeakChoice, WeakLocation, WeakOutcome};
