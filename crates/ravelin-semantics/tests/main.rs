//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-semantics --test semantics NAME::` runs those of one file.

mod generate_programs;
mod hardware_litmus;
mod hardware_random;
mod litmus;
mod operational_litmus;
mod operational_rules;
mod rc20_enumeration;
mod rc20_graph;
mod rc20_grow;
mod rc20_litmus;
mod rc20_relation;
mod rc20_rmw;
mod rc20_shorthand;
mod trace_litmus;
mod trace_random;
mod trace_runs;
mod trace_shorthand;
mod units;

/// The unit tests of traces, which need only what is public of the rest of the crate.
#[allow(dead_code, unused_imports)]
#[path = "../src/trace/mod.rs"]
mod trace;

// Where `trace` finds it.
use ravelin_semantics::{Action, operational};
