//! `ravelin verify --fix-all`: the cheapest changes with which every schedule is right.

use super::bar::VerifyLine;
use ravelin::answer::FixTrial;
use ravelin::unified_diff;
use ravelin_sanitizer::patch::Patch;
use ravelin_sanitizer::report::Wanted;
use ravelin_sanitizer::{Listeners, Progress, VerifyPlan};

/// Finds the changes. `name` is that of a test of a project; `diff`: the change of the source is asked for.
pub fn fix_all(plan: &VerifyPlan, wanted: &Wanted, name: Option<&str>, diff: bool) -> anyhow::Result<FixTrial> {
    let line = VerifyLine::new(name);
    let show = |progress: Progress| line.iter().for_each(|line| line.show(&progress));
    let fixed = plan.fix_all(wanted, Listeners { progress: line.is_some().then_some(&show), rest: None })?;
    drop(line);
    let patch = |patch: &Patch| unified_diff(&patch.file.display().to_string(), &patch.before, &patch.after);
    let diff = diff.then(|| fixed.patches.iter().map(patch).collect());
    Ok(fixed.answer(name.unwrap_or(&fixed.before.program), diff))
}
