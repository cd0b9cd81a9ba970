//! Proofs that can be carried away and checked: a set of constraints that contains the goal, has no initial state, and is closed
//! under predecessors.
//!
//! The engine of `dual` takes many steps at once and leaves most orders of steps out, so its antichain alone would ask a checker to
//! believe in these reductions. A certificate is closed under the *plain* steps of the load-buffer semantics instead, one edge
//! or one propagation at a time: [`certify`] makes it by a second, unreduced search, and [`check`] goes through it with steps
//! that are a page of code (`plain`). A certificate speaks of locations, registers, addresses and values, not of anybody's
//! numbering.
//!
//! What a checked certificate leaves to be believed: the load-buffer semantics itself, the finite view of the program, and how
//! goals are split into cases. These are compared with the reference semantics by tests.
//!
//! Costs: the unreduced search keeps some ten to a hundred times the constraints of `dual`.

mod check;
mod data;
mod make;
mod plain;

pub use check::{ReachabilityFlaw, check};
pub use data::{ConstraintData, LocalStateData, MessageData, ReachabilityCertificate, ThreadConstraint};
pub use make::certify;
