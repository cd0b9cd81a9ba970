//! What the sanitizer costs: processor time and memory of programs, plain, with the stock thread sanitizer of each
//! compiler, and with Ravelin, in turns.
//!
//! Programs of others ([`crate::real`]), and micro-benchmarks of our own in `bench/programs/runtime`. What counts is
//! Ravelin over the stock sanitizer of the same compiler.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, repetitions};
use crate::real::{self, Obstacle, RealEffort};
use crate::sanitizer::{BUILDS, BuildVariant, Instrumentation, RunCost, built, compile, cost};
use crate::table::{MarkdownTable, judged};
use anyhow::{Context, Result, ensure};
use ravelin_process::interrupt::{is_asked, stop};
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
    /// Only the micro-benchmarks: nothing is fetched
    #[arg(long)]
    pub quick: bool,
}

/// A run that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(300);

/// The promise for the geometric mean of the micro-benchmarks.
const MEAN: f64 = 1.5;

/// A micro-benchmark.
#[derive(Clone, Copy)]
pub struct Workload {
    pub name: &'static str,
    file: &'static str,
    /// Its arguments before the last, which is how much it does.
    words: &'static str,
    /// Two sizes, in the unit of the program.
    sizes: [u64; 2],
}

const fn workload(name: &'static str, file: &'static str, words: &'static str, larger: u64) -> Workload {
    Workload { name, file, words, sizes: [larger / 4, larger] }
}

const WORKLOADS: [Workload; 13] = [
    workload("contended spinlock", "spinlock.c", "", 400_000),
    workload("MPMC queue", "queue.c", "", 500_000),
    workload("work-stealing deque, fences", "deque.c", "", 2_000_000),
    workload("allocator, 60 000 atomics", "allocator.c", "", 120_000),
    workload("mostly plain accesses", "plain.c", "", 12),
    workload("shared_ptr and mutexes", "pointers.cpp", "", 60_000),
    workload("small reads and writes", "descriptors.c", "", 400_000),
    workload("random, 2 threads, 4 atomics", "random.c", "2 4 0", 2_000_000),
    workload("random, 4 threads, 64 atomics", "random.c", "4 64 0", 2_000_000),
    workload("random, 4 threads, 64, fences", "random.c", "4 64 8", 2_000_000),
    workload("random, 16 threads, 1024 atomics", "random.c", "16 1024 0", 2_000_000),
    workload("random, 16 threads, 1024, fences", "random.c", "16 1024 8", 2_000_000),
    workload("random, 64 threads, 60000 atomics", "random.c", "64 60000 32", 2_000_000),
];

/// The program that needs a folder of its own.
const MIMALLOC: Workload = workload("mimalloc, 25 threads", "mimalloc.c", "", 20_000);

pub fn run(arguments: &Arguments) -> Result<()> {
    let machine = machine();
    let is_meant = |workload: &Workload| workload.name.contains(&arguments.only);
    let with_others = !arguments.quick && real::is_known(&arguments.only);
    ensure!(
        with_others || workloads(false).any(|workload| is_meant(&workload)),
        "no program has {:?} in its name",
        arguments.only
    );
    let ravelin = match &arguments.ravelin {
        Some(path) => std::path::absolute(path)?,
        None => built()?,
    };
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
    // From here on there is something to end and to remove.
    stop();
    let printed = sections(arguments, with_others, &ravelin, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    printed
}

fn sections(arguments: &Arguments, with_others: bool, ravelin: &Path, folder: &Path) -> Result<()> {
    let mut problems = Vec::new();
    if with_others {
        let (only, repetitions) = (arguments.only.as_str(), arguments.repetitions);
        let (measured, unmeasured) = real::measure(&RealEffort { only, repetitions, ravelin, folder })?;
        problems = unmeasured;
        if !measured.is_empty() {
            println!("{}", real::tables::sections(&measured).trim_end());
            println!();
        }
    }
    let builds = builds();
    let measured = measure(arguments, ravelin, &builds, folder, &mut problems)?;
    if !measured[1].is_empty() {
        println!("{}", micro(&measured, &builds).trim_end());
    }
    if !problems.is_empty() {
        println!("\n## Not measured\n");
        for Obstacle { program, reason } in problems {
            println!("- {program}: {reason}");
        }
    }
    Ok(())
}

/// The tables of the micro-benchmarks.
fn micro([small, large]: &[RuntimeMeasurement; 2], builds: &[BuildVariant]) -> String {
    let time = |cost: &RunCost| cost.time.as_secs_f64();
    let times = table(large, builds, time, |time| format!("{time:.2} s"));
    let memories = table(large, builds, |cost| cost.memory as f64 / 1024.0, |mib| format!("{mib:.0} MiB"));
    let means = means(large, builds, time);
    let judged = means
        .iter()
        .map(|(compiler, mean)| judged(*mean, &format!(" {compiler}"), &format!("at most {MEAN}"), *mean <= MEAN));
    let mut head = vec!["program".to_owned()];
    head.extend(builds.iter().map(|build| build.name()));
    let mut growth = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for ((name, small), (_, large)) in small.iter().zip(large) {
        let exponents = small.iter().zip(large).map(|(small, large)| exponent([time(small), time(large)], 4.0));
        growth.row(std::iter::once((*name).to_owned()).chain(exponents.map(|value| format!("{value:.2}"))).collect());
    }
    format!(
        "## Micro-benchmarks\n\nPrograms of our own, in `bench/programs/runtime`. Geometric mean of the time over TSan's: {}.\n\n### Time of micro-benchmarks\n\n{times}\n### Memory of micro-benchmarks\n\n{memories}\n### Growth of micro-benchmarks\n\nThe exponent of processor time in work, from a quarter of the work to all of it.\n\n{growth}",
        judged.collect::<Vec<_>>().join(", ")
    )
}

/// How cost grows: the power of the factor of work that is the factor of time.
pub fn exponent([small, large]: [f64; 2], factor: f64) -> f64 {
    (large.max(1e-6) / small.max(1e-6)).ln() / factor.ln()
}

/// What each build of a program costs, for each program.
pub type RuntimeMeasurement = Vec<(&'static str, Vec<RunCost>)>;

/// The medians with each size.
fn measure(
    arguments: &Arguments,
    ravelin: &Path,
    builds: &[BuildVariant],
    folder: &Path,
    problems: &mut Vec<Obstacle>,
) -> Result<[RuntimeMeasurement; 2]> {
    let mut measured = [Vec::new(), Vec::new()];
    for workload in workloads(false).filter(|workload| workload.name.contains(&arguments.only)) {
        eprintln!("{}", workload.name);
        match both_costs(workload, arguments.repetitions, None, ravelin, builds, folder) {
            Ok(costs) => {
                for (measured, costs) in measured.iter_mut().zip(costs) {
                    measured.push((workload.name, costs));
                }
            }
            Err(problem) => {
                ensure!(!is_asked(), "interrupted");
                problems.push(Obstacle::new(workload.name, &problem));
            }
        }
    }
    Ok(measured)
}

/// The compilers that are there, each with what it can build.
pub fn builds() -> Vec<BuildVariant> {
    BUILDS.into_iter().filter(|build| crate::is_installed(build.compiler, "--version")).collect()
}

/// The micro-benchmarks.
pub fn workloads(with_mimalloc: bool) -> impl Iterator<Item = Workload> {
    WORKLOADS.into_iter().chain(with_mimalloc.then_some(MIMALLOC))
}

/// The medians of so many runs of each build with the larger size, taken in turns. Executables are left in the folder for other workloads
/// with the same source.
pub fn costs(
    workload: Workload,
    repetitions: usize,
    mimalloc: Option<&Path>,
    ravelin: &Path,
    builds: &[BuildVariant],
    folder: &Path,
) -> Result<Vec<RunCost>> {
    let programs = executables(workload, mimalloc, ravelin, builds, folder)?;
    in_turns(workload, workload.sizes[1], repetitions, builds, &programs, folder)
}

/// The same with both sizes.
fn both_costs(
    workload: Workload,
    repetitions: usize,
    mimalloc: Option<&Path>,
    ravelin: &Path,
    builds: &[BuildVariant],
    folder: &Path,
) -> Result<[Vec<RunCost>; 2]> {
    let programs = executables(workload, mimalloc, ravelin, builds, folder)?;
    let [small, large] = workload.sizes.map(|size| in_turns(workload, size, repetitions, builds, &programs, folder));
    Ok([small?, large?])
}

fn executables(
    workload: Workload,
    mimalloc: Option<&Path>,
    ravelin: &Path,
    builds: &[BuildVariant],
    folder: &Path,
) -> Result<Vec<PathBuf>> {
    let library = mimalloc.filter(|_| workload.file == MIMALLOC.file);
    let mut programs = Vec::new();
    for (number, build) in builds.iter().enumerate() {
        let program = folder.join(format!("{number}-{}", workload.file.replace('.', "-")));
        if !program.exists() {
            compile(*build, ravelin, workload.file, library, &program)?;
        }
        programs.push(program);
    }
    Ok(programs)
}

fn in_turns(
    workload: Workload,
    size: u64,
    repetitions: usize,
    builds: &[BuildVariant],
    programs: &[PathBuf],
    folder: &Path,
) -> Result<Vec<RunCost>> {
    let mut words: Vec<String> = workload.words.split_whitespace().map(str::to_owned).collect();
    words.push(size.to_string());
    let mut costs = vec![Vec::new(); builds.len()];
    for _ in 0..repetitions {
        for ((build, program), costs) in builds.iter().zip(programs).zip(&mut costs) {
            let report = folder.join("findings");
            let cost = cost(*build, program, &words, &report, PATIENCE);
            costs.push(cost.with_context(|| format!("{}, {}", workload.name, build.name()))?);
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
