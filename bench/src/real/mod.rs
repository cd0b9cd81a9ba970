//! Programs of others under the sanitizers: fetched by package name, built, run with two sizes of work, and measured.
//!
//! Nothing of theirs is part of this repository. Sources and executables are kept in `target/bench-programs`.

pub mod build;
pub mod input;
pub mod packages;
pub mod recipes;
pub mod tables;

use crate::sanitizer::{BUILDS, BuildVariant, Instrumentation, RunCost, cost, ended_alone, runs};
use anyhow::{Context, Result, ensure};
use build::Workshop;
use ravelin_process::interrupt::is_asked;
use recipes::{PROGRAMS, RealProgram, Recipe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A run that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a sanitizer reports differs from run to run, so several are looked at.
pub const WATCHED_RUNS: usize = 3;

/// The builds of a program in Rust; rustc's thread sanitizer is the stock one.
const RUST: [BuildVariant; 3] = [
    BuildVariant { compiler: "rustc", kind: Instrumentation::Plain },
    BuildVariant { compiler: "rustc", kind: Instrumentation::Stock },
    BuildVariant { compiler: "rustc", kind: Instrumentation::Ravelin },
];

/// What was measured of one program.
pub struct RealMeasurement {
    pub name: &'static str,
    /// Package names with versions.
    pub packages: String,
    pub does: &'static str,
    pub sizes: [u64; 2],
    pub builds: Vec<BuildVariant>,
    /// The medians with each size, in the order of the builds.
    pub costs: [Vec<RunCost>; 2],
    /// The most that a run with the larger size reported; none of a plain build.
    pub findings: Vec<Option<usize>>,
}

/// How programs are measured.
pub struct RealEffort<'a> {
    pub only: &'a str,
    pub repetitions: usize,
    pub ravelin: &'a Path,
    /// For files that are removed at the end.
    pub folder: &'a Path,
}

/// Why a program, or a build of it, could not be measured.
pub struct Obstacle {
    pub program: String,
    pub reason: String,
}

impl Obstacle {
    pub fn new(program: &str, problem: &anyhow::Error) -> Obstacle {
        // The document does not show paths of this machine.
        let words = format!("{problem:#}").replace(&format!("{}/", crate::root().display()), "");
        Obstacle { program: program.to_owned(), reason: words.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}

/// What could be measured, and what could not.
pub fn measure(effort: &RealEffort) -> Result<(Vec<RealMeasurement>, Vec<Obstacle>)> {
    let cache = crate::target().join("bench-programs");
    std::fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let workshop = Workshop::new(&cache, effort.ravelin)?;
    let (mut measured, mut problems) = (Vec::new(), Vec::new());
    for program in PROGRAMS.iter().filter(|program| program.name.contains(effort.only)) {
        eprintln!("{}", program.name);
        match of_program(program, effort, &workshop, &mut problems) {
            Ok(measurement) => measured.push(measurement),
            Err(problem) => {
                ensure!(!is_asked(), "interrupted");
                eprintln!("{}: {problem:#}", program.name);
                problems.push(Obstacle::new(program.name, &problem));
            }
        }
    }
    Ok((measured, problems))
}

/// Whether there is a program of others with this in its name.
pub fn is_known(word: &str) -> bool {
    PROGRAMS.iter().any(|program| program.name.contains(word))
}

fn of_program(
    program: &RealProgram,
    effort: &RealEffort,
    workshop: &Workshop,
    problems: &mut Vec<Obstacle>,
) -> Result<RealMeasurement> {
    let mut packages = Vec::new();
    let mut versions = Vec::new();
    for package in program.packages {
        let fetched = package.fetched(workshop.cache)?;
        versions.push(format!("{} {}", package.name(), fetched.version));
        packages.push(fetched);
    }
    let wanted = match program.recipe {
        Recipe::Compile(_) => &BUILDS[..],
        Recipe::Cargo => &RUST,
    };
    let (mut builds, mut executables) = (Vec::new(), Vec::new());
    for &build in wanted.iter().filter(|build| crate::is_installed(build.compiler, "--version")) {
        match workshop.built(program, &packages, build) {
            Ok(executable) => {
                builds.push(build);
                executables.push(executable);
            }
            // The other compiler can still be measured.
            Err(problem) => {
                ensure!(!is_asked(), "interrupted");
                problems.push(Obstacle::new(&format!("{}, {}", program.name, build.name()), &problem));
            }
        }
    }
    ensure!(!builds.is_empty(), "it was not built");
    let costs = costs(program, effort, workshop, &builds, &executables)?;
    let mut findings = Vec::new();
    for (&build, executable) in builds.iter().zip(&executables) {
        let mut most = None;
        for _ in 0..WATCHED_RUNS {
            let words = words(program, program.sizes[1], effort.folder, workshop.cache)?;
            most = most.max(reported(build, executable, &words, effort).with_context(|| build.name())?);
        }
        findings.push(most);
    }
    let packages = match program.recipe {
        Recipe::Compile(_) => versions.join(", "),
        Recipe::Cargo => locked(program.name)?,
    };
    Ok(RealMeasurement {
        name: program.name,
        packages,
        does: program.does,
        sizes: program.sizes,
        builds,
        costs,
        findings,
    })
}

/// The medians of runs in turns, with each size.
fn costs(
    program: &RealProgram,
    effort: &RealEffort,
    workshop: &Workshop,
    builds: &[BuildVariant],
    executables: &[PathBuf],
) -> Result<[Vec<RunCost>; 2]> {
    let mut costs = [vec![Vec::new(); builds.len()], vec![Vec::new(); builds.len()]];
    for _ in 0..effort.repetitions {
        for (&size, costs) in program.sizes.iter().zip(&mut costs) {
            for ((&build, executable), costs) in builds.iter().zip(executables).zip(costs) {
                let words = words(program, size, effort.folder, workshop.cache)?;
                let findings = effort.folder.join("findings");
                let cost = cost(build, executable, &words, &findings, PATIENCE);
                costs.push(cost.with_context(|| format!("{}, size {size}", build.name()))?);
            }
        }
    }
    Ok(costs.map(|costs| costs.iter().map(|costs| RunCost::median(costs)).collect()))
}

/// The arguments of a run; its scratch folder is emptied.
fn words(program: &RealProgram, size: u64, folder: &Path, cache: &Path) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for word in program.words.split_whitespace() {
        words.push(match word {
            "{size}" => size.to_string(),
            "{input}" => input::file(&cache.join("inputs"), size)?.to_string_lossy().into_owned(),
            "{scratch}" => {
                let scratch = folder.join("scratch");
                let _ = std::fs::remove_dir_all(&scratch);
                std::fs::create_dir_all(&scratch)?;
                scratch.to_string_lossy().into_owned()
            }
            word => word.to_owned(),
        });
    }
    Ok(words)
}

/// How much a sanitizer reports in one run.
fn reported(build: BuildVariant, executable: &Path, words: &[String], effort: &RealEffort) -> Result<Option<usize>> {
    match build.kind {
        Instrumentation::Plain => Ok(None),
        Instrumentation::Stock => {
            let reports = effort.folder.join("reports");
            let _ = std::fs::remove_dir_all(&reports);
            std::fs::create_dir_all(&reports)?;
            let mut command = Command::new(executable);
            let log = reports.join("report");
            command.args(words).env("TSAN_OPTIONS", format!("exitcode=0 log_path='{}'", log.display()));
            ended_alone(&command, PATIENCE)?;
            let mut count = 0;
            for entry in std::fs::read_dir(&reports)? {
                let text = std::fs::read(entry?.path())?;
                count += String::from_utf8_lossy(&text).matches("WARNING: ThreadSanitizer:").count();
            }
            Ok(Some(count))
        }
        Instrumentation::Ravelin => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let report = runs::report(effort.ravelin, executable, &[], &words, effort.folder, PATIENCE)?;
            Ok(Some(report["findings"].as_array().context("no findings in a report")?.len()))
        }
    }
}

/// The version of a crate in the lock file of our drivers.
fn locked(name: &str) -> Result<String> {
    let file = crate::root().join("bench/programs/real/rust/Cargo.lock");
    let text = crate::sources::text(&file)?;
    version_in(&text, name).map(|version| format!("{name} {version}")).with_context(|| format!("{name} is not locked"))
}

fn version_in(lock: &str, name: &str) -> Option<String> {
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(rest.split_once('"')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_crates_are_those_that_are_locked() {
        let lock = "[[package]]\nname = \"rayon-core\"\nversion = \"1.2.3\"\n\n[[package]]\nname = \"rayon\"\nversion = \"1.9.0\"\n";
        assert_eq!(version_in(lock, "rayon").as_deref(), Some("1.9.0"));
        assert_eq!(version_in(lock, "dashmap"), None);
        for program in PROGRAMS.iter().filter(|program| matches!(program.recipe, Recipe::Cargo)) {
            assert!(locked(program.name).is_ok(), "{}", program.name);
        }
    }
}
