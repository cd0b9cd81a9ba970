//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-cli --test cli NAME::` runs those of one file.

mod advice;
mod any_number;
mod architecture;
mod browser;
mod building;
mod c11;
mod c_files;
mod c_library;
mod cargo_ravelin;
mod cargo_verify;
mod check;
mod checkpoint;
mod cluster;
mod command_line;
mod confirm;
mod consequences;
mod deadlocks;
mod doctor;
mod engines;
mod escapes;
mod examples;
mod explain;
mod fence;
mod files;
#[allow(dead_code, reason = "ravelin-verify's tests use all of it")]
#[path = "../../ravelin-verify/tests/graphs.rs"]
mod graphs;
mod in_time;
mod instrument;
mod json_schema;
mod lifted;
mod named_values;
mod pages;
mod programs;
mod relax;
mod running;
mod sanitizer;
mod sanitizer_crashes;
mod sanitizer_ends;
mod sanitizer_misuse;
mod sanitizer_programs;
mod sanitizer_stacks;
mod sanitizer_static;
mod sarif;
mod schedules;
mod schema;
mod serve;
mod serve_browser;
mod served_runs;
mod serving;
mod signals;
#[allow(dead_code, reason = "ravelin-verify's tests use all of it")]
#[path = "../../ravelin-verify/tests/simulated.rs"]
mod simulated;
mod slow;
mod spill;
mod state_limits;
mod streams;
mod terminal;
#[allow(dead_code, reason = "ravelin-verify's tests use all of it")]
#[path = "../../ravelin-verify/tests/traces.rs"]
mod traces;
mod units;
mod verify;
mod verify_generated;
mod versions;
mod waiting;
mod weak;
mod weak_generated;
mod workers;
mod workshop;
