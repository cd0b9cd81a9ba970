//! What robustness costs: the programs of Table 2 of the ESOP paper in our versions, how the search grows with the number of threads,
//! the engines side by side, and, if somebody has them, the files of Trencher.

use super::explore::parse;
use super::measure::{in_turns, machine, ratio, thread_time, timed, wall_time};
use super::table::{Table, count, seconds};
use anyhow::{Context, Result};
use ravelin_analysis::robustness::{AttackFate, Engine, Reason, Robustness, RobustnessQuestion, robustness};
use ravelin_frontend::Language;
use ravelin_program::{Program, Source};
use ravelin_semantics::Model;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Trencher (.txt), to be measured too
    #[arg(long)]
    trencher: Option<PathBuf>,
    /// Most threads of Lamport's algorithm
    #[arg(long, default_value_t = 5)]
    threads: usize,
    /// The fastest of so many runs counts
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
}

/// The paper's row: name, our example, T, L, I, RQ, NR1, NR2, R, F.
const TABLE_2: [(&str, &str, [u32; 8]); 16] = [
    ("Peterson (non-robust)", "peterson.rav", [2, 14, 18, 23, 2, 12, 9, 2]),
    ("Peterson (robust)", "peterson-fenced.rav", [2, 16, 20, 12, 12, 0, 0, 0]),
    ("Dekker (non-robust)", "dekker.rav", [2, 24, 30, 95, 12, 28, 55, 4]),
    ("Dekker (robust)", "dekker-fenced.rav", [2, 32, 38, 30, 30, 0, 0, 0]),
    ("Lamport (non-robust)", "lamport-fast.rav", [3, 33, 36, 36, 9, 15, 12, 6]),
    ("Lamport (robust)", "lamport-fast-fenced.rav", [3, 39, 42, 27, 27, 0, 0, 0]),
    ("CLH lock (robust)", "clh-lock.rav", [7, 62, 58, 54, 48, 6, 0, 0]),
    ("MCS lock (robust)", "mcs-lock.rav", [4, 52, 50, 30, 26, 4, 0, 0]),
    ("Lock-free stack (robust)", "lockfree-stack.rav", [4, 46, 50, 14, 14, 0, 0, 0]),
    ("Cilk's THE queue (non-robust)", "cilk-the.rav", [5, 86, 79, 152, 141, 8, 3, 3]),
    ("NBW2 (non-robust)", "nbw2.rav", [2, 21, 19, 15, 9, 5, 1, 1]),
    ("NBW3 (robust)", "nbw3.rav", [2, 22, 20, 15, 15, 0, 0, 0]),
    ("NBW4 (robust)", "nbw4.rav", [3, 25, 22, 9, 7, 2, 0, 0]),
    ("NBWL (robust)", "nbwl.rav", [4, 45, 45, 30, 26, 4, 0, 0]),
    ("Parker (non-robust)", "parker.rav", [2, 9, 8, 2, 0, 1, 1, 1]),
    ("Parker (robust)", "parker-fixed.rav", [2, 10, 9, 2, 2, 0, 0, 0]),
];

/// Seconds of processor time that Trencher takes to settle all attacks of its two larger examples, measured on this kind of
/// machine.
const TRENCHER: [(&str, f64); 2] = [("cilk-the-wsq-wrongdoing.txt", 4.5), ("lamport-fast-mutex-alg1.txt", 0.38)];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What robustness costs\n");
    println!(
        "Made by `cargo xtask bench robustness`. Processor time of one worker, the fastest of {} runs, unless said otherwise.\n",
        arguments.repetitions
    );
    println!("{}\n", machine());
    table_2(arguments)?;
    growth(arguments)?;
    engines(arguments)?;
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
         for another reason without a search. NR2, R: searched, infeasible and feasible. In brackets the paper's number.\n"
    );
    let mut table = Table::new(&["program", "T", "L", "I", "RQ", "NR1", "free", "NR2", "R", "states", "time"]);
    for (name, file, paper) in TABLE_2 {
        let program = example(file)?;
        let (answer, time) = fastest(&program, all(Engine::Shared), arguments.repetitions)?;
        let threads = &program.threads;
        let dismissed = |reasons: &[Reason]| reasons.iter().map(|&reason| answer.dismissed(reason)).sum::<usize>();
        let fenced = dismissed(&[Reason::NeverFollows, Reason::Fenced]);
        let free = answer.count(|fate| matches!(fate, AttackFate::Dismissed(_))) - fenced;
        let beside = |ours: usize, paper: u32| format!("{ours} ({paper})");
        table.row(vec![
            name.to_owned(),
            beside(threads.len(), paper[0]),
            beside(threads.iter().map(|thread| thread.locations.len()).sum(), paper[1]),
            beside(threads.iter().map(|thread| thread.transitions.len()).sum(), paper[2]),
            beside(answer.attacks.len(), paper[3]),
            beside(fenced, paper[4]),
            free.to_string(),
            beside(answer.count(|fate| matches!(fate, AttackFate::Infeasible)), paper[5]),
            beside(answer.count(|fate| matches!(fate, AttackFate::Feasible(_))), paper[6]),
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
    let mut table = Table::new(&head);
    for threads in 2..=arguments.threads {
        eprintln!("Lamport with {threads} threads");
        let program = lamport(threads)?;
        let repetitions = if threads > 4 { 1 } else { arguments.repetitions };
        let (answer, time) = fastest(&program, all(Engine::Shared), repetitions)?;
        let (_, first) = fastest(&program, RobustnessQuestion::new(Model::Tso), repetitions)?;
        let times = in_turns(
            repetitions,
            &mut [&mut || timed(wall_time, || robustness(&program, &all(Engine::Shared)).is_ok()).1, &mut || {
                let question = RobustnessQuestion { workers: 2, ..all(Engine::Shared) };
                timed(wall_time, || robustness(&program, &question).is_ok()).1
            }],
        );
        table.row(vec![
            threads.to_string(),
            answer.attacks.len().to_string(),
            answer.count(|fate| matches!(fate, AttackFate::Feasible(_))).to_string(),
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
    let mut table = Table::new(&["program", "shared", "time", "attacks", "time", "ratio", "single", "time", "ratio"]);
    let files = ["peterson.rav", "dekker.rav", "lamport-fast.rav", "cilk-the.rav", "nbwl.rav", "mcs-lock.rav"];
    for file in files {
        eprintln!("{file} with every engine");
        let program = example(file)?;
        let mut row = vec![file.to_owned()];
        let mut base = None;
        for engine in [Engine::Shared, Engine::Attacks, Engine::Single] {
            let (answer, time) = fastest(&program, all(engine), arguments.repetitions)?;
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
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let mut table = Table::new(&["file", "attacks", "feasible", "states", "time", "ratio"]);
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).with_context(|| name.clone())?;
        let parsed = ravelin_frontend::parse(Source::new(name.clone(), text), Language::Trencher);
        let program = parsed.program.with_context(|| format!("{name} has errors"))?;
        let (answer, time) = fastest(&program, all(Engine::Shared), arguments.repetitions)?;
        let reference = TRENCHER.iter().find(|(file, _)| *file == name);
        table.row(vec![
            name,
            answer.attacks.len().to_string(),
            answer.count(|fate| matches!(fate, AttackFate::Feasible(_))).to_string(),
            count(answer.explored.states),
            seconds(time),
            reference.map(|(_, theirs)| format!("{:.3}", time.as_secs_f64() / theirs)).unwrap_or_default(),
        ]);
    }
    println!("{table}");
    Ok(())
}

fn all(engine: Engine) -> RobustnessQuestion<'static> {
    RobustnessQuestion { engine, all: true, ..RobustnessQuestion::new(Model::Tso) }
}

fn fastest(program: &Program, question: RobustnessQuestion, repetitions: usize) -> Result<(Robustness, Duration)> {
    let mut best = Duration::MAX;
    let mut last = None;
    for _ in 0..repetitions.max(1) {
        let (answer, time) = timed(thread_time, || robustness(program, &question));
        best = best.min(time);
        last = Some(answer?);
    }
    Ok((last.context("nothing was measured")?, best))
}

fn example(file: &str) -> Result<Program> {
    let path = crate::root().join("examples").join(file);
    parse(file, std::fs::read_to_string(&path).with_context(|| path.display().to_string())?)
}

/// The example with another number of threads.
fn lamport(threads: usize) -> Result<Program> {
    let path = crate::root().join("examples/lamport-fast.rav");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let other = text.replace("const N = 3;", &format!("const N = {threads};"));
    parse("lamport-fast.rav", other)
}
