//! The state-space engine. Given a [`System`] over packed states it explores everything reachable, breadth first, on several
//! cores, within [`Limits`], and gives back what it found with a shortest path to it.
//!
//! A state is a fixed number of 64-bit words without pointers, so that it can be hashed, compared, stored, and sent
//! elsewhere as it is. This crate must never know what the words mean: no program, no memory model, no goal.
//!
//! ```
//! use ravelin_explore::{explore, End, Options, Sink, System};
//!
//! /// Two counters below 10; a finding where both are 9.
//! struct Counters;
//! impl System for Counters {
//!     type Scratch = ();
//!     type Interrupt = ();
//!     fn width(&self) -> usize { 1 }
//!     fn scratch(&self) {}
//!     fn initial(&self, emit: &mut dyn FnMut(&[u64])) { emit(&[0]) }
//!     fn expand(&self, state: &[u64], _: &mut (), sink: &mut Sink) -> Result<(), ()> {
//!         let (a, b) = (state[0] & 0xff, state[0] >> 8);
//!         if a == 9 && b == 9 { sink.report(0) }
//!         if a < 9 { sink.push(&[state[0] + 1]) }
//!         if b < 9 { sink.push(&[state[0] + 256]) }
//!         Ok(())
//!     }
//! }
//!
//! let space = explore(&Counters, &Options::default());
//! assert_eq!(space.end, End::Found);
//! assert_eq!(space.path(space.findings[0].state).len(), 19); // nine steps each, and the start
//! ```

mod absorb;
mod any;
mod barrier;
mod beginning;
mod budget;
mod checkpoint;
mod files;
mod halt;
mod limits;
mod order;
mod peers;
mod places;
mod ranking;
mod room;
mod rounds;
mod search;
mod set;
mod shard;
mod snapshot;
mod space;
mod spill;
mod storage;
mod store;
mod summary;
mod system;
mod visited;
mod watch;
mod words;

pub use budget::Budget;
pub use checkpoint::Checkpoints;
pub use files::{StorageAction, StorageError};
pub use limits::{Limit, Limits, Progress};
pub use peers::{LostProcess, Peers};
pub use search::{Options, Until, explore, explore_in_stages};
pub use set::StateSet;
pub use space::{End, Space, StateFinding, StateId, Statistics};
pub use storage::Storage;
pub use system::{Sink, System};
pub use watch::Watch;
