//! `ravelin run`: one run, or many with schedules of their own.

use super::arguments::{Run, ScheduleKind, Schedules, WatchOptions, WatchedModel};
use super::bar::progress;
use super::{consequences, fix};
use crate::exit::Exit;
use ravelin_output::{LiveLine, stderr};
use ravelin_sanitizer::report::{Report, Wanted};
use ravelin_sanitizer::{CompletedRun, DEFAULT_VALUES, RunPlan, RunReport, Scheduling, WatchCommand};
use std::process::ExitCode;
use std::time::Instant;

/// Seconds after which a run without progress is ended, unless the command line says otherwise.
const NO_PROGRESS: u64 = 60;

/// Runs a program and reports.
pub fn run(arguments: &Run) -> anyhow::Result<ExitCode> {
    let wanted = arguments.report.wanted()?;
    check_schedule(&arguments.schedules)?;
    if arguments.schedules.schedule == ScheduleKind::Weak {
        let asked = [
            (arguments.fix_all, "--fix-all"),
            (!arguments.try_fix.is_empty(), "--try-fix"),
            (arguments.consequences.consequences, "--consequences"),
        ];
        if let Some((_, option)) = asked.into_iter().find(|(is_asked, _)| *is_asked) {
            anyhow::bail!("{option} is about robustness, which weak runs do not watch; leave out --schedule weak");
        }
    }
    check_model(&arguments.watching, &arguments.schedules)?;
    let plan = plan(arguments)?;
    if arguments.fix_all || !arguments.try_fix.is_empty() {
        return fix::try_out(arguments, plan, &wanted);
    }
    if arguments.consequences.consequences {
        return consequences::run(arguments, plan, &wanted);
    }
    let RunReport { report, ran } = make_runs(&plan, &wanted, arguments.watching.halt_on_first)?;
    arguments.report.print("run", vec![report.answer(Some(plan.command_line()))], &report.sources(), stderr())?;
    Ok(exit_code(&report, &ran, arguments.watching.exit_code))
}

/// What was found decides; otherwise the first run that did not end well; otherwise whether all could be recorded.
pub fn exit_code(report: &Report, ran: &[CompletedRun], found: u8) -> ExitCode {
    let own = ran.iter().map(|run| run.watched.exit_code).find(|code| *code != 0);
    match (report.verdict().into(), own) {
        (Exit::Violated, _) => ExitCode::from(found),
        (_, Some(own)) => ExitCode::from(own),
        (answer, None) => answer.into(),
    }
}

/// What the command line asks for.
fn plan(arguments: &Run) -> anyhow::Result<RunPlan> {
    let [program, rest @ ..] = &*arguments.program else { anyhow::bail!("name the program to run") };
    let mut options = arguments.watching.options(!arguments.no_races, !arguments.no_robustness);
    for (chosen, word) in
        [(arguments.no_library_calls, "no-library-calls"), (arguments.no_freed_memory, "no-freed-memory")]
    {
        options.extend(chosen.then(|| word.to_owned()));
    }
    let watch = WatchCommand {
        program: program.clone(),
        arguments: rest.to_vec(),
        options,
        keep: arguments.watching.findings.clone(),
        ..WatchCommand::default()
    };
    Ok(plan_of(&arguments.schedules, watch))
}

/// Refuses options that belong to another schedule.
pub fn check_schedule(schedules: &Schedules) -> anyhow::Result<()> {
    anyhow::ensure!(
        schedules.values.is_none() || schedules.schedule == ScheduleKind::Weak,
        "--values is for --schedule weak: in other runs every access reads the newest value"
    );
    Ok(())
}

/// Refuses weak runs for x86: they read what C11 allows.
pub fn check_model(watching: &WatchOptions, schedules: &Schedules) -> anyhow::Result<()> {
    anyhow::ensure!(
        watching.model == WatchedModel::Rc20 || schedules.schedule != ScheduleKind::Weak,
        "weak runs read old values as C11 allows, not as x86 does; leave out --model tso or --schedule weak"
    );
    Ok(())
}

/// Runs of a program with these schedules.
pub fn plan_of(schedules: &Schedules, mut watch: WatchCommand) -> RunPlan {
    let Schedules { runs, schedule, seed, depth, length, values, livelock, no_progress, jobs, fresh_processes } =
        *schedules;
    let scheduling = match schedule {
        ScheduleKind::Os => Scheduling::Os,
        ScheduleKind::Random => Scheduling::Random,
        ScheduleKind::Pct => Scheduling::Pct { depth, length },
        ScheduleKind::Weak => Scheduling::Weak { values: values.unwrap_or(DEFAULT_VALUES) },
    };
    let by_default = || if scheduling == Scheduling::Os { 1 } else { ravelin::usual_workers() };
    let no_progress = no_progress.unwrap_or(if scheduling == Scheduling::Os { 0 } else { NO_PROGRESS });
    if no_progress > 0 {
        watch.options.push(format!("no-progress={no_progress}"));
    }
    RunPlan {
        watch,
        scheduling,
        seed,
        runs,
        jobs: jobs.map_or_else(by_default, |jobs| jobs as usize),
        livelock,
        silent: false,
        fresh_processes,
    }
}

/// Makes all runs, or with `halt` those up to the first in which something was found.
pub fn make_runs(plan: &RunPlan, wanted: &Wanted, halt: bool) -> anyhow::Result<RunReport> {
    let line = LiveLine::on(stderr()).filter(|_| plan.runs > 1);
    let start = Instant::now();
    let mut show = |done: u64, violated: u64| {
        if let Some(line) = &line {
            line.show(&progress(done, plan.runs, violated, start.elapsed()));
        }
    };
    let watched: Option<&mut (dyn FnMut(u64, u64) + Send)> = if line.is_some() { Some(&mut show) } else { None };
    Ok(plan.judge(wanted, halt, watched)?)
}
