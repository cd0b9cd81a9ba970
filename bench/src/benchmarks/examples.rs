//! What each reduction saves on the examples: stored states and time, alone and all together.

use crate::measure::{repeated, thread_time, timed};
use crate::sources;
use crate::table::{MarkdownTable, count, seconds};
use anyhow::Result;
use ravelin_explore::{Budget, Options, Statistics, Until};
use ravelin_frontend::Language;
use ravelin_machine::{Reductions, Settings};
use ravelin_program::{Copies, Model, Program};
use std::time::Duration;

const NONE: Reductions = Reductions::NONE;
const COLUMNS: [(&str, Reductions); 6] = [
    ("none", NONE),
    ("fuse", Reductions { fuse: true, ..NONE }),
    ("liveness", Reductions { liveness: true, ..NONE }),
    ("partial order", Reductions { partial_order: true, ..NONE }),
    ("symmetry", Reductions { symmetry: true, ..NONE }),
    ("all", Reductions::ALL),
];

/// One row per example and model.
pub fn reductions(limit: u64, repetitions: usize) -> Result<String> {
    let head: Vec<&str> = ["example", "model"].into_iter().chain(COLUMNS.map(|(name, _)| name)).collect();
    let mut table = MarkdownTable::new(&head);
    let files = sources::files_below(&crate::root().join("examples"), "rav")?;
    // Logarithms of what all reductions leave of the states, for the examples that can be finished without.
    let mut saved = Vec::new();
    for file in &files {
        let name = file.strip_prefix(crate::root().join("examples")).unwrap_or(file).display().to_string();
        let (program, shown) = instance(sources::read(file, Language::Rav)?, &name);
        for model in [Model::Sc, Model::Tso] {
            eprintln!("{shown} under {model}");
            let mut cells = vec![shown.clone(), model.to_string()];
            let mut states = Vec::new();
            for (_, reductions) in COLUMNS {
                let cell = search(&program, Settings { reductions, ..Settings::new(model) }, limit, repetitions)?;
                cells.push(match cell {
                    Some((states, time)) => format!("{} ({})", count(states), seconds(time)),
                    None => format!("> {}", count(limit)),
                });
                states.push(cell.map(|(states, _)| states));
            }
            if let (Some(Some(without)), Some(Some(with))) = (states.first(), states.last()) {
                saved.push((*with as f64 / *without as f64).ln());
            }
            table.row(cells);
        }
    }
    let mean = (saved.iter().sum::<f64>() / saved.len().max(1) as f64).exp();
    Ok(format!(
        "Stored states and processor time of one worker, for all states of every example (a violation does not end the \
         search), store buffers of at most 3. All reductions together leave {:.1} % of the states, by the geometric mean \
         of {} rows that can be finished without any.\n\n{table}",
        mean * 100.0,
        saved.len()
    ))
}

/// A program with any number of copies is measured with two of each.
fn instance(program: Program, name: &str) -> (Program, String) {
    if program.threads.iter().any(|thread| thread.copies == Copies::Any) {
        (program.instance(2), format!("{name}, 2 copies"))
    } else {
        (program, name.to_owned())
    }
}

/// States and time; none beyond the limit.
fn search(program: &Program, settings: Settings, limit: u64, repetitions: usize) -> Result<Option<(u64, Duration)>> {
    let budget = Budget::unlimited().states(limit);
    let options = Options { budget, until: Until::Exhausted };
    let met_limit = |&(_, met): &(Statistics, bool)| met;
    let ((statistics, _), time) = repeated(repetitions, met_limit, || {
        let (explored, time) = timed(thread_time, || ravelin_machine::run(program, settings, &options));
        let explored = explored?;
        Ok(((*explored.statistics(), explored.limit().is_some()), time))
    })?;
    Ok(time.map(|time| (statistics.states, time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_measured() {
        let report = reductions(200, 1).unwrap();
        assert!(report.lines().filter(|line| line.starts_with("| ")).count() > 2);
    }
}
