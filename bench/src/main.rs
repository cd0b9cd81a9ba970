//! Measurements of Ravelin: `cargo xtask bench`, `tables`, `crates`, `suites` and `libvsync`.
//!
//! A package of its own, because it links the analyses and is built with full optimisation (the profile `dist`), while
//! `cargo xtask test` should start within seconds.

mod benchmarks;
mod command;
mod crates;
#[cfg(test)]
mod documents;
mod families;
mod footer;
mod libvsync;
mod measure;
mod papers;
mod questions;
mod real;
mod rival;
mod sanitizer;
mod sources;
mod spin;
mod suites;
mod table;
mod tables;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Measurements of Ravelin")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Measurements, as Markdown
    Bench(benchmarks::Arguments),
    /// The tables and figures of the papers, beside ours, into docs/results.md
    Tables(tables::Arguments),
    /// Concurrent crates from crates.io under the sanitizer
    Crates(crates::Arguments),
    /// Programs of others run their own tests under the sanitizer
    Suites(suites::Arguments),
    /// libvsync's own tests under every schedule
    Libvsync(libvsync::Arguments),
    /// What one run of a program costs; for the benchmarks themselves
    #[command(hide = true)]
    Cost(sanitizer::alone::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Bench(arguments) => benchmarks::run(&arguments),
        Chore::Tables(arguments) => tables::run(&arguments),
        Chore::Crates(arguments) => crates::run(&arguments),
        Chore::Suites(arguments) => suites::run(&arguments),
        Chore::Libvsync(arguments) => libvsync::run(&arguments),
        Chore::Cost(arguments) => sanitizer::alone::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository, wherever the command was typed.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("bench is a directory of the repository")
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

/// The cargo that runs this, in the root of the repository.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Whether a program can be started.
fn is_installed(program: &str, version_flag: &str) -> bool {
    Command::new(program).arg(version_flag).output().is_ok()
}
