//! What robustness costs: the programs of Table 2 of the ESOP paper in our versions, how the search grows with the number of threads,
//! the engines side by side, families of programs, and optionally the files of Trencher.

use super::robustness_families::families;
use crate::command::made_by;
use crate::measure::{REPETITIONS, in_turns, machine, ratio, repetitions, timed, wall_time};
use crate::papers::robustness_2013::TABLE_2;
use crate::questions::robustness::{Fates, every_attack, measure, size};
use crate::sources;
use crate::table::{MarkdownTable, count, seconds};
use anyhow::Result;
use ravelin_analysis::robustness::{RobustnessEngine, RobustnessQuestion, robustness};
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_program::Model;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Trencher (.txt), to be measured too
    #[arg(long, value_name = "FOLDER")]
    trencher: Option<PathBuf>,
    /// Most threads of Lamport's algorithm
    #[arg(long, default_value_t = 5)]
    threads: usize,
    /// Most threads of the families
    #[arg(long, default_value_t = 5)]
    family_threads: usize,
    /// Folders with files (.rav, or .txt of Trencher and Persist) about which every engine is to be asked, too
    #[arg(long, value_name = "FOLDER")]
    folder: Vec<PathBuf>,
    /// How often each question is asked; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

/// Seconds of processor time that Trencher takes to settle all attacks of its two larger examples, measured on this kind of
/// machine.
const TRENCHER: [(&str, f64); 2] = [("cilk-the-wsq-wrongdoing.txt", 4.5), ("lamport-fast-mutex-alg1.txt", 0.38)];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What robustness costs\n");
    println!(
        "{} Times are the median of {} runs, in processor time of one worker unless said otherwise.\n",
        made_by(),
        arguments.repetitions
    );
    println!("{}\n", machine());
    table_2(arguments)?;
    growth(arguments)?;
    engines(arguments)?;
    families(arguments.family_threads, &arguments.folder, arguments.repetitions)?;
    if let Some(folder) = &arguments.trencher {
        trencher(folder, arguments)?;
    }
    Ok(())
}

fn table_2(arguments: &Arguments) -> Result<()> {
    println!("## Table 2 of *Checking and Enforcing Robustness against TSO*\n");
    println!(
        "Every attack settled (`check --attacks`). T, L, I: threads, labels, instructions. RQ: attacks, in the paper with the queries of fence \
         insertion for non-robust programs. NR1: no path from the store to the load, or none without a fence. *free*: dismissed \
         for another reason without a search. NR2, R: searched, infeasible and feasible. In brackets the paper's number; \
         [results.md](results.md) says why some differ.\n"
    );
    let mut table = MarkdownTable::new(&["program", "T", "L", "I", "RQ", "NR1", "free", "NR2", "R", "states", "time"]);
    for paper in TABLE_2 {
        let program = sources::example(paper.file)?;
        let (answer, time) = measure(&program, every_attack(RobustnessEngine::Shared), arguments.repetitions)?;
        let fates = Fates::of(&answer);
        let beside = |ours: usize, paper: usize| format!("{ours} ({paper})");
        let [threads, labels, instructions] = size(&program);
        table.row(vec![
            paper.name.to_owned(),
            beside(threads, paper.size[0]),
            beside(labels, paper.size[1]),
            beside(instructions, paper.size[2]),
            beside(fates.attacks, paper.queries),
            beside(fates.fenced, paper.fenced),
            fates.free.to_string(),
            beside(fates.infeasible, paper.infeasible),
            beside(fates.feasible, paper.feasible),
            count(answer.explored.states),
            seconds(time),
        ]);
    }
    println!("{table}");
    Ok(())
}

fn growth(arguments: &Arguments) -> Result<()> {
    println!("## Lamport's fast mutex with more and more threads\n");
    println!(
        "`examples/lamport-fast.rav`, every attack settled. States: of the SC space, of attackers that delay stores (τ2), of helpers on their \
         path (τ3). First: time to the first feasible attack. Two workers: wall-clock time over that of one.\n"
    );
    let head = ["threads", "attacks", "feasible", "SC", "τ2", "τ3", "memory", "all", "first", "two workers"];
    let mut table = MarkdownTable::new(&head);
    for threads in 2..=arguments.threads {
        eprintln!("Lamport with {threads} threads");
        let program = sources::example_with("lamport-fast.rav", "N", threads)?;
        let (answer, time) = measure(&program, every_attack(RobustnessEngine::Shared), arguments.repetitions)?;
        let (_, first) = measure(&program, RobustnessQuestion::new(Model::Tso), arguments.repetitions)?;
        let by = |workers: usize| {
            let budget = Budget::unlimited().workers(workers);
            let question = RobustnessQuestion { budget, ..every_attack(RobustnessEngine::Shared) };
            let (answer, time) = timed(wall_time, || robustness(&program, &question));
            answer?;
            Ok(time)
        };
        let times = in_turns(arguments.repetitions, [&mut || by(1), &mut || by(2)])?;
        table.row(vec![
            threads.to_string(),
            answer.attacks.len().to_string(),
            Fates::of(&answer).feasible.to_string(),
            count(answer.explored.sc),
            count(answer.explored.delaying),
            count(answer.explored.helping),
            format!("{:.1} MB", answer.explored.bytes as f64 / 1e6),
            seconds(time),
            seconds(first),
            format!("{:.2}", ratio(times[1], times[0])),
        ]);
    }
    println!("{table}");
    Ok(())
}

fn engines(arguments: &Arguments) -> Result<()> {
    println!("## Engines\n");
    println!(
        "Every attack settled by each engine: one SC space for all (`shared`), one instrumented program an attack (`attacks`), one for all of \
         them, again after each feasible one (`single`). States of all searches together; ratio: time over that of `shared`.\n"
    );
    let mut table =
        MarkdownTable::new(&["program", "shared", "time", "attacks", "time", "ratio", "single", "time", "ratio"]);
    let files = ["peterson.rav", "dekker.rav", "lamport-fast.rav", "cilk-the.rav", "nbwl.rav", "mcs-lock.rav"];
    for file in files {
        eprintln!("{file} with every engine");
        let program = sources::example(file)?;
        let mut row = vec![file.to_owned()];
        let mut base = None;
        for engine in [RobustnessEngine::Shared, RobustnessEngine::Attacks, RobustnessEngine::Single] {
            let (answer, time) = measure(&program, every_attack(engine), arguments.repetitions)?;
            row.extend([count(answer.explored.states), seconds(time)]);
            match base {
                None => base = Some(time),
                Some(base) => row.push(format!("{:.1}", ratio(time, base))),
            }
        }
        table.row(row);
    }
    println!("{table}");
    Ok(())
}

fn trencher(folder: &Path, arguments: &Arguments) -> Result<()> {
    println!("## Trencher's files\n");
    println!(
        "Every attack settled, on one core. Ratio: to the time Trencher takes for the same, measured elsewhere on this kind of machine.\n"
    );
    let mut table = MarkdownTable::new(&["file", "attacks", "feasible", "states", "time", "ratio"]);
    for path in sources::files(folder, "txt")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = sources::read(&path, Language::Trencher)?;
        let (answer, time) = measure(&program, every_attack(RobustnessEngine::Shared), arguments.repetitions)?;
        let reference = TRENCHER.iter().find(|(file, _)| *file == name);
        table.row(vec![
            name,
            answer.attacks.len().to_string(),
            Fates::of(&answer).feasible.to_string(),
            count(answer.explored.states),
            seconds(time),
            reference.map(|(_, theirs)| format!("{:.3}", time.as_secs_f64() / theirs)).unwrap_or_default(),
        ]);
    }
    println!("{table}");
    Ok(())
}
