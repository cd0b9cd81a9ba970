//! Programs in C and C++ as they are, under the stock thread sanitizers and under Ravelin: built, run, and what a run costs.

pub mod alone;
mod ending;
mod group;
pub mod runs;
pub mod started;
pub mod verifying;

use crate::measure::median;
pub use alone::ended_alone;
use anyhow::{Result, ensure};
use started::succeeds;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One way to build: the column's name, the compiler, and what instruments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BuildVariant {
    pub compiler: &'static str,
    pub kind: Instrumentation,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Instrumentation {
    Plain,
    Stock,
    Ravelin,
}

pub const BUILDS: [BuildVariant; 5] = [
    BuildVariant { compiler: "gcc", kind: Instrumentation::Plain },
    BuildVariant { compiler: "gcc", kind: Instrumentation::Stock },
    BuildVariant { compiler: "gcc", kind: Instrumentation::Ravelin },
    BuildVariant { compiler: "clang", kind: Instrumentation::Stock },
    BuildVariant { compiler: "clang", kind: Instrumentation::Ravelin },
];

#[derive(Clone, Copy)]
pub struct RunCost {
    pub time: Duration,
    /// The most memory the program ever had, in KiB.
    pub memory: u64,
}

/// The command that compiles or links C or C++, without arguments.
pub fn compiler(build: BuildVariant, ravelin: &Path, cpp: bool) -> Command {
    let compiler = match (build.compiler, cpp) {
        ("gcc", true) => "g++",
        ("clang", true) => "clang++",
        (compiler, _) => compiler,
    };
    match build.kind {
        Instrumentation::Ravelin => {
            let mut command = Command::new(ravelin);
            command.arg(if cpp { "c++" } else { "cc" }).env(if cpp { "RAVELIN_CXX" } else { "RAVELIN_CC" }, compiler);
            command
        }
        Instrumentation::Stock => {
            let mut command = Command::new(compiler);
            command.arg("-fsanitize=thread");
            command
        }
        Instrumentation::Plain => Command::new(compiler),
    }
}

pub fn compile(build: BuildVariant, ravelin: &Path, file: &str, library: Option<&Path>, program: &Path) -> Result<()> {
    let cpp = file.ends_with(".cpp");
    let mut command = compiler(build, ravelin, cpp);
    command.args(["-O2", "-g", "-w", "-pthread"]);
    if cpp {
        command.arg("-std=c++17");
    }
    if let Some(library) = library {
        command.arg("-DNDEBUG").arg("-I").arg(library.join("include")).arg(library.join("src/static.c"));
    }
    command.arg(crate::root().join("bench/programs/runtime").join(file)).arg("-o").arg(program);
    succeeds(&mut command).map(drop)
}

/// One run. A program that Ravelin watches writes its findings into a folder by itself, without `ravelin run`.
pub fn cost(
    build: BuildVariant,
    program: &Path,
    words: &[impl AsRef<OsStr>],
    report: &Path,
    limit: Duration,
) -> Result<RunCost> {
    let mut command = Command::new(program);
    command.args(words);
    command.env("TSAN_OPTIONS", "exitcode=0 report_bugs=0");
    if build.kind == Instrumentation::Ravelin {
        command.env("RAVELIN_FINDINGS", report);
    }
    let (status, cost) = ended_alone(&command, limit)?;
    ensure!(status == 0, "ended with status {status:#x}");
    Ok(cost)
}

impl RunCost {
    /// The medians of time and of memory, each by itself.
    pub fn median(costs: &[RunCost]) -> RunCost {
        RunCost {
            time: median(costs.iter().map(|cost| cost.time).collect()),
            memory: median(costs.iter().map(|cost| cost.memory).collect()),
        }
    }
}

impl BuildVariant {
    pub fn name(self) -> String {
        let kind = match self.kind {
            Instrumentation::Plain => "plain",
            Instrumentation::Stock => "TSan",
            Instrumentation::Ravelin => "Ravelin",
        };
        format!("{kind} {}", self.compiler)
    }
}

/// Builds ravelin as releases have it.
pub fn built() -> Result<PathBuf> {
    let package = ["-p", "ravelin-cli", "--features", "cluster"];
    let status = crate::cargo().args(["build", "--profile", "dist", "--quiet"]).args(package).status()?;
    ensure!(status.success(), "ravelin does not build");
    Ok(crate::target().join("dist").join("ravelin"))
}
