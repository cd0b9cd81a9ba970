//! `ravelin replay`: the schedule of a finding again, up to the finding.

use super::arguments::Replay;
use super::run::{command_line, make_runs};
use super::{exit, show, wanted};
use crate::exit::Exit;
use anyhow::{Context, bail};
use ravelin_output::{complain, stderr};
use ravelin_report::sanitizer::recorded::Recorded;
use ravelin_sanitizer::{RunReport, find_program, fingerprint};

/// A report longer than this is none of ours.
const LARGEST: u64 = 1 << 30;

/// Runs a program again as a report says.
pub fn replay(arguments: &Replay) -> anyhow::Result<Exit> {
    let name = arguments.report.display().to_string();
    let recorded = read(arguments).with_context(|| name.clone())?;
    let wanted = wanted(&arguments.shown)?;
    if let Some(directory) = &recorded.directory {
        std::env::set_current_dir(directory).with_context(|| format!("{name}: the program ran in {directory}"))?;
    }
    let Some(executable) = find_program(&recorded.command[0]) else {
        bail!("{name}: the program {} no longer exists", recorded.command[0].display());
    };
    let same_program = fingerprint(&executable) == recorded.fingerprint;
    if !same_program {
        complain!("note: {} has changed since the report was made", executable.display());
    }
    let plan = recorded.plan();
    let RunReport { report, ran } = make_runs(&plan, &wanted, false)?;
    let line = command_line(&plan, &recorded.command);
    show("replay", &report, Some(&line), &arguments.shown, stderr())?;
    let reached = ran.iter().flat_map(|run| &run.watched.processes).map(|process| process.points).max().unwrap_or(0);
    let came = report.findings.iter().any(|finding| finding.point == recorded.point)
        || report.stuck.iter().any(|stuck| stuck.point == recorded.point);
    if came {
        complain!(
            "replayed {}: {} occurred again at scheduling point {}",
            recorded.schedule,
            recorded.name(),
            recorded.point
        );
        return Ok(Exit::Violated);
    }
    let why = if same_program {
        "the program behaved differently this time: its input, its environment or the machine differs"
    } else {
        "the program is not that of the report"
    };
    complain!(
        "replayed {}: {} did not occur again (recorded at scheduling point {}, this run has {reached}): {why}",
        recorded.schedule,
        recorded.name(),
        recorded.point
    );
    Ok(exit(&report))
}

fn read(arguments: &Replay) -> anyhow::Result<Recorded> {
    let length = std::fs::metadata(&arguments.report)?.len();
    anyhow::ensure!(length <= LARGEST, "this is too long for a report");
    Ok(Recorded::read(&std::fs::read(&arguments.report)?, arguments.finding)?)
}
