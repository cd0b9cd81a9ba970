//! `ravelin doctor`: what works on this machine, and what is missing for the rest.
//!
//! Nothing is guessed from names or versions: each thing that Ravelin does with tools of others is done once, on a small program whose
//! answer is known, by the commands that a user would give (`trials.rs`). So a tool that is there and does not work is found, too.

mod trials;

use crate::exit::Exit;
use clap::Args;
use ravelin::{usual_memory, usual_workers};
use ravelin_output::escape::escaped;
use ravelin_output::stdout;
use ravelin_process::interrupt;
use std::fmt::Write as _;
use trials::{Outcome, TRIALS, Trial, try_out};

const EXIT_CODES: &str = "\
Exit codes: 0 all that is installed works, 1 something that is installed does not work, 3 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct Doctor {}

pub fn run(_: &Doctor) -> anyhow::Result<Exit> {
    interrupt::stop();
    stdout().text(&format!("{}\n\n", machine()))?;
    let mut worst = Exit::Holds;
    for trial in &TRIALS {
        let outcome = try_out(trial)?;
        let exit = match outcome {
            Outcome::Works { .. } | Outcome::Missing => Exit::Holds,
            Outcome::Fails { .. } => Exit::Violated,
            Outcome::Interrupted => return Ok(Exit::Unknown),
        };
        worst = worst.max(exit);
        stdout().text(&said(trial, &outcome))?;
    }
    stdout().text(&said_of_features())?;
    Ok(worst)
}

fn machine() -> String {
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    let workers = usual_workers();
    let memory = match usual_memory() {
        Some(bytes) => format!(", {} MB of memory for searches", bytes / 1_000_000),
        None => String::new(),
    };
    let processors = if workers == 1 { "processor" } else { "processors" };
    format!("ravelin {} on {system}, {architecture}: {workers} {processors}{memory}", env!("CARGO_PKG_VERSION"))
}

/// A line for a thing, and what to do about it if it does not work.
fn said(trial: &Trial, outcome: &Outcome) -> String {
    let mut text = String::new();
    let state = match outcome {
        Outcome::Works { .. } => "works",
        Outcome::Missing => "missing",
        Outcome::Fails { .. } => "fails",
        Outcome::Interrupted => "stopped",
    };
    let tool = match outcome {
        Outcome::Works { tool } | Outcome::Fails { tool, .. } => tool.as_str(),
        Outcome::Missing | Outcome::Interrupted => "",
    };
    let line = format!("{state:<8} {:<33} {tool}", trial.what);
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}", escaped(line.trim_end()));
    match outcome {
        Outcome::Missing => drop(writeln!(text, "         {}", trial.advice)),
        Outcome::Fails { message, .. } => {
            for line in message.lines() {
                let _ = writeln!(text, "         {}", escaped(line));
            }
        }
        Outcome::Works { .. } | Outcome::Interrupted => {}
    }
    text
}

fn said_of_features() -> String {
    match cfg!(feature = "cluster") {
        true => "works    searches by several processes\n".to_owned(),
        false => "missing  searches by several processes\n         \
                  They are left out of this build: install ravelin-cli with --features cluster.\n"
            .to_owned(),
    }
}
