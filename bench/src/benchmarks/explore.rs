//! `cargo xtask bench explore`: what the state-space engine costs.
//!
//! Two spaces are searched by everybody: a product of counters, which is nothing but states, and Lamport's fast mutex,
//! which is an ordinary program. Both under sequential consistency and without reductions, so that all count the same.

use super::counters::Counters;
use super::handwritten::{Size, search};
use super::lamport::Lamport;
use super::{examples, stateright};
use crate::measure::{in_turns, machine, process_time, ratio, thread_time, timed, wall_time};
use crate::rival::Rival;
use crate::sources::parse;
use crate::spin;
use crate::table::{Table, count, judged, seconds};
use anyhow::{Context, Result, ensure};
use ravelin_explore::{Options, Statistics, Until};
use ravelin_machine::{Purpose, Reductions, Settings};
use ravelin_program::Program;
use ravelin_semantics::Model;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// Small instances: a smoke test, whose numbers mean nothing
    #[arg(long)]
    quick: bool,
    /// Writes the report to a file as well
    #[arg(long)]
    out: Option<PathBuf>,
    /// Leaves a part out; may be given several times
    #[arg(long, value_enum)]
    skip: Vec<Part>,
    /// Examples with more states than this are not finished
    #[arg(long, default_value_t = 5_000_000)]
    limit: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    Handwritten,
    Workers,
    Spin,
    Stateright,
    Examples,
}

const REPETITIONS: usize = 3;

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report { text: String::new() };
    report.say("# What exploration costs");
    report.say("Made by `cargo xtask bench explore`. Times are the fastest of three, taken in turns.");
    report.say(&machine());
    let wanted = |part| !arguments.skip.contains(&part);
    let subjects = subjects(arguments.quick)?;
    if wanted(Part::Handwritten) {
        handwritten(&subjects, &mut report)?;
    }
    if wanted(Part::Workers) {
        workers(&subjects, &mut report)?;
    }
    if !arguments.quick && (wanted(Part::Spin) || wanted(Part::Stateright)) {
        others(&subjects, wanted(Part::Spin), wanted(Part::Stateright), &mut report)?;
    }
    if wanted(Part::Examples) {
        let limit = if arguments.quick { 1_000 } else { arguments.limit };
        report.say("## Reductions");
        report.say(&examples::reductions(limit)?);
    }
    if let Some(path) = &arguments.out {
        ravelin_output::replace(path, &report.text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Paragraphs, shown as soon as they are known and kept for a file.
struct Report {
    text: String,
}

impl Report {
    fn say(&mut self, paragraph: &str) {
        println!("{paragraph}\n");
        self.text += paragraph;
        self.text += if paragraph.ends_with('\n') { "\n" } else { "\n\n" };
    }
}

/// A space that everybody searches.
struct Subject {
    name: String,
    program: Program,
    wide: Box<dyn Fn() -> Size>,
    tight: Box<dyn Fn() -> Size>,
    /// What the program for stateright calls it.
    stateright: [String; 2],
}

fn subjects(quick: bool) -> Result<[Subject; 2]> {
    let counters = Counters { number: if quick { 4 } else { 6 } };
    let lamport = Lamport { threads: if quick { 3 } else { 4 } };
    Ok([
        Subject {
            name: format!("{} counters of 16", counters.number),
            program: parse("counters", counters.text())?,
            wide: Box::new(move || search::<u128>(&counters)),
            tight: Box::new(move || search::<u64>(&counters)),
            stateright: ["counters".to_owned(), counters.number.to_string()],
        },
        Subject {
            name: format!("Lamport, {} threads", lamport.threads),
            program: parse("lamport", lamport.text())?,
            wide: Box::new(move || search::<u128>(&lamport)),
            tight: Box::new(move || search::<u64>(&lamport)),
            stateright: ["lamport".to_owned(), lamport.threads.to_string()],
        },
    ])
}

/// What a search left behind, without its states: two spaces at once may not fit into memory.
struct Searched {
    statistics: Statistics,
    state_bytes: u64,
    violated: bool,
}

const SC: Settings = Settings { model: Model::Sc, buffer: 1, purpose: Purpose::Goals, reductions: Reductions::NONE };

fn ravelin(program: &Program, settings: Settings, workers: usize) -> Result<Searched> {
    let options = Options { workers, until: Until::Exhausted, ..Options::default() };
    let explored = ravelin_machine::run(program, settings, &options)?;
    Ok(Searched {
        statistics: *explored.statistics(),
        state_bytes: explored.words() as u64 * 8,
        violated: explored.violation().is_some(),
    })
}

/// Time of one thread, searching with one worker.
fn ravelin_alone(program: &Program) -> Result<(Searched, Duration)> {
    let (searched, time) = timed(thread_time, || ravelin(program, SC, 1));
    Ok((searched?, time))
}

/// One row a space: the engine against a search written for this space alone.
fn handwritten(subjects: &[Subject], report: &mut Report) -> Result<()> {
    report.say("## Against searches written by hand");
    report.say(
        "Processor time a transition. By hand: breadth first, a set of packed integers with a fast hash, no paths kept. \
         Overhead: bytes a stored state beyond its packed form, parent link and table included.",
    );
    let head =
        ["space", "states", "transitions", "ravelin", "by hand, u128", "ratio", "by hand, u64", "ratio", "overhead"];
    let mut table = Table::new(&head);
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
            REPETITIONS,
            &mut [
                &mut || ravelin_alone(&subject.program).map_or(Duration::MAX, |(_, time)| time),
                &mut || timed(thread_time, &subject.wide).1,
                &mut || timed(thread_time, &subject.tight).1,
            ],
        );
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
    report.say(&table.to_string());
    Ok(())
}

/// One row a space: two workers against one.
fn workers(subjects: &[Subject], report: &mut Report) -> Result<()> {
    report.say("## Two workers against one");
    report.say(
        "Wall-clock time, so a busy machine spoils it; work: processor time of two workers over that of one, which is \
         what sharing itself costs.",
    );
    let mut table = Table::new(&["space", "states", "one", "two", "speedup", "work"]);
    // The last subject once more, with store buffers.
    let buffered = |subject: &Subject| (format!("{}, tso", subject.name), Settings { model: Model::Tso, ..SC });
    let plain = subjects.iter().map(|subject| (subject, (subject.name.clone(), SC)));
    let rows = plain.chain(subjects.last().map(|subject| (subject, buffered(subject))));
    for (Subject { program, .. }, (name, settings)) in rows {
        let mut states = [0; 2];
        let mut work = [Duration::MAX; 2];
        let mut failure = None;
        let mut search = |workers: usize| {
            let ((searched, time), processor) =
                timed(process_time, || timed(wall_time, || ravelin(program, settings, workers)));
            match searched {
                Ok(searched) => states[workers - 1] = searched.statistics.states,
                Err(error) => failure = Some(error),
            }
            work[workers - 1] = work[workers - 1].min(processor);
            time
        };
        let mut times = [Duration::MAX; 2];
        for _ in 0..REPETITIONS {
            for workers in [1, 2] {
                times[workers - 1] = times[workers - 1].min(search(workers));
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
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
    report.say(&table.to_string());
    Ok(())
}

/// One row a space and tool.
fn others(subjects: &[Subject], with_spin: bool, with_stateright: bool, report: &mut Report) -> Result<()> {
    report.say("## Against other tools");
    report.say(
        "Processor time of one core, without the time to compile the model. SPIN searches depth first (`-DSAFETY \
         -DNOREDUCE`) what `ravelin convert` prints for it; stateright searches breadth first and keeps 64-bit \
         fingerprints instead of states. Ratio: their time over ravelin's.",
    );
    let mut table = Table::new(&["space", "tool", "states", "time", "ratio", "compiled in"]);
    for subject in subjects {
        let mut rivals: Vec<(&str, Result<Rival>)> = Vec::new();
        if with_spin {
            rivals.push(("SPIN", spin::prepare(&subject.program)));
        }
        if with_stateright {
            rivals.push(("stateright", stateright::prepare(&subject.stateright)));
        }
        let mut ours = Duration::MAX;
        let mut states = 0;
        let mut theirs: Vec<Result<(u64, Duration)>> = rivals.iter().map(|_| Ok((0, Duration::MAX))).collect();
        for _ in 0..REPETITIONS {
            let (searched, time) = ravelin_alone(&subject.program)?;
            ours = ours.min(time);
            states = searched.statistics.states;
            for ((_, rival), best) in rivals.iter().zip(&mut theirs) {
                if let (Ok(rival), Ok((_, fastest))) = (rival, &best) {
                    let fastest = *fastest;
                    *best = rival.run().map(|(states, time)| (states, fastest.min(time)));
                }
            }
        }
        let row = |tool: &str, states: u64, time: Duration, compiled: &str| {
            let ratio = format!("{:.2}", ratio(time, ours));
            vec![subject.name.clone(), tool.to_owned(), count(states), seconds(time), ratio, compiled.to_owned()]
        };
        table.row(row("ravelin", states, ours, ""));
        for ((tool, rival), best) in rivals.iter().zip(theirs) {
            let missing = |error: &anyhow::Error| {
                let mut cells = vec![subject.name.clone(), (*tool).to_owned(), error.to_string()];
                cells.resize(6, String::new());
                cells
            };
            table.row(match (rival, &best) {
                (Ok(rival), Ok((states, time))) => row(tool, *states, *time, &seconds(rival.compiled_in)),
                (Err(error), _) | (_, Err(error)) => missing(error),
            });
        }
    }
    report.say(&table.to_string());
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
