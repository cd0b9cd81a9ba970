//! Tests of ravelin-verify, as one program.

mod graphs;
mod interleavings;
mod judged_programs;
mod simulated;
mod simulated_runs;
