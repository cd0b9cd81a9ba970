//! Another tool on a program, run as a process of its own: what it finds, and the processor time it takes.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Another tool, ready to run.
pub struct Rival {
    pub directory: PathBuf,
    /// For the shell.
    pub command: String,
    pub compiled_in: Duration,
    /// Reads the number of states from what the tool prints.
    pub states: fn(&str) -> Option<u64>,
    /// Whether the directory was made for this run.
    pub temporary: bool,
}

impl Rival {
    /// The states it found and the processor time it took.
    pub fn run(&self) -> Result<(u64, Duration)> {
        let (text, time) = processor_time(&self.command, &self.directory)?;
        Ok(((self.states)(&text).context("no answer")?, time))
    }
}

/// What a command of the shell prints, and the processor time it takes. The shell's `times` tells what its children used; nothing
/// in the standard library does.
pub fn processor_time(command: &str, directory: &Path) -> Result<(String, Duration)> {
    let script = format!("{command}; times");
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(directory).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let time = text.lines().last().and_then(children_time).context("no time")?;
    Ok((text, time))
}

impl Drop for Rival {
    fn drop(&mut self) {
        if self.temporary {
            // What is left in the temporary directory does no harm.
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// User and system time together, from a line like `0m1.230s 0m0.040s`.
fn children_time(line: &str) -> Option<Duration> {
    let part = |text: &str| {
        let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let total: f64 = line.split_whitespace().map(part).sum::<Option<f64>>()?;
    Duration::try_from_secs_f64(total).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_tells_the_time() {
        assert_eq!(children_time("1m1.500s 0m0.250s"), Some(Duration::from_millis(61_750)));
        assert_eq!(children_time("nothing"), None);
    }
}
