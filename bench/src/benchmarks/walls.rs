//! How many threads the monitored searches for robustness can have, with each reduction and without: families of programs
//! that are robust, so that every state has to be visited, as they grow.

use crate::command::made_by;
use crate::families::Family;
use crate::measure::{REPETITIONS, machine, process_time, repeated, repetitions, timed};
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::{Result, ensure};
use ravelin_explore::{Budget, Options};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorSearch, monitor};
use ravelin_program::{Model, Program, SeqCstReading};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds after which a search is stopped
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Gigabytes that a search may take
    #[arg(long, default_value_t = 4)]
    memory: u64,
    /// The most threads
    #[arg(long, default_value_t = 12)]
    threads: usize,
    /// How often each search is made; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
}

const NONE: Reductions = Reductions { partial_order: false, symmetry: false, known_facts: false, ..Reductions::ALL };
const KINDS: [(&str, Reductions); 5] = [
    ("none", NONE),
    ("partial order", Reductions { partial_order: true, ..NONE }),
    ("symmetry", Reductions { symmetry: true, ..NONE }),
    ("both", Reductions { known_facts: false, ..Reductions::ALL }),
    ("known facts", Reductions::ALL),
];

pub fn run(arguments: &Arguments) -> Result<()> {
    println!("# How many threads monitored searches can have\n");
    println!(
        "{} Robust programs of `bench/src/families`, so every state is visited: the locks under rc20, with data races looked for, and \
         the others with a fence behind every store, under tso by the monitor. For each reduction the states and the \
         processor time of one worker, the median of {} runs; a search that takes more than {} s or {} GB is stopped, and a family \
         ends where all are. *Known facts*: both, and no access asks for what it always knows. With a fence behind every store that is \
         all, so no state is visited.\n",
        made_by(),
        arguments.repetitions,
        arguments.timeout,
        arguments.memory
    );
    println!("{}\n", machine());
    println!("## Locks, a deque and RCU, rc20\n");
    grow(arguments, &Family::LOCKS, Model::Rc20, |family, threads| family.program(threads))?;
    println!("## With fences, tso\n");
    grow(arguments, &Family::ALL, Model::Tso, |family, threads| family.fenced(threads))
}

fn grow(
    arguments: &Arguments,
    families: &[Family],
    model: Model,
    program: impl Fn(Family, usize) -> Result<Program>,
) -> Result<()> {
    let mut head = vec!["family".to_owned(), "threads".to_owned()];
    head.extend(KINDS.iter().flat_map(|(name, _)| [(*name).to_owned(), "time".to_owned()]));
    let mut table = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for &family in families {
        let name = family.name;
        let mut ended = [false; KINDS.len()];
        for threads in 2..=arguments.threads {
            let program = program(family, threads)?;
            let mut row = vec![name.to_owned(), threads.to_string()];
            for ((kind, reductions), ended) in KINDS.iter().zip(&mut ended) {
                if *ended {
                    row.extend([String::new(), String::new()]);
                    continue;
                }
                eprintln!("{name} {threads} {model} {kind}");
                let (states, time) = search(arguments, &program, model, *reductions)?;
                *ended = time.is_none();
                row.extend([count(states), seconds_or_stopped(time)]);
            }
            table.row(row);
            if ended.iter().all(|ended| *ended) {
                break;
            }
        }
    }
    println!("{table}");
    Ok(())
}

/// The states and the time of a search, which finds nothing; no time if it was stopped.
fn search(
    arguments: &Arguments,
    program: &Program,
    model: Model,
    reductions: Reductions,
) -> Result<(u64, Option<Duration>)> {
    let races = !model.is_hardware();
    let settings =
        C11Settings { model, seq_cst: SeqCstReading::RelAcq, chains: false, observational: false, races, reductions };
    let budget = Budget::seconds(arguments.timeout).memory(arguments.memory << 30).workers(1);
    let options = Options { budget, ..Options::default() };
    let (searched, time) = repeated(
        arguments.repetitions,
        |searched: &MonitorSearch| searched.limit.is_some(),
        || {
            let (searched, time) = timed(process_time, || monitor(program, settings, &options));
            Ok((searched?, time))
        },
    )?;
    ensure!(searched.found.is_none(), "a program that is robust is said not to be");
    Ok((searched.statistics.states, time))
}
