//! How late an answer comes after its limit, and how much memory it took: every command on programs that are slow in some phase.
//!
//! Each question is asked by a process of its own, once with a limit of time and once with one of memory. What is promised is half a
//! second, and a tenth or 16 MB.

use crate::command::made_by;
use crate::measure::machine;
use crate::sanitizer::{built, ended_alone};
use crate::table::{MarkdownTable, judged, seconds};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

#[path = "../../../crates/ravelin-cli/tests/slow/mod.rs"]
mod slow;

use slow::{SlowProgram, slow_programs};

#[derive(clap::Args)]
pub struct Arguments {
    /// The program to ask; without it one is built as releases are
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
    /// The limit of time, in seconds
    #[arg(long, default_value_t = 1)]
    timeout: u64,
    /// The limit of memory, in MiB
    #[arg(long, default_value_t = 64)]
    memory: u64,
    /// Seconds after which a question that does not end is given up
    #[arg(long, default_value_t = 60)]
    patience: u64,
}

/// By how much an answer may be late.
const LATE: Duration = Duration::from_millis(500);
/// By how many MiB the limit of memory may be exceeded, or by a tenth of it.
const ROOM: u64 = 16;

pub fn run(arguments: &Arguments) -> Result<()> {
    let ravelin = match &arguments.ravelin {
        Some(program) => program.clone(),
        None => built()?,
    };
    println!("# How limits are kept\n");
    println!(
        "{} Each question is asked twice, by a process of its own: within {} s, and within {} MiB. Late is the time after the limit of time; \
         memory is the most that the process held, with its own code.\n",
        made_by(),
        arguments.timeout,
        arguments.memory
    );
    println!("{}\n", machine());
    let folder = std::env::temp_dir().join(format!("ravelin-bench-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let table = table(arguments, &ravelin, &folder);
    std::fs::remove_dir_all(&folder)?;
    println!("{}", table?);
    Ok(())
}

fn table(arguments: &Arguments, ravelin: &PathBuf, folder: &std::path::Path) -> Result<MarkdownTable> {
    let mut table = MarkdownTable::new(&["question", "limit of time: took", "late", "limit of memory: took", "memory"]);
    let patience = Duration::from_secs(arguments.patience);
    for SlowProgram { file, text, questions } in slow_programs() {
        let path = folder.join(file);
        std::fs::write(&path, text)?;
        for question in questions {
            let ask = |option: &str, value: String| {
                let mut command = Command::new(ravelin);
                command.args(*question).arg(&path).args([option, &value]);
                let start = Instant::now();
                // A question that does not end is a row, not an error.
                let memory = ended_alone(&command, patience).ok().map(|(_, cost)| cost.memory >> 10);
                (start.elapsed(), memory)
            };
            eprintln!("{} {file}", question.join(" "));
            let time = Duration::from_secs(arguments.timeout);
            let (took, _) = ask("--timeout", arguments.timeout.to_string());
            let late = took.saturating_sub(time);
            let (within, memory) = ask("--max-memory", format!("{}M", arguments.memory));
            let most = arguments.memory + (arguments.memory / 10).max(ROOM);
            table.row(vec![
                format!("`{}` {file}", question.join(" ")),
                seconds(took),
                judged(late.as_secs_f64(), " s", "≤ 0.5 s", late <= LATE),
                seconds(within),
                match memory {
                    Some(memory) => judged(memory as f64, " MiB", &format!("≤ {most} MiB"), memory <= most),
                    None => format!("not within {} s", arguments.patience),
                },
            ]);
        }
    }
    Ok(table)
}
