//! What the sanitizer costs: processor time and memory of programs of our own, plain, with the stock thread sanitizer of
//! each compiler, and with Ravelin, in turns.
//!
//! The programs are in `bench/programs/runtime`. What counts is Ravelin over the stock sanitizer of the same compiler.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, repetitions};
use crate::sanitizer::{BUILDS, BuildVariant, Instrumentation, RunCost, built, compile, cost};
use crate::table::MarkdownTable;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// How often each program runs; the median counts
    #[arg(long, default_value_t = REPETITIONS, value_parser = repetitions())]
    repetitions: usize,
    /// Only programs with this word in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The ravelin to measure instead of building one
    #[arg(long, value_name = "PROGRAM")]
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
    let machine = machine();
    let ravelin = match &arguments.ravelin {
        Some(path) => path.clone(),
        None => built()?,
    };
    let builds = builds();
    println!("# What the sanitizer costs\n");
    println!(
        "{} Processor time, user and system, of all threads, and the most memory at any time; the median of {} runs, taken in turns. TSan is the stock thread sanitizer of the compiler, which looks for \
         data races only; its reports and Ravelin's are collected, not printed.\n",
        made_by(),
        arguments.repetitions
    );
    println!("{machine}\n");
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
pub type RuntimeMeasurement = Vec<(&'static str, Vec<RunCost>)>;

fn measure(
    arguments: &Arguments,
    ravelin: &Path,
    builds: &[BuildVariant],
    folder: &Path,
) -> Result<RuntimeMeasurement> {
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
pub fn builds() -> Vec<BuildVariant> {
    BUILDS.into_iter().filter(|build| crate::is_installed(build.compiler, "--version")).collect()
}

pub fn workloads(with_mimalloc: bool) -> impl Iterator<Item = Workload> {
    WORKLOADS.into_iter().chain(with_mimalloc.then_some(MIMALLOC))
}

/// The medians of so many runs of each build, taken in turns. Executables are left in the folder for other workloads with the same source.
pub fn costs(
    (name, file, words): Workload,
    repetitions: usize,
    mimalloc: Option<&Path>,
    ravelin: &Path,
    builds: &[BuildVariant],
    folder: &Path,
) -> Result<Vec<RunCost>> {
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
    for _ in 0..repetitions {
        for ((build, program), costs) in builds.iter().zip(&programs).zip(&mut costs) {
            let report = folder.join("findings");
            costs.push(
                cost(*build, program, words, &report, PATIENCE).with_context(|| format!("{name}, {}", build.name()))?,
            );
        }
    }
    Ok(costs.iter().map(|costs| RunCost::median(costs)).collect())
}

/// A row for each program: what each build took, and Ravelin over the stock sanitizer of the same compiler.
pub fn table(
    measured: &RuntimeMeasurement,
    builds: &[BuildVariant],
    value: fn(&RunCost) -> f64,
    show: fn(f64) -> String,
) -> MarkdownTable {
    let compilers = ratios(builds, &[], value);
    let mut head = vec!["program".to_owned()];
    head.extend(builds.iter().map(|build| build.name()));
    head.extend(compilers.iter().map(|(compiler, _)| format!("ratio {compiler}")));
    let mut table = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, costs) in measured {
        let mut row = vec![(*name).to_owned()];
        row.extend(costs.iter().map(|cost| show(value(cost))));
        row.extend(ratios(builds, costs, value).into_iter().map(|(_, ratio)| format!("{ratio:.2}")));
        table.row(row);
    }
    let mut row = vec!["geometric mean".to_owned()];
    row.extend(builds.iter().map(|_| String::new()));
    row.extend(means(measured, builds, value).into_iter().map(|(_, mean)| format!("{mean:.2}")));
    table.row(row);
    table
}

/// For each compiler that can be compared, Ravelin over its stock sanitizer; 0 for costs that are not there.
pub fn ratios(builds: &[BuildVariant], costs: &[RunCost], value: fn(&RunCost) -> f64) -> Vec<(&'static str, f64)> {
    let of = |build: BuildVariant| builds.iter().position(|other| *other == build);
    let watched = builds.iter().filter(|build| build.kind == Instrumentation::Ravelin);
    let pairs = watched.filter_map(|&build| {
        Some((build.compiler, of(build)?, of(BuildVariant { kind: Instrumentation::Stock, ..build })?))
    });
    let cost = |number: usize| costs.get(number).map_or(0.0, value);
    pairs.map(|(compiler, ours, stock)| (compiler, cost(ours) / cost(stock).max(1e-6))).collect()
}

/// The geometric means of the ratios of all programs; 1 if there are none.
pub fn means(
    measured: &RuntimeMeasurement,
    builds: &[BuildVariant],
    value: fn(&RunCost) -> f64,
) -> Vec<(&'static str, f64)> {
    let mut means: Vec<(&str, f64)> =
        ratios(builds, &[], value).into_iter().map(|(compiler, _)| (compiler, 0.0)).collect();
    for (_, costs) in measured {
        for ((_, sum), (_, ratio)) in means.iter_mut().zip(ratios(builds, costs, value)) {
            *sum += ratio.max(1e-6).ln();
        }
    }
    for (_, sum) in &mut means {
        *sum = (*sum / measured.len().max(1) as f64).exp();
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_to_the_stock_sanitizer_of_the_same_compiler() {
        let seconds = |cost: &RunCost| cost.time.as_secs_f64();
        let costs = |times: [u64; 5]| times.map(|time| RunCost { time: Duration::from_secs(time), memory: 0 }).to_vec();
        let one = costs([1, 2, 4, 3, 27]);
        assert_eq!(ratios(&BUILDS, &one, seconds), [("gcc", 2.0), ("clang", 9.0)]);
        // Without clang there is nothing to compare it with.
        assert_eq!(ratios(&BUILDS[..3], &one[..3], seconds), [("gcc", 2.0)]);
        let measured = vec![("one", one), ("other", costs([1, 1, 8, 1, 1]))];
        let means = means(&measured, &BUILDS, seconds);
        assert!((means[0].1 - 4.0).abs() < 1e-9 && (means[1].1 - 3.0).abs() < 1e-9, "{means:?}");
        let shown = table(&measured, &BUILDS, seconds, |time| format!("{time} s")).to_string();
        assert!(shown.lines().last().is_some_and(|line| line.ends_with("|      4.00 |        3.00 |")), "{shown}");
    }
}
