//! The run of a finding according to a report, so that it can be repeated.

use ravelin_sanitizer::{NoSchedule, RunPlan, Schedule, Scheduling, Strategy, WatchCommand};
use serde_json::Value;
use std::ffi::OsString;
use thiserror::Error;

/// Why a run cannot be repeated.
#[derive(Debug, Error)]
pub enum NotReplayable {
    #[error("this is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("this is no report of `ravelin run --format json`")]
    NotAReport,
    #[error("nothing was found in the runs of this report, so there is nothing to replay")]
    NothingFound,
    #[error("this report has {all} findings, and none is number {number}")]
    NoSuchFinding { all: usize, number: u64 },
    #[error(
        "this was found under the schedule of the operating system, which cannot be replayed: run the program with --schedule random or pct"
    )]
    ByTheSystem,
    #[error(transparent)]
    Schedule(#[from] NoSchedule),
    #[error("the report does not say which program was run")]
    WithoutProgram,
}

/// What a report contains about a finding.
pub struct Recorded {
    /// The program and its arguments, at least the program.
    pub command: Vec<OsString>,
    pub directory: Option<String>,
    /// The hash of the program's contents.
    pub fingerprint: u64,
    options: Vec<String>,
    livelock: u64,
    pub schedule: Schedule,
    /// The scheduling point at which it was found.
    pub point: u64,
    number: u64,
}

impl Recorded {
    /// Reads finding `number`, from 1, of a report that `ravelin run --format json` wrote.
    pub fn read(report: &[u8], number: u64) -> Result<Recorded, NotReplayable> {
        let json: Value = serde_json::from_slice(report)?;
        let answer = &json["answers"][0];
        let Some(findings) = answer["findings"].as_array() else {
            return Err(NotReplayable::NotAReport);
        };
        // Deadlocks are numbered after the findings, as in the text.
        let stuck = answer["stuck"].as_array().map(Vec::as_slice).unwrap_or_default();
        let all = findings.len() + stuck.len();
        if all == 0 {
            return Err(NotReplayable::NothingFound);
        }
        let chosen = usize::try_from(number.wrapping_sub(1)).ok().and_then(|at| findings.iter().chain(stuck).nth(at));
        let Some(finding) = chosen else {
            return Err(NotReplayable::NoSuchFinding { all, number });
        };
        let first = &finding["first_run"];
        let Some(schedule) = first["schedule"].as_str() else {
            return Err(NotReplayable::ByTheSystem);
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
            number,
        };
        if recorded.command.is_empty() { Err(NotReplayable::WithoutProgram) } else { Ok(recorded) }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        format!("finding {}", self.number)
    }

    /// The run that repeats it, up to that point.
    pub fn plan(&self) -> RunPlan {
        let mut options: Vec<String> = self.options.iter().filter(|word| *word != "halt-on-first").cloned().collect();
        options.push(format!("halt-at={}", self.point));
        RunPlan {
            watch: WatchCommand {
                program: self.command[0].clone(),
                arguments: self.command[1..].to_vec(),
                options,
                ..WatchCommand::default()
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
