//! SPIN on a program under sequential consistency: printed as Promela, compiled to a verifier, and run.

use crate::measure::{repeated, timed, wall_time};
use crate::rival::{Rival, processor_time};
use anyhow::{Context, Result, bail};
use ravelin_program::Program;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub fn is_installed() -> bool {
    crate::is_installed("spin", "-V") && crate::is_installed("gcc", "--version")
}

/// The verifier for a program, compiled, for a search of all its states without reductions. Depth and memory are enough for the
/// spaces measured here.
pub fn prepare(program: &Program) -> Result<Rival> {
    let (directory, _) = promela_file(program)?;
    let mut command = Command::new("sh");
    command.args(["-c", &build("-O2 -DNOREDUCE -DMEMLIM=16000")]).current_dir(&directory);
    let (output, compiled_in) = timed(wall_time, || command.output());
    let command = "./pan -m2000000 -w26".to_owned();
    let rival = Rival { directory, command, compiled_in, states, temporary: true };
    if !output?.status.success() {
        bail!("does not compile");
    }
    Ok(rival)
}

/// What SPIN says about the goals of a program.
#[derive(Clone, Copy, Debug)]
pub struct SpinVerdict {
    pub violated: bool,
    pub states: u64,
    /// Processor time of SPIN and the C compiler, once.
    pub compiling: Duration,
    /// The median of the processor time of the verifier.
    pub verifying: Duration,
}

/// Asks SPIN, with its partial-order reduction, until a goal is violated; compiling and each run of the verifier may take so much
/// processor time.
pub fn verify(program: &Program, limit: Duration, repetitions: usize) -> Result<SpinVerdict> {
    let (directory, vector) = promela_file(program)?;
    let verified = verify_in(&directory, &vector, limit.as_secs().max(1), repetitions);
    // What is left in the temporary directory does no harm.
    let _ = std::fs::remove_dir_all(&directory);
    verified
}

fn verify_in(directory: &Path, vector: &str, limit: u64, repetitions: usize) -> Result<SpinVerdict> {
    let limited = |command: &str| format!("ulimit -t {limit}; {{ {command}; }} 2>&1");
    let (told, compiling) = processor_time(&limited(&build(&format!("-O1 -DMEMLIM=4000 {vector}"))), directory)?;
    if !directory.join("pan").exists() {
        bail!("SPIN's verifier was not made: {}", told.lines().next().unwrap_or("no reason given"));
    }
    // -E: that threads end somewhere is no error.
    let run = || processor_time(&limited("./pan -E -m1000000 -w22"), directory);
    let violated = |told: &String| told.contains("assertion violated");
    let is_cut = |told: &String| {
        stored_states(told).is_none() || told.contains("too_wide") || (!violated(told) && !is_whole(told))
    };
    let (told, verifying) = repeated(repetitions, is_cut, run)?;
    match (stored_states(&told), verifying) {
        (Some(states), Some(verifying)) => Ok(SpinVerdict { violated: violated(&told), states, compiling, verifying }),
        _ => bail!("SPIN met a limit"),
    }
}

fn build(flags: &str) -> String {
    format!("spin -a model.pml && gcc -w -DSAFETY {flags} -o pan pan.c")
}

/// A folder with the text, and the flag that it asks for if its states are large.
fn promela_file(program: &Program) -> Result<(PathBuf, String)> {
    if !is_installed() {
        bail!("not installed");
    }
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let text = ravelin_frontend::print::promela(program)?;
    let vector = text.split_whitespace().find(|word| word.starts_with("-DVECTORSZ=")).unwrap_or_default().to_owned();
    let name = format!("ravelin-spin-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).context("no directory")?;
    std::fs::write(directory.join("model.pml"), text).context("no directory")?;
    Ok((directory, vector))
}

/// From a report of a search that saw everything without an error.
fn states(report: &str) -> Option<u64> {
    is_whole(report).then(|| stored_states(report))?
}

fn is_whole(report: &str) -> bool {
    report.contains("errors: 0") && !report.contains("search depth too small") && !report.contains("out of memory")
}

/// From a line like `   611765 states, stored`.
fn stored_states(report: &str) -> Option<u64> {
    let line = report.lines().find(|line| line.contains("states, stored"))?;
    // Large numbers are written as floating point.
    let number: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number as u64)
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

    #[test]
    fn spin_tells_safe_from_unsafe() {
        if !is_installed() {
            return;
        }
        for (file, violated) in [("peterson.rav", false), ("lockfree-stack-aba.rav", true)] {
            let program = crate::sources::example(file).unwrap();
            let verified = verify(&program, Duration::from_secs(60), 1).unwrap();
            assert_eq!(verified.violated, violated, "{file}");
            assert!(verified.states > 0, "{file}");
        }
    }
}
