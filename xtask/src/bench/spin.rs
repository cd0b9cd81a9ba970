//! SPIN on a program: printed as Promela, compiled, and run over all states.

use super::explore::Rival;
use super::measure::{timed, wall_time};
use anyhow::{Context, Result, bail};
use ravelin_program::Program;
use std::process::Command;

/// The verifier for a program, compiled. Depth and memory are enough for the spaces measured here.
pub fn prepare(program: &Program) -> Result<Rival> {
    if !crate::is_installed("spin", "-V") || !crate::is_installed("gcc", "--version") {
        bail!("not installed");
    }
    let text = ravelin_frontend::print::promela(program)?;
    let name = format!("ravelin-bench-{}-{}", std::process::id(), program.threads.len());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).context("no directory")?;
    std::fs::write(directory.join("model.pml"), text).context("no directory")?;
    let build = "spin -a model.pml && gcc -O2 -w -DSAFETY -DNOREDUCE -DMEMLIM=16000 -o pan pan.c";
    let mut command = Command::new("sh");
    command.args(["-c", build]).current_dir(&directory);
    let (output, compiled_in) = timed(wall_time, || command.output());
    let command = "./pan -m2000000 -w26".to_owned();
    let rival = Rival { directory, command, compiled_in, states, temporary: true };
    if !output?.status.success() {
        bail!("does not compile");
    }
    Ok(rival)
}

/// From a line like `   611765 states, stored`; none if the search did not see everything.
fn states(report: &str) -> Option<u64> {
    let whole = report.contains("errors: 0") && !report.contains("search depth too small");
    let line = report.lines().find(|line| line.contains("states, stored"))?;
    // Large numbers are written as floating point.
    let number: f64 = line.split_whitespace().next()?.parse().ok()?;
    whole.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_search_counts() {
        let report = "State-vector 68 byte, depth reached 91, errors: 0\n 16777216 states, stored\n";
        assert_eq!(states(report), Some(16_777_216));
        assert_eq!(states(&report.replace("16777216", "1.6777216e+07")), Some(16_777_216));
        assert_eq!(states(&report.replace("errors: 0", "errors: 1")), None);
    }
}
