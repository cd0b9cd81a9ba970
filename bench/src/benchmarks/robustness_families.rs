//! Every engine on families of programs that grow: how long each takes to the first violation, or to the proof that there is
//! none, and how the default compares with the best of them.

use crate::families::Family;
use crate::measure::{process_time, ratio, repeated, timed};
use crate::questions::robustness::{every_attack, first_attack};
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use anyhow::{Result, ensure};
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{RobustnessAnswer, RobustnessEngine, RobustnessQuestion, robustness};
use ravelin_explore::Budget;
use ravelin_program::Program;
use std::time::Duration;

/// What the default may take beyond twice the time of the best engine.
const GRACE: Duration = Duration::from_millis(10);
/// How long one question may take.
const LONGEST: Duration = Duration::from_secs(10);
/// How many bytes.
const LARGEST: u64 = 3 << 30;

/// Two tables: the first violation, and every attack settled.
pub fn families(most_threads: usize, repetitions: usize) -> Result<()> {
    println!("## Families\n");
    println!(
        "Each family of `bench/src/families` as the number of its threads grows, asked of every engine, in processor time. States: of \
         the default, `shared`. Ratio: its time over that of the better of the others; in bold if it takes more than twice as long \
         and 10 ms. An engine that takes more than {} s or {} GB is stopped.\n",
        LONGEST.as_secs(),
        LARGEST >> 30
    );
    for (title, question) in [
        (
            "The first violation, or the proof that there is none",
            first_attack as fn(RobustnessEngine) -> RobustnessQuestion<'static>,
        ),
        ("Every attack", every_attack),
    ] {
        println!("### {title}\n");
        table(most_threads, repetitions, question)?;
    }
    Ok(())
}

fn table(
    most_threads: usize,
    repetitions: usize,
    ask: fn(RobustnessEngine) -> RobustnessQuestion<'static>,
) -> Result<()> {
    let default_engine = RobustnessEngine::default();
    let others: Vec<RobustnessEngine> =
        RobustnessEngine::ALL.into_iter().filter(|engine| *engine != default_engine).collect();
    let mut head = vec!["family", "threads", "answer", "states", default_engine.name()];
    head.extend(others.iter().map(|engine| engine.name()));
    head.push("ratio");
    let mut table = MarkdownTable::new(&head);
    for family in Family::ALL {
        for threads in 2..=most_threads {
            eprintln!("{} with {threads} threads", family.name);
            let program = family.program(threads)?;
            let (answer, default) = measure(&program, ask(default_engine), repetitions)?;
            let expected = if family.robust { Verdict::Holds } else { Verdict::Violated };
            ensure!(default.is_none() || answer.verdict == expected, "a wrong answer");
            let mut best: Option<Duration> = None;
            let mut row = vec![
                family.name.to_owned(),
                threads.to_string(),
                word(answer.verdict).to_owned(),
                count(answer.explored.states),
                seconds_or_stopped(default),
            ];
            for &engine in &others {
                let (_, time) = measure(&program, ask(engine), repetitions)?;
                best = [best, time].into_iter().flatten().min();
                row.push(seconds_or_stopped(time));
            }
            row.push(match (default, best) {
                (Some(default), Some(best)) if default <= 2 * best + GRACE => format!("{:.1}", ratio(default, best)),
                (Some(default), Some(best)) => format!("**{:.1}**", ratio(default, best)),
                (None, Some(best)) => format!("**more than {:.0}**", ratio(LONGEST, best)),
                (_, None) => String::new(),
            });
            table.row(row);
            if default.is_none() {
                break;
            }
        }
    }
    println!("{table}");
    Ok(())
}

fn measure(
    program: &Program,
    question: RobustnessQuestion,
    repetitions: usize,
) -> Result<(RobustnessAnswer, Option<Duration>)> {
    let question = RobustnessQuestion { budget: Budget::unlimited().time(LONGEST).memory(LARGEST), ..question };
    repeated(
        repetitions,
        |answer: &RobustnessAnswer| answer.limit.is_some(),
        || {
            let (answer, time) = timed(process_time, || robustness(program, &question));
            Ok((answer?, time))
        },
    )
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "robust",
        Verdict::Violated => "not robust",
        Verdict::Unknown => "unknown",
    }
}
