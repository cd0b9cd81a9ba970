//! A test of the documents that this program writes: nothing in them is typed by hand, and every time is a median.

use crate::footer::author;
use crate::measure::REPETITIONS;
use crate::sources;
use std::path::Path;

/// How documents name the command that wrote them.
const MADE_BY: &str = "Made by `";

#[test]
fn documents_are_as_they_were_written() {
    let documents = documents();
    assert!(documents.len() >= 10, "{} documents", documents.len());
    let mut problems = Vec::new();
    for (name, text) in documents {
        let named = text.split_once(MADE_BY).and_then(|(_, rest)| Some(rest.split_once('`')?.0));
        match author(&text) {
            Err(problem) => problems.push(format!("{name}: {problem:#}")),
            Ok(author) if named != Some(author) => {
                problems.push(format!("{name}: written by {author:?}, says {named:?}"))
            }
            Ok(author) if author.contains("--quick") => problems.push(format!("{name}: of a quick run")),
            Ok(_) => {}
        }
    }
    assert!(problems.is_empty(), "run these commands again with --write:\n{}", problems.join("\n"));
}

#[test]
fn every_time_is_a_median() {
    let mut problems = Vec::new();
    for (name, text) in documents() {
        let runs = median_of(&text);
        if gives_times(&text) && runs.is_empty() {
            problems.push(format!("{name}: times, but no median"));
        } else if runs.iter().any(|runs| *runs < REPETITIONS) {
            problems.push(format!("{name}: the median of {runs:?} runs"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The documents that say that a command made them: their names and texts.
fn documents() -> Vec<(String, String)> {
    let is_meant = |text: &str| text.contains("Made by `cargo xtask") || text.contains("prints this");
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let files = sources::files(&crate::root().join("docs"), "md").unwrap();
    let texts = files.iter().map(|path| (name(path), sources::text(path).unwrap()));
    texts.filter(|(_, text)| is_meant(text)).collect()
}

/// Every N of "median of N".
fn median_of(text: &str) -> Vec<usize> {
    let rests = text.split("median of ").skip(1);
    rests.filter_map(|rest| rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()).collect()
}

/// Whether some cell of a table has a time, or a number per second.
fn gives_times(text: &str) -> bool {
    let cells = text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('|'));
    let is_time = |cell: &str| [" µs", " ms", " s", " ns"].iter().any(|unit| cell.trim().ends_with(unit));
    let mut parts = cells.flat_map(|cell| cell.split(['(', ')']));
    parts.any(is_time) || text.contains("a second")
}

#[test]
fn times_and_medians_are_found_in_a_text() {
    assert_eq!(median_of("the median of 5 runs, the median of 11 runs"), [5, 11]);
    assert!(median_of("the median of some runs").is_empty());
    assert!(gives_times("| a | 13 (20 µs) |\n") && gives_times("| a | 2.50 s |\n"));
    assert!(gives_times("| a | v 3.5 ms (7 485) |\n"));
    assert!(!gives_times("| tests | 3 |\n"));
}
