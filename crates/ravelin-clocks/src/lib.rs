//! Location clocks for running programs: what each thread may not know yet.
//!
//! The paper (Margalit, Kokologiannakis, Itzhaky, Lahav: *Dynamic Robustness Verification against Weak Memory*, PLDI
//! 2025) gives every thread and location maps from locations to timestamps. Here the maps are never built. Threads
//! carry ordinary vector clocks over *threads*, and a location remembers which threads saw which of its writes and when
//! (its [history](history)). The timestamp of a location clock is looked up in the history when an access is checked:
//! it is that of the newest sighting the vector clock covers. An access therefore costs as much as a vector clock,
//! independently of the number of locations. It costs nothing if no thread learns anything new.
//!
//! | in the paper | here |
//! | --- | --- |
//! | `T_c`, `T_a`, `T_r` (4.2) | [`ThreadClocks`]'s `cur`, `acq`, `rel`, each a [`ThreadKnowledge`] |
//! | `T_HB(t)(x)` | [`history::History`] looked up with `cur` |
//! | `T_SC(t)(x)` | the same with the thread's `sc` |
//! | `W_HB(x)` | the location's `message` |
//! | `W_SC(x)`, `M_SC(x)` | the location's `written` and `touched` |
//! | the RMW clocks (4.1) | the `plain` count of a sighting |
//! | `T_val(t)(x, v)` (4.3) | the values in the history between what is known in the two senses |
//! | the hidden location of seq_cst fences | [`FenceLocation`] |
//!
//! [`race`] finds data races on non-atomic accesses. Happens-before for data races is that of C11 proper: hidden fences
//! do not feed it. [`ThreadKnowledge`] keeps both, and one clock for both until a seq_cst fence makes them differ.
//!
//! [`BufferedLocation`] has the rules of x86-TSO, which need happens-before only for data races.
//!
//! [`weak`] is for runs in which accesses may read old values: messages in modification order instead of histories.
//!
//! This crate knows nothing of addresses, locks or operating systems, and contains no `unsafe` code.

mod clock;
mod common;
mod epochs;
pub mod history;
mod knowledge;
mod live;
mod location;
mod messages;
mod order;
pub mod race;
mod snapshot;
mod stale;
mod thread;
mod tso;
pub mod weak;

pub use clock::{Clock, Epoch, Tid};
pub use common::CommonView;
pub use history::{Pruning, Sighting, SiteCode};
pub use knowledge::{PublishedClocks, ThreadKnowledge};
pub use live::Live;
pub use location::{CasKind, LocationAccess, LocationClocks, WriteSource};
pub use messages::MessageAccess;
pub use order::AtomicOrder;
pub use snapshot::ClockSnapshot;
pub use stale::AccessViolation;
pub use thread::{AccessLink, EndClocks, FenceLocation, Lesson, ReleaseClocks, ThreadClocks, WitnessMode};
pub use tso::{BufferedAccess, BufferedLocation};
