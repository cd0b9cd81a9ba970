//! `cargo xtask bench explore`: what the state-space engine costs.
//!
//! Two spaces are searched by everybody: a product of counters, which is nothing but states, and Lamport's fast mutex,
//! which is an ordinary program. Both under sequential consistency and without reductions, so that all count the same.

use super::counters::Counters;
use super::handwritten::{Size, search};
use super::lamport::Lamport;
use super::{examples, stateright};
use crate::command::made_by;
use crate::measure::{
    REPETITIONS, in_turns, machine, median, process_time, ratio, thread_time, timed, wall_time, what_times_are,
};
use crate::rival::Rival;
use crate::sources::parse;
use crate::spin;
use crate::table::{MarkdownTable, count, judged, seconds};
use anyhow::{Result, ensure};
use ravelin_explore::{Budget, Options, Statistics, Until};
use ravelin_machine::{Purpose, Reductions, Settings};
use ravelin_program::{Model, Program};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Small instances, once: a smoke test, whose numbers mean nothing
    #[arg(long)]
    pub quick: bool,
    /// Leaves a part out; may be given several times
    #[arg(long, value_enum)]
    skip: Vec<ExploreSection>,
    /// Examples with more states than this are not finished
    #[arg(long, default_value_t = 1_000_000)]
    limit: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ExploreSection {
    Handwritten,
    Workers,
    Spin,
    Stateright,
    Examples,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let repetitions = if arguments.quick { 1 } else { REPETITIONS };
    say("# What exploration costs");
    say(&format!("{} Times are {}, taken in turns.", made_by(), what_times_are(repetitions)));
    say(&machine());
    let wanted = |part| !arguments.skip.contains(&part);
    let subjects = subjects(arguments.quick)?;
    if wanted(ExploreSection::Handwritten) {
        handwritten(&subjects, repetitions)?;
    }
    if wanted(ExploreSection::Workers) {
        workers(&subjects, repetitions)?;
    }
    if !arguments.quick && (wanted(ExploreSection::Spin) || wanted(ExploreSection::Stateright)) {
        others(&subjects, wanted(ExploreSection::Spin), wanted(ExploreSection::Stateright), repetitions)?;
    }
    if wanted(ExploreSection::Examples) {
        let limit = if arguments.quick { 1_000 } else { arguments.limit };
        say("## Reductions");
        say(&examples::reductions(limit, repetitions)?);
    }
    Ok(())
}

/// A paragraph, shown as soon as it is known.
fn say(paragraph: &str) {
    println!("{}\n", paragraph.trim_end());
}

/// A space that everybody searches.
struct SearchSubject {
    name: String,
    program: Program,
    wide: Box<dyn Fn() -> Size>,
    tight: Box<dyn Fn() -> Size>,
    /// What the program for stateright calls it.
    stateright: [String; 2],
}

fn subjects(quick: bool) -> Result<[SearchSubject; 2]> {
    let counters = Counters { number: if quick { 4 } else { 6 } };
    let lamport = Lamport { threads: if quick { 3 } else { 4 } };
    Ok([
        SearchSubject {
            name: counters.name(),
            program: parse("counters", counters.text())?,
            wide: Box::new(move || search::<u128>(&counters)),
            tight: Box::new(move || search::<u64>(&counters)),
            stateright: ["counters".to_owned(), counters.number.to_string()],
        },
        SearchSubject {
            name: lamport.name(),
            program: parse("lamport", lamport.text())?,
            wide: Box::new(move || search::<u128>(&lamport)),
            tight: Box::new(move || search::<u64>(&lamport)),
            stateright: ["lamport".to_owned(), lamport.threads.to_string()],
        },
    ])
}

/// What a search left behind, without its states: two spaces at once may not fit into memory.
struct SearchResult {
    statistics: Statistics,
    state_bytes: u64,
    violated: bool,
}

const SC: Settings =
    Settings { model: Model::Sc, buffer: 1, purpose: Purpose::Goals, reductions: Reductions::NONE, deadlocks: false };

fn ravelin(program: &Program, settings: Settings, workers: usize) -> Result<SearchResult> {
    let budget = Budget::unlimited().workers(workers);
    let options = Options { budget, until: Until::Exhausted };
    let explored = ravelin_machine::run(program, settings, &options)?;
    Ok(SearchResult {
        statistics: *explored.statistics(),
        state_bytes: explored.words() as u64 * 8,
        violated: explored.violation().is_some(),
    })
}

/// Time of one thread, searching with one worker.
fn ravelin_alone(program: &Program) -> Result<(SearchResult, Duration)> {
    let (searched, time) = timed(thread_time, || ravelin(program, SC, 1));
    Ok((searched?, time))
}

/// One row a space: the engine against a search written for this space alone.
fn handwritten(subjects: &[SearchSubject], repetitions: usize) -> Result<()> {
    say("## Against searches written by hand");
    say(
        "Processor time a transition. By hand: breadth first, a set of packed integers with a fast hash, no paths kept. \
         Overhead: bytes a stored state beyond its packed form, parent link and table included.",
    );
    let head =
        ["space", "states", "transitions", "ravelin", "by hand, u128", "ratio", "by hand, u64", "ratio", "overhead"];
    let mut table = MarkdownTable::new(&head);
    for subject in subjects {
        let (searched, _) = ravelin_alone(&subject.program)?;
        let Statistics { states, transitions, bytes, .. } = searched.statistics;
        let size = Size { states, transitions, bad: 0 };
        ensure!(!searched.violated, "{} is violated", subject.name);
        for by_hand in [&subject.wide, &subject.tight] {
            let found = by_hand();
            ensure!(found == size, "{}: {found:?} by hand, {size:?} by ravelin", subject.name);
        }
        let times = in_turns(
            repetitions,
            [
                &mut || ravelin_alone(&subject.program).map(|(_, time)| time),
                &mut || Ok(timed(thread_time, &subject.wide).1),
                &mut || Ok(timed(thread_time, &subject.tight).1),
            ],
        )?;
        let each = |time: Duration| format!("{:.1} ns", time.as_nanos() as f64 / transitions as f64);
        let (to_wide, to_tight) = (ratio(times[0], times[1]), ratio(times[0], times[2]));
        let overhead = bytes as f64 / states as f64 - searched.state_bytes as f64;
        table.row(vec![
            subject.name.clone(),
            count(states),
            count(transitions),
            each(times[0]),
            each(times[1]),
            judged(to_wide, "", "≤ 2", to_wide <= 2.0),
            each(times[2]),
            format!("{to_tight:.2}"),
            judged(overhead, " B", "≤ 24 B", overhead <= 24.0),
        ]);
    }
    say(&table.to_string());
    Ok(())
}

/// One row a space: two workers against one.
fn workers(subjects: &[SearchSubject], repetitions: usize) -> Result<()> {
    say("## Two workers against one");
    say(
        "Wall-clock time, so a busy machine spoils it; work: processor time of two workers over that of one, which is \
         what sharing itself costs.",
    );
    let mut table = MarkdownTable::new(&["space", "states", "one", "two", "speedup", "work"]);
    // The last subject once more, with store buffers.
    let buffered = |subject: &SearchSubject| (format!("{}, tso", subject.name), Settings { model: Model::Tso, ..SC });
    let plain = subjects.iter().map(|subject| (subject, (subject.name.clone(), SC)));
    let rows = plain.chain(subjects.last().map(|subject| (subject, buffered(subject))));
    for (SearchSubject { program, .. }, (name, settings)) in rows {
        let mut states = [0; 2];
        let (mut times, mut work) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
        for _ in 0..repetitions {
            for (at, workers) in [1, 2].into_iter().enumerate() {
                let ((searched, time), processor) =
                    timed(process_time, || timed(wall_time, || ravelin(program, settings, workers)));
                states[at] = searched?.statistics.states;
                times[at].push(time);
                work[at].push(processor);
            }
        }
        let (times, work) = (times.map(median), work.map(median));
        ensure!(states[0] == states[1], "{name}: {} states with one worker, {} with two", states[0], states[1]);
        let speedup = ratio(times[0], times[1]);
        table.row(vec![
            name,
            count(states[0]),
            seconds(times[0]),
            seconds(times[1]),
            judged(speedup, "", "≥ 1.6", speedup >= 1.6),
            format!("{:.2}", ratio(work[1], work[0])),
        ]);
    }
    say(&table.to_string());
    Ok(())
}

/// One row a space and tool.
fn others(subjects: &[SearchSubject], with_spin: bool, with_stateright: bool, repetitions: usize) -> Result<()> {
    say("## Against other tools");
    say("Processor time of one core, without the time to compile the model. SPIN searches depth first (`-DSAFETY \
         -DNOREDUCE`) what `ravelin convert` prints for it; stateright searches breadth first and keeps 64-bit \
         fingerprints instead of states. Ratio: their time over ravelin's. ¹ One run, on the wall clock.");
    let mut table = MarkdownTable::new(&["space", "tool", "states", "time", "ratio", "compiled in¹"]);
    for subject in subjects {
        let mut rivals: Vec<(&str, Result<Rival>)> = Vec::new();
        if with_spin {
            rivals.push(("SPIN", spin::prepare(&subject.program)));
        }
        if with_stateright {
            rivals.push(("stateright", stateright::prepare(&subject.stateright)));
        }
        let mut ours = Vec::new();
        let mut states = 0;
        let mut theirs: Vec<Result<(u64, Vec<Duration>)>> = rivals.iter().map(|_| Ok((0, Vec::new()))).collect();
        for _ in 0..repetitions {
            let (searched, time) = ravelin_alone(&subject.program)?;
            ours.push(time);
            states = searched.statistics.states;
            for ((_, rival), so_far) in rivals.iter().zip(&mut theirs) {
                if let (Ok(rival), Ok((states, times))) = (rival, &mut *so_far) {
                    match rival.run() {
                        Ok((found, time)) => {
                            *states = found;
                            times.push(time);
                        }
                        Err(error) => *so_far = Err(error),
                    }
                }
            }
        }
        let ours = median(ours);
        let row = |tool: &str, states: u64, time: Duration, compiled: &str| {
            let ratio = format!("{:.2}", ratio(time, ours));
            vec![subject.name.clone(), tool.to_owned(), count(states), seconds(time), ratio, compiled.to_owned()]
        };
        table.row(row("ravelin", states, ours, ""));
        for ((tool, rival), found) in rivals.iter().zip(theirs) {
            let missing = |error: &anyhow::Error| {
                let mut cells = vec![subject.name.clone(), (*tool).to_owned(), error.to_string()];
                cells.resize(6, String::new());
                cells
            };
            table.row(match (rival, &found) {
                (Ok(rival), Ok((states, times))) => {
                    row(tool, *states, median(times.clone()), &seconds(rival.compiled_in))
                }
                (Err(error), _) | (_, Err(error)) => missing(error),
            });
        }
    }
    say(&table.to_string());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_by_hand_sees_the_same_space() {
        let counters = Counters { number: 3 };
        let lamport = Lamport { threads: 3 };
        for (text, by_hand) in [
            (counters.text(), [search::<u128>(&counters), search::<u64>(&counters)]),
            (lamport.text(), [search::<u128>(&lamport), search::<u64>(&lamport)]),
        ] {
            let searched = ravelin(&parse("model", text).unwrap(), SC, 2).unwrap();
            let Statistics { states, transitions, .. } = searched.statistics;
            assert_eq!(by_hand, [Size { states, transitions, bad: 0 }; 2]);
            assert!(!searched.violated);
        }
        assert_eq!(search::<u64>(&counters).states, counters.states());
    }
}
