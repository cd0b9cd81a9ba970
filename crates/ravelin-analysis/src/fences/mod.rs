//! Fences: the cheapest set that makes a program robust, and the minimal sets that make it safe.
//!
//! Two services that differ in meaning. *Robust* (section 7 of *Checking and Enforcing Robustness against TSO*): with the fences, no
//! computation has a trace that SC does not have; nothing needs to be said about what the program is for. *Safe* (section 6 of
//! *Counter-Example Guided Fence Insertion*): with the fences, no goal can be reached; behaviour that SC does not have
//! may remain as long as it does no harm, so fewer fences may do. A third one makes a program free of triangular races.
//!
//! All three are answered by the same loop (`listing.rs`, `synthesis.rs`): take the cheapest fences that forbid every run seen so far
//! (`ravelin-covers`), look for a run that is still wrong, and learn from it which fences would forbid it (`clause.rs`). What the loop
//! ends with is an optimum of equation 14, without trying all subsets of the labels of all attacks.

mod clause;
mod cost;
mod listing;
mod loops;
mod oracle;
mod placement;
mod possible;
mod synthesis;

pub(crate) use cost::offers_of;
pub use cost::{CostBy, Offer, Weights, is_written, offers};
pub(crate) use listing::{ListingEnd, SetVerdict, list};
pub use loops::LoopDepths;
pub use oracle::{SynthesisPurpose, Trouble};
pub use placement::{Placement, UnknownSite, apart, automaton_sites};
pub use ravelin_covers::{Cancellation, Cost, Covers};
pub use synthesis::{
    FenceAnswer, FenceQuestion, FenceSet, Sets, SynthesisEffort, SynthesisOutcome, UnknownReason, fences, without,
};
