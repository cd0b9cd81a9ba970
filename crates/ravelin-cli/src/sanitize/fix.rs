//! `ravelin run --verify-fix` and `--fix-all`: suggestions tried out in the monitor, without building the program again.
//!
//! The same schedules are run with and without. What a fix makes go away it makes go away in these runs; that is what
//! is done by hand when one makes a program robust with the sanitizer alone; a proof it is not.

use super::arguments::{ReportFormat, Run};
use super::run::{exit_code, make_runs};
use super::write_report;
use anyhow::bail;
use ravelin_output::{stderr, stdout};
use ravelin_report::sanitizer::fixes::{Outcome, Tried};
use ravelin_sanitizer::repair::{Fix, Site, fixes_of, last_resort, sites, weaker_than_seq_cst, words};
use ravelin_sanitizer::report::{Finding, Report, Wanted};
use ravelin_sanitizer::{Plan, Ran};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Rounds after which a place that still has accesses nobody knew is left as it is.
const ROUNDS: usize = 4;

/// Runs the program without and with what is asked for, and tells.
pub fn try_out(arguments: &Run, mut plan: Plan, wanted: &Wanted) -> anyhow::Result<ExitCode> {
    if arguments.shown.format == ReportFormat::Sarif {
        bail!("--verify-fix and --fix-all cannot write SARIF; use text or json");
    }
    plan.watch.options.push("sites".to_owned());
    plan.watch.options.retain(|word| word != "halt-on-first");
    let mut trial = Trial { plan, wanted, sites: BTreeSet::new() };
    let (before, _) = trial.run(&[])?;
    trial.plan.silent = true;
    let fixes =
        if arguments.fix_all { trial.fix_all(before.clone())? } else { asked_for(&arguments.verify_fix, &before)? };
    for fix in &fixes {
        if words(fix, &trial.sites).next().is_none() {
            bail!("{fix}: no atomic access at {} was made in these runs, or none that this order suits", fix.place);
        }
    }
    let (after, ran) = trial.run(&fixes)?;
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

struct Trial<'a> {
    plan: Plan,
    wanted: &'a Wanted,
    /// All accesses that any run made.
    sites: BTreeSet<Site>,
}

impl Trial<'_> {
    /// Runs with fixes; again if there turn out to be more accesses at their places than were known.
    fn run(&mut self, fixes: &[Fix]) -> anyhow::Result<(Report, Vec<Ran>)> {
        for round in 0.. {
            let asked: BTreeSet<String> = fixes.iter().flat_map(|fix| words(fix, &self.sites)).collect();
            let mut plan = self.plan.clone();
            plan.watch.options.extend(asked.iter().cloned());
            let (report, ran) = make_runs(&plan, self.wanted, false)?;
            for run in &ran {
                let directory = std::env::current_dir().ok();
                self.sites.extend(sites(&run.watched.processes, run.watched.executable.as_deref(), directory));
            }
            let known: BTreeSet<String> = fixes.iter().flat_map(|fix| words(fix, &self.sites)).collect();
            if known == asked || round == ROUNDS {
                return Ok((report, ran));
            }
        }
        unreachable!("the loop ends by itself")
    }

    /// Fixes that leave no finding in these runs that orders can repair, none of which can be left out. A finding may hide
    /// another one, so what counts is not how many there are: without a fix that is needed there is one that it removes.
    fn fix_all(&mut self, mut report: Report) -> anyhow::Result<Vec<Fix>> {
        let mut fixes: Vec<Fix> = Vec::new();
        // Every round adds a fix, so it ends; a place has few.
        while let Some(new) = next_fixes(&report, &fixes) {
            fixes.extend(new);
            report = self.run(&fixes)?.0;
        }
        let mut at = 0;
        while at < fixes.len() {
            let mut fewer = fixes.clone();
            fewer.remove(at);
            let is_left = |finding: &Finding| report.findings.iter().any(|left| left.is_same(finding));
            if self.run(&fewer)?.0.findings.iter().all(is_left) {
                fixes = fewer;
            } else {
                at += 1;
            }
        }
        Ok(fixes)
    }
}

/// What the most frequent finding asks for that is not there yet; `None` if nothing is left to try.
fn next_fixes(report: &Report, fixes: &[Fix]) -> Option<Vec<Fix>> {
    let try_next = |finding| [fixes_of(finding), last_resort(finding)];
    (report.findings.iter().flat_map(try_next))
        .map(|these| these.into_iter().filter(|fix| !fixes.contains(fix)).collect::<Vec<_>>())
        .find(|these| !these.is_empty())
}
