//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-frontend --test frontend NAME::` runs those of one file.

mod c_mutation;
mod carets;
mod corpus;
mod diagnostics;
mod ir_interpreter;
mod ir_mutation;
mod ir_promote;
mod ir_random;
mod ir_reading;
mod languages;
mod litmus_diagnostics;
mod litmus_documentation;
mod litmus_files;
mod litmus_meaning;
mod litmus_robustness;
mod memorax_diagnostics;
mod memorax_meaning;
mod mutation;
mod print_dot;
mod print_litmus;
mod print_promela;
mod print_promela_examples;
mod print_rav;
mod rav_constructs;
mod rav_diagnostics;
mod rav_documentation;
mod rav_expectations;
mod rav_lowering;
mod rav_meaning;
mod rav_round_trip;
mod rav_unchanged;
mod rocker_corpus;
mod rocker_diagnostics;
mod rocker_expectations;
mod rocker_lowering;
mod rocker_mutation;
mod sites;
mod spin;
mod trencher_corpus;
mod trencher_diagnostics;
mod trencher_mutation;
mod units;
