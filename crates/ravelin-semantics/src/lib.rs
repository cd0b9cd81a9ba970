//! The judge: what programs do, written straight from the papers' rules, slow and obviously right.
//!
//! Every fast engine is compared with these interpreters in tests, and every witness is replayed on them before it is
//! shown. So they are written to be read beside the papers, and cost is no argument here: states are ordinary maps and
//! vectors, a step clones its state, and a search is a plain breadth-first one.
//!
//! - [`operational`]: small-step semantics of SC, TSO and PSO.
//! - [`rc20`]: execution graphs of the C11 fragment RC20.
//! - [`trace`]: happens-before traces of runs, and the cycles that no SC run has.
//! - [`generate`]: random small programs to compare engines on, and a shrinker for those on which they differ.
//!
//! Two things always hold: equal situations are structurally equal states, so that sets of states can be compared as
//! they are; and whatever is refused is refused with a reason. The reference asks only that a program is valid
//! ([`ravelin_program::validate`]).
//!
//! This crate must never know how the fast engines do it (packed states, fused steps, reductions), what is asked of a
//! program (robustness, fences), or how programs are written down and answers are shown. It shares no code with what it
//! judges except the vocabulary of ravelin-program and its evaluation of expressions.

mod action;
pub mod generate;
pub mod operational;
pub mod rc20;
pub mod trace;

pub use action::Action;
