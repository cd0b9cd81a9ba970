//! Table 1 of *Counter-Example Guided Fence Insertion under Weak Memory Models*: the smallest set and all minimal sets of fences directly after
//! stores that keep the bad states out, and what SPIN says of the programs under sequential consistency.

use super::comparison::{DifferenceReason, Excuse, TableComparison};
use super::document::Chapter;
use super::row::{MeasurementEffort, empty, guarded};
use super::under_sc::under_sc;
use crate::measure::ratio;
use crate::papers::fence_insertion_2012::{FenceInsertionRow, TABLE_1};
use crate::questions::fences::{FenceExperiment, is_settled, measure};
use crate::questions::robustness::size;
use crate::sources;
use crate::table::{MarkdownTable, count, seconds};
use anyhow::{Context, Result, ensure};
use ravelin_analysis::fences::{Sets, SynthesisOutcome};
use ravelin_frontend::Language;
use ravelin_program::Program;
use std::time::Duration;

const REASONS: [DifferenceReason; 1] = [DifferenceReason {
    excuses: &[
        Excuse { row: "Simple Dekker", numbers: &[("states", "10", "8"), ("transitions", "12", "10")] },
        Excuse { row: "Full Dekker", numbers: &[("states", "20", "14"), ("transitions", "26", "18")] },
        Excuse { row: "Peterson", numbers: &[("states", "12", "10")] },
        Excuse { row: "Lamport Bakery", numbers: &[("states", "24", "23"), ("transitions", "30", "32")] },
        Excuse {
            row: "Lamport Fast",
            numbers: &[("states", "38", "26"), ("variables", "5", "4"), ("transitions", "50", "38")],
        },
        Excuse { row: "CLH Queue Lock", numbers: &[("states", "16", "48"), ("transitions", "18", "60")] },
        Excuse { row: "Sense Reversing Barrier", numbers: &[("states", "22", "16"), ("transitions", "26", "24")] },
        Excuse { row: "Burns", numbers: &[("states", "11", "9"), ("transitions", "14", "11")] },
        Excuse {
            row: "Dijkstra",
            numbers: &[("states", "22", "14"), ("variables", "4", "3"), ("transitions", "28", "24")],
        },
        Excuse { row: "Tournament Barriers", numbers: &[("states", "12", "8"), ("transitions", "14", "8")] },
        Excuse { row: "Task Scheduling", numbers: &[("states", "18", "7"), ("transitions", "22", "9")] },
        Excuse { row: "Increasing Sequence", numbers: &[("states", "10", "26"), ("transitions", "10", "44")] },
        Excuse { row: "Alternating Bit", numbers: &[("states", "12", "8"), ("transitions", "14", "12")] },
        Excuse { row: "Producer Consumer, v1, N=2", numbers: &[("states", "11", "18"), ("transitions", "12", "22")] },
        Excuse { row: "Producer Consumer, v1, N=3", numbers: &[("states", "11", "22"), ("transitions", "12", "28")] },
        Excuse { row: "Producer Consumer, v2, N=2", numbers: &[("states", "11", "14"), ("transitions", "12", "18")] },
        Excuse { row: "Producer Consumer, v2, N=3", numbers: &[("states", "11", "16"), ("transitions", "12", "22")] },
    ],
    why: "sizes are those of our own texts of the algorithms; registers, bounded loops and compound conditions become states and transitions here.",
}];

/// The processes of a program that needs fences: two in each of them.
const PROCESSES: usize = 2;

pub struct InsertionResult {
    program: Program,
    /// Processes, states, variables, transitions.
    size: [usize; 4],
    /// Fences of the smallest set and the number of minimal sets; none if it is wrong under SC.
    fences: Option<(usize, usize)>,
    queries: usize,
    explored: u64,
    /// One set, all sets.
    times: [Duration; 2],
}

pub fn chapter(effort: &MeasurementEffort) -> Chapter {
    let mut comparison = TableComparison::new(&REASONS);
    let mut table = MarkdownTable::new(&[
        "program",
        "processes",
        "states",
        "variables",
        "transitions",
        "fences",
        "sets",
        "one set",
        "ratio",
        "all sets",
        "ratio",
        "queries",
        "explored",
        "SPIN under sc",
    ]);
    for paper in TABLE_1 {
        let limits = *effort;
        match guarded(effort, paper.file, move || find(&paper, &limits)) {
            Err(problem) => table.row(empty(paper.name, &problem, 14)),
            Ok(found) => {
                let mut cells = compared(&mut comparison, &paper, &found);
                for (ours, theirs) in found.times.into_iter().zip(paper.seconds) {
                    cells.push(format!("{} ({theirs} s)", seconds(ours)));
                    cells.push(format!("{:.0}", ratio(Duration::from_secs_f64(theirs), ours)));
                }
                cells.extend([found.queries.to_string(), count(found.explored)]);
                cells.push(under_sc(effort, paper.file, found.program, found.fences.is_none()).0);
                table.row(cells);
            }
        }
    }
    let text = format!(
        "## Counter-Example Guided Fence Insertion (2012), Table 1\n\n\
         Abdulla, Atig, Chen, Leonardsson, Rezine; measured there with a prototype in OCaml on an Intel Core i3 at 2.26 GHz. Our versions of the programs are in \
         `examples/fence-insertion/`.\n\n\
         Obtained by `ravelin fence FILE --for safety --placement after-stores --apart`, and with `--all`. In brackets the paper's number, if it is the \
         same, and always its seconds; a ≠ b: ours is a, the paper's b, in bold for results. Fences of all processes together (the paper says how many a process; there are two). Times are processor time of all \
         threads; ratio: the paper's over ours, for orders of magnitude only. Queries: questions about the program with some of the fences. The last column is SPIN on the program under \
         sequential consistency, where only the two erroneous ones may be violated (v; h: holds), with the processor time of its verifier and the states it stored.\n\n{table}\n{comparison}\n"
    );
    Chapter { paper: "004", text, plots: Vec::new(), unexplained: comparison.unexplained() }
}

fn find(paper: &FenceInsertionRow, effort: &MeasurementEffort) -> Result<InsertionResult> {
    let program = sources::example(&file(paper))?;
    let all = FenceExperiment { time: Some(effort.limit), ..FenceExperiment::SAFE };
    let one = FenceExperiment { sets: Sets::Cheapest, ..all };
    let [one, all] = [one, all].map(|plan| measure(&program, Language::Rav, plan, effort.repetitions));
    let (one, all) = (one?, all?);
    let late = || format!("not settled in {} s", effort.limit.as_secs());
    ensure!(is_settled(&one.answer) && is_settled(&all.answer), late());
    let times = [one.time.with_context(late)?, all.time.with_context(late)?];
    let fences = match all.answer.outcome {
        SynthesisOutcome::WrongUnderSc(_) => None,
        // That no fence is needed is one set, the empty one.
        _ => Some((one.fences, all.answer.sets.len().max(1))),
    };
    let [processes, states, transitions] = size(&program);
    let cells = program.memory.variables.iter().map(|variable| variable.len.unwrap_or(1)).sum();
    Ok(InsertionResult {
        program,
        size: [processes, states, cells, transitions],
        fences,
        queries: all.answer.effort.queries,
        explored: all.answer.effort.states,
        times,
    })
}

fn compared(comparison: &mut TableComparison, paper: &FenceInsertionRow, found: &InsertionResult) -> Vec<String> {
    let columns = ["processes", "states", "variables", "transitions"];
    let mut cells = vec![paper.name.to_owned()];
    for ((column, ours), theirs) in columns.into_iter().zip(found.size).zip(paper.size) {
        cells.push(match theirs {
            Some(theirs) => comparison.size(paper.name, column, ours, theirs),
            None => ours.to_string(),
        });
    }
    let show = |fences: Option<usize>| fences.map_or_else(|| "erroneous".to_owned(), |fences| fences.to_string());
    let fences = |found: Option<(usize, usize)>, processes| show(found.map(|(fences, _)| fences * processes));
    cells.push(comparison.result(paper.name, "fences", fences(found.fences, 1), fences(paper.fences, PROCESSES)));
    let sets = |found: Option<(usize, usize)>| found.map_or(0, |(_, sets)| sets);
    cells.push(comparison.result(paper.name, "sets", sets(found.fences), sets(paper.fences)));
    cells
}

fn file(paper: &FenceInsertionRow) -> String {
    format!("fence-insertion/{}.rav", paper.file)
}

#[cfg(test)]
mod tests {
    use super::super::EXACT;
    use super::*;

    #[test]
    fn fences_and_sets_are_the_papers() {
        let mut comparison = TableComparison::new(&REASONS);
        for paper in TABLE_1 {
            let found = find(&paper, &EXACT).unwrap();
            let cells = compared(&mut comparison, &paper, &found);
            assert_eq!(found.fences, paper.fences.map(|(fences, sets)| (fences * PROCESSES, sets)), "{}", paper.name);
            assert_eq!(cells.len(), 7);
        }
        assert_eq!(comparison.unexplained(), Vec::<String>::new());
    }
}
