//! Chores that need a nightly toolchain: fuzzing with libFuzzer, and Miri. On stable, the mutation tests of the front
//! ends and comparisons with the reference search for the same errors; these chores search further if a nightly
//! toolchain is installed.

use crate::succeed;
use anyhow::{Result, bail};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct FuzzArguments {
    /// What to fuzz: languages, ir, nets, documents or findings; all of them, one after the other, if not given
    target: Option<String>,
    /// How long each is fuzzed, in minutes
    #[arg(long, default_value_t = 5)]
    minutes: u64,
}

const TARGETS: [&str; 5] = ["languages", "ir", "nets", "documents", "findings"];

/// Crates whose unsafe code or complex data structures Miri can run without the outside world.
const UNDER_MIRI: [&str; 2] = ["ravelin-clocks", "ravelin-schedule"];

pub fn fuzz(arguments: &FuzzArguments) -> Result<()> {
    need(&["fuzz", "--version"], "cargo install cargo-fuzz")?;
    let wanted = |target: &&str| arguments.target.as_deref().is_none_or(|wanted| wanted == *target);
    let targets: Vec<&str> = TARGETS.into_iter().filter(wanted).collect();
    if targets.is_empty() {
        bail!("there is no target `{}`: {}", arguments.target.as_deref().unwrap_or_default(), TARGETS.join(", "));
    }
    for target in targets {
        let time = format!("-max_total_time={}", arguments.minutes * 60);
        succeed(&mut nightly(&["fuzz", "run", target, "--", "-max_len=4096", "-timeout=20", &time]))?;
    }
    Ok(())
}

pub fn miri() -> Result<()> {
    need(&["miri", "--version"], "rustup +nightly component add miri")?;
    for package in UNDER_MIRI {
        // Miri is some hundred times slower than the machine, so each random test gets few inputs.
        let mut command = nightly(&["miri", "test", "--package", package]);
        succeed(command.env("RAVELIN_PROGRAMS", "3"))?;
    }
    Ok(())
}

/// A cargo of the nightly toolchain in the root of the repository. The cargo that runs this belongs to another
/// toolchain, so the one on the path is used.
fn nightly(words: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly").args(words).current_dir(crate::root()).env_remove("CARGO").env_remove("RUSTC");
    command.env_remove("RUSTUP_TOOLCHAIN");
    command
}

fn need(words: &[&str], remedy: &str) -> Result<()> {
    let mut command = nightly(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if !command.status().is_ok_and(|status| status.success()) {
        bail!("`cargo +nightly {}` does not work; a nightly toolchain is needed, and `{remedy}`", words.join(" "));
    }
    Ok(())
}
