//! What the sanitizer found in runs of a program: the answer of `run`, `replay` and `findings`.
//!
//! The host side of the sanitizer makes these values. Fields with a default are missing in documents of earlier
//! versions.

mod access;
mod consequence;
mod problem;
#[cfg(test)]
pub(crate) mod sample;
mod trial;
mod verification;
mod weak;

pub use access::{
    AccessKind, AccessOrder, CallerLine, Frame, MemoryArea, PathStep, PathStepKind, WatchedAccess, WatchedLocation,
    WatchedThread,
};
pub use consequence::{Consequence, OutputDifference, OutputStream, StaleOutcome, StaleValue};
pub use problem::{Problem, ProblemGroup};
pub use trial::FixTrial;
pub use verification::{Failure, Verification};
pub use weak::{StaleAccess, WeakFailure, WeakRuns};

use crate::machines::Machines;
use crate::verdict::Verdict;
use ravelin_program::Model;
use serde::{Deserialize, Serialize};

/// What was found in one or more runs of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SanitizerReport {
    /// The program as it was called; the files for `findings`.
    pub program: String,
    /// Violated if there is a finding. Holds is about these runs only. Unknown if findings could not be recorded or a part
    /// of the program was not watched.
    pub verdict: Verdict,
    /// How the program ended by itself, in the first run that did not end with 0; null for `findings`.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Against which model robustness was judged, if that is `tso`; omitted for rc20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// What `replay` needs; null if only files were read.
    pub command: Option<CommandLine>,
    /// A command that repeats the first run with a finding, if its schedule is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// What is known about all schedules, for `verify`; the runs below are those in which something was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The runs; empty for `findings`.
    pub runs: Vec<ProgramRun>,
    /// What accesses with old values led to, for `--schedule weak`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weak: Option<WeakRuns>,
    /// Why each of several runs was a new process; omitted if they were forked before the second thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_processes: Option<String>,
    /// What was found, most frequent first.
    pub findings: Vec<Finding>,
    /// Runs in which no thread could continue.
    pub stuck: Vec<Standstill>,
    /// Runs that crashed, each place once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<Crash>,
    /// What is not shown.
    pub hidden: HiddenFindings,
    /// Lines of suppressions files that matched nothing, each with file and number.
    pub unused_suppressions: Vec<String>,
    /// How many processes could not record what they found.
    #[serde(default)]
    pub unrecorded: u64,
    /// What else limits the answer.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The processes that were watched.
    pub processes: Vec<WatchedProcess>,
}

impl SanitizerReport {
    /// Whether everything that was found could be recorded.
    pub fn is_recorded(&self) -> bool {
        self.unrecorded == 0 && self.processes.iter().all(|process| process.dropped == 0)
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
            && self.stuck.is_empty()
            && self.weak.as_ref().is_none_or(|weak| weak.failures.is_empty())
    }

    /// Failures of weak runs that are not standstills: these are listed among the others.
    pub fn weak_failures(&self) -> impl Iterator<Item = &WeakFailure> {
        self.weak.iter().flat_map(|weak| &weak.failures).filter(|failure| !failure.standstill)
    }

    /// Standstills of weak runs to which old values have led.
    pub fn weak_standstills(&self) -> impl Iterator<Item = &WeakFailure> {
        let failures = self.weak.iter().flat_map(|weak| &weak.failures);
        failures.filter(|failure| failure.standstill && !failure.stale.is_empty())
    }

    /// How many problems there are in all.
    pub fn found(&self) -> usize {
        self.findings.len() + self.stuck.len() + self.weak_failures().count()
    }

    /// The notes of all processes, each once, and the processes that have it.
    pub fn process_notes(&self) -> Vec<(&str, Vec<u64>)> {
        let mut notes: Vec<(&str, Vec<u64>)> = Vec::new();
        for process in &self.processes {
            for note in &process.notes {
                match notes.iter_mut().find(|(known, _)| known == note) {
                    Some((_, processes)) => processes.push(process.process),
                    None => notes.push((note, vec![process.process])),
                }
            }
        }
        notes
    }

    /// A finding, a standstill or a failure of a weak run by its number, from 1: the run in which it occurred first. They are
    /// numbered in this order.
    pub fn first_run(&self, number: usize) -> Option<Option<&FirstRun>> {
        let findings = self.findings.iter().map(|finding| finding.first_run.as_ref());
        let stuck = self.stuck.iter().map(|stuck| stuck.first_run.as_ref());
        let failures = self.weak_failures().map(|failure| failure.first_run.as_ref());
        findings.chain(stuck).chain(failures).nth(number.checked_sub(1)?)
    }
}

/// What was run, so that it can be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandLine {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The directory in which it ran.
    pub directory: String,
    /// Its file.
    pub executable: Option<String>,
    /// A hash of the contents of the executable, in hexadecimal.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub fingerprint: u64,
    /// Words for the runtime.
    pub options: Vec<String>,
    /// How many scheduling points without an effect make a livelock.
    pub livelock: u64,
}

/// One run of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramRun {
    /// Such as `random:7`, `pct:7:3:1000`, `weak:7:1000` or `steps:0x2,1x3`; null for the schedule of the operating system.
    pub schedule: Option<String>,
    /// Its own exit code, or 128 and the signal that killed it.
    pub exit_code: u8,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Scheduling points.
    pub points: u64,
    /// A hash in hexadecimal that is the same in another run of the same schedule.
    #[serde(with = "hexadecimal")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub trail: u64,
    /// The schedule decided everything.
    pub replayable: bool,
}

/// Where something occurred first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstRun {
    /// The number of the run, from 0.
    pub run: usize,
    /// Its schedule.
    pub schedule: Option<String>,
    /// The scheduling point; 0 without a schedule.
    #[serde(default)]
    pub point: u64,
}

/// How many findings are not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HiddenFindings {
    /// Inside the C++ standard library.
    pub library: usize,
    /// A stale value only makes a waiting loop repeat once more.
    pub spinning: usize,
    /// A suppressions file covers them.
    pub suppressed: usize,
    /// Stale values with which the program does the same as without.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rejoining: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A watched process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedProcess {
    /// Its number.
    pub process: u64,
    /// The runtime saw its end.
    pub ended: bool,
    /// Threads started, including the first one.
    pub threads: u64,
    /// Atomic accesses that were checked; 0 if not counted.
    pub accesses: u64,
    /// The most atomic locations that were alive at once.
    pub locations: u64,
    /// Findings for which there was no room.
    pub dropped: u64,
    /// It was not watched, or only in part; the notes say why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwatched: bool,
    /// What limits the answer.
    pub notes: Vec<String>,
}

/// A robustness violation, a data race, or another misuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Which of them.
    pub problem: Problem,
    /// The same in a sentence.
    pub sentence: String,
    /// How often it was seen.
    pub count: u64,
    /// In how many runs.
    pub runs: usize,
    /// The first of these runs; null for `findings`.
    #[serde(default)]
    pub first_run: Option<FirstRun>,
    /// Names of the changes that the suggestion consists of, for `--try-fix`.
    pub fixes: Vec<String>,
    /// It only makes a waiting loop repeat once more.
    pub spinning: bool,
    /// The access that may miss the other one, the later one of a race, or the call that is wrong.
    pub access: WatchedAccess,
    /// The write that may be missed, the earlier access of a race, or what makes the call wrong.
    pub other: WatchedAccess,
    /// If the stack of `other` is no longer known: how many accesses its thread has made since, at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<u64>,
    /// What was accessed.
    pub location: WatchedLocation,
    /// Why `other` comes before `access` under sequential consistency, last step first. For a race: the reads by which
    /// `access` came after `other` in this run. For locks in different orders: each lock that was taken while another
    /// one was held, round the circle.
    pub path: Vec<PathStep>,
    /// What to change.
    pub suggestion: Suggestion,
    /// On which machines a robustness violation can happen, if its whole run is known, as under `verify`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<Machines>,
    /// What the program would do with a stale value, if that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
}

/// What to change to remove a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suggestion {
    /// Its kind.
    pub kind: SuggestionKind,
    /// One or two sentences.
    pub text: String,
    /// Accesses that need a stronger order.
    pub accesses: Option<Vec<Strengthening>>,
    /// The parts of threads that need a fence.
    pub fences: Option<Vec<Segment>>,
}

/// Kinds of suggestions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SuggestionKind {
    /// Accesses need a stronger order.
    ReleaseAcquire,
    /// Parts of threads need a seq_cst fence, or seq_cst accesses at their ends.
    SeqCstFences,
    /// Both accesses need the same lock, or have to be atomic.
    Synchronise,
    /// One access has to be atomic.
    MakeAtomic,
    /// The memory is freed too early.
    FreeLater,
    /// An object of the C library has to be used in another way.
    UseCorrectly,
    /// It is not known what orders the accesses.
    Unknown,
}

/// Make the access at a place at least of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Strengthening {
    /// `load`, `store`, `failure order of the compare-exchange`, ….
    pub access: String,
    /// Its place.
    pub place: String,
    /// The order.
    pub order: AccessOrder,
}

/// A part of a thread: from one access to a later one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segment {
    /// The thread.
    pub thread: String,
    /// The place of the first access.
    pub from: String,
    /// The place of the second one.
    pub to: String,
}

/// Why no thread continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StandstillKind {
    /// Every thread waits for another one.
    Deadlock,
    /// Threads only repeat waiting loops.
    Livelock,
    /// Nothing happened for some time.
    NoProgress,
}

impl StandstillKind {
    /// Its name in documents; stable across versions.
    pub fn name(self) -> &'static str {
        match self {
            StandstillKind::Deadlock => "deadlock",
            StandstillKind::Livelock => "livelock",
            StandstillKind::NoProgress => "no-progress",
        }
    }
}

/// A run in which no thread could continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Standstill {
    /// Why.
    pub problem: StandstillKind,
    /// The same as a heading.
    #[serde(default)]
    pub sentence: Option<String>,
    /// For how many seconds nothing had happened; 0 for a deadlock or livelock.
    #[serde(default)]
    pub seconds: u64,
    /// In how many runs.
    pub runs: usize,
    /// The first of these runs.
    #[serde(default)]
    pub first_run: Option<FirstRun>,
    /// All threads that had not ended.
    pub threads: Vec<BlockedThread>,
}

impl Standstill {
    /// A heading.
    pub fn words(&self) -> &str {
        self.sentence.as_deref().unwrap_or(self.problem.name())
    }
}

/// How a program ended that a signal killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crash {
    /// The signal.
    pub signal: i32,
    /// Its name, such as `SIGSEGV`.
    pub name: Option<String>,
    /// The address that could not be accessed, in hexadecimal; null if it was something else.
    pub address: Option<String>,
    /// The thread.
    pub thread: WatchedThread,
    /// Innermost first.
    pub stack: Vec<Frame>,
    /// The source line of the innermost frame of the program, if it could be read.
    pub source: Option<String>,
    /// In how many runs.
    pub runs: usize,
    /// The first of these runs.
    #[serde(default)]
    pub first_run: Option<FirstRun>,
}

/// The name of a signal that ends programs.
pub fn signal_name(signal: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 13] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

/// `signal 11 (SIGSEGV)`.
pub fn signal_words(signal: i32) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), |name| format!("signal {signal} ({name})"))
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockedThread {
    /// The thread.
    pub thread: WatchedThread,
    /// What it does, in words.
    pub sentence: String,
    /// The lock or other object.
    #[serde(default)]
    pub object: Option<WatchedLocation>,
    /// The thread that holds the lock, or whose end is awaited, if that is known.
    #[serde(default)]
    pub other: Option<WatchedThread>,
    /// Innermost first.
    pub stack: Vec<Frame>,
}

/// Numbers as sixteen hexadecimal digits.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{number:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(|_| de::Error::custom(format!("`{text}` is not a hexadecimal number")))
    }
}
