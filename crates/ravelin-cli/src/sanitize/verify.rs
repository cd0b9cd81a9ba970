//! `ravelin verify` and `cargo ravelin verify`: every schedule of a program, or of each test of a project.

use super::arguments::{CargoVerify, ReductionKind, ReportFormat, ReportOptions, Verify, VerifyOptions};
use super::bar::VerifyLine;
use super::checkpoint::VerifyCheckpoint;
use super::consequences::{deciding, folded};
use super::fix_all::fix_all;
use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::files;
use crate::resume::Resume;
use anyhow::Context;
use clap::Parser;
use ravelin::answer::sanitizer::Problem;
use ravelin::answer::{FixTrial, SanitizerReport};
use ravelin::{Answer, Document, Verdict};
use ravelin_output::{complain, stderr, stdout};
use ravelin_sanitizer::report::{Wanted, ignoring};
use ravelin_sanitizer::rust::{self, Test};
use ravelin_sanitizer::verify::NotResumable;
use ravelin_sanitizer::verify::exploration::{Options, Reduction};
use ravelin_sanitizer::{Listeners, Progress, VerifiedProgram, VerifyPlan, WatchCommand, command_line};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

/// Runs a program under every schedule and reports.
pub fn verify(arguments: &Verify) -> anyhow::Result<ExitCode> {
    let wanted = arguments.report.wanted()?;
    check_format(&arguments.report, &arguments.how)?;
    let [program, rest @ ..] = &*arguments.program else { anyhow::bail!("name the program to verify") };
    let options = runtime_options(&arguments.how, !arguments.how.no_races);
    let watch = WatchCommand { program: program.clone(), arguments: rest.to_vec(), options, ..WatchCommand::default() };
    if arguments.how.fix_all {
        let fixed = fix_all(&plan(&arguments.how, watch, false), &wanted, None, arguments.how.diff)?;
        return print_fixes(vec![fixed], &arguments.report, &arguments.how);
    }
    let checkpoint = arguments.checkpoint.as_deref();
    let saved = checkpoint.map(VerifyCheckpoint::read).transpose()?.flatten();
    let (command, resume) = match saved {
        Some(mut saved) => {
            let rest = std::mem::take(&mut saved.rest);
            (Some(saved), Some(rest))
        }
        None => (checkpoint.map(|_| VerifyCheckpoint::of_this_command()).transpose()?, None),
    };
    let checkpoint = checkpoint.zip(command.as_ref());
    let plan = VerifyPlan { resume, ..plan(&arguments.how, watch, false) };
    let (answer, sources) = answer(&plan, &wanted, None, checkpoint)?;
    let verdict = deciding(&answer, &arguments.how.consequences);
    let shown = folded(answer, &arguments.report, &arguments.how.consequences);
    arguments.report.print("verify", vec![shown], &sources, stdout())?;
    Ok(exit_code(verdict, &arguments.how))
}

/// Continues a verification from the file of its --checkpoint, with the limits that are given now.
pub fn resume(arguments: &Resume) -> anyhow::Result<ExitCode> {
    let file = std::path::absolute(&arguments.directory)?;
    let Some(saved) = VerifyCheckpoint::read(&file)? else { anyhow::bail!("{} does not exist", file.display()) };
    let words = std::iter::once(OsString::from("ravelin")).chain(saved.command);
    let Ok(Arguments { command: Command::Verify(mut before), .. }) = Arguments::try_parse_from(words) else {
        anyhow::bail!("{}: {}", file.display(), NotResumable::NotACheckpoint);
    };
    let there = &saved.directory;
    std::env::set_current_dir(there).with_context(|| format!("cannot go to `{}`", there.display()))?;
    before.checkpoint = Some(file);
    before.how.timeout = arguments.resources.timeout;
    before.how.max_runs = None;
    before.how.jobs = arguments.resources.workers.map(|workers| workers as u64).or(before.how.jobs);
    verify(&before)
}

/// Runs each test of a project under every schedule and reports. `words` are those after `verify`.
pub fn verify_tests(words: &[OsString]) -> anyhow::Result<ExitCode> {
    // The words after this belong to the tests, wherever it is.
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (words, selected) = (&words[..at], words.get(at + 1..).unwrap_or_default());
    let name = OsString::from("cargo ravelin verify");
    let arguments = match CargoVerify::try_parse_from([&name].into_iter().chain(words)) {
        Ok(arguments) => arguments,
        Err(error) => {
            let (stream, exit) = if error.use_stderr() { (stderr(), Exit::Wrong) } else { (stdout(), Exit::Holds) };
            stream.text(&error.render().to_string())?;
            return Ok(exit.into());
        }
    };
    let wanted = arguments.report.wanted()?;
    check_format(&arguments.report, &arguments.how)?;
    let races = if arguments.how.no_races { rust::Races::No } else { rust::Races::IfPossible };
    let (tests, races) = list_tests(&arguments.arguments, selected, races)?;
    if arguments.how.fix_all {
        let mut fixes = Vec::new();
        for test in &tests {
            let plan = plan(&arguments.how, test.command(runtime_options(&arguments.how, races)), true);
            fixes.push(fix_all(&plan, &wanted, Some(&test.path()), arguments.how.diff)?);
            if plan.is_interrupted() {
                break;
            }
        }
        return print_fixes(fixes, &arguments.report, &arguments.how);
    }
    let mut answers = Vec::new();
    let mut sources = Vec::new();
    for test in &tests {
        let plan = plan(&arguments.how, test.command(runtime_options(&arguments.how, races)), true);
        let (answer, used) = answer(&plan, &wanted, Some(&test.path()), None)?;
        let failures = answer.verification.iter().flat_map(|verification| &verification.failures);
        if let Some(failure) = failures.into_iter().next().filter(|_| arguments.report.format == ReportFormat::Text) {
            complain!("{}, under the schedule with which it fails:", test.path());
            plan.show(&failure.schedule)?;
        }
        let interrupted = answer.verdict == Verdict::Unknown && plan.is_interrupted();
        sources.extend(used);
        answers.push(SanitizerReport { program: test.path(), ..answer });
        if interrupted {
            break;
        }
    }
    sources.sort();
    sources.dedup();
    let verdict = worst(answers.iter().map(|answer| deciding(answer, &arguments.how.consequences)));
    let shown =
        answers.into_iter().map(|answer| folded(answer, &arguments.report, &arguments.how.consequences)).collect();
    arguments.report.print("verify", shown, &sources, stdout())?;
    Ok(exit_code(verdict, &arguments.how))
}

fn worst(verdicts: impl Iterator<Item = Verdict> + Clone) -> Verdict {
    let mut worst = [Verdict::Violated, Verdict::Unknown].into_iter();
    worst.find(|worst| verdicts.clone().any(|verdict| verdict == *worst)).unwrap_or(Verdict::Holds)
}

/// What `--fix-all` cannot do.
fn check_format(report: &ReportOptions, how: &VerifyOptions) -> anyhow::Result<()> {
    anyhow::ensure!(
        !how.fix_all || report.format != ReportFormat::Sarif && report.html.is_none(),
        "--fix-all writes text or json"
    );
    Ok(())
}

fn print_fixes(fixes: Vec<FixTrial>, report: &ReportOptions, how: &VerifyOptions) -> anyhow::Result<ExitCode> {
    let verdict = worst(fixes.iter().map(|fixed| fixed.verdict));
    let answers = fixes.into_iter().map(|fixed| Answer::FixTrial(Box::new(fixed))).collect();
    report.print_document(&Document::new("verify", answers), stdout())?;
    Ok(exit_code(verdict, how))
}

/// Builds the tests of a project, and lists those that are asked for, by the arguments of `cargo test` and the words after
/// `--`; and whether data races can be looked for.
pub fn list_tests(
    arguments: &[OsString],
    selected: &[OsString],
    races: rust::Races,
) -> anyhow::Result<(Vec<Test>, bool)> {
    let (of_cargo, named) = rust::without_test_names(arguments);
    let cargo = rust::Cargo::test_programs(&of_cargo, races)?;
    if let Some(why) = &cargo.without_races {
        complain!("warning: data races are not looked for: {why}");
    }
    let words: Vec<OsString> = named.into_iter().chain(selected.iter().cloned()).collect();
    let mut tests = Vec::new();
    for program in rust::build_tests(&cargo)? {
        tests.extend(program.tests(&words)?);
    }
    if tests.is_empty() {
        anyhow::bail!("there is no such test");
    }
    Ok((tests, cargo.races))
}

/// Makes the runs. Returns the answer and the sources that it shows.
fn answer(
    plan: &VerifyPlan,
    wanted: &Wanted,
    name: Option<&str>,
    checkpoint: Option<(&Path, &VerifyCheckpoint)>,
) -> anyhow::Result<(SanitizerReport, Vec<(String, String)>)> {
    let line = VerifyLine::new(name);
    let show = |progress: Progress| line.iter().for_each(|line| line.show(&progress));
    let saved = Mutex::new(Ok(()));
    let save = |words: &[u64]| {
        if let (Some((file, command)), Ok(mut saved)) = (checkpoint, saved.lock()) {
            *saved = files::write(file, command.with_rest(words));
        }
    };
    let listeners =
        Listeners { progress: line.is_some().then_some(&show), rest: checkpoint.is_some().then_some(&save) };
    let VerifiedProgram { report, verification } = plan.verify(wanted, listeners)?;
    drop(line);
    saved.into_inner().unwrap_or(Ok(()))?;
    let violated = !report.is_clean() || !report.crashes.is_empty() || !verification.failures.is_empty();
    let verdict = match (violated, verification.complete) {
        (true, _) => Verdict::Violated,
        (false, true) => Verdict::Holds,
        (false, false) => Verdict::Unknown,
    };
    if let Some((file, _)) = checkpoint {
        if verdict != Verdict::Unknown {
            // There is an answer. If the file cannot be removed, it is found to be of this program next time.
            let _ = std::fs::remove_file(file);
        } else if file.exists() {
            complain!("not finished; `ravelin resume {}` resumes it", file.display());
        }
    }
    let command = command_line(&plan.watch, 0);
    let sources = report.sources();
    let answer =
        SanitizerReport { verdict, verification: Some(verification), again: None, ..report.answer(Some(command)) };
    Ok((answer, sources))
}

fn exit_code(verdict: Verdict, how: &VerifyOptions) -> ExitCode {
    match verdict {
        Verdict::Violated => ExitCode::from(how.exit_code),
        other => Exit::from(other).into(),
    }
}

/// The words for the runtime.
fn runtime_options(how: &VerifyOptions, races: bool) -> Vec<String> {
    let mut options: Vec<String> = (!races).then(|| "no-races".to_owned()).into_iter().collect();
    // Locks in different orders are a deadlock in some schedule, or none: all schedules are run.
    let ignored = [&how.ignore[..], &[Problem::LockOrderInversion]].concat();
    options.extend(ignoring(&ignored));
    options
}

/// What the command line asks for.
fn plan(how: &VerifyOptions, watch: WatchCommand, silent: bool) -> VerifyPlan {
    VerifyPlan {
        watch,
        jobs: how.jobs.map_or_else(ravelin::usual_workers, |jobs| jobs as usize),
        options: Options {
            reduction: match how.reduction {
                ReductionKind::Off => Reduction::Off,
                ReductionKind::Sleep => Reduction::Sleep,
                ReductionKind::Source => Reduction::Source,
                ReductionKind::Optimal => Reduction::Optimal,
            },
            preemptions: how.preemptions,
        },
        unroll: how.unroll,
        max_runs: how.max_runs,
        timeout: how.timeout,
        robustness: !how.no_robustness,
        model: how.model.into(),
        keep_going: how.keep_going || how.consequences.consequences,
        consequences: how.consequences.consequences,
        fresh_processes: how.fresh_processes,
        silent,
        ..VerifyPlan::default()
    }
}
