//! `ravelin verify`: every schedule of a program.

use super::arguments::{ReductionKind, Verify};
use super::bar;
use crate::exit::Exit;
use ravelin::Verdict;
use ravelin::answer::SanitizerReport;
use ravelin::answer::sanitizer::Problem;
use ravelin_output::{LiveLine, stderr, stdout};
use ravelin_sanitizer::report::ignoring;
use ravelin_sanitizer::verify::exploration::{Options, Reduction};
use ravelin_sanitizer::{Progress, VerifiedProgram, VerifyPlan, WatchCommand, command_line};
use std::process::ExitCode;
use std::time::Instant;

/// Runs a program under every schedule and reports.
pub fn verify(arguments: &Verify) -> anyhow::Result<ExitCode> {
    let wanted = arguments.report.wanted()?;
    let plan = plan(arguments)?;
    let line = LiveLine::on(stderr());
    let start = Instant::now();
    let show = |progress: Progress| {
        if let Some(line) = &line {
            line.show(&bar::verifying(&progress, start.elapsed()));
        }
    };
    let VerifiedProgram { report, verification } =
        plan.verify(&wanted, line.is_some().then_some(&show as &(dyn Fn(Progress) + Sync)))?;
    drop(line);
    let violated = !report.is_clean() || !report.crashes.is_empty() || !verification.failures.is_empty();
    let verdict = match (violated, verification.complete) {
        (true, _) => Verdict::Violated,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Unknown,
    };
    let command = command_line(&plan.watch, 0);
    let sources = report.sources();
    let answer =
        SanitizerReport { verdict, verification: Some(verification), again: None, ..report.answer(Some(command)) };
    arguments.report.print("verify", answer, &sources, stdout())?;
    Ok(match verdict {
        Verdict::Violated => ExitCode::from(arguments.exit_code),
        other => Exit::from(other).into(),
    })
}

/// What the command line asks for.
fn plan(arguments: &Verify) -> anyhow::Result<VerifyPlan> {
    let [program, rest @ ..] = &*arguments.program else { anyhow::bail!("name the program to verify") };
    let mut options: Vec<String> = arguments.no_races.then(|| "no-races".to_owned()).into_iter().collect();
    // Locks in different orders are a deadlock in some schedule, or none: all schedules are run.
    let ignored = [&arguments.ignore[..], &[Problem::LockOrderInversion]].concat();
    options.extend(ignoring(&ignored));
    Ok(VerifyPlan {
        watch: WatchCommand { program: program.clone(), arguments: rest.to_vec(), options, ..WatchCommand::default() },
        jobs: arguments.jobs.map_or_else(ravelin::usual_workers, |jobs| jobs as usize),
        options: Options {
            reduction: match arguments.reduction {
                ReductionKind::Off => Reduction::Off,
                ReductionKind::Sleep => Reduction::Sleep,
                ReductionKind::Source => Reduction::Source,
                ReductionKind::Optimal => Reduction::Optimal,
            },
            preemptions: arguments.preemptions,
        },
        unroll: arguments.unroll,
        max_runs: arguments.max_runs,
        timeout: arguments.timeout,
        robustness: !arguments.no_robustness,
        keep_going: arguments.keep_going,
        fresh_processes: arguments.fresh_processes,
        silent: false,
    })
}
