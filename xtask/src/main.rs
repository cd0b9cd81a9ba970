//! The chores of this repository: `cargo xtask test | soak | bench | tables | crates`.
//!
//! One file a chore. Nothing here is shipped; it drives cargo and the libraries the way contributors and CI do.

mod asked;
mod bench;
mod crates;
mod measure;
mod papers;
mod rival;
mod soak;
mod sources;
mod spin;
mod table;
mod tables;
mod test;
mod watched;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The chores of this repository")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that has to pass before a change goes in
    Test(test::Arguments),
    /// Random programs against the reference semantics, for as long as you like
    Soak(soak::Arguments),
    /// Concurrent crates from crates.io under the sanitizer
    Crates(crates::Arguments),
    /// Measurements, as Markdown
    #[command(subcommand)]
    Bench(bench::Benchmark),
    /// The tables and figures of the papers, beside ours, into docs/results.md
    Tables(tables::Arguments),
    /// What one run of a program costs; for xtask itself
    #[command(hide = true)]
    Cost(watched::alone::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Soak(arguments) => soak::run(&arguments),
        Chore::Crates(arguments) => crates::run(&arguments),
        Chore::Bench(benchmark) => bench::run(&benchmark),
        Chore::Tables(arguments) => tables::run(&arguments),
        Chore::Cost(arguments) => watched::alone::run(&arguments),
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
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the repository")
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
