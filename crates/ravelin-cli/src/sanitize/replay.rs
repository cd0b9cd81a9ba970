//! `ravelin replay`: the schedule of a finding again, up to the finding.

use super::arguments::Replay;
use super::run::{command_line, make_runs};
use super::{exit, show, wanted};
use crate::exit::Exit;
use anyhow::{Context, bail};
use ravelin_output::{complain, stderr};
use ravelin_sanitizer::{Plan, Schedule, Scheduling, Strategy, Watch, find_program, fingerprint};
use serde_json::Value;
use std::ffi::OsString;

/// A report longer than this is none of ours.
const LARGEST: u64 = 1 << 30;

/// Runs a program again as a report says.
pub fn replay(arguments: &Replay) -> anyhow::Result<Exit> {
    let name = arguments.report.display().to_string();
    let recorded = Recorded::read(arguments).with_context(|| name.clone())?;
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
    let (report, ran) = make_runs(&plan, &wanted, false)?;
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

/// What a report says about a finding.
struct Recorded {
    command: Vec<OsString>,
    directory: Option<String>,
    fingerprint: u64,
    options: Vec<String>,
    livelock: u64,
    schedule: Schedule,
    point: u64,
    number: u64,
}

impl Recorded {
    fn read(arguments: &Replay) -> anyhow::Result<Recorded> {
        let length = std::fs::metadata(&arguments.report)?.len();
        anyhow::ensure!(length <= LARGEST, "this is too long for a report");
        let text = std::fs::read(&arguments.report)?;
        let json: Value = serde_json::from_slice(&text).context("this is not JSON")?;
        let answer = &json["answers"][0];
        let Some(findings) = answer["findings"].as_array() else {
            bail!("this is no report of `ravelin run --format json`");
        };
        // Deadlocks are counted on after the findings, as the text does.
        let stuck = answer["stuck"].as_array().map(Vec::as_slice).unwrap_or_default();
        let all = findings.len() + stuck.len();
        if all == 0 {
            bail!("nothing was found in the runs of this report, so there is nothing to replay");
        }
        let chosen = usize::try_from(arguments.finding - 1).ok().and_then(|at| findings.iter().chain(stuck).nth(at));
        let Some(finding) = chosen else {
            bail!("this report has {all} findings, and none is number {}", arguments.finding);
        };
        let first = &finding["first_run"];
        let Some(schedule) = first["schedule"].as_str() else {
            bail!(
                "this was found under the schedule of the operating system, which cannot be replayed: run the program with --schedule random or pct"
            );
        };
        let command = &answer["command"];
        let words = |value: &Value| {
            let words = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            words.map(str::to_owned).collect::<Vec<String>>()
        };
        let recorded = Recorded {
            command: words(&command["words"]).into_iter().map(OsString::from).collect(),
            directory: command["directory"].as_str().map(str::to_owned),
            fingerprint: command["fingerprint"]
                .as_str()
                .and_then(|text| u64::from_str_radix(text, 16).ok())
                .unwrap_or(0),
            options: words(&command["options"]),
            livelock: command["livelock"].as_u64().unwrap_or(0),
            schedule: schedule.parse()?,
            point: first["point"].as_u64().unwrap_or(0),
            number: arguments.finding,
        };
        anyhow::ensure!(!recorded.command.is_empty(), "the report does not say which program was run");
        Ok(recorded)
    }

    fn name(&self) -> String {
        format!("finding {}", self.number)
    }

    fn plan(&self) -> Plan {
        let mut options: Vec<String> = self.options.iter().filter(|word| *word != "halt-on-first").cloned().collect();
        options.push(format!("halt-at={}", self.point));
        Plan {
            watch: Watch {
                program: self.command[0].clone(),
                arguments: self.command[1..].to_vec(),
                options,
                ..Watch::default()
            },
            scheduling: match self.schedule.strategy {
                Strategy::Random => Scheduling::Random,
                Strategy::Pct { depth, length } => Scheduling::Pct { depth, length: Some(length) },
            },
            seed: self.schedule.seed,
            runs: 1,
            jobs: 1,
            livelock: self.livelock,
            silent: false,
        }
    }
}
