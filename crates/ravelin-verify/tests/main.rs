//! Tests of ravelin-verify, as one program.

mod simulated;
mod simulated_runs;
