//! What fences cost to find: the programs of two papers in our versions, and, if somebody has them, the files of Trencher and Memorax.

use super::measure::{machine, process_time, timed, wall_time};
use super::table::{Table, count, seconds};
use anyhow::{Context, Result};
use ravelin_analysis::fences::{
    CostBy, FenceQuestion, Fences, Offer, Outcome, Placement, Purpose, Sets, Weights, apart, fences, offers,
};
use ravelin_analysis::reachability::Engine;
use ravelin_frontend::Language;
use ravelin_frontend::sites::{Repair, Request, sites};
use ravelin_program::{Program, Site, Source};
use ravelin_semantics::Model;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Trencher (.txt), to be measured too
    #[arg(long)]
    trencher: Option<PathBuf>,
    /// A folder with files of Memorax (.rmm), to be measured too
    #[arg(long)]
    memorax: Option<PathBuf>,
    /// The fastest of so many runs counts
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
}

/// How long is measured at least.
const BATCH: Duration = Duration::from_millis(300);

/// Table 2 of the ESOP paper, column F.
const TABLE_2: [(&str, usize); 16] = [
    ("peterson.rav", 2),
    ("peterson-fenced.rav", 0),
    ("dekker.rav", 4),
    ("dekker-fenced.rav", 0),
    ("lamport-fast.rav", 6),
    ("lamport-fast-fenced.rav", 0),
    ("clh-lock.rav", 0),
    ("mcs-lock.rav", 0),
    ("lockfree-stack.rav", 0),
    ("cilk-the.rav", 3),
    ("nbw2.rav", 1),
    ("nbw3.rav", 0),
    ("nbw4.rav", 0),
    ("nbwl.rav", 0),
    ("parker.rav", 1),
    ("parker-fixed.rav", 0),
];

/// Table 1 of the paper on counter-example guided insertion: fences a process, sets, seconds for all sets.
const TABLE_1: [(&str, &str, f64); 17] = [
    ("simple-dekker", "1, 1 set", 0.02),
    ("full-dekker", "1, 1 set", 0.28),
    ("peterson", "1, 1 set", 0.6),
    ("bakery", "2, 4 sets", 538.0),
    ("lamport-fast", "2, 1 set", 6.5),
    ("clh", "0, 1 set", 26.0),
    ("sense-reversing-barrier", "0, 1 set", 1.1),
    ("burns", "1, 1 set", 0.07),
    ("dijkstra", "1, 1 set", 10.0),
    ("tournament-barrier", "0, 1 set", 1.2),
    ("task-scheduling", "0, 1 set", 60.0),
    ("increasing-sequence", "0, 1 set", 27.0),
    ("alternating-bit", "0, 1 set", 0.2),
    ("producer-consumer-v1-2", "erroneous", 0.2),
    ("producer-consumer-v1-3", "erroneous", 4.5),
    ("producer-consumer-v2-2", "0, 1 set", 5.7),
    ("producer-consumer-v2-3", "0, 1 set", 583.0),
];

/// Seconds of processor time that the earlier tools take on this kind of machine.
const TRENCHER: [(&str, f64); 2] = [("cilk-the-wsq-wrongdoing.txt", 4.5), ("lamport-fast-mutex-alg1.txt", 0.38)];
const MEMORAX: [(&str, f64); 2] = [("lamport_fast.rmm", 89.0), ("bakery.bound2.rmm", 25.0)];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What fences cost to find\n");
    println!(
        "Made by `cargo xtask bench fences`. Processor time of all threads, the fastest of {} batches of runs, from the parsed program to the \
         proved answer. Queries: questions about the program with some of the fences.\n",
        arguments.repetitions
    );
    println!("{}\n", machine());
    robustness(arguments)?;
    safety(arguments)?;
    if let Some(folder) = &arguments.trencher {
        let title = "## Trencher's files, robustness\n\nRatio: to the time of Trencher's fence insertion, measured elsewhere on this kind of machine.\n";
        files(arguments, folder, title, Language::Trencher, &TRENCHER, &|_| Plan::ROBUST)?;
    }
    if let Some(folder) = &arguments.memorax {
        let title = "## Memorax's files, safety\n\nAll minimal sets of writes to be locked. Ratio: to the time of Memorax's fence insertion, measured elsewhere on this kind of machine.\n";
        files(arguments, folder, title, Language::Memorax, &MEMORAX, &|_| Plan {
            repair: Repair::Rmw,
            apart: false,
            ..Plan::SAFE
        })?;
    }
    Ok(())
}

fn robustness(arguments: &Arguments) -> Result<()> {
    println!("## Robustness: Table 2 of *Checking and Enforcing Robustness against TSO*\n");
    println!("The cheapest set. F: fences, in brackets the paper's number.\n");
    let mut table = Table::new(&["program", "F", "places", "queries", "clauses", "states", "time"]);
    for (file, paper) in TABLE_2 {
        let measured = measure(&example(file)?, Language::Rav, Plan::ROBUST, arguments.repetitions)?;
        table.row(vec![
            file.to_owned(),
            format!("{} ({paper})", measured.fences),
            measured.places.to_string(),
            measured.answer.effort.queries.to_string(),
            measured.answer.effort.clauses.to_string(),
            count(measured.answer.effort.states),
            seconds(measured.time),
        ]);
    }
    println!("{table}");
    Ok(())
}

fn safety(arguments: &Arguments) -> Result<()> {
    println!("## Safety: Table 1 of *Counter-Example Guided Fence Insertion under Weak Memory Models*\n");
    println!(
        "All minimal sets of fences directly after stores, chosen for each process apart. In brackets: what the paper says, \
         fences a process (there are two), and its seconds.\n"
    );
    let mut table = Table::new(&["program", "fences, sets", "places", "queries", "states", "time"]);
    for (name, paper, theirs) in TABLE_1 {
        let program = example(&format!("fence-insertion/{name}.rav"))?;
        let measured = measure(&program, Language::Rav, Plan::SAFE, arguments.repetitions)?;
        let found = match measured.answer.outcome {
            Outcome::WrongUnderSc(_) => "wrong under sc".to_owned(),
            Outcome::NotNeeded | Outcome::Found => {
                format!("{}, {}", measured.fences, measured.answer.sets.len().max(1))
            }
            Outcome::NoSet(_) | Outcome::Unknown(_) => "?".to_owned(),
        };
        table.row(vec![
            name.to_owned(),
            format!("{found} ({paper})"),
            measured.places.to_string(),
            measured.answer.effort.queries.to_string(),
            count(measured.answer.effort.states),
            format!("{} ({theirs})", seconds(measured.time)),
        ]);
    }
    println!("{table}");
    Ok(())
}

fn files(
    arguments: &Arguments,
    folder: &Path,
    title: &str,
    language: Language,
    theirs: &[(&str, f64)],
    plan: &dyn Fn(&Path) -> Plan,
) -> Result<()> {
    println!("{title}");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == language.extension()))
        .collect();
    files.sort();
    let mut table = Table::new(&["file", "fences", "sets", "queries", "states", "time", "ratio"]);
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).with_context(|| name.clone())?;
        let parsed = ravelin_frontend::parse(Source::new(name.clone(), text), language);
        let program = parsed.program.with_context(|| format!("{name} has errors"))?;
        let measured = measure(&program, language, plan(&path), arguments.repetitions)?;
        let reference = theirs.iter().find(|(file, _)| *file == name);
        table.row(vec![
            name,
            measured.fences.to_string(),
            measured.answer.sets.len().max(1).to_string(),
            measured.answer.effort.queries.to_string(),
            count(measured.answer.effort.states),
            seconds(measured.time),
            reference.map(|(_, theirs)| format!("{:.4}", measured.time.as_secs_f64() / theirs)).unwrap_or_default(),
        ]);
    }
    println!("{table}");
    Ok(())
}

/// What is asked.
#[derive(Clone, Copy)]
struct Plan {
    purpose: Purpose,
    sets: Sets,
    after_stores: bool,
    repair: Repair,
    apart: bool,
}

impl Plan {
    const ROBUST: Plan = Plan {
        purpose: Purpose::Robust,
        sets: Sets::Cheapest,
        after_stores: false,
        repair: Repair::Fence,
        apart: false,
    };
    const SAFE: Plan = Plan {
        purpose: Purpose::Safe(Engine::Auto),
        sets: Sets::AllMinimal,
        after_stores: true,
        repair: Repair::Fence,
        apart: true,
    };
}

struct Measured {
    answer: Fences,
    fences: usize,
    places: usize,
    time: Duration,
}

fn measure(program: &Program, language: Language, plan: Plan, repetitions: usize) -> Result<Measured> {
    let request = Request { repair: plan.repair, existing: false, copies: None };
    let ask = || -> Result<(Fences, Vec<Site>, Vec<Offer>)> {
        let found = sites(&program.source, language, &request)?;
        let all = if plan.apart { apart(program, &found.sites) } else { found.sites };
        let placement = if plan.after_stores { Placement::AfterStores } else { Placement::Anywhere };
        let allowed = placement.allowed(program, &all)?;
        let offered = offers(program, &all, &allowed, &CostBy::Size, Weights::FULL_ONLY);
        let question = FenceQuestion { sets: plan.sets, ..FenceQuestion::new(Model::Tso, plan.purpose) };
        Ok((fences(program, &all, &offered, &question)?, all, offered))
    };
    // The system counts the time of all threads in steps of a hundredth of a second: a batch takes many of them.
    let (first, once) = timed(wall_time, ask);
    let mut last = Some(first?);
    let batch = (BATCH.as_secs_f64() / once.as_secs_f64().max(1e-6)).ceil().max(1.0) as u32;
    let mut best = Duration::MAX;
    for _ in 0..repetitions.max(1) {
        let (answer, time) = timed(process_time, || (0..batch).fold(None, |_, _| Some(ask())));
        best = best.min(time / batch);
        last = answer.transpose()?.or(last);
    }
    let (answer, sites, offers) = last.context("nothing was measured")?;
    let fences = answer.sets.first().map_or(0, |set| set.fences(&offers, &sites));
    Ok(Measured { answer, fences, places: offers.len(), time: best })
}

fn example(file: &str) -> Result<Program> {
    let path = crate::root().join("examples").join(file);
    super::explore::parse(file, std::fs::read_to_string(&path).with_context(|| path.display().to_string())?)
}
