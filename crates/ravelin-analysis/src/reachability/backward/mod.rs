//! Backward search over upward-closed sets of configurations.
//!
//! A semantics whose steps are monotonic in a well-quasi-order decides reachability backwards (section 5 of *Counter-Example
//! Guided Fence Insertion*): begin with the minimal elements of the goal, add minimal predecessors until every new one is
//! covered by one that is there, and see whether an initial configuration is among them. Here a configuration is a *constraint*:
//! it stands for all states that satisfy it, so memory cells, and whole threads, may be left open until a step needs them.
//!
//! What a semantics must say is in [`Semantics`]; the search ([`BackwardSearch`]) keeps the antichain, breadth-first, so that the way
//! from the first initial constraint to the goal is one of the shortest. It knows no memory model.
//!
//! The antichain is indexed by a key (the control state) and a signature (a set of at most 128 things that covering preserves),
//! so that the real comparison is made for few pairs. Constraints that leave the control of some threads open have keys of
//! another *shape*; there are few shapes, and each is asked.

mod antichain;
mod search;

pub use antichain::{ConstraintAntichain, ConstraintEntry, ConstraintId, ConstraintOrigin};
pub use search::{BackwardCounts, BackwardEnd, BackwardSearch};

use ravelin_explore::Limit;

/// A step that others can see, together with the silent ones before it: an edge in the graph of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleStep {
    pub thread: u16,
    pub edge: u32,
}

/// What the search needs to know of a memory model.
pub trait Semantics {
    /// A constraint on states.
    type Configuration;
    type Step: Copy;

    /// The minimal constraints from which one step leads into `of`, each with the step.
    fn predecessors(&mut self, of: &Self::Configuration, found: &mut Vec<(Self::Step, Self::Configuration)>);

    /// Some initial state satisfies it.
    fn is_initial(&self, configuration: &Self::Configuration) -> bool;

    /// Every state that satisfies `large` satisfies `small`. May say no where the answer is yes.
    fn covers(&self, small: &Self::Configuration, large: &Self::Configuration) -> bool;

    /// If one covers another, its signature is a subset of the other's.
    fn signature(&self, configuration: &Self::Configuration) -> u128;

    /// Constraints of one shape cover each other only if their keys are equal.
    fn key(&self, configuration: &Self::Configuration) -> u64;

    fn shape(&mut self, configuration: &Self::Configuration) -> u32;

    /// The key that a constraint of this shape has if it covers `configuration`, if it can.
    fn key_in_shape(&self, configuration: &Self::Configuration, shape: u32) -> Option<u64>;

    /// What one takes in memory, roughly.
    fn bytes(&self, configuration: &Self::Configuration) -> usize;

    /// What all of them share.
    fn shared_bytes(&self) -> usize {
        0
    }

    /// The constraints that are kept take so many bytes, beside what the semantics holds itself.
    fn set_kept_bytes(&mut self, _bytes: usize) {}

    /// The predecessors found last are not all: this limit was hit among them.
    fn exhausted(&self) -> Option<Limit> {
        None
    }
}
