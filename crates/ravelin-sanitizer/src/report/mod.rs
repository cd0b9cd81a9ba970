//! What was found in all processes of a run, with names instead of addresses, and each pair of places once.
//!
//! Here findings are merged, hidden and given suggestions. The result is an answer ([`Report::answer`]), which is plain
//! data; its parts are used here wherever they are the same.

mod answer;
mod collect;
mod sources;
mod stuck;
mod suggestion;
mod weak;

pub use collect::{Gathered, Wanted, gather, ignoring};
pub use stuck::{Blocked, Stuck};
pub use suggestion::{Segment, Strengthen, Suggestion};
pub use weak::{WeakEnd, WeakReport};

use crate::watch::FreshReason;
use ravelin_answer::Machines;
use ravelin_answer::sanitizer::{
    Consequence, Crash, HiddenFindings, PathStepKind, Problem, StandstillKind, WatchedAccess, WatchedLocation,
    WatchedProcess,
};
use ravelin_schedule::Schedule;

/// The report about one run, or several.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The program, as it was called.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Robustness was judged for x86-TSO.
    pub tso: bool,
    /// What is shown, most frequent first.
    pub findings: Vec<Finding>,
    /// Why runs could not continue.
    pub stuck: Vec<Stuck>,
    /// Crashes, with the runs in which they occurred.
    pub crashes: Vec<(Crash, Vec<usize>)>,
    /// What weak runs did, if there were any.
    pub weak: Option<WeakReport>,
    /// The runs; empty if only files were read.
    pub runs: Vec<Run>,
    /// The processes that were watched.
    pub processes: Vec<WatchedProcess>,
    /// What is not shown, and why.
    pub hidden: HiddenFindings,
    /// Suppressions that matched nothing, each with file and line.
    pub unused_suppressions: Vec<String>,
    /// Why each of several runs was a new process.
    pub fresh_processes: Option<FreshReason>,
    /// How many processes could not record what they found.
    pub unrecorded: u64,
    /// What else limits the answer.
    pub notes: Vec<String>,
}

impl Run {
    /// Its schedule as text.
    pub fn schedule_text(&self) -> Option<String> {
        self.script.clone().or_else(|| self.schedule.map(|schedule| schedule.to_string()))
    }
}

impl Report {
    /// Whether nothing is shown.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.stuck.is_empty() && self.weak.as_ref().is_none_or(|weak| weak.ends.is_empty())
    }

    /// Whether everything was watched and recorded: if not, a clean report implies nothing.
    pub fn is_complete(&self) -> bool {
        self.is_recorded() && self.processes.iter().all(|process| !process.unwatched)
    }

    /// Whether everything that was found could be recorded.
    pub fn is_recorded(&self) -> bool {
        self.unrecorded == 0 && self.processes.iter().all(|process| process.dropped == 0)
    }
}

/// One run of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// `None` for the schedule of the operating system.
    pub schedule: Option<Schedule>,
    /// Its steps, if they were given.
    pub script: Option<String>,
    /// Its own exit code, or 128 and the signal that killed it.
    pub exit_code: u8,
    pub signal: Option<i32>,
    /// Scheduling points.
    pub points: u64,
    /// A hash that is the same in another run of the same schedule.
    pub trail: u64,
    /// The schedule decided everything.
    pub replayable: bool,
}

/// A robustness violation, a data race, or another misuse.
#[derive(Clone, Debug)]
pub struct Finding {
    pub problem: Problem,
    /// How often it was seen.
    pub count: u64,
    /// It only makes a waiting loop repeat once more.
    pub spinning: bool,
    /// The access that may miss the other one, or the later one of a race.
    pub access: WatchedAccess,
    /// The write that may be missed, or the earlier access of a race.
    pub other: WatchedAccess,
    /// If the stack of `other` is forgotten: how many accesses its thread has made since, at least. Otherwise 0.
    pub forgotten: u64,
    pub location: WatchedLocation,
    /// Why `other` comes before `access` under sequential consistency, last step first. For a race: the reads by which
    /// `access` came after `other` in this run; empty if none are known.
    pub path: Vec<Step>,
    pub suggestion: Suggestion,
    /// The runs it was found in, by number; empty if only files were read.
    pub runs: Vec<usize>,
    /// The scheduling point at which it was made in the first of them; 0 without a schedule.
    pub point: u64,
    /// On which machines it can happen, if that is known.
    pub machines: Option<Machines>,
    /// What the program would do with a stale value, if that was tried.
    pub consequence: Option<Consequence>,
}

/// `before` happened, then `after`, on the same location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub kind: PathStepKind,
    pub location: WatchedLocation,
    pub before: WatchedAccess,
    pub after: WatchedAccess,
    /// `before` releases too little for the two to synchronise, by its order and by fences.
    pub lacks_release: bool,
    /// `after` acquires too little.
    pub lacks_acquire: bool,
}
