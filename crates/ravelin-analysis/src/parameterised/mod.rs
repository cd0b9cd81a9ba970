//! Any number of threads: answers about a program with `thread p[*]` that hold for every number of copies.
//!
//! From section 6 and appendix D of *Checking and Enforcing Robustness against TSO*. Copies have no identity, so it is enough to count
//! how many are in each local state: a program with finite domains becomes a Petri net, and a question about all its instances the
//! question whether a marking can be covered, which ravelin-backward decides.
//!
//! Reading order: `quiet` (a thread without its local steps), `memory` and `actor` (places), `attack` (robustness as a net), `run` (back from
//! a firing sequence to a computation), `instances` (the smallest one), `robust` (the question); then `goals`, `system` (reachability under SC
//! as a net), `crowd` (under TSO, by load buffers) and `reach` (the question).

mod actor;
mod attack;
pub mod certificate;
mod crowd;
mod goals;
mod instances;
mod memory;
mod petri;
mod quiet;
mod reach;
mod robust;
mod run;
mod system;

pub use instances::Instance;
pub use petri::petri_net_of_attacks;
pub use reach::{reach_by_proof, reach_for_any_number};
pub use robust::{AnyNumber, NetReport, robust_by_nets, robust_for_any_number};
