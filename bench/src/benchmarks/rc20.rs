//! What robustness against release/acquire and RC20 costs, and what it costs to know whether something can go wrong: our versions of the programs of
//! the PLDI paper, all litmus shapes, well-known algorithms, and, where available, the files of Rocker.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, repetitions};
use crate::questions::{c11, reach};
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::Result;
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion};
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_machine::Reductions;
use ravelin_program::{Model, Program};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Rocker (.tpl, also in folders inside it), to be measured too
    #[arg(long, value_name = "FOLDER")]
    rocker: Option<PathBuf>,
    /// Seconds after which a search is stopped
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Threads to search with
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// How often each question is asked; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

/// Seconds of processor time that Rocker takes, without translation and compilation, measured on this kind of machine: name, ra, rc20.
const ROCKER: [(&str, Option<f64>, Option<f64>); 5] = [
    ("spinlock4.tpl", Some(7.2), None),
    ("spinlock4-ra.tpl", Some(7.2), None),
    ("chase-lev.tpl", Some(43.0), Some(77.0)),
    ("chase-lev-ra.tpl", Some(43.0), Some(77.0)),
    ("seqlock-ra.tpl", Some(67.0), None),
];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# What robustness against release/acquire and RC20 costs\n");
    println!(
        "{} Processor time of {} workers, the median of {} runs; a search is stopped after {} s and then not repeated. Data races are looked \
         for, seq_cst accesses are read as in RC11, every answer is exact.\n",
        made_by(),
        arguments.workers,
        arguments.repetitions,
        arguments.timeout
    );
    println!("{}\n", machine());
    println!("## Examples\n");
    let mut files = Vec::new();
    for folder in ["examples", "examples/robustness-c11"] {
        files.extend(sources::files(&crate::root().join(folder), "rav")?);
    }
    table(arguments, &files, Language::Rav)?;
    can_it_go_wrong(arguments)?;
    as_programs_grow(arguments)?;
    if let Some(folder) = &arguments.rocker {
        println!("## Rocker's files\n");
        println!(
            "Ratio: to the processor time of Rocker's search, without translation and compilation (1 to 10 s), measured elsewhere on this kind of machine.\n"
        );
        table(arguments, &sources::files_below(folder, "tpl")?, Language::Rocker)?;
    }
    Ok(())
}

/// `reach` under rc20 on the examples of C11 algorithms.
fn can_it_go_wrong(arguments: &Arguments) -> Result<()> {
    println!("## Can it go wrong?\n");
    println!(
        "`reach --model rc20`: by default, which takes the answer of sc where the program is robust, and by messages and views alone \
         (`bounded`), with all reductions and with none.\n"
    );
    let heading =
        ["program", "answer", "by", "time", "states with messages", "time", "states without reductions", "time"];
    let mut table = MarkdownTable::new(&heading);
    for path in sources::files(&crate::root().join("examples/c11"), "rav")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("reach {name}");
        let program = sources::read(&path, Language::Rav)?;
        let mut row = vec![name];
        row.extend(reach_columns(arguments, &program)?);
        table.row(row);
    }
    println!("{table}");
    Ok(())
}

/// The answer with its time, and states and times of messages with and without reductions.
fn reach_columns(arguments: &Arguments, program: &Program) -> Result<Vec<String>> {
    let budget = Budget::seconds(arguments.timeout).workers(arguments.workers);
    let question = ReachabilityQuestion { budget, ..ReachabilityQuestion::new(Model::Rc20) };
    let unreduced = ReachabilityQuestion { reductions: Reductions::NONE, ..question };
    let (answer, time) = reach::ask(program, &question, ReachEngine::Auto, arguments.repetitions)?;
    let mut columns =
        vec![answer.reachability.verdict.name().to_owned(), answer.engine.name().to_owned(), seconds_or_stopped(time)];
    for question in [question, unreduced] {
        let (answer, time) = reach::ask(program, &question, ReachEngine::Bounded, arguments.repetitions)?;
        columns.extend([count(answer.reachability.statistics.states), seconds_or_stopped(time)]);
    }
    Ok(columns)
}

/// Examples with other numbers: file, what is written there, what it says, and which numbers to write.
const GROWING: [(&str, &str, &str, [usize; 4]); 3] = [
    ("spsc-ring.rav", "const ITEMS = 3;", "const ITEMS = $n;", [3, 6, 12, 24]),
    ("seqcount.rav", "thread reader[2]", "thread reader[$n]", [1, 2, 3, 4]),
    ("double-checked-locking.rav", "const N = 3;", "const N = $n;", [2, 3, 4, 5]),
];

fn as_programs_grow(arguments: &Arguments) -> Result<()> {
    println!("## As programs grow\n");
    println!("The same for examples whose numbers of items or threads grow.\n");
    let heading =
        ["program", "n", "answer", "by", "time", "states with messages", "time", "states without reductions", "time"];
    let mut table = MarkdownTable::new(&heading);
    for (name, written, template, numbers) in GROWING {
        let text = std::fs::read_to_string(crate::root().join("examples/c11").join(name))?;
        anyhow::ensure!(text.contains(written), "{name} does not say `{written}`");
        for number in numbers {
            eprintln!("reach {name} {number}");
            let text = text.replace(written, &template.replace("$n", &number.to_string()));
            let program = sources::parse(name, text)?;
            let mut row = vec![name.to_owned(), number.to_string()];
            row.extend(reach_columns(arguments, &program)?);
            table.row(row);
        }
    }
    println!("{table}");
    Ok(())
}

fn table(arguments: &Arguments, files: &[PathBuf], language: Language) -> Result<()> {
    let mut table = MarkdownTable::new(&["program", "model", "answer", "states", "memory", "time", "ratio"]);
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = sources::read(path, language)?;
        for model in [Model::Ra, Model::Rc20] {
            eprintln!("{name} {model}");
            // A program with a locked block has no meaning in C11.
            let budget = Budget::seconds(arguments.timeout).workers(arguments.workers);
            let measured = c11::measure(&program, model, budget, arguments.repetitions);
            let Ok((answer, time)) = measured else { continue };
            let theirs = ROCKER
                .iter()
                .find(|(file, ..)| *file == name)
                .and_then(|(_, ra, rc20)| if model == Model::Ra { *ra } else { *rc20 });
            let ratio = theirs.zip(time).map(|(theirs, time)| format!("{:.3}", time.as_secs_f64() / theirs));
            table.row(vec![
                name.clone(),
                model.name().to_owned(),
                c11::word(&answer).to_owned(),
                count(answer.statistics.states),
                format!("{:.1} MB", answer.statistics.bytes as f64 / 1e6),
                seconds_or_stopped(time),
                ratio.unwrap_or_default(),
            ]);
        }
    }
    println!("{table}");
    Ok(())
}
