//! What the sanitizer costs: processor time and memory of programs of our own, plain, with the stock thread sanitizer of
//! each compiler, and with Ravelin, in turns.
//!
//! The programs are in `xtask/programs/runtime`. What counts is Ravelin over the stock sanitizer of the same compiler.

use crate::measure::machine;
use crate::table::Table;
use crate::watched::{BUILDS, Build, Cost, Kind, built, compile, cost, median};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// How often each program runs; the median counts
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// Only programs with this word in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The ravelin to measure instead of building one
    #[arg(long)]
    ravelin: Option<PathBuf>,
    /// Sources of mimalloc, to measure it under a stress test as well
    #[arg(long, value_name = "FOLDER")]
    mimalloc: Option<PathBuf>,
}

/// A run that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(300);

/// A program: its name, its source, and the arguments it is run with.
pub type Workload = (&'static str, &'static str, &'static str);

const WORKLOADS: [Workload; 12] = [
    ("contended spinlock", "spinlock.c", ""),
    ("MPMC queue", "queue.c", ""),
    ("work-stealing deque, fences", "deque.c", ""),
    ("allocator, 60 000 atomics", "allocator.c", ""),
    ("mostly plain accesses", "plain.c", ""),
    ("shared_ptr and mutexes", "pointers.cpp", ""),
    ("random, 2 threads, 4 atomics", "random.c", "2 4 0 2000000"),
    ("random, 4 threads, 64 atomics", "random.c", "4 64 0 2000000"),
    ("random, 4 threads, 64, fences", "random.c", "4 64 8 2000000"),
    ("random, 16 threads, 1024 atomics", "random.c", "16 1024 0 2000000"),
    ("random, 16 threads, 1024, fences", "random.c", "16 1024 8 2000000"),
    ("random, 64 threads, 60000 atomics", "random.c", "64 60000 32 2000000"),
];

/// The program that needs a folder of its own.
const MIMALLOC: Workload = ("mimalloc, 25 threads", "mimalloc.c", "");

pub fn run(arguments: &Arguments) -> Result<()> {
    let ravelin = match &arguments.ravelin {
        Some(path) => path.clone(),
        None => built()?,
    };
    let builds = builds();
    println!("# What the sanitizer costs\n");
    println!(
        "Made by `cargo xtask bench runtime`. Processor time, user and system, of all threads, and the most memory at any \
         time; the median of {} runs, taken in turns. TSan is the stock thread sanitizer of the compiler, which looks for \
         data races only; its reports and Ravelin's are collected, not printed.\n",
        arguments.repetitions
    );
    println!("{}\n", machine());
    let folder = std::env::temp_dir().join(format!("ravelin-bench-runtime-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("findings"))?;
    let measured = measure(arguments, &ravelin, &builds, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let measured = measured?;
    println!("## Time\n\n{}", table(&measured, &builds, |cost| cost.time.as_secs_f64(), |time| format!("{time:.2} s")));
    println!(
        "## Memory\n\n{}",
        table(&measured, &builds, |cost| cost.memory as f64 / 1024.0, |mib| format!("{mib:.0} MiB"))
    );
    Ok(())
}

/// What each build of a program costs, for each program.
pub type Measured = Vec<(&'static str, Vec<Cost>)>;

fn measure(arguments: &Arguments, ravelin: &Path, builds: &[Build], folder: &Path) -> Result<Measured> {
    let mut measured = Vec::new();
    for workload in workloads(arguments.mimalloc.is_some()).filter(|workload| workload.0.contains(&arguments.only)) {
        eprintln!("{}", workload.0);
        let costs = costs(workload, arguments.repetitions, arguments.mimalloc.as_deref(), ravelin, builds, folder)?;
        measured.push((workload.0, costs));
    }
    ensure!(!measured.is_empty(), "no program has {:?} in its name", arguments.only);
    Ok(measured)
}

/// The compilers that are there, each with what it can build.
pub fn builds() -> Vec<Build> {
    BUILDS.into_iter().filter(|build| crate::is_installed(build.compiler, "--version")).collect()
}

pub fn workloads(with_mimalloc: bool) -> impl Iterator<Item = Workload> {
    WORKLOADS.into_iter().chain(with_mimalloc.then_some(MIMALLOC))
}

/// The median of some runs of each build, taken in turns. Executables are left in the folder for other workloads with the same source.
pub fn costs(
    (name, file, words): Workload,
    repetitions: usize,
    mimalloc: Option<&Path>,
    ravelin: &Path,
    builds: &[Build],
    folder: &Path,
) -> Result<Vec<Cost>> {
    let library = mimalloc.filter(|_| file == MIMALLOC.1);
    let mut programs = Vec::new();
    for (number, build) in builds.iter().enumerate() {
        let program = folder.join(format!("{number}-{}", file.replace('.', "-")));
        if !program.exists() {
            compile(*build, ravelin, file, library, &program)?;
        }
        programs.push(program);
    }
    let mut costs = vec![Vec::new(); builds.len()];
    for _ in 0..repetitions.max(1) {
        for ((build, program), costs) in builds.iter().zip(&programs).zip(&mut costs) {
            let report = folder.join("findings");
            costs.push(
                cost(*build, program, words, &report, PATIENCE).with_context(|| format!("{name}, {}", build.name()))?,
            );
        }
    }
    Ok(costs.into_iter().map(median).collect())
}

/// A row for each program: what each build took, and Ravelin over the stock sanitizer of the same compiler.
pub fn table(measured: &Measured, builds: &[Build], value: fn(&Cost) -> f64, show: fn(f64) -> String) -> Table {
    let pairs: Vec<(usize, usize)> = (0..builds.len())
        .filter(|&number| builds[number].kind == Kind::Ravelin)
        .filter_map(|ours| {
            let stock = Build { kind: Kind::Stock, ..builds[ours] };
            Some((ours, builds.iter().position(|build| *build == stock)?))
        })
        .collect();
    let mut head = vec!["program".to_owned()];
    head.extend(builds.iter().map(|build| build.name()));
    head.extend(pairs.iter().map(|&(ours, _)| format!("ratio {}", builds[ours].compiler)));
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    let mut logarithms = vec![0.0; pairs.len()];
    for (name, costs) in measured {
        let mut row = vec![(*name).to_owned()];
        row.extend(costs.iter().map(|cost| show(value(cost))));
        for (&(ours, stock), logarithm) in pairs.iter().zip(&mut logarithms) {
            let ratio = value(&costs[ours]) / value(&costs[stock]).max(1e-6);
            *logarithm += ratio.max(1e-6).ln();
            row.push(format!("{ratio:.2}"));
        }
        table.row(row);
    }
    let mut row = vec!["geometric mean".to_owned()];
    row.extend(builds.iter().map(|_| String::new()));
    row.extend(logarithms.iter().map(|sum| format!("{:.2}", (sum / measured.len() as f64).exp())));
    table.row(row);
    table
}
