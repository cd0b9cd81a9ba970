//! `ravelin replay`: the schedule of a finding again, up to the finding.

use super::arguments;
use super::run::make_runs;
use crate::exit::Exit;
use anyhow::{Context, bail};
use ravelin::Document;
use ravelin_output::{complain, stderr};
use ravelin_sanitizer::{Replay, RunReport, find_program, fingerprint};

/// A longer file is no report.
const LARGEST: u64 = 1 << 30;

/// Runs a program again as a report says.
pub fn replay(arguments: &arguments::Replay) -> anyhow::Result<Exit> {
    let name = arguments.recorded.display().to_string();
    let replay = read(arguments).with_context(|| name.clone())?;
    let wanted = arguments.options.wanted()?;
    let directory = &replay.command.directory;
    std::env::set_current_dir(directory).with_context(|| format!("{name}: the program ran in {directory}"))?;
    let Some(executable) = find_program(replay.program().as_ref()) else {
        bail!("{name}: the program {} no longer exists", replay.program());
    };
    let same_program = fingerprint(&executable) == replay.command.fingerprint;
    if !same_program {
        complain!("note: {} has changed since the report was made", executable.display());
    }
    let plan = replay.plan();
    let RunReport { report, ran } = make_runs(&plan, &wanted, false)?;
    let answer = report.answer(Some(plan.command_line()));
    let occurred = replay.occurred(&answer);
    arguments.options.print("replay", vec![answer], &report.sources(), stderr())?;
    let Replay { schedule, number, point, .. } = replay;
    if occurred {
        complain!("replayed {schedule}: finding {number} occurred again at scheduling point {point}");
        return Ok(Exit::Violated);
    }
    let reached = ran.iter().flat_map(|run| &run.watched.processes).map(|process| process.points).max().unwrap_or(0);
    let why = if same_program {
        "the program behaved differently this time: its input, its environment or the machine differs"
    } else {
        "the program is not that of the report"
    };
    complain!(
        "replayed {schedule}: finding {number} did not occur again (recorded at scheduling point {point}, this run has {reached}): {why}"
    );
    Ok(report.verdict().into())
}

fn read(arguments: &arguments::Replay) -> anyhow::Result<Replay> {
    let length = std::fs::metadata(&arguments.recorded)?.len();
    anyhow::ensure!(length <= LARGEST, "this is too long for a report");
    let text = String::from_utf8_lossy(&std::fs::read(&arguments.recorded)?).into_owned();
    Ok(Replay::new(&Document::read(&text)?, usize::try_from(arguments.finding)?)?)
}
