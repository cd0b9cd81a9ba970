//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-semantics --test semantics NAME::` runs those of one file.

mod generate_programs;
mod litmus;
mod operational_litmus;
mod operational_rules;
mod rc20_enumeration;
mod rc20_litmus;
mod rc20_rmw;
mod rc20_shorthand;
mod trace_litmus;
mod trace_random;
mod trace_runs;
mod trace_shorthand;
