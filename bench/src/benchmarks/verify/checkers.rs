//! Beside loom and shuttle: the same programs, written once, with the types of the standard library for `ravelin verify`
//! and with theirs for them.
//!
//! They live in a package of their own, `bench/programs/verify/rust`, outside the workspace, so that loom and shuttle are
//! fetched only for this benchmark. What a checker says is compared with what is known about the program.

use super::Effort;
use crate::measure::{median, timed, wall_time};
use crate::sanitizer::started::succeeds;
use crate::sanitizer::verifying::{AnswerKind, verify};
use crate::table::{MarkdownTable, count, seconds};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A checker that takes longer is ended.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The programs with two sizes each, and whether they are right under C11.
const PROGRAMS: [(&str, [usize; 2], bool); 14] = [
    ("store-buffering", [2, 3], true),
    ("message-passing", [1, 2], true),
    ("spin-lock", [2, 3], true),
    ("stack", [1, 2], true),
    ("ring", [2, 3], true),
    ("reference-count", [2, 3], true),
    ("blocking-queue", [1, 2], true),
    ("store-buffering-relaxed", [2, 3], false),
    ("message-passing-relaxed", [1, 2], false),
    ("spin-lock-relaxed", [2, 3], false),
    ("stack-relaxed", [1, 2], false),
    ("ring-relaxed", [2, 3], false),
    ("reference-count-relaxed", [2, 3], false),
    ("blocking-queue-once", [2, 3], false),
];

/// What a checker says about a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opinion {
    Right,
    Wrong,
    /// It behaves in ways that sequential consistency does not know; whether that is wrong is not said.
    NotRobust,
    /// A limit was met.
    None,
}

struct CheckerAnswer {
    opinion: Opinion,
    executions: Option<u64>,
    time: Duration,
}

/// The programs, built with each checker.
struct Executables {
    ravelin: PathBuf,
    loom: PathBuf,
    shuttle: PathBuf,
}

/// Where the package is.
pub fn project() -> PathBuf {
    crate::root().join("bench/programs/verify/rust")
}

/// A program of the package with the standard library's types, built by `cargo ravelin`.
pub fn built_by_ravelin(ravelin: &Path, binary: &str, features: &str) -> Result<PathBuf> {
    let folder = crate::target().join("verify-rust");
    let mut command = Command::new(ravelin);
    command.arg("cargo").current_dir(project()).args(["build", "--release", "--locked", "--bin", binary]);
    command.args(["--features", features, "--target-dir"]).arg(&folder);
    succeeds(&mut command)?;
    Ok(folder.join("ravelin/x86_64-unknown-linux-gnu/release").join(binary))
}

pub fn table(effort: &Effort) -> Result<MarkdownTable> {
    let executables = built(effort.ravelin)?;
    let mut table = MarkdownTable::new(&["program", "size", "is", "Ravelin", "loom", "shuttle"]);
    let mut correct = [0; 3];
    let mut rows = 0;
    for (name, sizes, is_right) in PROGRAMS {
        for size in sizes {
            eprintln!("{name} {size}");
            let known = if is_right { Opinion::Right } else { Opinion::Wrong };
            let checked = checked(effort, &executables, name, &size.to_string())?;
            let mut row = vec![name.to_owned(), size.to_string(), words(known).to_owned()];
            for (checked, correct) in checked.iter().zip(&mut correct) {
                *correct += usize::from(is_correct(checked.opinion, known));
                row.push(shown(checked, known));
            }
            table.row(row);
            rows += 1;
        }
    }
    let mut row = vec![format!("right answers, of {rows}"), String::new(), String::new()];
    row.extend(correct.map(|correct| correct.to_string()));
    table.row(row);
    Ok(table)
}

fn built(ravelin: &Path) -> Result<Executables> {
    let target = crate::target().join("verify-rust");
    let mut command = crate::cargo();
    command.current_dir(project()).args(["build", "--quiet", "--release", "--locked", "--features", "loom,shuttle"]);
    succeeds(command.arg("--bins").env("CARGO_TARGET_DIR", &target)).context("loom and shuttle cannot be built")?;
    Ok(Executables {
        ravelin: built_by_ravelin(ravelin, "with-std", "")?,
        loom: target.join("release/with-loom"),
        shuttle: target.join("release/with-shuttle"),
    })
}

/// What each checker says, with the median of its times, in turns.
fn checked(effort: &Effort, executables: &Executables, name: &str, size: &str) -> Result<[CheckerAnswer; 3]> {
    let mut last: [Option<CheckerAnswer>; 3] = [None, None, None];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..effort.repetitions {
        for (number, (last, times)) in last.iter_mut().zip(&mut times).enumerate() {
            // One that met its limit would meet it again.
            if last.as_ref().is_some_and(|last| last.opinion == Opinion::None) {
                continue;
            }
            let checked = match number {
                0 => by_ravelin(effort.ravelin, &executables.ravelin, name, size)?,
                1 => by_another(&executables.loom, name, size)?,
                _ => by_another(&executables.shuttle, name, size)?,
            };
            times.push(checked.time);
            *last = Some(checked);
        }
    }
    let mut times = times.into_iter();
    let checked = last.map(|last| {
        let time = times.next().filter(|times| !times.is_empty()).map_or(Duration::ZERO, median);
        last.map(|last| CheckerAnswer { time, ..last })
    });
    let [Some(ravelin), Some(loom), Some(shuttle)] = checked else { anyhow::bail!("nothing was measured") };
    Ok([ravelin, loom, shuttle])
}

fn by_ravelin(ravelin: &Path, program: &Path, name: &str, size: &str) -> Result<CheckerAnswer> {
    let limit = LIMIT.as_secs().to_string();
    let answer = verify(ravelin, &["--timeout", &limit], program, &[name, size])?;
    let opinion = match answer.kind {
        AnswerKind::Verified => Opinion::Right,
        AnswerKind::Violated => Opinion::Wrong,
        AnswerKind::Stale => Opinion::NotRobust,
        AnswerKind::Unknown => Opinion::None,
    };
    Ok(CheckerAnswer { opinion, executions: Some(answer.runs), time: answer.time })
}

fn by_another(program: &Path, name: &str, size: &str) -> Result<CheckerAnswer> {
    let mut command = Command::new("timeout");
    command.arg(LIMIT.as_secs().to_string()).arg(program).args([name, size]);
    let (output, time) = timed(wall_time, || command.output());
    let output = output.context("timeout cannot be started")?;
    let (opinion, executions) = opinion(&String::from_utf8_lossy(&output.stdout));
    Ok(CheckerAnswer { opinion, executions, time })
}

/// What a program prints whose module is `arguments.rs`. One that was ended prints nothing.
fn opinion(text: &str) -> (Opinion, Option<u64>) {
    let executions = text.lines().find_map(|line| line.strip_prefix("executions ")?.parse().ok());
    let failure = text.lines().find_map(|line| line.strip_prefix("fails: "));
    let opinion = match (executions, failure) {
        (None, _) => Opinion::None,
        // Both have a limit for the length of an execution, which loops that wait can meet.
        (_, Some(message)) if message.contains("exceeded") => Opinion::None,
        (_, Some(_)) => Opinion::Wrong,
        (_, None) => Opinion::Right,
    };
    (opinion, executions)
}

/// A program that is not robust is reported. That is a mistake if the behaviours that weak memory adds do no harm.
fn is_correct(opinion: Opinion, known: Opinion) -> bool {
    opinion == known || (opinion == Opinion::NotRobust && known == Opinion::Wrong)
}

fn words(opinion: Opinion) -> &'static str {
    match opinion {
        Opinion::Right => "right",
        Opinion::Wrong => "wrong",
        Opinion::NotRobust => "not robust",
        Opinion::None => "no answer",
    }
}

fn shown(checked: &CheckerAnswer, known: Opinion) -> String {
    let words = words(checked.opinion);
    if checked.opinion == Opinion::None {
        return words.to_owned();
    }
    let mistake = if is_correct(checked.opinion, known) { "" } else { "**mistake:** " };
    let executions = checked.executions.map(count).unwrap_or_default();
    format!("{mistake}{words}, {executions}, {}", seconds(checked.time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_checkers_print_is_understood() {
        assert!(opinion("executions 7\n") == (Opinion::Right, Some(7)));
        assert!(opinion("executions 7\nfails: an increment is lost\n") == (Opinion::Wrong, Some(7)));
        assert!(opinion("executions 1\nfails: exceeded max_steps bound\n") == (Opinion::None, Some(1)));
        assert!(opinion("") == (Opinion::None, None));
    }
}
