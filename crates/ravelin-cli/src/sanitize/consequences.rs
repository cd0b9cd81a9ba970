//! `--consequences`: what stale values lead to, which findings matter, and `--consequences` of `ravelin run` and `cargo
//! ravelin test`.

use super::arguments::{
    ConsequenceOptions, FailOn, ReportFormat, ReportOptions, Run, ScheduleKind, Schedules, WatchedModel,
};
use super::bar;
use crate::exit::Exit;
use ravelin::Verdict;
use ravelin::answer::SanitizerReport;
use ravelin::answer::sanitizer::{Finding, StaleOutcome};
use ravelin_output::{LiveLine, stderr};
use ravelin_sanitizer::report::Wanted;
use ravelin_sanitizer::verify::DrawnRuns;
use ravelin_sanitizer::{Listeners, Progress, RunPlan, VerifyPlan};
use std::process::ExitCode;
use std::time::Instant;

/// How many loads in a row a thread may make in a loop that is not known to wait.
const UNROLL: u64 = 10_000;

/// What `ravelin run` and `cargo ravelin test` found in a program.
pub struct DrawnAnswer {
    pub answer: SanitizerReport,
    pub sources: Vec<(String, String)>,
    /// The first exit code that is not 0.
    own_code: Option<u8>,
}

impl DrawnAnswer {
    /// The exit code, if something was found the given one.
    pub fn exit_code(&self, how: &ConsequenceOptions, found: u8) -> ExitCode {
        match (deciding(&self.answer, how).into(), self.own_code) {
            (Exit::Violated, _) => ExitCode::from(found),
            (_, Some(own)) => ExitCode::from(own),
            (answer, None) => answer.into(),
        }
    }
}

/// Makes the runs of `ravelin run` with schedules that are drawn, and tries what stale values lead to.
pub fn run(arguments: &Run, plan: RunPlan, wanted: &Wanted) -> anyhow::Result<ExitCode> {
    let drawn = draw(&arguments.schedules, arguments.watching.model, plan, wanted)?;
    let how = &arguments.consequences;
    let code = drawn.exit_code(how, arguments.watching.exit_code);
    arguments.report.print("run", vec![folded(drawn.answer, &arguments.report, how)], &drawn.sources, stderr())?;
    Ok(code)
}

/// Makes the runs of a program.
pub fn draw(schedules: &Schedules, model: WatchedModel, plan: RunPlan, wanted: &Wanted) -> anyhow::Result<DrawnAnswer> {
    if matches!(schedules.schedule, ScheduleKind::Pct | ScheduleKind::Weak) {
        anyhow::bail!("--consequences draws schedules by a random walk; leave out --schedule");
    }
    let command = plan.command_line();
    let verify = VerifyPlan {
        jobs: schedules.jobs.map_or_else(ravelin::usual_workers, |jobs| jobs as usize),
        unroll: UNROLL,
        robustness: true,
        model: model.into(),
        keep_going: true,
        fresh_processes: plan.fresh_processes,
        silent: plan.silent,
        consequences: true,
        drawn: Some(DrawnRuns { seed: plan.seed.max(1), runs: plan.runs }),
        watch: plan.watch,
        ..VerifyPlan::default()
    };
    let line = LiveLine::on(stderr()).filter(|_| plan.runs > 1);
    let start = Instant::now();
    let show = |progress: Progress| {
        if let Some(line) = &line {
            line.show(&bar::progress(progress.runs, plan.runs, progress.problems as u64, start.elapsed()));
        }
    };
    let made = verify.verify(wanted, Listeners { progress: line.is_some().then_some(&show), rest: None })?;
    drop(line);
    let own_code = made.report.runs.iter().map(|run| run.exit_code).find(|code| *code != 0);
    let (sources, answer) = (made.report.sources(), made.report.answer(Some(command)));
    Ok(DrawnAnswer { answer: SanitizerReport { again: None, ..answer }, sources, own_code })
}

/// The verdict that decides the exit code: findings that do not matter by `--fail-on` are left out.
pub fn deciding(answer: &SanitizerReport, how: &ConsequenceOptions) -> Verdict {
    let matters = |found: &Finding| match (&found.consequence, how.fail_on) {
        (None, _) | (_, FailOn::Any) => true,
        (Some(consequence), FailOn::Crash) => consequence.outcome.is_failure(),
        (Some(consequence), FailOn::Value) => consequence.outcome != StaleOutcome::Rejoins,
    };
    let failures = answer.verification.iter().flat_map(|verification| &verification.failures).count();
    let others = answer.stuck.len() + answer.crashes.len() + failures;
    match answer.verdict {
        Verdict::Violated if others == 0 && !answer.findings.iter().any(matters) => {
            let complete = answer.verification.as_ref().is_none_or(|verification| verification.complete);
            if complete { Verdict::Holds } else { Verdict::Unknown }
        }
        verdict => verdict,
    }
}

/// As a text shows it: stale values with which the program does the same as without are one line.
pub fn folded(mut answer: SanitizerReport, report: &ReportOptions, how: &ConsequenceOptions) -> SanitizerReport {
    if how.consequences && !how.all && report.format == ReportFormat::Text {
        let before = answer.findings.len();
        let rejoins = |found: &Finding| {
            found.consequence.as_ref().is_some_and(|consequence| consequence.outcome == StaleOutcome::Rejoins)
        };
        answer.findings.retain(|found| !rejoins(found));
        answer.hidden.rejoining = before - answer.findings.len();
    }
    answer
}
