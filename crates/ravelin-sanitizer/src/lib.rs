//! The host side of the sanitizer: builds programs with the runtime inside, runs them, and turns the findings into
//! reports.
//!
//! The runtime itself lives in the watched program and only writes addresses into a file ([`ravelin_findings`]). Here
//! they get names: functions, source lines, variables. This crate knows compilers, processes and debug information. It
//! must never know how anything is printed (`ravelin-answer` and `ravelin-report` do that), nor how anything was found (the runtime and
//! `ravelin-clocks` do that).

pub mod compiler;
mod fingerprint;
pub mod patch;
mod processor;
pub mod repair;
mod replay;
pub mod report;
mod run_report;
mod runs;
pub mod rust;
mod suppression;
mod symbols;
mod trial;
mod unpack;
pub mod verify;
mod watch;

pub use fingerprint::fingerprint;
pub use ravelin_schedule::{NoSchedule, Schedule, Strategy};
pub use replay::{NotReplayable, Recorded, Replay, SteeredReplay};
pub use run_report::{RunReport, command_line, gathered_from};
pub use runs::{CompletedRun, CompletedRuns, DEFAULT_VALUES, RunPlan, Scheduling};
pub use suppression::{Suppressions, WrongSuppressions};
pub use trial::Trial;
pub use unpack::{NotUnpacked, Runtime};
pub use verify::{Listeners, Progress, VerifiedProgram, VerifyPlan};
pub use watch::{
    FreshReason, NotWatched, SteeredProgram, SteeredRun, Streams, WatchCommand, WatchedRun, find_program,
    read_findings, watch,
};
