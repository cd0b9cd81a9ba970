//! Runs `cargo test` and reads from its output how many tests passed and which programs took long.

use super::build::{self, EVERYTHING};
use super::skipped::Skipped;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, IsTerminal};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The results of the test programs.
#[derive(Default)]
pub struct Programs {
    pub passed: u64,
    pub failed: u64,
    /// The program that runs now.
    current: String,
    finished: Vec<(String, Duration)>,
}

impl Programs {
    /// Runs all tests, to the end even if some fail, and shows their output.
    pub fn run(&mut self, rest: &[String], skipped: &Skipped) -> Result<()> {
        let cargo = build::cargo();
        // By a shell, so that headings, which cargo writes to its standard error, come before their results.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 2>&1"]).arg(cargo.get_program());
        command.arg("test").args(build::settings()).args(EVERYTHING).arg("--no-fail-fast").args(rest);
        // Other settings than those of the step before would build everything again.
        command.envs(cargo.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(crate::root()).env(skipped.variable(), skipped.list());
        if std::io::stdout().is_terminal() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start `cargo test`")?;
        let output = child.stdout.take().context("`cargo test` has an output")?;
        for line in BufReader::new(output).split(b'\n') {
            let line = line.context("cannot read what `cargo test` prints")?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            self.read(&line);
        }
        let status = child.wait().context("`cargo test` did not end")?;
        if !status.success() {
            bail!("`cargo test` ended with {status}");
        }
        Ok(())
    }

    pub fn slowest(&self, most: usize) -> Vec<(&str, Duration)> {
        let mut all: Vec<(&str, Duration)> = self.finished.iter().map(|(name, time)| (name.as_str(), *time)).collect();
        all.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
        all.truncate(most);
        all
    }

    fn read(&mut self, line: &str) {
        if let Some(name) = heading(line) {
            self.current = name;
        } else if let Some(result) = Outcome::read(line) {
            self.passed += result.passed;
            self.failed += result.failed;
            self.finished.push((self.current.clone(), result.time));
        }
    }
}

/// The program in `Running unittests src/lib.rs (target/debug/deps/ravelin_backward-0f3a)`, or the crate in `Doc-tests
/// NAME`.
fn heading(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name}, documentation"));
    }
    let (kind, path) = line.strip_prefix("Running ")?.split_once(" (")?;
    let file = path.strip_suffix(')')?.rsplit('/').next()?;
    let program = file.rsplit_once('-').map_or(file, |(program, _)| program);
    Some(format!("{program}, {kind}"))
}

struct Outcome {
    passed: u64,
    failed: u64,
    time: Duration,
}

impl Outcome {
    /// Reads `test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 3.21s`.
    fn read(line: &str) -> Option<Outcome> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let number = |what: &str| counts.split("; ").find_map(|part| part.strip_suffix(what)?.trim().parse().ok());
        let seconds: f64 = counts.split_once("finished in ")?.1.trim().strip_suffix('s')?.parse().ok()?;
        Some(Outcome {
            passed: number("passed")?,
            failed: number("failed")?,
            time: Duration::try_from_secs_f64(seconds).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_prints_is_read() {
        let mut programs = Programs::default();
        for line in [
            "     Running unittests src/lib.rs (target/debug/deps/ravelin_backward-0f3a)",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 3.21s",
            "   Doc-tests ravelin_clocks",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 10.00s",
        ] {
            programs.read(line);
        }
        assert_eq!((programs.passed, programs.failed), (13, 2));
        let slowest = programs.slowest(1);
        assert_eq!(slowest, [("ravelin_clocks, documentation", Duration::from_secs(10))]);
        assert_eq!(programs.slowest(9).len(), 2);
    }
}
