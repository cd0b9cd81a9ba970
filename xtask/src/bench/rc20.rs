//! What robustness against release/acquire and RC20 costs: our versions of the programs of the PLDI paper, all litmus shapes, and, if
//! somebody has them, the files of Rocker.

use super::explore::parse;
use super::measure::{machine, process_time, timed, wall_time};
use super::table::{Table, count, seconds};
use anyhow::{Context, Result};
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Answer, C11Model, C11Question, c11_robustness};
use ravelin_explore::Limits;
use ravelin_frontend::Language;
use ravelin_program::{Program, Source};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// A folder with files of Rocker (.tpl, also in folders inside it), to be measured too
    #[arg(long)]
    rocker: Option<PathBuf>,
    /// Seconds after which a search is stopped
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Threads to search with
    #[arg(long, default_value_t = 2)]
    workers: usize,
}

/// Searches shorter than this are repeated.
const SHORT: Duration = Duration::from_millis(300);

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
        "Made by `cargo xtask bench rc20`. Processor time of {} workers; a search is stopped after {} s. Data races are looked for, seq_cst \
         accesses read both ways, every answer is exact.\n",
        arguments.workers, arguments.timeout
    );
    println!("{}\n", machine());
    println!("## Examples\n");
    let mut files = Vec::new();
    for folder in ["examples", "examples/robustness-c11"] {
        files.extend(programs(&crate::root().join(folder), "rav")?);
    }
    table(arguments, &files, Language::Rav)?;
    if let Some(folder) = &arguments.rocker {
        println!("## Rocker's files\n");
        println!(
            "Ratio: to the processor time of Rocker's search, without translation and compilation (1 to 10 s), measured elsewhere on this kind of machine.\n"
        );
        table(arguments, &programs(folder, "tpl")?, Language::Rocker)?;
    }
    Ok(())
}

fn table(arguments: &Arguments, files: &[PathBuf], language: Language) -> Result<()> {
    let mut table = Table::new(&["program", "model", "answer", "states", "memory", "time", "ratio"]);
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        let program = match language {
            Language::Rav => parse(&name, text)?,
            _ => ravelin_frontend::parse(Source::new(name.clone(), text), language)
                .program
                .with_context(|| format!("{name} has errors"))?,
        };
        for (model, word) in [(C11Model::ReleaseAcquire, "ra"), (C11Model::Rc20, "rc20")] {
            eprintln!("{name} {word}");
            // A program with a locked block has no meaning in C11.
            let Ok((answer, time)) = measure(arguments, &program, model) else { continue };
            let verdict = match answer.verdict {
                _ if answer.race().is_some() => "race",
                Verdict::Holds => "robust",
                Verdict::Violated => "not robust",
                Verdict::Unknown => "unknown",
            };
            let theirs = ROCKER.iter().find(|(file, ..)| *file == name).and_then(|(_, ra, rc20)| match model {
                C11Model::ReleaseAcquire => *ra,
                C11Model::Rc20 => *rc20,
            });
            let ratio = theirs.map(|theirs| format!("{:.3}", time.as_secs_f64() / theirs)).unwrap_or_default();
            table.row(vec![
                name.clone(),
                word.to_owned(),
                verdict.to_owned(),
                count(answer.statistics.states),
                format!("{:.1} MB", answer.statistics.bytes as f64 / 1e6),
                seconds(time),
                ratio,
            ]);
        }
    }
    println!("{table}");
    Ok(())
}

fn measure(arguments: &Arguments, program: &Program, model: C11Model) -> Result<(C11Answer, Duration)> {
    let question = C11Question {
        limits: Limits { time: Some(Duration::from_secs(arguments.timeout)), ..Limits::default() },
        workers: arguments.workers,
        ..C11Question::new(model)
    };
    let before = process_time();
    let (answer, once) = timed(wall_time, || c11_robustness(program, &question));
    let answer = answer?;
    if once > SHORT {
        return Ok((answer, process_time().saturating_sub(before)));
    }
    // The system counts in hundredths of a second.
    let times = (SHORT.as_secs_f64() / once.as_secs_f64().max(1e-6)).ceil() as u32;
    let (_, all) = timed(process_time, || (0..times).for_each(|_| drop(c11_robustness(program, &question))));
    Ok((answer, all / times))
}

/// The files with an extension, also in folders inside, by name.
fn programs(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() && extension == "tpl" {
            files.extend(programs(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
