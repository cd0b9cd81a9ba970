//! Every schedule: how many runs a second, how many runs per trace, and what the reductions save.
//!
//! The number of traces of the counters is known: all orders of the increments, so a multinomial coefficient.

use crate::command::made_by;
use crate::measure::{REPETITIONS, machine, median, timed, wall_time};
use crate::sanitizer::built;
use crate::sanitizer::runs::{compile, succeeds};
use crate::table::{MarkdownTable, count};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// The ravelin to measure instead of building one
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

/// Threads and increments of each: two sizes for each number of threads.
const COUNTERS: [(u64, u64); 6] = [(2, 4), (2, 6), (3, 2), (3, 3), (4, 1), (4, 2)];
/// Threads and writes of each.
const CELLS: [(u64, u64); 3] = [(2, 2), (3, 1), (3, 2)];
const REDUCTIONS: [&str; 4] = ["off", "sleep", "source", "optimal"];
/// Without a reduction there may be more runs than anybody waits for.
const MOST_RUNS: u64 = 20_000;

pub fn run(arguments: &Arguments) -> Result<()> {
    let machine = machine();
    let ravelin = match &arguments.ravelin {
        Some(path) => std::path::absolute(path)?,
        None => built()?,
    };
    let folder = std::env::temp_dir().join(format!("ravelin-bench-verify-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(&ravelin, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let (speed, reductions) = measured?;
    println!("# Every schedule\n\n{}\n\n{machine}\n", made_by());
    println!(
        "## How many runs\n\nThreads that increment one counter, so that the number of traces is known. Runs a second on the wall clock, with everything that `ravelin verify` does, \
         with one job and with two; the median of {REPETITIONS}, in turns. The floor is a C program without the sanitizer that forks, starts and joins such threads, and exits.\n"
    );
    println!("{speed}");
    println!(
        "## What the reductions save\n\nRuns of threads that write to cells of their own and read one of another thread; at most {}. Without reduction all orders of steps are run.\n",
        count(MOST_RUNS)
    );
    println!("{reductions}");
    Ok(())
}

fn measure(ravelin: &Path, folder: &Path) -> Result<(MarkdownTable, MarkdownTable)> {
    let programs = crate::root().join("bench/programs");
    let counters = compile(ravelin, &programs.join("verify/counters.c"), &[], folder)?;
    let floor = folder.join("floor");
    let nothing = programs.join("schedules/nothing.c");
    succeeds(Command::new("cc").args(["-O1", "-pthread"]).arg(&nothing).arg("-o").arg(&floor))?;
    let columns = [
        "threads",
        "increments of each",
        "traces",
        "runs per trace",
        "one job",
        "two jobs",
        "floor",
        "one job, of the floor",
    ];
    let mut speed = MarkdownTable::new(&columns);
    for (threads, each) in COUNTERS {
        let traces = traces(threads, each);
        let mut rates: [Vec<u64>; 3] = Default::default();
        let mut runs = 0;
        for _ in 0..REPETITIONS {
            for (jobs, rates) in ["1", "2"].iter().zip(&mut rates) {
                let (made, time) = verify(ravelin, &counters, &["--jobs", jobs], threads, each)?;
                runs = made;
                rates.push(rate(made, time));
            }
            let mut command = Command::new(&floor);
            command.arg(threads.to_string()).arg(traces.to_string());
            let (ran, time) = timed(wall_time, || succeeds(&mut command));
            ran?;
            rates[2].push(rate(traces, time));
        }
        let [one, two, floor] = rates.map(median);
        speed.row(vec![
            threads.to_string(),
            each.to_string(),
            count(traces),
            format!("{:.2}", runs as f64 / traces as f64),
            count(one),
            count(two),
            count(floor),
            format!("{:.0} %", 100.0 * one as f64 / floor as f64),
        ]);
    }
    let cells = compile(ravelin, &programs.join("verify/cells.c"), &[], folder)?;
    let mut reductions = MarkdownTable::new(&["threads", "writes of each", "off", "sleep", "source", "optimal"]);
    let most = MOST_RUNS.to_string();
    for (threads, each) in CELLS {
        let mut row = vec![threads.to_string(), each.to_string()];
        for reduction in REDUCTIONS {
            let options = ["--jobs", "2", "--reduction", reduction, "--max-runs", &most];
            let (runs, _) = verify(ravelin, &cells, &options, threads, each)?;
            row.push(if runs >= MOST_RUNS { format!("more than {}", count(MOST_RUNS)) } else { count(runs) });
        }
        reductions.row(row);
    }
    Ok((speed, reductions))
}

/// All orders of the steps of some threads, with as many steps each.
fn traces(threads: u64, each: u64) -> u64 {
    let factorial = |number: u64| (1..=number).product::<u64>();
    factorial(threads * each) / factorial(each).pow(threads as u32)
}

fn rate(runs: u64, time: Duration) -> u64 {
    (runs as f64 / time.as_secs_f64()).round() as u64
}

/// The number of runs, and how long they took.
fn verify(ravelin: &Path, program: &Path, options: &[&str], threads: u64, each: u64) -> Result<(u64, Duration)> {
    let mut command = Command::new(ravelin);
    command.args(["verify", "--format", "json"]).args(options).arg(program);
    command.arg(threads.to_string()).arg(each.to_string());
    let (output, time) = timed(wall_time, || command.output());
    let output = output.with_context(|| format!("{} cannot be run", ravelin.display()))?;
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let verification = &document["answers"][0]["verification"];
    ensure!(verification.is_object(), "no answer: {}", String::from_utf8_lossy(&output.stderr));
    Ok((verification["runs"].as_u64().unwrap_or(0), time))
}
