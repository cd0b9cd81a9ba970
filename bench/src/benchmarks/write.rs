//! `cargo xtask bench --write NAME`: what a benchmark prints, into `docs/benchmarks-NAME.md`.
//!
//! The benchmark runs in a process of its own, this program without the flag, so that the document is what anyone sees
//! who runs it. Nothing is written if it fails.

use crate::command::{command, words};
use crate::footer::signed;
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs the same command without the flag and writes the document.
pub fn write(name: &str) -> Result<()> {
    let mut benchmark = Command::new(std::env::current_exe().context("this program cannot be found")?);
    let text = standard_output(benchmark.args(words()))?;
    let file = file(name);
    let document = signed(&text, &command());
    ravelin_output::replace(&file, document).with_context(|| format!("cannot write {}", file.display()))?;
    eprintln!("{} written", file.display());
    Ok(())
}

/// What a command prints, shown at the same time.
fn standard_output(command: &mut Command) -> Result<String> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("the benchmark cannot be started")?;
    let mut text = String::new();
    let mut lines = BufReader::new(child.stdout.take().context("no output")?);
    let mut begin = 0;
    while lines.read_line(&mut text)? > 0 {
        // The document is written also if standard output is closed.
        let _ = std::io::stdout().write_all(&text.as_bytes()[begin..]);
        begin = text.len();
    }
    let status = child.wait()?;
    ensure!(status.success(), "the benchmark ended with {status}; nothing is written");
    Ok(text)
}

fn file(name: &str) -> PathBuf {
    crate::root().join("docs").join(format!("benchmarks-{name}.md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_benchmark_that_succeeds_gives_a_text() {
        let run = |script: &str| standard_output(Command::new("sh").args(["-c", script]));
        assert_eq!(run("true").unwrap(), "");
        assert!(run("exit 3").unwrap_err().to_string().contains("nothing is written"));
    }
}
