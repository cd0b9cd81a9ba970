//! The command lines of the sanitizer.

use crate::arguments::Color;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const COMPILE_HELP: &str = "\
Everything is handed to the compiler as it stands, except --ravelin-compiler=NAME, which chooses one. Without it the
environment decides (RAVELIN_CC, RAVELIN_CXX), then what is installed: gcc, cc, clang, or g++, c++, clang++.
-static and other sanitizers do not go together with this one.

In a build: make CC=\"ravelin cc\" CXX=\"ravelin c++\", CC=\"ravelin cc\" CXX=\"ravelin c++\" cmake ….

Exit codes: those of the compiler; 2 if it could not be asked.";

#[derive(Debug, Args)]
#[command(after_help = COMPILE_HELP, disable_help_flag = true, disable_version_flag = true)]
pub struct Compile {
    /// What the compiler takes
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

const RUN_HELP: &str = "\
The program's input, output and signals are its own. The report comes after its end: text on standard error, JSON and SARIF
on standard output unless --output says otherwise.

Exit codes: 1 something was found (or as --exit-code says), a deadlock, livelock or run without progress included; 2 the
command line is wrong or the program was not built with the sanitizer; otherwise the program's own, 128 and the signal if
it was killed.";

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct Run {
    #[command(flatten)]
    pub watching: Watching,
    /// Do not look for data races
    #[arg(long, conflicts_with = "no_robustness")]
    pub no_races: bool,
    /// Do not look for robustness violations
    #[arg(long)]
    pub no_robustness: bool,
    #[command(flatten)]
    pub shown: Shown,
    #[command(flatten)]
    pub schedules: Schedules,
    /// Try out a suggestion: FILE:LINE:ORDER (acquire, release, acq_rel, seq_cst, or fence for a seq_cst fence before that
    /// line), or the number of a finding; may be repeated
    #[arg(long, value_name = "SUGGESTION", conflicts_with_all = ["fix_all", "html"])]
    pub verify_fix: Vec<String>,
    /// Try out suggestions until no finding remains that memory orders repair, and list them
    #[arg(long, conflicts_with = "html")]
    pub fix_all: bool,
    /// The program and its arguments
    #[arg(required = true, value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

/// How a program is watched, whoever starts it.
#[derive(Debug, Args)]
pub struct Watching {
    /// Only report what the run itself shows, not what another schedule of the same steps would show
    #[arg(long)]
    pub no_predict: bool,
    /// End the program at the first finding
    #[arg(long)]
    pub halt_on_first: bool,
    /// Exit code if something was found
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub exit_code: u8,
    /// Keep the findings files in this directory, for `ravelin findings`
    #[arg(long, value_name = "DIRECTORY")]
    pub findings: Option<PathBuf>,
}

impl Watching {
    /// The words for the runtime.
    pub fn options(&self, races: bool, robustness: bool) -> Vec<String> {
        let words = [
            (self.no_predict, "no-predict"),
            (self.halt_on_first, "halt-on-first"),
            (!races, "no-races"),
            (!robustness, "no-robustness"),
        ];
        words.into_iter().filter(|(chosen, _)| *chosen).map(|(_, word)| word.to_owned()).collect()
    }
}

const CARGO_HELP: &str = "\
As `cargo ravelin …` or `ravelin cargo …`. What is compiled for the target is instrumented, with any stable toolchain; build scripts
and procedural macros are left as they are. Everything is built in a directory of its own, target/ravelin (with --no-races
target/ravelin-no-races). Arguments after the command are cargo's. Documentation tests are not run. If the toolchain can
instrument atomics only, the report says that data races were not looked for.

Exit codes: 1 something was found (or as --exit-code says), 2 the command line is wrong; otherwise those of cargo.";

#[derive(Debug, Args)]
#[command(after_help = CARGO_HELP)]
pub struct Cargo {
    /// Look for data races, which is the default; with this option a toolchain that cannot is refused
    #[arg(long, conflicts_with = "no_races")]
    pub races: bool,
    /// Do not look for data races: accesses that are not atomic are not instrumented
    #[arg(long, conflicts_with = "no_robustness")]
    pub no_races: bool,
    #[command(flatten)]
    pub watching: Watching,
    /// Do not look for robustness violations
    #[arg(long)]
    pub no_robustness: bool,
    #[command(flatten)]
    pub shown: Shown,
    /// A command of cargo (test, run, build or bench) and its arguments
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Which schedules, and how many.
#[derive(Debug, Args)]
pub struct Schedules {
    /// How often the program is run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// Who decides which thread runs: the operating system, a random walk, or priorities that change at few points
    #[arg(long, value_name = "HOW", default_value = "os")]
    pub schedule: ScheduleKind,
    /// Seed of the first run; each run has the next one
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// For pct: the depth of what is to be found; priorities change at one point less
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub depth: u32,
    /// For pct: among how many scheduling points those are chosen; by default as many as the first run has
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub length: Option<u64>,
    /// Scheduling points at which nothing happens that make a livelock; 0 for never
    #[arg(long, value_name = "POINTS", default_value_t = 5_000_000)]
    pub livelock: u64,
    /// End a run that makes no progress for so long, and report where its threads are; 0 for never. By default 60 with a
    /// schedule of our own, and never for os
    #[arg(long, value_name = "SECONDS")]
    pub no_progress: Option<u64>,
    /// Runs at a time; by default one for os, otherwise one for each processor
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub jobs: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScheduleKind {
    Os,
    Random,
    Pct,
}

const REPLAY_HELP: &str = "\
The report is one that `ravelin run --schedule random|pct --format json` wrote. The program must be the same file; it is
run in the same directory with the same arguments, and ended at the finding.

Exit codes: 1 the finding came about again, 0 it did not (and why), 2 the report cannot be used.";

#[derive(Debug, Args)]
#[command(after_help = REPLAY_HELP)]
pub struct Replay {
    /// The report, as JSON
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    /// Which finding, by its number in the report
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub finding: u64,
    #[command(flatten)]
    pub shown: Shown,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 nothing was found, 1 something was, 2 the files or the command line are wrong.")]
pub struct Findings {
    /// Files of one run
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub shown: Shown,
}

#[derive(Debug, Args)]
pub struct Shown {
    /// Findings not to show, as this file says: lines race:PATTERN, robust:PATTERN or any:PATTERN; may be repeated
    #[arg(long, value_name = "FILE")]
    pub suppressions: Vec<PathBuf>,
    /// Also show stale reads that only let a waiting loop go round once more
    #[arg(long)]
    pub spinning: bool,
    /// Also show robustness violations inside the C++ standard library
    #[arg(long)]
    pub show_library: bool,
    /// How the report looks
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// File for the report
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also write a page to be opened in a browser: the findings with both stacks and the source
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Whether text is painted
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    Text,
    Json,
    Sarif,
}
