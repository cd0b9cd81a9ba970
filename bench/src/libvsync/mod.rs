//! `cargo xtask libvsync FOLDER`: libvsync's own tests under every schedule, as `docs/case-studies-verify.md` tells.
//!
//! libvsync is <https://github.com/open-s4c/libvsync>; the folder has its sources. What was triaged is listed by name
//! (`case-studies/verify/libvsync.triaged`); any other finding is printed in full and makes the command fail.

pub mod tests;

use crate::sanitizer::verifying::{AnswerKind, VerifyAnswer, verify};
use crate::table::{MarkdownTable, count};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tests::{VsyncTest, tests};

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with the sources of libvsync
    #[arg(value_name = "FOLDER")]
    sources: PathBuf,
    /// Only tests with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// Seconds after which the answer is unknown
    #[arg(long, default_value_t = 20)]
    limit: u64,
    /// Prints a line for each test
    #[arg(long)]
    each: bool,
    /// A ravelin that is built already
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

/// What is known about the tests of one structure.
#[derive(Default)]
struct StructureRow {
    tests: u64,
    verified: u64,
    not_robust: u64,
    /// Tests that are not robust, but right under sequential consistency.
    right: u64,
    violated: u64,
    unknown: u64,
    runs: u64,
    reasons: BTreeMap<String, u64>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let ravelin = arguments.ravelin.clone().map_or_else(crate::sanitizer::built, Ok)?;
    let ravelin = ravelin.canonicalize().with_context(|| format!("cannot find {}", ravelin.display()))?;
    let sources = arguments.sources.canonicalize().context("cannot find the sources of libvsync")?;
    let tests: Vec<VsyncTest> = tests(&sources)?;
    let folder = std::env::temp_dir().join(format!("ravelin-libvsync-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let meant = tests.iter().filter(|test| test.name().contains(&arguments.only));
    let done = all(arguments, &ravelin, &sources, meant, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let (rows, new) = done?;
    println!("{}", table(&rows));
    ensure!(new == 0, "{new} tests have findings that are not triaged");
    Ok(())
}

/// The rows of the table, in the order of the tests, and how many tests have findings that are not triaged.
fn all<'a>(
    arguments: &Arguments,
    ravelin: &Path,
    sources: &Path,
    tests: impl Iterator<Item = &'a VsyncTest>,
    folder: &Path,
) -> Result<(Vec<(String, StructureRow)>, u64)> {
    let triaged = triaged()?;
    let limit = arguments.limit.to_string();
    // A run that is not meant ends without waiting for its threads.
    let options = ["--timeout", &limit, "--ignore", "thread-leak"];
    let without_robustness = ["--timeout", &limit, "--ignore", "thread-leak", "--no-robustness"];
    let program = folder.join("program");
    let mut rows: Vec<(String, StructureRow)> = Vec::new();
    let mut new = 0;
    for test in tests {
        test.compile(ravelin, sources, &[], &program)?;
        let mut answer = verify(ravelin, &options, &program, &[])?;
        let mut is_right = false;
        if answer.kind == AnswerKind::Stale {
            let without = verify(ravelin, &without_robustness, &program, &[])?;
            is_right = without.kind == AnswerKind::Verified;
            if without.kind == AnswerKind::Violated {
                answer = without;
            }
        }
        if rows.last().is_none_or(|(structure, _)| *structure != test.structure) {
            rows.push((test.structure.clone(), StructureRow::default()));
        }
        if let Some((_, row)) = rows.last_mut() {
            row.add(&answer, is_right);
        }
        if arguments.each {
            let right = if is_right { ", right under SC" } else { "" };
            eprintln!("{}: {:?}{right}, {:?}, {} runs", test.name(), answer.kind, answer.reasons, answer.runs);
        }
        let name = test.name();
        let known = triaged.iter().filter(|(known, _)| *known == name).map(|(_, reason)| reason.as_str());
        if let AnswerKind::Stale | AnswerKind::Violated = answer.kind
            && !known.eq(answer.reasons.iter().map(String::as_str))
        {
            new += 1;
            println!("{name}: {}: {:#}", answer.reasons.join(", "), answer.finding.unwrap_or_default());
        }
    }
    Ok((rows, new))
}

impl StructureRow {
    fn add(&mut self, answer: &VerifyAnswer, is_right: bool) {
        self.tests += 1;
        self.runs += answer.runs;
        self.right += u64::from(is_right);
        match answer.kind {
            AnswerKind::Verified => self.verified += 1,
            AnswerKind::Stale => self.not_robust += 1,
            AnswerKind::Violated => self.violated += 1,
            AnswerKind::Unknown => self.unknown += 1,
        }
        // That a test is not robust has a column.
        for reason in answer.reasons.iter().filter(|_| answer.kind != AnswerKind::Stale) {
            *self.reasons.entry(reason.clone()).or_default() += 1;
        }
    }
}

fn table(rows: &[(String, StructureRow)]) -> MarkdownTable {
    let mut table = MarkdownTable::new(&[
        "structure",
        "tests",
        "verified",
        "not robust",
        "right under SC",
        "violated",
        "unknown",
        "runs",
        "reasons",
    ]);
    let mut total = [0; 7];
    for (structure, row) in rows {
        let reasons: Vec<String> = row.reasons.iter().map(|(reason, count)| format!("{count} × {reason}")).collect();
        let numbers = [row.tests, row.verified, row.not_robust, row.right, row.violated, row.unknown, row.runs];
        total.iter_mut().zip(numbers).for_each(|(total, number)| *total += number);
        table.row(cells(structure, numbers, reasons.join(", ")));
    }
    table.row(cells("all", total, String::new()));
    table
}

fn cells(first: &str, numbers: [u64; 7], last: String) -> Vec<String> {
    let numbers = numbers.map(count).into_iter();
    std::iter::once(first.to_owned()).chain(numbers).chain([last]).collect()
}

/// What is triaged: the name of a test and the kind of a finding.
fn triaged() -> Result<Vec<(String, String)>> {
    let text = crate::sources::text(&crate::root().join("case-studies/verify/libvsync.triaged"))?;
    Ok(lines(&text))
}

fn lines(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once(" = ")).map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

#[cfg(test)]
mod own_tests {
    #[test]
    fn triaged_findings_are_read() {
        let text = "# why\nspinlock: rwlock = stale read\n\nstack, xbo: case = data race\n";
        let expected = [("spinlock: rwlock", "stale read"), ("stack, xbo: case", "data race")];
        assert!(super::lines(text).iter().map(|(name, kind)| (name.as_str(), kind.as_str())).eq(expected));
    }
}
