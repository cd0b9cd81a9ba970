//! `ravelin run --try-fix` and `--fix-all`: suggestions tried out in the monitor, without building the program again.

use super::arguments::{ReportFormat, Run};
use super::run::exit_code;
use anyhow::bail;
use ravelin::{Answer, Document};
use ravelin_output::stderr;
use ravelin_sanitizer::repair::{named_fixes, words};
use ravelin_sanitizer::report::Wanted;
use ravelin_sanitizer::{RunPlan, RunReport, Trial};
use std::process::ExitCode;

/// Runs the program without and with what is asked for, and compares.
pub fn try_out(arguments: &Run, plan: RunPlan, wanted: &Wanted) -> anyhow::Result<ExitCode> {
    if arguments.report.format == ReportFormat::Sarif {
        bail!("--try-fix and --fix-all cannot write SARIF; use text or json");
    }
    let mut trial = Trial::new(plan, wanted);
    let before = trial.run(&[])?.report;
    trial.plan.silent = true;
    let fixes = match arguments.fix_all {
        true => trial.fix_all(before.clone())?,
        false => named_fixes(&arguments.try_fix, &before)?,
    };
    for fix in &fixes {
        if words(fix, &trial.sites).next().is_none() {
            bail!("{fix}: no atomic access at {} was made in these runs, or none that this order suits", fix.place);
        }
    }
    let RunReport { report: after, ran } = trial.run(&fixes)?;
    let answer = trial.answer(&before, &after, &fixes, arguments.fix_all);
    let document = Document::new("run", vec![Answer::FixTrial(Box::new(answer))]);
    arguments.report.print_document(&document, stderr())?;
    Ok(exit_code(&after, &ran, arguments.watching.exit_code))
}
