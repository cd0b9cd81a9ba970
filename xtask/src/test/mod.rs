//! `cargo xtask test`: what a contributor runs before a change is merged, and what CI runs afterwards.
//!
//! Steps run in order and the first failure ends the chore: a formatting error is found faster than a failing test. At
//! the end it prints the time of each step, the slowest test programs, and every skipped test. `cargo xtask test --
//! NAME` passes the words after `--` to the tests.

mod programs;
mod skipped;
mod tools;

use crate::succeed;
use anyhow::Result;
use programs::Programs;
use skipped::Skipped;
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// Passed on to `cargo test --workspace`
    #[arg(last = true)]
    rest: Vec<String>,
}

/// How many of the slowest test programs are listed.
const SLOWEST: usize = 8;

pub fn run(arguments: &Arguments) -> Result<()> {
    let skipped = Skipped::new()?;
    let mut programs = Programs::default();
    let mut times: Vec<(&str, Duration)> = Vec::new();
    let mut steps: [Step; 6] = [
        ("formatting", &mut || succeed(cargo().args(["fmt", "--all", "--", "--check"]))),
        ("lints", &mut || {
            lint(&EVERYTHING)?;
            // What a user builds first has fewer features.
            lint(&["--workspace"])
        }),
        ("packages", &mut || {
            // What was compiled above is here, so nothing is asked of a network.
            let options = ["--workspace", "--no-verify", "--allow-dirty", "--offline", "--quiet"];
            succeed(cargo().arg("package").args(options))
        }),
        ("tools of the system", &mut || {
            tools::install();
            Ok(())
        }),
        ("build of the tests", &mut || succeed(cargo().arg("test").args(settings()).args(EVERYTHING).arg("--no-run"))),
        ("tests", &mut || programs.run(&arguments.rest, &skipped)),
    ];
    let count = steps.len();
    let mut failure = None;
    for (done, (title, step)) in steps.iter_mut().enumerate() {
        println!("\n== {title} ({} of {count}) ==", done + 1);
        let start = Instant::now();
        let result = step();
        times.push((*title, start.elapsed()));
        if let Err(error) = result {
            failure = Some(error.context(format!("the step `{title}` failed")));
            break;
        }
    }
    println!("\n== how long it took ==");
    for (title, time) in times {
        println!("{:>7.1} s  {title}", time.as_secs_f64());
    }
    let slowest = programs.slowest(SLOWEST);
    if !slowest.is_empty() {
        println!("the slowest test programs:");
        for (name, time) in slowest {
            println!("{:>7.1} s  {name}", time.as_secs_f64());
        }
    }
    let skipped = skipped.print()?;
    // Tests are counted; a step that failed before any of them ran counts as one.
    let failed = programs.failed.max(u64::from(failure.is_some()));
    println!("\n{} passed, {failed} failed, {skipped} skipped", programs.passed);
    failure.map_or(Ok(()), Err)
}

/// All packages, with the features that are not on by default.
const EVERYTHING: [&str; 3] = ["--workspace", "--features", "ravelin-cli/cluster"];

/// Lints everything that is built. That is `--all-targets` without unit tests of crates that have none (`test = false`):
/// the files with unit tests of such a crate are part of its test program.
fn lint(packages: &[&str]) -> Result<()> {
    let targets = ["--lib", "--bins", "--examples", "--tests", "--benches", "--", "-D", "warnings"];
    succeed(cargo().arg("clippy").args(settings()).args(packages).args(targets))
}

type Step<'a> = (&'static str, &'a mut dyn FnMut() -> Result<()>);

/// Cargo for every step. What incremental compilation writes is a quarter of all files, and is used only by a person
/// who changes something and builds again.
fn cargo() -> Command {
    let mut cargo = crate::cargo();
    if tools::is_unattended() {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}

/// Settings for every step that compiles. As arguments, because tests that start cargo would inherit variables.
fn settings() -> &'static [&'static str] {
    const UNATTENDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/test/unattended.toml");
    if tools::is_unattended() { &["--config", UNATTENDED] } else { &[] }
}
