//! Which schedules find what: in how many of some runs a robustness violation turns up under the schedules of the
//! operating system, of a random walk and of PCT; how fast turns are taken, also by weak runs; and how many runs a second
//! there are.
//!
//! The programs are the examples that are not robust against RC20, as C with few rounds, the algorithms of the
//! sanitizer's tests in their weak variants, and the sequence lock that the paper's tool does not find.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, median, timed, wall_time};
use crate::sanitizer::built;
use crate::sanitizer::runs::{Violations, WatchedProgram, compile, report, succeeds, violations};
use crate::table::{MarkdownTable, count};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Runs of each program under each schedule
    #[arg(long, default_value_t = 100)]
    runs: usize,
    /// Only programs with this word in their name
    #[arg(long, default_value = "")]
    only: String,
    /// Only the number of runs a second
    #[arg(long)]
    only_runs: bool,
    /// The ravelin to measure instead of building one
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

const SCHEDULES: [&str; 3] = ["os", "random", "pct"];
/// Those and weak runs, which do not look for violations but show what they lead to.
const MEASURED_SCHEDULES: [&str; 4] = ["os", "random", "pct", "weak"];
/// Threads that only count, and the points of each run.
const THREADS: [usize; 4] = [2, 4, 16, 64];
const POINTS: u64 = 1_000_000;
/// Threads that do nothing, and how many runs with them.
const IDLE_THREADS: [usize; 2] = [2, 8];
const FORKED_RUNS: u64 = 2_000;
const FRESH_RUNS: u64 = 300;
/// Runs that take longer are given up.
const PATIENCE: Duration = Duration::from_secs(600);

pub fn run(arguments: &Arguments) -> Result<()> {
    let machine = machine();
    let ravelin = match &arguments.ravelin {
        Some(path) => std::path::absolute(path)?,
        None => built()?,
    };
    let folder = std::env::temp_dir().join(format!("ravelin-bench-schedules-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(arguments, &ravelin, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let Tables { found, speed, runs } = measured?;
    println!("# Schedules\n");
    println!("{}\n\n{}\n", made_by(), machine);
    println!(
        "## What they find\n\nIn how many of {} runs the most frequent robustness violation of a program turned up, and the first run that had one. \
         Programs from `examples/` are those that `ravelin check --model rc20` calls not robust, written by `convert --to c` and run with three rounds of each loop; \
         the others are in `crates/ravelin-cli/tests/`. Seeds 1 to {0}, PCT with depth 3.\n",
        arguments.runs
    );
    println!("{found}");
    println!(
        "## How fast\n\nScheduling points a second, on the wall clock, of threads that do nothing but relaxed read-modify-writes ({POINTS} in all), the median of {REPETITIONS} \
         runs; for `os` accesses a second. The random walk and weak runs change threads at nearly every point, PCT hardly ever.\n"
    );
    println!("{speed}");
    println!(
        "## How many runs\n\nRuns a second of a program whose threads do nothing, under the random walk and as weak runs, one job, on the wall clock, with everything that `ravelin run` does; \
         the median of {REPETITIONS} times {FORKED_RUNS} runs ({FRESH_RUNS} for new processes), in turns. The floor is a C program without the sanitizer that forks, starts and joins such threads, and exits.\n"
    );
    println!("{runs}");
    Ok(())
}

struct Tables {
    found: MarkdownTable,
    speed: MarkdownTable,
    runs: MarkdownTable,
}

fn measure(arguments: &Arguments, ravelin: &Path, folder: &Path) -> Result<Tables> {
    if arguments.only_runs {
        let empty = || MarkdownTable::new(&["not measured"]);
        return Ok(Tables { found: empty(), speed: empty(), runs: runs_per_second(ravelin, folder)? });
    }
    let mut programs = examples(ravelin, folder)?;
    programs.extend(algorithms()?);
    programs.retain(|program| program.name.contains(&arguments.only));
    ensure!(!programs.is_empty(), "no program has {:?} in its name", arguments.only);
    let mut found = MarkdownTable::new(&["program", "os", "first", "random", "first", "pct", "first"]);
    let mut totals = [0; 3];
    for program in &programs {
        eprintln!("{}", program.name);
        let executable = compile(ravelin, &program.source, &program.flags, folder)?;
        let mut row = vec![program.name.clone()];
        for (schedule, total) in SCHEDULES.iter().zip(&mut totals) {
            let Violations { most: runs, first } =
                violations(ravelin, &executable, schedule, program, arguments.runs, folder, PATIENCE)?;
            *total += usize::from(runs > 0);
            row.push(runs.to_string());
            row.push(first.map_or_else(|| "–".to_owned(), |first| first.to_string()));
        }
        found.row(row);
    }
    let mut row = vec![format!("found at all, of {}", programs.len())];
    for total in totals {
        row.extend([total.to_string(), String::new()]);
    }
    found.row(row);
    Ok(Tables { found, speed: speed(ravelin, folder)?, runs: runs_per_second(ravelin, folder)? })
}

/// The examples whose header says that they are not robust against RC20.
fn examples(ravelin: &Path, folder: &Path) -> Result<Vec<WatchedProgram>> {
    let root = crate::root().join("examples");
    let mut folders = vec![root.clone()];
    let mut programs = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if !text.lines().any(|line| line == "//! expect check rc20: not robust") {
                continue;
            }
            let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("").display().to_string();
            let source = folder.join(format!("{}.c", name.replace('/', "-")));
            let mut convert = Command::new(ravelin);
            convert.arg("convert").arg(&path).args(["--to", "c", "--copies", "2", "-o"]).arg(&source);
            succeeds(&mut convert)?;
            programs.push(WatchedProgram { name, source, flags: Vec::new(), arguments: &["1", "3", "100"] });
        }
    }
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(programs)
}

/// The cases of the sanitizer's tests in which a violation is expected or possible, one a file; and the sequence lock.
fn algorithms() -> Result<Vec<WatchedProgram>> {
    let tests = crate::root().join("crates/ravelin-cli/tests");
    let mut programs = Vec::new();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(tests.join("sanitizer/algorithms"))?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "c")) {
        let text = std::fs::read_to_string(&path)?;
        let case = text.lines().filter_map(|line| line.strip_prefix("// case ")).find_map(|line| {
            let (how, expected) = line.rsplit_once(": ")?;
            expected.contains("violation").then(|| how.split(" | ").next().unwrap_or(how).to_owned())
        });
        if let Some(case) = case {
            let mut words = case.split_whitespace().map(str::to_owned);
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{stem}, {}", words.next().unwrap_or_default());
            programs.push(WatchedProgram { name, source: path, flags: words.collect(), arguments: &[] });
        }
    }
    let source = tests.join("schedules/seqlock.c");
    programs.push(WatchedProgram { name: "seqlock, two writes".to_owned(), source, flags: Vec::new(), arguments: &[] });
    Ok(programs)
}

fn speed(ravelin: &Path, folder: &Path) -> Result<MarkdownTable> {
    let source = crate::root().join("bench/programs/schedules/points.c");
    let program = compile(ravelin, &source, &[], folder)?;
    let mut head = vec!["schedule".to_owned()];
    head.extend(THREADS.iter().map(|threads| format!("{threads} threads")));
    let mut table = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for schedule in MEASURED_SCHEDULES {
        let mut row = vec![schedule.to_owned()];
        for threads in THREADS {
            let words = [threads.to_string(), POINTS.to_string()];
            let words = words.each_ref().map(String::as_str);
            let mut times = Vec::new();
            for _ in 0..REPETITIONS {
                let run = || report(ravelin, &program, &["--schedule", schedule], &words, folder, PATIENCE);
                let (ran, time) = timed(wall_time, run);
                ran?;
                times.push(time);
            }
            row.push(count((POINTS as f64 / median(times).as_secs_f64()).round() as u64));
        }
        table.row(row);
    }
    Ok(table)
}

/// Runs a second by new processes, by forked ones, and of a program that does nothing but fork.
fn runs_per_second(ravelin: &Path, folder: &Path) -> Result<MarkdownTable> {
    let source = crate::root().join("bench/programs/schedules/nothing.c");
    let program = compile(ravelin, &source, &[], folder)?;
    let floor = folder.join("floor");
    succeeds(Command::new("cc").args(["-O1", "-pthread"]).arg(&source).arg("-o").arg(&floor))?;
    let mut table =
        MarkdownTable::new(&["threads", "new processes", "forked", "weak", "floor", "forked, of the floor"]);
    for threads in IDLE_THREADS {
        let threads = threads.to_string();
        let mut rates: [Vec<u64>; 4] = Default::default();
        for _ in 0..REPETITIONS {
            let forked = runs(ravelin, &program, &["random"], FORKED_RUNS, &threads, folder)?;
            let weak = runs(ravelin, &program, &["weak"], FORKED_RUNS, &threads, folder)?;
            let fresh = runs(ravelin, &program, &["random", "--fresh-processes"], FRESH_RUNS, &threads, folder)?;
            let mut command = Command::new(&floor);
            command.arg(&threads).arg(FORKED_RUNS.to_string());
            let (ran, time) = timed(wall_time, || succeeds(&mut command));
            ran?;
            let rate = |runs: u64, time: Duration| (runs as f64 / time.as_secs_f64()).round() as u64;
            rates[0].push(rate(FRESH_RUNS, fresh));
            rates[1].push(rate(FORKED_RUNS, forked));
            rates[2].push(rate(FORKED_RUNS, weak));
            rates[3].push(rate(FORKED_RUNS, time));
        }
        let [fresh, forked, weak, floor] = rates.map(median);
        let part = format!("{:.0} %", 100.0 * forked as f64 / floor as f64);
        table.row(vec![threads, count(fresh), count(forked), count(weak), count(floor), part]);
    }
    Ok(table)
}

/// How long some runs take. The first option is their schedule. Fails if they were not made as wanted.
fn runs(ravelin: &Path, program: &Path, options: &[&str], runs: u64, threads: &str, folder: &Path) -> Result<Duration> {
    let number = runs.to_string();
    let options: Vec<&str> = ["--jobs", "1", "--runs", &number, "--schedule"].iter().chain(options).copied().collect();
    let (answer, time) = timed(wall_time, || report(ravelin, program, &options, &[threads], folder, PATIENCE));
    let reason = &answer?["fresh_processes"];
    ensure!(reason.is_null() != options.contains(&"--fresh-processes"), "runs are new processes: {reason}");
    Ok(time)
}
