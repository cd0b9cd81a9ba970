//! Tests of ravelin-verify, as one program.

mod exploration;
mod simulated;
mod simulated_runs;
mod traces;
