//! The chores of this repository: `cargo xtask test | soak | fuzz | miri | bench | tables | crates | suites | libvsync |
//! pictures`.
//!
//! One file per chore. Nothing here is shipped. This package links none of the others, so that `cargo xtask test`
//! starts after a few seconds. Measurements are in the package `ravelin-bench`, which is built with full optimisation
//! on demand.

mod nightly;
mod pictures;
mod soak;
mod test;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use std::path::Path;
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
    /// Unlikely inputs, by libFuzzer; needs a nightly toolchain and cargo-fuzz
    Fuzz(nightly::FuzzArguments),
    /// Tests under Miri; needs a nightly toolchain with Miri
    Miri,
    /// Measurements, as Markdown; --write NAME writes docs/benchmarks-NAME.md (`cargo xtask bench --help` lists them)
    #[command(disable_help_flag = true)]
    Bench(Forwarded),
    /// The tables and figures of the papers beside Ravelin's, into docs/results.md
    #[command(disable_help_flag = true)]
    Tables(Forwarded),
    /// Concurrent crates from crates.io under the sanitizer
    #[command(disable_help_flag = true)]
    Crates(Forwarded),
    /// Programs of others run their own tests under the sanitizer
    #[command(disable_help_flag = true)]
    Suites(Forwarded),
    /// libvsync's own tests under every schedule
    #[command(disable_help_flag = true)]
    Libvsync(Forwarded),
    /// The pictures of pages in docs; needs Chromium
    Pictures(pictures::Arguments),
}

/// Arguments for the package `ravelin-bench`.
#[derive(clap::Args)]
struct Forwarded {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Soak(arguments) => soak::run(&arguments),
        Chore::Fuzz(arguments) => nightly::fuzz(&arguments),
        Chore::Miri => nightly::miri(),
        Chore::Bench(arguments) => measure("bench", &arguments),
        Chore::Tables(arguments) => measure("tables", &arguments),
        Chore::Crates(arguments) => measure("crates", &arguments),
        Chore::Suites(arguments) => measure("suites", &arguments),
        Chore::Libvsync(arguments) => measure("libvsync", &arguments),
        Chore::Pictures(arguments) => pictures::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a chore of the package `ravelin-bench`, optimised as releases are.
fn measure(chore: &str, arguments: &Forwarded) -> Result<()> {
    // Not in the root: files are named relative to the user's directory.
    let mut command = cargo();
    command.current_dir(".").args(["run", "--quiet", "--profile", "dist", "--package", "ravelin-bench", "--", chore]);
    succeed(command.args(&arguments.words))
}

/// Runs a command whose failure is a failure of the chore.
fn succeed(command: &mut Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// The root of the repository, independent of the current directory.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the repository")
}

/// The cargo that runs this, in the root of the repository.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Whether a program is there and succeeds with these arguments.
fn is_installed(program: &str, arguments: &str) -> bool {
    let output = Command::new(program).args(arguments.split_whitespace()).output();
    output.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn words_of_a_benchmark_are_forwarded() {
        for words in [&["--write", "rc20", "--rocker", "FOLDER"][..], &["rc20", "--write"], &["--help"]] {
            let typed = ["cargo xtask", "bench"].iter().chain(words);
            let Chore::Bench(forwarded) = Arguments::parse_from(typed).chore else { panic!("another chore") };
            assert_eq!(forwarded.words, words);
        }
    }

    /// CONTRIBUTING shows commands that take long; their existence is checked without running them.
    #[test]
    fn contributing_names_what_there_is() {
        let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md");
        for chore in Arguments::command().get_subcommands().map(clap::Command::get_name) {
            assert!(text.contains(&format!("| `{chore}")), "{chore} is not described");
        }
        let mut shown = 0;
        for line in text.lines().filter(|line| line.contains("cargo test -p ")) {
            let mut words = line.split_whitespace().skip_while(|word| *word != "-p").skip(1);
            let package = words.next().expect("a package");
            let manifest = root().join("crates").join(package).join("Cargo.toml");
            let manifest = std::fs::read_to_string(&manifest).expect(line);
            if let Some(program) = words.skip_while(|word| *word != "--test").nth(1) {
                assert!(manifest.contains(&format!("[[test]]\nname = \"{program}\"")), "{line}");
            }
            shown += 1;
        }
        assert!(shown >= 5, "{shown} commands");
    }
}
