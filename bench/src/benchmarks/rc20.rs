//! What robustness against release/acquire and RC20 costs: our versions of the programs of the PLDI paper, all litmus shapes, and, if
//! somebody has them, the files of Rocker.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, repetitions};
use crate::questions::c11;
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::Result;
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_program::Model;
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
         for, seq_cst accesses read both ways, every answer is exact.\n",
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
    if let Some(folder) = &arguments.rocker {
        println!("## Rocker's files\n");
        println!(
            "Ratio: to the processor time of Rocker's search, without translation and compilation (1 to 10 s), measured elsewhere on this kind of machine.\n"
        );
        table(arguments, &sources::files_below(folder, "tpl")?, Language::Rocker)?;
    }
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
