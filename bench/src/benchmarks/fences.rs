//! What fences cost to find: the programs of two papers in our versions, and optionally the files of Trencher and Memorax.

use crate::command::made_by;
use crate::families::Family;
use crate::measure::{REPETITIONS, machine, repetitions};
use crate::papers::{fence_insertion_2012, robustness_2013};
use crate::questions::fences::{FenceExperiment, measure};
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::Result;
use ravelin_analysis::fences::SynthesisOutcome;
use ravelin_frontend::Language;
use ravelin_frontend::sites::RepairKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Trencher (.txt), to be measured too
    #[arg(long, value_name = "FOLDER")]
    trencher: Option<PathBuf>,
    /// A folder with files of Memorax (.rmm), to be measured too
    #[arg(long, value_name = "FOLDER")]
    memorax: Option<PathBuf>,
    /// Threads of the largest member of each family
    #[arg(long, default_value_t = 6)]
    threads: usize,
    /// How often each question is asked; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

/// How long the search for the fences of a member of a family may take.
const LONGEST: Duration = Duration::from_secs(10);
/// Seconds of processor time that the earlier tools take on this kind of machine.
const TRENCHER: [(&str, f64); 2] = [("cilk-the-wsq-wrongdoing.txt", 4.5), ("lamport-fast-mutex-alg1.txt", 0.38)];
const MEMORAX: [(&str, f64); 2] = [("lamport_fast.rmm", 89.0), ("bakery.bound2.rmm", 25.0)];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What fences cost to find\n");
    println!(
        "{} Processor time of all threads, the median of {} runs, from the parsed program to the proved answer. Queries: questions \
         about the program with some of the fences.\n",
        made_by(),
        arguments.repetitions
    );
    println!("{}\n", machine());
    robustness(arguments)?;
    families(arguments)?;
    safety(arguments)?;
    if let Some(folder) = &arguments.trencher {
        let title = "## Trencher's files, robustness\n\nRatio: to the time of Trencher's fence insertion, measured elsewhere on this kind of machine.\n";
        files(arguments, folder, title, Language::Trencher, &TRENCHER, &|_| FenceExperiment::ROBUST)?;
    }
    if let Some(folder) = &arguments.memorax {
        let title = "## Memorax's files, safety\n\nAll minimal sets of writes to be locked. Ratio: to the time of Memorax's fence insertion, measured elsewhere on this kind of machine.\n";
        files(arguments, folder, title, Language::Memorax, &MEMORAX, &|_| FenceExperiment {
            repair: RepairKind::Rmw,
            apart: false,
            ..FenceExperiment::SAFE
        })?;
    }
    Ok(())
}

fn robustness(arguments: &Arguments) -> Result<()> {
    println!("## Robustness: Table 2 of *Checking and Enforcing Robustness against TSO*\n");
    println!("The cheapest set. F: fences, in brackets the paper's number.\n");
    let mut table = MarkdownTable::new(&["program", "F", "places", "queries", "clauses", "states", "time"]);
    for robustness_2013::RobustnessRow { file, fences: paper, .. } in robustness_2013::TABLE_2 {
        let measured =
            measure(&sources::example(file)?, Language::Rav, FenceExperiment::ROBUST, arguments.repetitions)?;
        table.row(vec![
            file.to_owned(),
            format!("{} ({paper})", measured.fences),
            measured.places.to_string(),
            measured.answer.effort.queries.to_string(),
            measured.answer.effort.clauses.to_string(),
            count(measured.answer.effort.states),
            seconds_or_stopped(measured.time),
        ]);
    }
    println!("{table}");
    Ok(())
}

/// Families that grow with the number of threads.
fn families(arguments: &Arguments) -> Result<()> {
    println!("## Robustness: families\n");
    println!(
        "The cheapest set for each family of `bench/src/families` as the number of its threads grows. A search that takes more than {} s \
         is stopped.\n",
        LONGEST.as_secs()
    );
    let mut table = MarkdownTable::new(&["family", "threads", "F", "queries", "clauses", "states", "time"]);
    for family in Family::ALL {
        for threads in 2..=arguments.threads {
            eprintln!("{} with {threads} threads", family.name);
            let plan = FenceExperiment { time: Some(LONGEST), ..FenceExperiment::ROBUST };
            let measured = measure(&family.program(threads)?, Language::Rav, plan, arguments.repetitions)?;
            let fences = match measured.answer.outcome {
                SynthesisOutcome::NotNeeded | SynthesisOutcome::Found => measured.fences.to_string(),
                _ => "?".to_owned(),
            };
            let effort = measured.answer.effort;
            table.row(vec![
                family.name.to_owned(),
                threads.to_string(),
                fences,
                effort.queries.to_string(),
                effort.clauses.to_string(),
                count(effort.states),
                seconds_or_stopped(measured.time),
            ]);
            if measured.time.is_none() {
                break;
            }
        }
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
    let mut table = MarkdownTable::new(&["program", "fences, sets", "places", "queries", "states", "time"]);
    for fence_insertion_2012::FenceInsertionRow { file: name, fences, seconds: [_, theirs], .. } in
        fence_insertion_2012::TABLE_1
    {
        let paper = match fences {
            Some((fences, 1)) => format!("{fences}, 1 set"),
            Some((fences, sets)) => format!("{fences}, {sets} sets"),
            None => "erroneous".to_owned(),
        };
        let program = sources::example(&format!("fence-insertion/{name}.rav"))?;
        let measured = measure(&program, Language::Rav, FenceExperiment::SAFE, arguments.repetitions)?;
        let found = match measured.answer.outcome {
            SynthesisOutcome::WrongUnderSc(_) => "wrong under sc".to_owned(),
            SynthesisOutcome::NotNeeded | SynthesisOutcome::Found => {
                format!("{}, {}", measured.fences, measured.answer.sets.len().max(1))
            }
            SynthesisOutcome::NoSet(_) | SynthesisOutcome::Unknown(_) => "?".to_owned(),
        };
        table.row(vec![
            name.to_owned(),
            format!("{found} ({paper})"),
            measured.places.to_string(),
            measured.answer.effort.queries.to_string(),
            count(measured.answer.effort.states),
            format!("{} ({theirs})", seconds_or_stopped(measured.time)),
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
    plan: &dyn Fn(&Path) -> FenceExperiment,
) -> Result<()> {
    println!("{title}");
    let mut table = MarkdownTable::new(&["file", "fences", "sets", "queries", "states", "time", "ratio"]);
    for path in sources::files(folder, language.extension())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = sources::read(&path, language)?;
        let measured = measure(&program, language, plan(&path), arguments.repetitions)?;
        let reference = theirs.iter().find(|(file, _)| *file == name);
        let ratio =
            reference.zip(measured.time).map(|((_, theirs), time)| format!("{:.4}", time.as_secs_f64() / theirs));
        table.row(vec![
            name,
            measured.fences.to_string(),
            measured.answer.sets.len().max(1).to_string(),
            measured.answer.effort.queries.to_string(),
            count(measured.answer.effort.states),
            seconds_or_stopped(measured.time),
            ratio.unwrap_or_default(),
        ]);
    }
    println!("{table}");
    Ok(())
}
