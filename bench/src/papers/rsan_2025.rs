//! Margalit, Kokologiannakis, Itzhaky, Lahav: *Dynamic Robustness Verification against Weak Memory* (PLDI 2025), figure 7 and
//! sections 6.1 and 6.3.
//!
//! Measured there with RSan and Rocker on an Intel Xeon Gold 6132 at 2.60 GHz with limits of an hour and 2 GB. Figure 7 is curves
//! whose values are not printed; what the text says of them is here.

/// Runs until RSan finds a violation, as section 6.1 says: one for dekker and peterson, and the most, 30, for eventCounters with eight
/// threads.
pub const RUNS_DEKKER_PETERSON: u32 = 1;
pub const RUNS_EVENT_COUNTERS_8: u32 = 30;

/// Robust programs, section 6.1: what one run under RSan takes, in MB and seconds.
pub const ROBUST_RUN_MB: f64 = 18.5;
pub const ROBUST_RUN_SECONDS: f64 = 0.03;

/// Robust programs, section 6.1: Rocker's memory in MB (the last is the limit) and its time in seconds, from the least to the most.
pub const ROBUST_ROCKER_MB: [f64; 2] = [90.0, 2000.0];
pub const ROBUST_ROCKER_SECONDS: [f64; 2] = [1.0, 300.0];

/// Rocker runs out of 2 GB on Lamport's algorithm with so many threads.
pub const LAMPORT_OUT_OF_MEMORY: usize = 3;

/// Section 6.3: time under RSan over time under TSan, on average over so many tests, and for mimalloc.
pub const OVERHEAD: f64 = 1.52;
pub const OVERHEAD_TESTS: usize = 154;
pub const OVERHEAD_MIMALLOC: f64 = 222.0;
