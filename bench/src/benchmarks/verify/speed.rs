//! Runs a second beside the least that a run can cost, with one job and with more, and runs per trace.
//!
//! The programs are counters, because the number of their traces is known: all orders of the increments, so a multinomial
//! coefficient.

use super::Effort;
use crate::measure::{median, timed, wall_time};
use crate::sanitizer::runs::{compile, succeeds};
use crate::sanitizer::verifying::{AnswerKind, verify};
use crate::table::{MarkdownTable, count, judged};
use anyhow::{Result, ensure};
use std::process::Command;
use std::time::Duration;

/// The increments of each thread: two sizes for each number of threads.
const INCREMENTS: [&[u64]; 6] = [&[5, 5], &[6, 6], &[3, 3, 2], &[3, 3, 3], &[2, 2, 2, 1], &[2, 2, 2, 2]];
const JOBS: [&str; 3] = ["1", "2", "4"];
/// The part of the floor that one job is to reach, in percent.
const GOAL: f64 = 60.0;

pub fn table(effort: &Effort) -> Result<MarkdownTable> {
    let programs = crate::root().join("bench/programs");
    let counters = compile(effort.ravelin, &programs.join("verify/counters.c"), &[], effort.folder)?;
    let floor = effort.folder.join("floor");
    let nothing = programs.join("schedules/nothing.c");
    succeeds(Command::new("cc").args(["-O1", "-pthread"]).arg(&nothing).arg("-o").arg(&floor))?;
    let mut table = MarkdownTable::new(&[
        "increments",
        "traces",
        "runs per trace",
        "one job",
        "two jobs",
        "four jobs",
        "floor",
        "one job, of the floor",
    ]);
    for increments in INCREMENTS {
        let traces = traces(increments);
        let words: Vec<String> = increments.iter().map(u64::to_string).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut rates: [Vec<u64>; 4] = Default::default();
        let mut runs = 0;
        for _ in 0..effort.repetitions {
            for (jobs, rates) in JOBS.iter().zip(&mut rates) {
                let answer = verify(effort.ravelin, &["--jobs", jobs], &counters, &words)?;
                ensure!(answer.kind == AnswerKind::Verified, "counters: {:?}", answer.reasons);
                runs = answer.runs;
                rates.push(rate(answer.runs, answer.time));
            }
            let mut command = Command::new(&floor);
            command.arg(increments.len().to_string()).arg(traces.to_string());
            let (ran, time) = timed(wall_time, || succeeds(&mut command));
            ran?;
            rates[JOBS.len()].push(rate(traces, time));
        }
        let [one, two, four, floor] = rates.map(median);
        let part = 100.0 * one as f64 / floor as f64;
        table.row(vec![
            words.join(", "),
            count(traces),
            format!("{:.2}", runs as f64 / traces as f64),
            count(one),
            count(two),
            count(four),
            count(floor),
            judged(part.round(), " %", &format!("at least {GOAL} %"), part >= GOAL),
        ]);
    }
    Ok(table)
}

/// All orders of the steps of some threads.
fn traces(steps: &[u64]) -> u64 {
    let factorial = |number: u64| (1..=number).product::<u64>();
    steps.iter().fold(factorial(steps.iter().sum()), |orders, &steps| orders / factorial(steps))
}

fn rate(runs: u64, time: Duration) -> u64 {
    (runs as f64 / time.as_secs_f64()).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_steps_are_counted() {
        assert_eq!([&[1, 1][..], &[2, 2], &[2, 1, 1], &[5]].map(traces), [2, 6, 12, 1]);
    }
}
