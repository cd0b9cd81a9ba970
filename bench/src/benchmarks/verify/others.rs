//! Programs that we did not write: tests of libvsync, and crossbeam under two threads of ours.
//!
//! Some are correct without being robust. They have an answer that stops at the first stale read, and one by
//! `--no-robustness`, which makes all runs.

use super::Effort;
use super::checkers::built_by_ravelin;
use crate::libvsync::tests::tests;
use crate::measure::median;
use crate::sanitizer::verifying::{AnswerKind, VerifyAnswer, verify};
use crate::table::{MarkdownTable, count, seconds};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Duration;

/// A program that takes longer gets no answer.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Programs of `with-crossbeam`, with two sizes.
const CROSSBEAM: [(&str, [&str; 2]); 6] = [
    ("array-queue", ["1", "2"]),
    ("seg-queue", ["1", "2"]),
    ("channel", ["1", "2"]),
    ("deque", ["1", "2"]),
    ("parker", ["1", "2"]),
    ("wait-group", ["1", "2"]),
];

/// Tests of libvsync, with two sizes as flags.
const LIBVSYNC: [(&str, [&str; 2]); 6] = [
    ("spinlock: ttaslock", ["-DNTHREADS=2", "-DNTHREADS=3"]),
    ("spinlock: caslock", ["-DNTHREADS=2", "-DNTHREADS=3"]),
    ("spinlock, one try: mcslock", ["-DNTHREADS=2", "-DNTHREADS=3"]),
    ("spinlock: clhlock", ["-DNTHREADS=2", "-DNTHREADS=3"]),
    ("spinlock: twalock", ["-DNTHREADS=2", "-DNTHREADS=3"]),
    ("spinlock: rec_ticketlock", ["-DNTHREADS=2", "-DNTHREADS=3"]),
];

pub fn table(effort: &Effort) -> Result<MarkdownTable> {
    let mut table = MarkdownTable::new(&[
        "program",
        "size",
        "answer",
        "runs",
        "without robustness",
        "runs",
        "showed nothing new",
        "one job",
        "two jobs",
    ]);
    let crossbeam = built_by_ravelin(effort.ravelin, "with-crossbeam", "crossbeam")?;
    for (name, sizes) in CROSSBEAM {
        for size in sizes {
            eprintln!("crossbeam {name} {size}");
            table.row(row(effort, format!("crossbeam: {name}"), size, &crossbeam, &[name, size])?);
        }
    }
    if let Some(sources) = effort.libvsync {
        let sources = sources.canonicalize().context("cannot find the sources of libvsync")?;
        let tests = tests(&sources)?;
        for (name, sizes) in LIBVSYNC {
            let test = tests.iter().find(|test| test.name() == name).with_context(|| format!("there is no {name}"))?;
            for size in sizes {
                eprintln!("libvsync {name} {size}");
                let program = effort.folder.join("libvsync");
                test.compile(effort.ravelin, &sources, &[size], &program)?;
                let (_, threads) = size.split_once('=').context("a size")?;
                table.row(row(effort, format!("libvsync, {name}"), threads, &program, &[])?);
            }
        }
    }
    Ok(table)
}

/// One program: its answer, and what it takes to make all runs.
fn row(effort: &Effort, name: String, size: &str, program: &Path, words: &[&str]) -> Result<Vec<String>> {
    let limit = LIMIT.as_secs().to_string();
    // A run of libvsync that is not meant ends without waiting for its threads.
    let ignored = ["--timeout", &limit, "--ignore", "thread-leak"];
    let answer = verify(effort.ravelin, &ignored, program, words)?;
    let mut all = None;
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..effort.repetitions {
        for (jobs, times) in ["1", "2"].iter().zip(&mut times) {
            let options = [&ignored[..], &["--no-robustness", "--jobs", jobs]].concat();
            let answer = verify(effort.ravelin, &options, program, words)?;
            times.push(answer.time);
            all = Some(answer);
        }
        // What met its limit would meet it again.
        if all.as_ref().is_some_and(|answer| answer.kind == AnswerKind::Unknown) {
            break;
        }
    }
    let all = all.context("nothing was measured")?;
    let is_measured = all.kind != AnswerKind::Unknown;
    let [one, two] = times.map(|times| if is_measured { seconds(median(times)) } else { "stopped".to_owned() });
    Ok(vec![
        name,
        size.to_owned(),
        in_words(&answer),
        count(answer.runs),
        in_words(&all),
        count(all.runs),
        count(all.redundant),
        one,
        two,
    ])
}

fn in_words(answer: &VerifyAnswer) -> String {
    match answer.kind {
        AnswerKind::Verified => "verified".to_owned(),
        AnswerKind::Unknown => "unknown".to_owned(),
        AnswerKind::Stale | AnswerKind::Violated => answer.reasons.join(", "),
    }
}
