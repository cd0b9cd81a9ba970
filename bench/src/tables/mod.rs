//! `cargo xtask tables`: the tables and figures of the papers that Ravelin builds on, with the papers' numbers beside ours, into
//! `docs/results.md` and pictures in `docs/results/`.
//!
//! One file a paper says which programs are asked which questions; the papers' numbers are in `papers/`, the questions in `questions/` and
//! `sanitizer/`, which the benchmarks share. Everything is measured before anything is written.

mod comparison;
mod document;
mod fence_insertion;
mod growth;
mod lazy;
mod overhead;
mod plot;
mod robustness;
mod row;
mod rsan;
mod under_sc;

use crate::command::{command, made_by};
use crate::measure::{REPETITIONS, machine, what_times_are};
use anyhow::Result;
use document::Chapter;
use row::MeasurementEffort;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only the chapter of one paper; the others stay as they are. May be given several times
    #[arg(long, value_name = "PAPER", value_parser = ["000", "002", "003", "004"])]
    only: Vec<String>,
    /// Leave out what takes seconds: SPIN, runs under the sanitizer, repetitions. Written to target/tables unless --out says otherwise
    #[arg(long, conflicts_with = "long")]
    quick: bool,
    /// Also larger programs, more time for each question, more repetitions
    #[arg(long)]
    long: bool,
    /// Seconds that one question may take [default: 20, with --long 300, with --quick 5]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: Option<u64>,
    /// The ravelin for runs under the sanitizer, instead of building one
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
    /// The folder for results.md and the pictures [default: docs]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// The papers in the order of their chapters, by the numbers that `--only` has.
const PAPERS: [&str; 4] = ["000", "002", "003", "004"];

pub fn run(arguments: &Arguments) -> Result<()> {
    let effort = effort(arguments);
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None if arguments.quick => crate::target().join("tables"),
        None => crate::root().join("docs"),
    };
    let before = if arguments.only.is_empty() { String::new() } else { document::earlier(&folder)? };
    let is_kept = |paper: &&str| !is_wanted(arguments, paper) && document::chapter(&before, paper).is_some();
    let kept: Vec<&str> = PAPERS.into_iter().filter(is_kept).collect();
    // The machine is described as it was before the measurements.
    let introduction = introduction(&effort, &kept);
    let began = Instant::now();
    let mut chapters = Vec::new();
    for paper in PAPERS.into_iter().filter(|paper| is_wanted(arguments, paper)) {
        eprintln!("paper {paper}, after {} s", began.elapsed().as_secs());
        chapters.push(chapter(paper, &effort, arguments.ravelin.as_deref()));
    }
    document::write(&folder, &introduction, &chapters, &PAPERS, &before, &command())?;
    for unexplained in chapters.iter().flat_map(|chapter| &chapter.unexplained) {
        eprintln!("not explained: {unexplained}");
    }
    println!("{} written in {} s", folder.join("results.md").display(), began.elapsed().as_secs());
    Ok(())
}

fn is_wanted(arguments: &Arguments, paper: &str) -> bool {
    arguments.only.is_empty() || arguments.only.iter().any(|only| only == paper)
}

fn chapter(paper: &str, effort: &MeasurementEffort, ravelin: Option<&Path>) -> Chapter {
    match paper {
        "000" => robustness::chapter(effort),
        "002" => lazy::chapter(effort),
        "003" => rsan::chapter(effort, ravelin),
        _ => fence_insertion::chapter(effort),
    }
}

fn effort(arguments: &Arguments) -> MeasurementEffort {
    let (limit, repetitions) = match (arguments.quick, arguments.long) {
        (true, _) => (5, 1),
        (_, true) => (300, 2 * REPETITIONS + 1),
        _ => (20, REPETITIONS),
    };
    let limit = Duration::from_secs(arguments.limit.unwrap_or(limit));
    MeasurementEffort { quick: arguments.quick, long: arguments.long, limit, repetitions }
}

/// The beginning of the document, and which chapters of an earlier one stay in it.
fn introduction(effort: &MeasurementEffort, kept: &[&str]) -> String {
    let how = if effort.quick {
        "This is a quick run (`--quick`): SPIN, runs under the sanitizer and repetitions were left out, and what was left out is said to be *skipped*. Its times mean little.\n\n"
    } else {
        ""
    };
    let old = match kept {
        [] => String::new(),
        kept => format!(" Chapters of an earlier run: {}.", kept.join(", ")),
    };
    format!(
        "# The papers' tables and figures, and ours\n\n\
         {} `--only 000|002|003|004` measures one paper, `--quick` leaves out what takes seconds, `--long` measures more. Unless said otherwise, times are {}. Every \
         table has the paper's number, ours, and how ours was obtained; programs are our own versions from `examples/`, so sizes differ where it is said. The papers measured on other machines, years ago: \
         **a ratio of times from two machines is an order of magnitude**, while verdicts, fences and counts have to agree, and where one does not it is in bold, with the reason below its table. \
         A question may take {} s; one that takes longer is not repeated, and a row that fails says so and stops nothing. Curves of the papers are dashed, those measured here solid.\n\n{how}{}{}\n",
        made_by(),
        what_times_are(effort.repetitions),
        effort.limit.as_secs(),
        machine(),
        old
    )
}

/// For tests: one run of each question, and only what is exact is looked at.
#[cfg(test)]
const EXACT: MeasurementEffort =
    MeasurementEffort { quick: true, long: false, limit: Duration::from_secs(120), repetitions: 1 };
