//! The command lines of the sanitizer.

use crate::arguments::Paint;
use clap::{Args, ValueEnum};
use ravelin::answer::sanitizer::{Problem, ProblemGroup};
use ravelin_sanitizer::report::ignoring;
use ravelin_sanitizer::verify::JudgedModel;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const COMPILE_HELP: &str = "\
All arguments go to the compiler unchanged, except --ravelin-compiler=NAME, which chooses the compiler. Without it the
environment decides (RAVELIN_CC, RAVELIN_CXX), then the first that is installed: gcc, cc, clang, or g++, c++, clang++.
-static and other sanitizers are not supported.

In a build: make CC=\"ravelin cc\" CXX=\"ravelin c++\", CC=\"ravelin cc\" CXX=\"ravelin c++\" cmake ….

Exit codes: those of the compiler; 2 if it could not be run.";

#[derive(Debug, Args)]
#[command(after_help = COMPILE_HELP, disable_help_flag = true, disable_version_flag = true)]
pub struct Compile {
    /// Arguments of the compiler
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

const RUN_HELP: &str = "\
The program keeps its input, output and signals. The report is printed when it ends: text to standard error, JSON and SARIF
to standard output, or to the file of --output.

Exit codes: 1 (or that of --exit-code) something was found, including a deadlock, a livelock, a run without progress, and with
--schedule weak a run that fails; 2 the command line is wrong or the program was not built with the sanitizer; otherwise the exit code of the program, or 128 plus
the signal that killed it.";

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct Run {
    #[command(flatten)]
    pub watching: WatchOptions,
    /// Do not look for data races
    #[arg(long, conflicts_with = "no_robustness")]
    pub no_races: bool,
    /// Do not look for robustness violations
    #[arg(long)]
    pub no_robustness: bool,
    /// Ignore what functions of the C library read and write for the program (copies excepted)
    #[arg(long)]
    pub no_library_calls: bool,
    /// Do not treat freeing memory as a write to it
    #[arg(long)]
    pub no_freed_memory: bool,
    #[command(flatten)]
    pub report: ReportOptions,
    #[command(flatten)]
    pub schedules: Schedules,
    /// Try a suggestion: FILE:LINE:ORDER (acquire, release, acq_rel, seq_cst, or fence for a seq_cst fence before that
    /// line), or the number of a finding; may be repeated
    #[arg(long, value_name = "SUGGESTION", alias = "verify-fix", conflicts_with_all = ["fix_all", "html", "consequences"])]
    pub try_fix: Vec<String>,
    /// Try suggestions until no finding remains that memory orders repair, and list them
    #[arg(long, conflicts_with_all = ["html", "consequences"])]
    pub fix_all: bool,
    #[command(flatten)]
    pub consequences: ConsequenceOptions,
    /// The program and its arguments
    #[arg(required = true, value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

/// How a program is watched, under `run` and `cargo`.
#[derive(Debug, Args)]
pub struct WatchOptions {
    /// Robust against which model: rc20 for C11 on any machine, tso for x86 only
    #[arg(
        long,
        value_enum,
        value_name = "MODEL",
        default_value_t,
        ignore_case = true,
        conflicts_with = "no_robustness"
    )]
    pub model: WatchedModel,
    /// Report only what the run itself shows, not what another schedule of the same steps would show
    #[arg(long)]
    pub no_predict: bool,
    /// Stop the program at the first finding
    #[arg(long)]
    pub halt_on_first: bool,
    /// Do not look for this kind of finding, such as lock-order-inversion or thread-leak; may be repeated
    #[arg(long, value_name = "KIND", value_parser = misuse)]
    pub ignore: Vec<Problem>,
    /// How many of its last accesses each thread remembers, with their stacks; 16 bytes each [default: 12288]
    #[arg(long, value_name = "ACCESSES", value_parser = clap::value_parser!(u64).range(1_000..=100_000_000))]
    pub history: Option<u64>,
    /// Exit code if something was found
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub exit_code: u8,
    /// Keep the findings files in this directory, for `ravelin findings`
    #[arg(long, value_name = "DIRECTORY")]
    pub findings: Option<PathBuf>,
}

impl WatchOptions {
    /// The words for the runtime.
    pub fn options(&self, races: bool, robustness: bool) -> Vec<String> {
        let words = [
            (self.no_predict, "no-predict"),
            (self.halt_on_first, "halt-on-first"),
            (!races, "no-races"),
            (!robustness, "no-robustness"),
            (self.model == WatchedModel::Tso, "tso"),
        ];
        let words = words.into_iter().filter(|(chosen, _)| *chosen).map(|(_, word)| word.to_owned());
        let history = self.history.map(|accesses| format!("history={accesses}"));
        words.chain(ignoring(&self.ignore)).chain(history).collect()
    }
}

/// A kind of finding that has no other switch.
fn misuse(name: &str) -> Result<Problem, String> {
    let kinds = || Problem::ALL.into_iter().filter(|problem| problem.group() == ProblemGroup::Misuse);
    kinds().find(|problem| problem.name() == name).ok_or_else(|| {
        let names: Vec<&str> = kinds().map(Problem::name).collect();
        format!("expected one of {}; --no-races and --no-robustness are for the others", names.join(", "))
    })
}

const CARGO_HELP: &str = "\
Run as `cargo ravelin …` or `ravelin cargo …`, with any stable toolchain. Code for the target is instrumented; build scripts and
procedural macros are not. The build directory is target/ravelin (with --no-races target/ravelin-no-races). Arguments after
the command are those of cargo. Documentation tests are not run. If the toolchain can instrument only atomics, the report
says that data races were not looked for.

With --schedule random, pct or weak, several --runs or --consequences, the command is test, and each test is run by itself
with each schedule. The report has an answer per test.

`cargo ravelin verify` runs each test under every schedule; `cargo ravelin verify --help` describes it.

Exit codes: 1 (or that of --exit-code) something was found, 2 the command line is wrong; otherwise those of cargo.";

#[derive(Debug, Args)]
#[command(after_help = CARGO_HELP)]
pub struct Cargo {
    /// Look for data races (the default), and fail if the toolchain cannot
    #[arg(long, conflicts_with = "no_races")]
    pub races: bool,
    /// Do not look for data races, and do not instrument non-atomic accesses
    #[arg(long, conflicts_with = "no_robustness")]
    pub no_races: bool,
    #[command(flatten)]
    pub watching: WatchOptions,
    /// Do not look for robustness violations
    #[arg(long)]
    pub no_robustness: bool,
    #[command(flatten)]
    pub report: ReportOptions,
    #[command(flatten)]
    pub schedules: Schedules,
    #[command(flatten)]
    pub consequences: ConsequenceOptions,
    /// A command of cargo (test, run, build or bench) and its arguments, or verify
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

const VERIFY_HELP: &str = "\
The program is a test: it starts threads, waits for them, and ends with 0 if all is well. It is run once for each order of
the steps of its threads that can make a difference. Its input is empty, and only the output of its first run is shown.
What it does before it calls `ravelin_verify_begin()` of ravelin.h, and after `ravelin_verify_end()`, happens in one order.

Exit codes: 0 verified, 1 (or that of --exit-code) violated, 2 the command line is wrong or the program was not built with the
sanitizer, 3 unknown: a limit was met, or something is not controlled.";

#[derive(Debug, Args)]
#[command(after_help = VERIFY_HELP)]
pub struct Verify {
    /// Save what is left in this file when a limit is met or it is interrupted. The same command, or `ravelin resume FILE`,
    /// continues from there
    #[arg(long, value_name = "FILE", conflicts_with = "fix_all")]
    pub checkpoint: Option<PathBuf>,
    #[command(flatten)]
    pub how: VerifyOptions,
    #[command(flatten)]
    pub report: ReportOptions,
    /// The program and its arguments
    #[arg(required = true, value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

const CARGO_VERIFY_HELP: &str = "\
Each #[test] is a program to verify: it is run once for each order of the steps of its threads that can make a difference.
It fails if it panics under one schedule. Tests that are ignored are left out. The options of `verify` come first, then
those of `cargo test`, then `--` and words that select tests:

  cargo ravelin verify --max-runs 10000 --test queue -- push_pop

The tests are built as by `cargo ravelin test`. Their input is empty, and their output is shown only for a schedule under
which a test fails.

Exit codes: 0 all are verified, 1 (or that of --exit-code) one is violated, 2 the command line is wrong or nothing was built,
3 one is unknown: a limit was met, or something is not controlled.";

/// Verify every schedule of the tests of a Rust project
#[derive(Debug, clap::Parser)]
#[command(name = "cargo ravelin verify", after_help = CARGO_VERIFY_HELP)]
pub struct CargoVerify {
    #[command(flatten)]
    pub how: VerifyOptions,
    #[command(flatten)]
    pub report: ReportOptions,
    /// Arguments of cargo test
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// How a program is verified, and how far.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// Leave out schedules with more preemptions than this; the answer is then violated or unknown
    #[arg(long, value_name = "N")]
    pub preemptions: Option<u32>,
    /// Stop after this many runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_runs: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// How many loads in a row a thread may make in a loop that is not known to wait; 0 for any number
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub unroll: u64,
    /// Which runs are left out because others are equivalent
    #[arg(long, value_name = "WHICH", default_value = "optimal")]
    pub reduction: ReductionKind,
    /// Number of runs at a time [default: one per processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub jobs: Option<u64>,
    /// Go on after the first finding, and list all
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    pub consequences: ConsequenceOptions,
    /// Find the cheapest stronger orders and fences with which every schedule is right
    #[arg(long, conflicts_with = "consequences")]
    pub fix_all: bool,
    /// Print these as a change of the source
    #[arg(long, requires = "fix_all")]
    pub diff: bool,
    /// Start a new process for each run, also where runs can be forked before the second thread
    #[arg(long)]
    pub fresh_processes: bool,
    /// Do not look for data races
    #[arg(long)]
    pub no_races: bool,
    /// Do not look for robustness violations
    #[arg(long)]
    pub no_robustness: bool,
    /// Robust against which model: rc20 for C11 on any machine, tso for x86 only
    #[arg(
        long,
        value_enum,
        value_name = "MODEL",
        default_value_t,
        ignore_case = true,
        conflicts_with = "no_robustness"
    )]
    pub model: WatchedModel,
    /// Do not look for this kind of finding, such as double-lock or thread-leak; may be repeated
    #[arg(long, value_name = "KIND", value_parser = misuse)]
    pub ignore: Vec<Problem>,
    /// Exit code if something was found
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub exit_code: u8,
}

/// Against which model real programs are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WatchedModel {
    #[default]
    Rc20,
    Tso,
}

impl From<WatchedModel> for JudgedModel {
    fn from(model: WatchedModel) -> JudgedModel {
        match model {
            WatchedModel::Rc20 => JudgedModel::Rc20,
            WatchedModel::Tso => JudgedModel::Tso,
        }
    }
}

/// What stale values lead to.
#[derive(Debug, Args)]
pub struct ConsequenceOptions {
    /// Try what the program does with each stale value
    #[arg(long, conflicts_with = "no_robustness")]
    pub consequences: bool,
    /// With --consequences: list also stale values with which the program does the same as without
    #[arg(long, requires = "consequences")]
    pub all: bool,
    /// With --consequences: which findings decide the exit code
    #[arg(long, value_name = "WHICH", default_value = "any", requires_ifs = [("crash", "consequences"), ("value", "consequences")])]
    pub fail_on: FailOn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Stale values that end the program badly, and everything but stale values
    Crash,
    /// The same, and stale values with which the program does something else
    Value,
    /// All
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReductionKind {
    /// None: all orders of steps
    Off,
    /// What sleep sets leave out
    Sleep,
    /// Source sets and sleep sets
    Source,
    /// One run per order of conflicting steps
    Optimal,
}

/// A number of seconds, with a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && (0.0..1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected a number of seconds".to_owned())
}

/// Which schedules, and how many.
#[derive(Debug, Args)]
pub struct Schedules {
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// How the next thread is chosen: by the operating system, by a random walk, or by priorities that change at a few points.
    /// weak is a random walk in which atomic accesses may read old values, as C11 allows
    #[arg(long, value_name = "HOW", default_value = "os")]
    pub schedule: ScheduleKind,
    /// Seed of the first run; each later run uses the next seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// For pct: the bug depth; priorities change at one point fewer
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub depth: u32,
    /// For pct: the number of scheduling points among which those are chosen [default: that of the first run]
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub length: Option<u64>,
    /// For weak: how many values of each location are kept; older ones are no longer read [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub values: Option<u32>,
    /// Report a livelock after this number of scheduling points without an effect; 0 for never
    #[arg(long, value_name = "POINTS", default_value_t = 5_000_000)]
    pub livelock: u64,
    /// End a run that makes no progress for this long, and report where its threads are; 0 for never [default: 0 for os,
    /// otherwise 60]
    #[arg(long, value_name = "SECONDS")]
    pub no_progress: Option<u64>,
    /// Number of runs at a time [default: 1 for os, otherwise one per processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub jobs: Option<u64>,
    /// Start a new process for each run, also where runs can be forked before the second thread
    #[arg(long)]
    pub fresh_processes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScheduleKind {
    Os,
    Random,
    Pct,
    Weak,
}

const REPLAY_HELP: &str = "\
The report is one that `ravelin verify --format json` or `ravelin run --schedule random|pct|weak --format json` wrote. The
program must be the same file. It runs in the same directory with the same arguments; one of `run` is stopped at the
finding.

Exit codes: 1 the finding occurred again, 0 it did not (the reason is printed), 2 the report cannot be used.";

#[derive(Debug, Args)]
#[command(after_help = REPLAY_HELP)]
pub struct Replay {
    /// The report, as JSON
    #[arg(value_name = "REPORT")]
    pub recorded: PathBuf,
    /// Number of the finding in the report
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub finding: u64,
    /// For a report of verify --consequences: let the access be stale, with this value or the one that leads to the worst
    #[arg(long, value_name = "VALUE")]
    pub stale: Option<Option<String>>,
    #[command(flatten)]
    pub options: ReportOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 nothing was found, 1 something was, 2 the files or the command line are wrong.")]
pub struct Findings {
    /// Files of one run
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub report: ReportOptions,
}

/// What is reported, and how.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// File of findings to suppress, with lines race:PATTERN, robust:PATTERN, misuse:PATTERN, any:PATTERN or KIND:PATTERN; may
    /// be repeated
    #[arg(long, value_name = "FILE")]
    pub suppressions: Vec<PathBuf>,
    /// Also report stale reads that only make a waiting loop repeat once more
    #[arg(long)]
    pub spinning: bool,
    /// Also report robustness violations inside the C++ standard library
    #[arg(long)]
    pub show_library: bool,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Write the report to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also write an HTML page: the findings with both stacks and the source
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub paint: Paint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    Text,
    Json,
    Sarif,
}
