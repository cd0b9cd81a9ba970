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

mod beginning;
mod consequences;
mod fix_all;
mod machines;
mod offers;
mod plan;
mod problem;
mod saved;
mod seen;
mod sequential;
mod stale;
mod worker;

pub use fix_all::FixedProgram;
pub use plan::{DrawnRuns, Listeners, Progress, VerifyPlan};
pub use ravelin_verify::exploration;
pub use ravelin_verify::judge::JudgedModel;
pub use saved::NotResumable;

use crate::report::{Report, Wanted};
use crate::watch::{NotWatched, SteeredProgram, WatchCommand};
use problem::{ProblemRun, Problems};
use ravelin_answer::sanitizer::Verification;
use ravelin_verify::Script;

/// Makes one run with given steps, in which the runtime looks for everything, and reports.
pub fn again(watch: WatchCommand, script: &Script, wanted: &Wanted) -> Result<Report, NotWatched> {
    let mut watch = beginning::find(&watch)?;
    if script.stale.is_some() {
        // After a stale access nothing is said about others.
        watch.options.push("no-robustness".to_owned());
        watch.options.push(format!("no-progress={}", worker::NO_PROGRESS));
    }
    let plan = VerifyPlan { watch: watch.clone(), ..VerifyPlan::default() };
    let mut problems = Problems::default();
    let mut executable = None;
    if let Some(again) = SteeredProgram::start(watch, true, 0)?.run(script)? {
        executable.clone_from(&again.watched.executable);
        problems.push(ProblemRun {
            script: script.clone(),
            watched: again.watched,
            failed: None,
            stale: None,
            consequence: None,
        });
    }
    Ok(plan.report(&problems, &executable, wanted))
}

/// What is known about all schedules.
#[derive(Debug)]
pub struct VerifiedProgram {
    pub report: Report,
    pub verification: Verification,
}
