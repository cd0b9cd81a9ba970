//! Messages and fences against the axioms of `ravelin-semantics`.
//!
//! Programs run on the messages, and each run also grows an execution graph with the places in modification order that
//! were chosen. Every graph must be consistent, and all runs together must reach all final states that the axioms allow.

mod claims;
mod driver;
mod random;
