//! `ravelin run` on a program in C: in how many of some runs a robustness violation turns up.

use super::ending::ended;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A source with how it is compiled and run.
pub struct WatchedProgram {
    pub name: String,
    pub source: PathBuf,
    pub flags: Vec<String>,
    pub arguments: &'static [&'static str],
}

/// What some runs under one schedule showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violations {
    /// Runs that had the most frequent one.
    pub most: u64,
    /// The first run, from 1, that had any.
    pub first: Option<u64>,
}

pub fn compile(ravelin: &Path, source: &Path, flags: &[String], folder: &Path) -> Result<PathBuf> {
    let program = folder.join("program");
    let mut command = Command::new(ravelin);
    command.args(["cc", "-O1", "-g", "-w", "-pthread"]).args(flags);
    command.arg("-I").arg(crate::root().join("crates/ravelin-runtime/include"));
    succeeds(command.arg(source).arg("-o").arg(&program))?;
    Ok(program)
}

pub fn violations(
    ravelin: &Path,
    executable: &Path,
    schedule: &str,
    program: &WatchedProgram,
    runs: usize,
    folder: &Path,
    limit: Duration,
) -> Result<Violations> {
    let answer = report(
        ravelin,
        executable,
        &["--schedule", schedule, "--runs", &runs.to_string()],
        program.arguments,
        folder,
        limit,
    )?;
    let findings = answer["findings"].as_array().context("no findings in a report")?;
    let of_robustness = || findings.iter().filter(|finding| finding["problem"] != "data-race");
    let most = of_robustness().filter_map(|finding| finding["runs"].as_u64()).max().unwrap_or(0);
    let first = of_robustness().filter_map(|finding| finding["first_run"]["run"].as_u64()).min();
    Ok(Violations { most, first: first.map(|first| first + 1) })
}

/// The report of `ravelin run` with some options, which may take so long.
pub fn report(
    ravelin: &Path,
    program: &Path,
    options: &[&str],
    words: &[&str],
    folder: &Path,
    limit: Duration,
) -> Result<Value> {
    let file = folder.join("report.json");
    let _ = std::fs::remove_file(&file);
    let mut command = Command::new(ravelin);
    command
        .arg("run")
        .args(options)
        .args(["--format", "json", "--output"])
        .arg(&file)
        .arg("--")
        .arg(program)
        .args(words);
    ended(&mut command, limit)?;
    let text = std::fs::read_to_string(&file).with_context(|| format!("{command:?} wrote no report"))?;
    Ok(serde_json::from_str::<Value>(&text)?["answers"][0].clone())
}

pub fn succeeds(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
