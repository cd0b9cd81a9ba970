//! The run of a finding according to a stored report, so that it can be repeated.

use crate::report::{Report, Wanted};
use crate::runs::{RunPlan, Scheduling};
use crate::verify;
use crate::watch::{NotWatched, Streams, WatchCommand};
use ravelin_answer::sanitizer::{CommandLine, FirstRun, SanitizerReport, StaleValue};
use ravelin_answer::{Answer, Document};
use ravelin_schedule::{NoSchedule, Schedule, Strategy};
use ravelin_verify::{NoScript, Script};
use std::ffi::OsString;
use thiserror::Error;

/// Why a run cannot be repeated.
#[derive(Debug, Error)]
pub enum NotReplayable {
    #[error("this is no report of `ravelin run --format json` or `ravelin verify --format json`")]
    NotAReport,
    #[error("nothing was found in the runs of this report, so there is nothing to replay")]
    NothingFound,
    #[error("this report has {all} findings, and none is number {number}")]
    NoSuchFinding { all: usize, number: usize },
    #[error(
        "this was found under the schedule of the operating system, which cannot be replayed: run the program with --schedule random, pct or weak"
    )]
    ByTheSystem,
    #[error(transparent)]
    Schedule(#[from] NoSchedule),
    #[error(transparent)]
    Script(#[from] NoScript),
    #[error(
        "nothing is known about stale values of this finding: make the report with `ravelin verify --consequences`"
    )]
    NoConsequences,
    #[error("{value} is not among the stale values of this finding: {known}")]
    NoSuchValue { value: String, known: String },
    #[error("the report does not say which program was run")]
    WithoutProgram,
}

/// What a report says about a finding.
#[derive(Clone, Debug)]
pub enum Recorded {
    /// It was found by `ravelin run`.
    Scheduled(Replay),
    /// It was found by `ravelin verify`.
    Steered(SteeredReplay),
}

impl Recorded {
    /// Finding `number`, from 1, of a document.
    pub fn new(document: &Document, number: usize) -> Result<Recorded, NotReplayable> {
        match document.answers.first() {
            Some(Answer::Sanitizer(report)) if report.verification.is_some() || is_steered(report) => {
                SteeredReplay::new(report, number).map(Recorded::Steered)
            }
            _ => Replay::new(document, number).map(Recorded::Scheduled),
        }
    }

    /// The command.
    pub fn command(&self) -> &CommandLine {
        match self {
            Recorded::Scheduled(replay) => &replay.command,
            Recorded::Steered(replay) => &replay.command,
        }
    }
}

/// Whether the first finding has a list of steps.
fn is_steered(report: &SanitizerReport) -> bool {
    let first = report.first_run(1).flatten().and_then(|first| first.schedule.as_deref());
    first.is_some_and(|schedule| schedule.parse::<Script>().is_ok())
}

/// A run of `ravelin verify`: its steps.
#[derive(Clone, Debug)]
pub struct SteeredReplay {
    pub command: CommandLine,
    pub script: Script,
}

impl SteeredReplay {
    /// Of a finding, a standstill, a crash or a failure, numbered in this order from 1.
    fn new(report: &SanitizerReport, number: usize) -> Result<SteeredReplay, NotReplayable> {
        let first = |first: &Option<FirstRun>| first.as_ref().and_then(|first| first.schedule.clone());
        let failures = report.verification.iter().flat_map(|verification| &verification.failures);
        let schedules: Vec<Option<String>> = (report.findings.iter().map(|found| first(&found.first_run)))
            .chain(report.stuck.iter().map(|found| first(&found.first_run)))
            .chain(report.crashes.iter().map(|found| first(&found.first_run)))
            .chain(failures.map(|failure| Some(failure.schedule.clone())))
            .collect();
        if schedules.is_empty() {
            return Err(NotReplayable::NothingFound);
        }
        let at = number.checked_sub(1).and_then(|index| schedules.get(index));
        let schedule = at.ok_or(NotReplayable::NoSuchFinding { all: schedules.len(), number })?;
        let script = schedule.as_deref().ok_or(NotReplayable::ByTheSystem)?.parse()?;
        let command = report.command.clone().filter(|command| !command.words.is_empty());
        Ok(SteeredReplay { command: command.ok_or(NotReplayable::WithoutProgram)?, script })
    }

    /// Finding `number` of a document with its access stale: with this value, or the one that leads to the worst.
    pub fn stale(document: &Document, number: usize, value: Option<&str>) -> Result<SteeredReplay, NotReplayable> {
        let Some(Answer::Sanitizer(report)) = document.answers.first() else { return Err(NotReplayable::NotAReport) };
        let replay = SteeredReplay::new(report, number)?;
        let found = number.checked_sub(1).and_then(|index| report.findings.get(index));
        let consequence = found.and_then(|found| found.consequence.as_ref()).ok_or(NotReplayable::NoConsequences)?;
        let is_it = |known: &&StaleValue| value.is_none_or(|value| value == known.value);
        let Some(known) = consequence.values.iter().find(is_it) else {
            let known: Vec<&str> = consequence.values.iter().map(|known| &*known.value).collect();
            return Err(match value {
                Some(value) => NotReplayable::NoSuchValue { value: value.to_owned(), known: known.join(", ") },
                None => NotReplayable::NoConsequences,
            });
        };
        Ok(SteeredReplay { script: known.schedule.parse()?, ..replay })
    }

    /// Makes the run again, and reports.
    pub fn run(&self, wanted: &Wanted) -> Result<Report, NotWatched> {
        let mut words = self.command.words.iter().map(OsString::from);
        let watch = WatchCommand {
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
            options: self.command.options.clone(),
            streams: Streams::shown(),
            ..WatchCommand::default()
        };
        verify::again(watch, &self.script, wanted)
    }
}

/// The run in which a finding was made.
#[derive(Clone, Debug)]
pub struct Replay {
    pub command: CommandLine,
    pub schedule: Schedule,
    /// The scheduling point at which it was found.
    pub point: u64,
    /// The number of the finding, from 1.
    pub number: usize,
    /// How the run ended, if it is a weak one that failed.
    pub failure: Option<String>,
}

impl Replay {
    /// Of finding `number`, from 1, in a document of `ravelin run`.
    pub fn new(document: &Document, number: usize) -> Result<Replay, NotReplayable> {
        let Some(Answer::Sanitizer(report)) = document.answers.first() else { return Err(NotReplayable::NotAReport) };
        let others = report.findings.len() + report.stuck.len();
        let all = others + report.weak_failures().count();
        if all == 0 {
            return Err(NotReplayable::NothingFound);
        }
        let failure = number.checked_sub(others + 1).and_then(|index| report.weak_failures().nth(index));
        let first = report.first_run(number).ok_or(NotReplayable::NoSuchFinding { all, number })?;
        let schedule = first.and_then(|first| Some((first.schedule.as_deref()?, first.point)));
        let (schedule, point) = schedule.ok_or(NotReplayable::ByTheSystem)?;
        let command = report.command.clone().filter(|command| !command.words.is_empty());
        let command = command.ok_or(NotReplayable::WithoutProgram)?;
        Ok(Replay {
            command,
            schedule: schedule.parse()?,
            point,
            number,
            failure: failure.map(|failure| failure.how.clone()),
        })
    }

    /// The program.
    pub fn program(&self) -> &str {
        &self.command.words[0]
    }

    /// The run that repeats it, up to that point.
    pub fn plan(&self) -> RunPlan {
        let options = self.command.options.iter().filter(|word| *word != "halt-on-first").cloned();
        let halt_at = self.failure.is_none().then(|| format!("halt-at={}", self.point));
        let mut words = self.command.words.iter().map(OsString::from);
        RunPlan {
            watch: WatchCommand {
                program: words.next().unwrap_or_default(),
                arguments: words.collect(),
                options: options.chain(halt_at).collect(),
                ..WatchCommand::default()
            },
            scheduling: match self.schedule.strategy {
                Strategy::Random => Scheduling::Random,
                Strategy::Pct { depth, length } => Scheduling::Pct { depth, length: Some(length) },
                Strategy::Weak { values } => Scheduling::Weak { values },
                // Reports of `ravelin run` have none of these.
                Strategy::Steered => Scheduling::Os,
            },
            seed: self.schedule.seed,
            runs: 1,
            jobs: 1,
            livelock: self.command.livelock,
            silent: false,
            fresh_processes: false,
        }
    }

    /// Whether the finding occurred again in a run of the plan.
    pub fn occurred(&self, again: &SanitizerReport) -> bool {
        if let Some(how) = &self.failure {
            return again.weak_failures().any(|failure| failure.how == *how);
        }
        let all = again.findings.len() + again.stuck.len();
        (1..=all).any(|number| again.first_run(number).flatten().is_some_and(|first| first.point == self.point))
    }
}
