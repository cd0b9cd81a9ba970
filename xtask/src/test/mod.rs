//! `cargo xtask test`: what a contributor runs before a change is merged, and what CI runs afterwards.
//!
//! Steps run in order and the first failure ends the chore: a formatting error is found faster than a failing test. At
//! the end it prints the time of each step, the slowest test programs, and every skipped test. `cargo xtask test --
//! NAME` passes the words after `--` to the tests.

mod axe;
mod build;
mod programs;
mod skipped;
mod tools;

use crate::succeed;
use anyhow::Result;
use build::cargo;
use programs::Programs;
use skipped::Skipped;
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
    let mut steps: [Step; 5] = [
        ("formatting", &mut || succeed(cargo().args(["fmt", "--all", "--", "--check"]))),
        ("tools of the system", &mut || {
            tools::install(&skipped::target());
            Ok(())
        }),
        ("lints and build of the tests", &mut build::lint_and_build),
        ("packages", &mut || {
            // What was compiled above is here, so nothing is asked of a network.
            let options = ["--workspace", "--no-verify", "--allow-dirty", "--offline", "--quiet"];
            succeed(cargo().arg("package").args(options))
        }),
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

type Step<'a> = (&'static str, &'a mut dyn FnMut() -> Result<()>);
