//! The sanitizer from outside: builds programs with the runtime inside, runs them, and makes reports of what was found.
//!
//! The runtime itself lives in the watched program and only writes addresses into a file ([`ravelin_findings`]). Here
//! they get names: functions, source lines, variables. This crate knows compilers, processes and debug information; it
//! must never know how anything is printed, which `ravelin-report` does, nor how anything was found, which the runtime
//! and `ravelin-clocks` do.

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
