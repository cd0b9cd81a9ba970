//! Every schedule: how many runs a second and per trace, what the reductions save, and other programs and checkers.

mod checkers;
mod others;
mod reductions;
mod speed;

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine};
use crate::sanitizer::built;
use crate::table::{MarkdownTable, count};
use anyhow::Result;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Measures once: a smoke test
    #[arg(long)]
    pub quick: bool,
    /// A folder with the sources of libvsync, for some of its tests
    #[arg(long, value_name = "FOLDER")]
    libvsync: Option<PathBuf>,
    /// Only one table: speed, others, reductions or checkers
    #[arg(long)]
    only: Option<String>,
    /// The ravelin to measure instead of building one
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

/// How programs are measured.
pub struct Effort<'a> {
    repetitions: usize,
    ravelin: &'a Path,
    libvsync: Option<&'a Path>,
    /// For files that are removed at the end.
    folder: &'a Path,
}

/// A part of the document: its name for `--only`, its heading, what it says, and what is measured.
struct Section {
    name: &'static str,
    heading: &'static str,
    text: String,
    measure: fn(&Effort) -> Result<MarkdownTable>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let machine = machine();
    let ravelin = match &arguments.ravelin {
        Some(path) => std::path::absolute(path)?,
        None => built()?,
    };
    let folder = std::env::temp_dir().join(format!("ravelin-bench-verify-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let effort = Effort {
        repetitions: if arguments.quick { 1 } else { REPETITIONS },
        ravelin: &ravelin,
        libvsync: arguments.libvsync.as_deref(),
        folder: &folder,
    };
    println!("# Every schedule\n\n{}\n\n{machine}\n", made_by());
    let is_meant = |section: &Section| arguments.only.as_ref().is_none_or(|only| only == section.name);
    let shown = sections(effort.repetitions).iter().filter(|section| is_meant(section)).try_for_each(|section| {
        let table = (section.measure)(&effort)?;
        println!("## {}\n\n{}\n\n{table}", section.heading, section.text);
        Ok(())
    });
    let _ = std::fs::remove_dir_all(&folder);
    shown
}

fn sections(repetitions: usize) -> [Section; 4] {
    let speed = format!(
        "Threads that increment one counter, so that the number of traces is known. Runs a second on the wall clock, with everything that `ravelin verify` does; \
         the median of {repetitions}, in turns. The floor is a C program without the sanitizer that forks, starts and joins such threads, and exits, one process after the other."
    );
    let others = format!(
        "crossbeam under two threads of ours (`bench/programs/verify/rust`), and tests of libvsync with two and three threads. \
         Times are those with `--no-robustness`, which makes all runs, on the wall clock; the median of {repetitions}, in turns. A program that takes more than {} s is stopped.",
        others::LIMIT.as_secs()
    );
    let reductions = format!(
        "Runs with each `--reduction`, at most {}. Without reduction all orders of steps are run.",
        count(reductions::MOST_RUNS)
    );
    let checkers = format!(
        "The same programs (`bench/programs/verify/rust`), with the types of the standard library for Ravelin, and with those of loom and shuttle. \
         Each cell has the answer, the number of executions, and the time from start to answer on the wall clock, the median of {repetitions}, in turns. \
         Loom takes seq_cst accesses to be acquire and release. Shuttle (depth first) knows only sequential consistency and does not look for data races. \
         *Not robust* says that weak memory adds behaviours; it counts as a mistake where they do no harm. \
         *No answer*: more than {} s, or an execution that is too long for the checker.",
        checkers::LIMIT.as_secs()
    );
    [
        Section { name: "speed", heading: "How many runs", text: speed, measure: speed::table },
        Section { name: "others", heading: "Programs of others", text: others, measure: others::table },
        Section {
            name: "reductions",
            heading: "What the reductions save",
            text: reductions,
            measure: reductions::table,
        },
        Section { name: "checkers", heading: "Beside loom and shuttle", text: checkers, measure: checkers::table },
    ]
}
