//! Backward search over upward-closed sets, and Petri nets, to which it is applied here.
//!
//! A system whose steps are monotonic in a well-quasi-order has decidable reachability (Abdulla, Čerāns, Jonsson and Tsay, *General
//! decidability theorems for infinite-state systems*, LICS 1996): begin with the minimal elements of the goal, add minimal
//! predecessors until every new one is covered by one that is there, and see whether an initial state is among them. A
//! *constraint* stands for all states that satisfy it.
//!
//! - [`MonotonicSystem`] is what a system says of its constraints and steps. ravelin-analysis has the load-buffer, single-buffer and PSO
//!   semantics, and the load-buffer semantics of any number of threads; [`nets`] has Petri nets.
//! - [`BackwardSearch`] is the only loop: it takes constraints in order, asks the watch, and remembers where each came from.
//! - [`Antichain`] has the constraints found so far, and the index by which few of them are compared.
//!
//! This crate must never know a program or a memory model.

mod antichain;
pub mod nets;
mod search;
mod system;

pub use antichain::{Antichain, ConstraintEntry, ConstraintId, ConstraintOrigin};
pub use search::{BackwardCounts, BackwardEnd, BackwardSearch};
pub use system::{FileId, MonotonicSystem};
