//! `ravelin replay`: the schedule of a finding again, up to the finding.

use super::arguments;
use super::run::make_runs;
use crate::exit::Exit;
use anyhow::{Context, bail};
use ravelin::Document;
use ravelin_output::{complain, stderr};
use ravelin_sanitizer::report::Wanted;
use ravelin_sanitizer::{Recorded, Replay, RunReport, SteeredReplay, find_program, fingerprint};

/// A longer file is no report.
const LARGEST: u64 = 1 << 30;

/// Runs a program again as a report says.
pub fn replay(arguments: &arguments::Replay) -> anyhow::Result<Exit> {
    let name = arguments.recorded.display().to_string();
    let recorded = read(arguments).with_context(|| name.clone())?;
    let wanted = arguments.options.wanted()?;
    let command = recorded.command();
    let directory = &command.directory;
    std::env::set_current_dir(directory).with_context(|| format!("{name}: the program ran in {directory}"))?;
    let Some(executable) = find_program(command.words[0].as_ref()) else {
        bail!("{name}: the program {} no longer exists", command.words[0]);
    };
    let same_program = fingerprint(&executable) == command.fingerprint;
    if !same_program {
        complain!("note: {} has changed since the report was made", executable.display());
    }
    let replay = match &recorded {
        Recorded::Scheduled(replay) => replay,
        Recorded::Steered(replay) => return again(arguments, replay, &wanted),
    };
    let plan = replay.plan();
    let RunReport { report, ran } = make_runs(&plan, &wanted, false)?;
    let answer = report.answer(Some(plan.command_line()));
    let occurred = replay.occurred(&answer);
    arguments.options.print("replay", vec![answer], &report.sources(), stderr())?;
    let Replay { schedule, number, point, .. } = replay;
    if occurred {
        let point = match &replay.failure {
            Some(how) => format!(": {how}"),
            None => format!(" at scheduling point {point}"),
        };
        complain!("replayed {schedule}: finding {number} occurred again{point}");
        return Ok(Exit::Violated);
    }
    let reached = ran.iter().flat_map(|run| &run.watched.processes).map(|process| process.points).max().unwrap_or(0);
    let why = if same_program {
        "the program behaved differently this time: its input, its environment or the machine differs"
    } else {
        "the program is not that of the report"
    };
    let recorded = match &replay.failure {
        Some(how) => how.clone(),
        None => format!("recorded at scheduling point {point}, this run has {reached}"),
    };
    complain!("replayed {schedule}: finding {number} did not occur again ({recorded}): {why}");
    Ok(report.verdict().into())
}

/// Makes a run of `ravelin verify` again.
fn again(arguments: &arguments::Replay, replay: &SteeredReplay, wanted: &Wanted) -> anyhow::Result<Exit> {
    let report = replay.run(wanted)?;
    let failed = report.runs.iter().any(|run| run.exit_code != 0);
    let occurred = !report.is_clean() || !report.crashes.is_empty() || failed;
    let answer = report.answer(Some(replay.command.clone()));
    arguments.options.print("replay", vec![answer], &report.sources(), stderr())?;
    let number = arguments.finding;
    if arguments.stale.is_some() {
        let ends = if occurred { "the program does not end well" } else { "the program ends well" };
        complain!("replayed {}: {ends}", replay.script);
        return Ok(if occurred { Exit::Violated } else { Exit::Holds });
    }
    if occurred {
        complain!("replayed {}: finding {number} occurred again", replay.script);
        return Ok(Exit::Violated);
    }
    complain!("replayed {}: finding {number} did not occur again", replay.script);
    Ok(Exit::Holds)
}

fn read(arguments: &arguments::Replay) -> anyhow::Result<Recorded> {
    let length = std::fs::metadata(&arguments.recorded)?.len();
    anyhow::ensure!(length <= LARGEST, "this is too long for a report");
    let text = String::from_utf8_lossy(&std::fs::read(&arguments.recorded)?).into_owned();
    let (document, number) = (Document::read(&text)?, usize::try_from(arguments.finding)?);
    Ok(match &arguments.stale {
        Some(value) => Recorded::Steered(SteeredReplay::stale(&document, number, value.as_deref())?),
        None => Recorded::new(&document, number)?,
    })
}
