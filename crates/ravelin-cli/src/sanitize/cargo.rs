//! `ravelin cargo`, which is also `cargo ravelin`: Rust projects.

use super::arguments::{Cargo, ScheduleKind};
use super::consequences::{self, deciding, folded};
use super::run::{check_model, check_schedule, exit_code, make_runs, plan_of};
use super::verify::list_tests;
use ravelin::Verdict;
use ravelin::answer::SanitizerReport;
use ravelin_output::{complain, stderr};
use ravelin_sanitizer::report::{Wanted, gather};
use ravelin_sanitizer::{RunPlan, RunReport, Scheduling, WatchCommand, rust};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs cargo with the sanitizer, and reports what the programs it ran found.
pub fn cargo(arguments: &Cargo) -> anyhow::Result<ExitCode> {
    if let [command, words @ ..] = &*arguments.command
        && command == "verify"
    {
        let all: Vec<OsString> = std::env::args_os().collect();
        // A test may have the same name.
        let first = all.windows(2).find(|pair| pair[1] == *"verify");
        let options_first = first.is_some_and(|pair| pair[0].to_string_lossy().starts_with("--"));
        anyhow::ensure!(!options_first, "the options of `verify` follow it: cargo ravelin verify OPTIONS");
        return super::verify::verify_tests(words);
    }
    let wanted = arguments.report.wanted()?;
    check_schedule(&arguments.schedules)?;
    check_model(&arguments.watching, &arguments.schedules)?;
    let races = match (arguments.races, arguments.no_races) {
        (true, _) => rust::Races::Required,
        (false, true) => rust::Races::No,
        (false, false) => rust::Races::IfPossible,
    };
    let is_scheduled = arguments.schedules.schedule != ScheduleKind::Os || arguments.schedules.runs > 1;
    if is_scheduled || arguments.consequences.consequences {
        return scheduled_tests(arguments, races, &wanted);
    }
    let cargo = rust::Cargo::new(&arguments.command, races)?;
    if let Some(why) = &cargo.without_races {
        complain!("warning: data races are not looked for: {why}");
    }
    if cargo.without_doctests {
        complain!("note: documentation tests are not run: the sanitizer does not watch them");
    }
    let plan = RunPlan {
        watch: WatchCommand {
            program: cargo.program,
            arguments: cargo.arguments,
            options: arguments.watching.options(cargo.races, !arguments.no_robustness),
            keep: arguments.watching.findings.clone(),
            environment: cargo.environment,
            only_starts: true,
            ..WatchCommand::default()
        },
        scheduling: Scheduling::Os,
        seed: 1,
        runs: 1,
        jobs: 1,
        livelock: 0,
        silent: false,
        fresh_processes: true,
    };
    let mut ran = plan.run(|_| true)?.ran;
    // Nothing ran, and cargo has said what there is to say.
    if let Some(run) = ran.iter().find(|run| run.watched.processes.is_empty() && run.watched.unrecorded == 0) {
        return Ok(ExitCode::from(run.watched.exit_code));
    }
    // The findings are in the programs that cargo started, not in cargo.
    ran.iter_mut().for_each(|run| run.watched.executable = None);
    let mut gathered = plan.gathered(&ran);
    gathered.program = format!("cargo {}", arguments.command[0].display());
    let mut report = gather(gathered, &wanted);
    report.notes.extend(cargo.without_races.map(|why| format!("data races were not looked for: {why}")));
    arguments.report.print("run", vec![report.answer(None)], &report.sources(), stderr())?;
    Ok(exit_code(&report, &ran, arguments.watching.exit_code))
}

/// Runs each test by itself with schedules of its own.
fn scheduled_tests(arguments: &Cargo, races: rust::Races, wanted: &Wanted) -> anyhow::Result<ExitCode> {
    let [command, words @ ..] = &*arguments.command else { anyhow::bail!("name a command of cargo: test") };
    anyhow::ensure!(
        command == "test" || command == "t",
        "schedules and several runs are for `test`; build other programs, and use `ravelin run`"
    );
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (tests, races) = list_tests(&words[..at], words.get(at + 1..).unwrap_or_default(), races)?;
    let mut answers = Vec::new();
    let mut sources = Vec::new();
    let mut code = None;
    for test in &tests {
        let mut watch = test.command(arguments.watching.options(races, !arguments.no_robustness));
        watch.keep = arguments.watching.findings.clone();
        let plan = plan_of(&arguments.schedules, watch);
        let plan = RunPlan { silent: true, ..plan };
        if arguments.consequences.consequences {
            let drawn = consequences::draw(&arguments.schedules, arguments.watching.model, plan, wanted)?;
            let how = &arguments.consequences;
            let ended = drawn.exit_code(how, arguments.watching.exit_code);
            let is_found = deciding(&drawn.answer, how) == Verdict::Violated;
            let is_worse = ended != ExitCode::SUCCESS && (code.is_none() || is_found);
            code = if is_worse { Some(ended) } else { code };
            sources.extend(drawn.sources);
            let answer = folded(drawn.answer, &arguments.report, how);
            answers.push(SanitizerReport { program: test.path(), again: None, ..answer });
            continue;
        }
        let RunReport { report, ran } = make_runs(&plan, wanted, arguments.watching.halt_on_first)?;
        let ended = exit_code(&report, &ran, arguments.watching.exit_code);
        let is_worse = ended != ExitCode::SUCCESS && (code.is_none() || !report.is_clean());
        code = if is_worse { Some(ended) } else { code };
        sources.extend(report.sources());
        let answer = report.answer(Some(plan.command_line()));
        // `ravelin run` does not run a test alone in its thread; `ravelin replay` does.
        answers.push(SanitizerReport { program: test.path(), again: None, ..answer });
    }
    sources.sort();
    sources.dedup();
    arguments.report.print("run", answers, &sources, stderr())?;
    Ok(code.unwrap_or(ExitCode::SUCCESS))
}

/// Is rustc with the sanitizer, as cargo calls it.
pub fn rustc(arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let status = rust::compile(arguments)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
