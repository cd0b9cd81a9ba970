//! Several processes of this machine against one: processor time, and memory of each process.
//!
//! The question is asked with the built `ravelin`, alone and by `ravelin cluster`, in turns. Processor time is that of all processes
//! together. On a machine with fewer cores than processes the wall clock says nothing, so it is not shown.

use super::counters::Counters;
use super::lamport::Lamport;
use super::storage;
use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, median, ratio, what_times_are};
use crate::sanitizer::built;
use crate::table::{MarkdownTable, count, judged, seconds};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::read_to_string;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Small instances, once: a smoke test, whose numbers mean nothing
    #[arg(long)]
    pub quick: bool,
    /// The ravelin to measure instead of building one
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

/// The spaces, and how often each is searched.
pub struct Subjects {
    pub counters: Counters,
    pub lamport: Lamport,
    pub repetitions: usize,
}

const PROCESSES: [u64; 3] = [1, 2, 4];

pub fn run(arguments: &Arguments) -> Result<()> {
    let subjects = if arguments.quick {
        Subjects { counters: Counters { number: 4 }, lamport: Lamport { threads: 3 }, repetitions: 1 }
    } else {
        Subjects { counters: Counters { number: 6 }, lamport: Lamport { threads: 4 }, repetitions: REPETITIONS }
    };
    let machine = machine();
    let ravelin = arguments.ravelin.clone().map_or_else(built, Ok)?;
    println!("# States elsewhere\n");
    println!("{} Times and memory are {}, taken in turns.\n", made_by(), what_times_are(subjects.repetitions));
    println!("{machine}\n");
    let directory = storage::Temporary::new()?;
    println!("{}", table(&subjects, &ravelin, directory.path())?);
    println!("{}", storage::tables(&subjects, directory.path())?);
    Ok(())
}

/// The table, as Markdown.
fn table(Subjects { counters, lamport, repetitions }: &Subjects, ravelin: &Path, directory: &Path) -> Result<String> {
    let mut table = MarkdownTable::new(&[
        "space",
        "states",
        "processes",
        "processor time",
        "ratio",
        "memory a process",
        "of its share",
    ]);
    for (name, text, model) in [(counters.name(), counters.text(), "sc"), (lamport.name(), lamport.text(), "sc")] {
        let file = directory.join("space.rav");
        std::fs::write(&file, text)?;
        let mut question = vec!["reach".to_owned(), file.display().to_string()];
        let options = ["--format", "json", "--workers", "1", "--no-symmetry", "--no-partial-order", "--no-fuse"];
        question.extend(["--model", model, "--engine", "bounded"].into_iter().chain(options).map(str::to_owned));
        let mut commands = vec![question.clone()];
        for processes in PROCESSES {
            let local = ["cluster".to_owned()].into_iter().chain(question.iter().cloned());
            commands.push(local.chain(["--local".to_owned(), processes.to_string()]).collect());
        }
        let mut runs = vec![Vec::new(); commands.len()];
        for _ in 0..*repetitions {
            for (words, runs) in commands.iter().zip(&mut runs) {
                eprintln!("{name}: ravelin {} …", words[0]);
                runs.push(ask(ravelin, words)?);
            }
        }
        let mut medians = runs.iter().map(|runs| ClusterQuestion::median(runs));
        let alone = medians.next().context("nothing was asked")?;
        table.row(vec![
            name.clone(),
            count(alone.states),
            "alone".to_owned(),
            seconds(alone.time),
            String::new(),
            mebibytes(alone.largest),
            String::new(),
        ]);
        for (processes, together) in PROCESSES.into_iter().zip(medians) {
            ensure!(together.states == alone.states, "{name}: {} states, alone {}", together.states, alone.states);
            let slower = ratio(together.time, alone.time);
            let share = together.largest as f64 * processes as f64 / alone.largest as f64;
            table.row(vec![
                String::new(),
                String::new(),
                processes.to_string(),
                seconds(together.time),
                judged(slower, "", "≤ 1.5", slower <= 1.5),
                mebibytes(together.largest),
                judged(share, "", "≤ 1.3", share <= 1.3),
            ]);
        }
    }
    Ok(format!(
        "## Several processes\n\nProcessor time of all processes together, and the most memory that one of them had, beside one process alone. \
         Of a small space the share says little: most of the memory is that of the program itself.\n\n{table}"
    ))
}

fn mebibytes(kibibytes: u64) -> String {
    format!("{} MiB", kibibytes >> 10)
}

#[derive(Clone, Copy)]
struct ClusterQuestion {
    states: u64,
    /// Of all processes.
    time: Duration,
    /// The most memory of one process, in KiB.
    largest: u64,
}

impl ClusterQuestion {
    /// The medians of time and of memory, each by itself. The number of states is the same in all runs.
    fn median(runs: &[ClusterQuestion]) -> ClusterQuestion {
        ClusterQuestion {
            states: median(runs.iter().map(|run| run.states).collect()),
            time: median(runs.iter().map(|run| run.time).collect()),
            largest: median(runs.iter().map(|run| run.largest).collect()),
        }
    }
}

fn ask(ravelin: &Path, words: &[String]) -> Result<ClusterQuestion> {
    let before = ended_children();
    let mut child = Command::new(ravelin).args(words).stdout(Stdio::piped()).spawn().context("cannot start ravelin")?;
    let mut stdout = child.stdout.take().context("no output")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let mut memory: HashMap<u32, u64> = HashMap::new();
    while child.try_wait()?.is_none() {
        for process in std::iter::once(child.id()).chain(children(child.id())) {
            if let Some(kibibytes) = high_water(process) {
                let most = memory.entry(process).or_default();
                *most = kibibytes.max(*most);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = reader.join().map_err(|_| anyhow::anyhow!("the output could not be read"))??;
    let document: Value = serde_json::from_str(&text).context("ravelin gave no answer")?;
    let states = document["answers"][0]["statistics"]["states"].as_u64().context("an answer without states")?;
    let largest = memory.values().copied().max().unwrap_or(0);
    Ok(ClusterQuestion { states, time: ended_children().saturating_sub(before), largest })
}

/// Processor time of all processes that this one started and waited for, and of those they did.
fn ended_children() -> Duration {
    // SAFETY: rusage is plain numbers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a variable that lives until the call returns. Zeros stay if it fails.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn children(parent: u32) -> Vec<u32> {
    let text = read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn high_water(process: u32) -> Option<u64> {
    let text = read_to_string(format!("/proc/{process}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok())
}
