//! What unbounded TSO reachability costs: engines side by side on the programs of two papers, how they grow, and, if somebody has
//! them, the files of Memorax.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, repetitions};
use crate::questions::reach;
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::Result;
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::ReachEngine;
use ravelin_frontend::Language;
use ravelin_program::Program;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Memorax (.rmm), to be measured too
    #[arg(long, value_name = "FOLDER")]
    memorax: Option<PathBuf>,
    /// Seconds after which an engine is stopped
    #[arg(long, default_value_t = 30)]
    timeout: u64,
    /// How often each question is asked; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

const ENGINES: [ReachEngine; 5] =
    [ReachEngine::Auto, ReachEngine::Dual, ReachEngine::Sb, ReachEngine::Lazy, ReachEngine::Bounded];

/// Programs that grow with `const N`: file, what grows, values.
const GROWTH: [(&str, &str, &[usize]); 5] = [
    ("lazy-tso/lamport-n.rav", "Lamport's fast mutex, threads", &[2, 3, 4, 5, 6]),
    ("lamport-fast-fenced.rav", "the same with fences", &[2, 3, 4, 5, 6]),
    ("lazy-tso/dekker-diamond.rav", "Dekker with N paths (figure 8)", &[3, 10, 50, 100, 200]),
    ("lazy-tso/long-loop.rav", "a loop of N stores, twice (figure 9)", &[3, 10, 20, 50]),
    ("robustness-c11/ticket-lock.rav", "ticket lock, threads", &[2, 3]),
];

/// Seconds of processor time that Memorax takes, measured on this kind of machine.
const MEMORAX: [(&str, f64); 8] = [
    ("burns", 0.0),
    ("dijkstra", 0.10),
    ("dekker", 0.07),
    ("peterson", 0.34),
    ("lamport_fast", 0.29),
    ("bakery.bound2", 0.71),
    ("clh", 6.2),
    ("barnes1", 8.8),
];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What reachability under TSO costs\n");
    println!(
        "{} Processor time of all threads, the median of {} runs; an engine is stopped after {} s and then not asked again. h: holds, v: \
         violated, ?: unknown; then the time, and states or constraints.\n",
        made_by(),
        arguments.repetitions,
        arguments.timeout
    );
    println!("{}\n", machine());
    table_1(arguments)?;
    growth(arguments)?;
    if let Some(folder) = &arguments.memorax {
        memorax(folder, arguments)?;
    }
    Ok(())
}

fn table_1(arguments: &Arguments) -> Result<()> {
    println!("## Table 1 of *Counter-Example Guided Fence Insertion*\n");
    println!("`examples/fence-insertion/`.\n");
    let folder = crate::root().join("examples/fence-insertion");
    let mut table = head("program");
    for path in sources::files(&folder, "rav")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("{name}");
        table.row(row(name, &sources::read(&path, Language::Rav)?, arguments));
    }
    println!("{table}");
    Ok(())
}

fn growth(arguments: &Arguments) -> Result<()> {
    println!("## Growth\n");
    for (file, title, values) in GROWTH {
        println!("{title} (`examples/{file}`):\n");
        let mut table = head("N");
        // An engine that was stopped is not asked about larger ones.
        let mut alive = [true; ENGINES.len()];
        for &value in values {
            eprintln!("{file} with {value}");
            let program = sources::example_with(file, "N", value)?;
            let mut cells = vec![value.to_string()];
            for (engine, alive) in ENGINES.into_iter().zip(&mut alive) {
                let cell = if *alive { ask(&program, engine, arguments) } else { EngineCell::empty("–") };
                *alive = cell.settled;
                cells.push(cell.text);
            }
            table.row(cells);
        }
        println!("{table}");
    }
    Ok(())
}

fn memorax(folder: &Path, arguments: &Arguments) -> Result<()> {
    println!("## Memorax's files\n");
    println!("Ratio: of `auto` to the time Memorax takes, measured elsewhere on this kind of machine.\n");
    let names: Vec<&str> =
        std::iter::once("file").chain(ENGINES.iter().map(|engine| engine.name())).chain(["ratio"]).collect();
    let mut table = MarkdownTable::new(&names);
    for path in sources::files(folder, "rmm")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("{name}");
        let program = sources::read(&path, Language::Memorax)?;
        let reference = MEMORAX.iter().find(|(file, _)| *file == name).map(|(_, theirs)| *theirs);
        let cells = ENGINES.map(|engine| ask(&program, engine, arguments));
        let auto = cells[0].time;
        let ratio = reference.filter(|theirs| *theirs > 0.0).zip(auto);
        let ratio = ratio.map(|(theirs, time)| format!("{:.3}", time.as_secs_f64() / theirs)).unwrap_or_default();
        table.row(std::iter::once(name).chain(cells.map(|cell| cell.text)).chain([ratio]).collect());
    }
    println!("{table}");
    Ok(())
}

fn head(first: &str) -> MarkdownTable {
    let names: Vec<&str> = std::iter::once(first).chain(ENGINES.iter().map(|engine| engine.name())).collect();
    MarkdownTable::new(&names)
}

fn row(name: String, program: &Program, arguments: &Arguments) -> Vec<String> {
    let cells = ENGINES.map(|engine| ask(program, engine, arguments).text);
    std::iter::once(name).chain(cells).collect()
}

/// An engine's answer.
struct EngineCell {
    text: String,
    /// Whether it settled the question, and in what time.
    settled: bool,
    time: Option<Duration>,
}

impl EngineCell {
    fn empty(text: &str) -> EngineCell {
        EngineCell { text: text.to_owned(), settled: false, time: None }
    }
}

fn ask(program: &Program, engine: ReachEngine, arguments: &Arguments) -> EngineCell {
    let limit = Duration::from_secs(arguments.timeout);
    match reach::measure(program, engine, limit, arguments.repetitions) {
        Err(refused) => EngineCell::empty(&refused.to_string()),
        Ok((found, time)) => {
            let (letter, number) = (reach::letter(found.reachability.verdict), reach::effort(&found));
            let by = if engine == ReachEngine::Auto { format!(" {}", found.engine.name()) } else { String::new() };
            let settled = found.reachability.verdict != Verdict::Unknown;
            EngineCell { text: format!("{letter} {} ({}{by})", seconds_or_stopped(time), count(number)), settled, time }
        }
    }
}
