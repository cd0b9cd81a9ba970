//! The reference semantics of programs, written directly from the papers' rules: slow and obviously correct.
//!
//! Tests compare every fast engine with these interpreters, and every witness is replayed on them before it is shown.
//! They are written to be read beside the papers, and cost does not matter here: states are ordinary maps and vectors,
//! a step clones its state, and a search is a plain breadth-first one.
//!
//! - [`operational`]: small-step semantics of SC, TSO and PSO.
//! - [`rc20`]: execution graphs of the C11 fragment RC20.
//! - [`hardware`]: which of these graphs x86 and ARMv8 have.
//! - [`trace`]: happens-before traces of runs, and the cycles that no SC run has.
//!
//! Two invariants always hold. Equal situations are structurally equal states, so that sets of states can be compared
//! directly. And every refusal has a reason. The reference only requires that a program is valid
//! ([`ravelin_program::validate`]).
//!
//! This crate must never know how the fast engines work (packed states, fused steps, reductions), which questions are
//! asked about a program (robustness, fences), or how programs and answers are printed. It shares no code with the
//! engines that it checks except the vocabulary of ravelin-program and its evaluation of expressions.

mod action;
pub mod hardware;
pub mod operational;
pub mod rc20;
pub mod trace;

pub use action::Action;
