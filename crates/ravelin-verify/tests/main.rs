//! Tests of ravelin-verify, as one program.

mod blocking;
mod bounded;
mod exploration;
mod graphs;
mod interleavings;
mod judged_events;
mod judged_programs;
mod judged_runs;
mod machine;
mod resuming;
mod scripts;
mod simulated;
mod simulated_runs;
mod traces;
