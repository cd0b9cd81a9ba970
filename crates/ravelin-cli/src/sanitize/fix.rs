//! `ravelin run --verify-fix` and `--fix-all`: suggestions tried out in the monitor, without building the program again.

use super::arguments::{ReportFormat, Run};
use super::run::exit_code;
use super::write_report;
use anyhow::bail;
use ravelin_output::{stderr, stdout};
use ravelin_report::sanitizer::fixes::{Outcome, Tried};
use ravelin_sanitizer::repair::{Fix, fixes_of, weaker_than_seq_cst, words};
use ravelin_sanitizer::report::{Report, Wanted};
use ravelin_sanitizer::{RunPlan, RunReport, Trial};
use std::process::ExitCode;

/// Runs the program without and with what is asked for, and tells.
pub fn try_out(arguments: &Run, plan: RunPlan, wanted: &Wanted) -> anyhow::Result<ExitCode> {
    if arguments.shown.format == ReportFormat::Sarif {
        bail!("--verify-fix and --fix-all cannot write SARIF; use text or json");
    }
    let mut trial = Trial::new(plan, wanted);
    let before = trial.run(&[])?.report;
    trial.plan.silent = true;
    let fixes =
        if arguments.fix_all { trial.fix_all(before.clone())? } else { asked_for(&arguments.verify_fix, &before)? };
    for fix in &fixes {
        if words(fix, &trial.sites).next().is_none() {
            bail!("{fix}: no atomic access at {} was made in these runs, or none that this order suits", fix.place);
        }
    }
    let RunReport { report: after, ran } = trial.run(&fixes)?;
    let tried = Tried::new(&before, &after, fixes, weaker_than_seq_cst(&trial.sites), trial.plan.runs);
    let outcome = Outcome { program: &before.program, tried: &tried, all: arguments.fix_all };
    let written = match arguments.shown.format {
        ReportFormat::Json => outcome.json(),
        _ => outcome.text(),
    };
    match (&arguments.shown.output, arguments.shown.format) {
        (Some(file), _) => write_report(file, &written, &arguments.shown)?,
        (None, ReportFormat::Text) => stderr().text(&written)?,
        (None, _) => stdout().text(&written)?,
    }
    Ok(exit_code(&after, &ran, arguments.watching.exit_code))
}

/// The fixes that the command line names.
fn asked_for(names: &[String], before: &Report) -> anyhow::Result<Vec<Fix>> {
    let mut fixes: Vec<Fix> = Vec::new();
    for name in names {
        let these = match name.parse::<usize>() {
            Ok(number) => {
                let Some(finding) = number.checked_sub(1).and_then(|at| before.findings.get(at)) else {
                    bail!("there is no finding {number}; there are {}", before.findings.len());
                };
                let these = fixes_of(finding);
                if these.is_empty() {
                    bail!(
                        "finding {number} is a data race between whose accesses no atomic access is known that could order them, so there is nothing to try out; its suggestion is: {}",
                        finding.advice()
                    );
                }
                these
            }
            Err(_) => vec![name.parse::<Fix>()?],
        };
        for fix in these {
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        }
    }
    Ok(fixes)
}
