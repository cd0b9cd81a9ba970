//! Every schedule of a program: `ravelin-verify` chooses the runs, this makes them and collects what goes wrong.
//!
//! A verdict depends only on which accesses a thread makes, what each read reads from, and in which order writes to a
//! location come. All runs of an equivalence class of schedules have these in common, so one of them is enough. The
//! runtime looks for data races, deadlocks, crashes and misuse in each run, and [`judge`] for accesses that could have
//! been stale under C11.
//!
//! A stale access is looked at again in a run of its own, in which the runtime watches robustness as well: it knows the
//! stacks, the path that orders the two accesses and the change that would help. What only the axioms find, such as a
//! cycle through several seq_cst accesses, is reported with its two places.

mod plan;
mod problem;
mod stale;
mod worker;

pub use plan::{Progress, VerifyPlan};
pub use ravelin_verify::exploration;

use crate::report::Report;
use ravelin_answer::sanitizer::Verification;

/// What is known about all schedules.
#[derive(Debug)]
pub struct VerifiedProgram {
    pub report: Report,
    pub verification: Verification,
}
