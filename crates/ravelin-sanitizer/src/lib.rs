//! The host side of the sanitizer: builds programs with the runtime inside, runs them, and turns the findings into
//! reports.
//!
//! The runtime itself lives in the watched program and only writes addresses into a file ([`ravelin_findings`]). Here
//! they get names: functions, source lines, variables. This crate knows compilers, processes and debug information. It
//! must never know how anything is printed (`ravelin-report` does that), nor how anything was found (the runtime and
//! `ravelin-clocks` do that).

pub mod compiler;
mod judged;
pub mod repair;
pub mod report;
mod runs;
pub mod rust;
mod suppression;
mod symbols;
mod trial;
mod unpack;
mod watch;

pub use judged::{Judged, gathered_from};
pub use ravelin_schedule::{NoSchedule, Schedule, Strategy};
pub use runs::{Plan, Ran, Scheduling, fingerprint};
pub use suppression::{Suppressions, WrongSuppressions};
pub use symbols::Frame;
pub use trial::Trial;
pub use unpack::{NotUnpacked, Runtime};
pub use watch::{NotWatched, Streams, Watch, Watched, find_program, read_findings, watch};
