//! Figures 6 to 11 of *Lazy TSO Reachability*: whether goals are reached under TSO and how long each engine takes, with SPIN on the
//! same programs under sequential consistency. The curves are in `growth.rs`.

use super::comparison::{DifferenceReason, Excuse, TableComparison};
use super::document::Chapter;
use super::growth::{GROWTH, GrowthSection, growth_section};
use super::row::{MeasurementEffort, empty, guarded};
use super::under_sc::under_sc;
use crate::measure::ratio;
use crate::papers::lazy_tso_2015::{FIGURE_6, LazyTsoRow};
use crate::questions::reach;
use crate::questions::robustness::size;
use crate::sources;
use crate::table::{MarkdownTable, seconds_or_stopped};
use anyhow::Result;
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{PortfolioAnswer, ReachEngine, ReachabilityEffort as Spent};
use ravelin_analysis::robustness::attacks;
use ravelin_program::{HardwareProgram, Program};
use std::time::Duration;

const REASONS: [DifferenceReason; 3] = [
    DifferenceReason {
        excuses: &[
            Excuse {
                row: "MCS lock",
                numbers: &[("T", "2", "4"), ("St", "28", "52"), ("Tr", "38", "50"), ("RQ", "24", "30")],
            },
            Excuse {
                row: "CLH lock",
                numbers: &[("T", "2", "3"), ("St", "14", "43"), ("Tr", "16", "41"), ("RQ", "4", "70")],
            },
            Excuse { row: "Lock-free stack", numbers: &[("St", "32", "46"), ("Tr", "34", "50"), ("RQ", "4", "14")] },
        ],
        why: "our versions have fewer threads or fewer instructions, and so fewer attacks.",
    },
    DifferenceReason {
        excuses: &[Excuse {
            row: "Parker (non-robust)",
            numbers: &[("St", "9", "11"), ("Tr", "8", "10"), ("RQ", "2", "4")],
        }],
        why: "this paper's Parker has two instructions more than the one of 2013, which ours is like.",
    },
    DifferenceReason {
        excuses: &[
            Excuse { row: "Dekker (non-robust)", numbers: &[("St", "22", "24"), ("Tr", "28", "30")] },
            Excuse { row: "Lamport (non-robust)", numbers: &[("St", "30", "33"), ("Tr", "33", "36")] },
        ],
        why: "the paper's texts have a jump of its own at the end of each thread's round.",
    },
];

pub fn chapter(effort: &MeasurementEffort) -> Chapter {
    let (mut text, mut unexplained) = figure_6(effort);
    let mut plots = Vec::new();
    for growth in &GROWTH {
        let GrowthSection { section, plot, wrong } = growth_section(effort, growth);
        text += &section;
        plots.push((growth.picture, plot));
        unexplained.extend(wrong);
    }
    Chapter { paper: "002", text, plots, unexplained }
}

fn figure_6(effort: &MeasurementEffort) -> (String, Vec<String>) {
    let mut comparison = TableComparison::new(&REASONS);
    let mut table = MarkdownTable::new(&[
        "program",
        "file",
        "reachable",
        "T",
        "St",
        "Tr",
        "RQ",
        "rounds, paths",
        "CPU",
        "Real",
        "lazy",
        "auto",
        "ratio",
        "SPIN under sc",
    ]);
    for paper in FIGURE_6 {
        let limits = *effort;
        let asked = guarded(effort, paper.file, move || {
            let program = sources::example(paper.file)?;
            let [lazy, auto] = [ReachEngine::Lazy, ReachEngine::Auto].map(|engine| ask(&program, engine, &limits));
            Ok((program, lazy?, auto?))
        });
        let (program, (lazy, lazy_time), (auto, auto_time)) = match asked {
            Ok(asked) => asked,
            Err(problem) => {
                table.row(empty(paper.name, &problem, 14));
                continue;
            }
        };
        let mut cells = vec![paper.name.to_owned(), format!("`{}`", paper.file)];
        cells.extend(compared(&mut comparison, &paper, &program, [&lazy, &auto]));
        let rounds = match &lazy.effort {
            Spent::Rounds(lazy) => format!("{}, {}", lazy.rounds, lazy.paths),
            _ => String::new(),
        };
        cells.push(rounds);
        cells.extend(paper.milliseconds.map(|time| format!("{time} ms")));
        let real = Duration::from_millis(u64::from(paper.milliseconds[1]));
        cells.extend([lazy_time, auto_time].map(seconds_or_stopped));
        cells.push(lazy_time.map(|time| format!("{:.0}", ratio(real, time))).unwrap_or_default());
        cells.push(under_sc(effort, paper.file, program, false).0);
        table.row(cells);
    }
    let text = format!(
        "## Lazy TSO Reachability (2015), figures 6 to 11\n\n\
         Bouajjani, Calin, Derevenetc, Meyer, FASE 2015; measured there with Trencher, Memorax and CBMC on a virtual machine with 16 cores at 2.67 GHz and 8 GB. \
         Figure 6 is a table; the values of the other figures are not printed, and only what the text and the axes tell is shown here. Ours were obtained by \
         `ravelin reach FILE --model tso --engine ENGINE`, with another constant `N` in the file where a program grows: processor time of all threads. `lazy` is the paper's algorithm, `sb` that of Memorax; `dual` searches load buffers backwards, `bounded` explores store buffers of a fixed size, and `auto`, the default, is a \
         portfolio. SPIN is asked about the same program under sequential consistency (`ravelin convert FILE --to promela`), where no goal is reached: an exhaustive search, without the time to compile; some 60 ms \
         of it make room for its stack and table. What it tells is how the space itself grows.\n\n\
         ### Figure 6, and figure 10 (left)\n\n\
         In brackets the paper's number or answer, if it is the same; a ≠ b: ours is a, the paper's b, in bold for results. T, St, Tr: threads, states, transitions. RQ: the paper's queries under SC, one an attack; \
         ours are the attacks, but the lazy engine asks about all of them together, once a round, and gets paths to extend. CPU and Real are the paper's; ratio: Real over `lazy`, for orders of magnitude only. Figure 10 (left) shows Real of the first four \
         beside Memorax and CBMC, whose values are not printed.\n\n{table}\n{comparison}\n"
    );
    (text, comparison.unexplained())
}

fn compared(
    comparison: &mut TableComparison,
    paper: &LazyTsoRow,
    program: &Program,
    answers: [&PortfolioAnswer; 2],
) -> Vec<String> {
    let word = |reached: bool| if reached { "yes" } else { "no" };
    // Both engines have to say so.
    let [lazy, auto] = answers.map(|answer| answer.reachability.verdict);
    let ours = match (lazy, auto) {
        (Verdict::Violated, Verdict::Violated) => word(true),
        (Verdict::Holds, Verdict::Holds) => word(false),
        _ => "unknown",
    };
    let mut cells = vec![comparison.result(paper.name, "reachable", ours, word(paper.reachable))];
    let columns = ["T", "St", "Tr"].into_iter().zip(size(program)).zip(paper.size);
    cells.extend(columns.map(|((column, ours), theirs)| comparison.size(paper.name, column, ours, theirs)));
    cells.push(comparison.result(paper.name, "RQ", attacks(&HardwareProgram::new(program)).len(), paper.queries));
    cells
}

/// One engine on a question under TSO.
pub fn ask(
    program: &Program,
    engine: ReachEngine,
    effort: &MeasurementEffort,
) -> Result<(PortfolioAnswer, Option<Duration>)> {
    reach::measure(program, engine, effort.limit, effort.repetitions)
}

#[cfg(test)]
mod tests {
    use super::super::EXACT;
    use super::*;

    #[test]
    fn goals_are_reached_as_the_paper_says() {
        let mut comparison = TableComparison::new(&REASONS);
        for paper in FIGURE_6 {
            let program = sources::example(paper.file).unwrap();
            let (lazy, _) = ask(&program, ReachEngine::Lazy, &EXACT).unwrap();
            let (auto, _) = ask(&program, ReachEngine::Auto, &EXACT).unwrap();
            let cells = compared(&mut comparison, &paper, &program, [&lazy, &auto]);
            assert_eq!(cells[0], if paper.reachable { "yes (yes)" } else { "no (no)" }, "{}", paper.name);
        }
        assert_eq!(comparison.unexplained(), Vec::<String>::new());
    }
}
