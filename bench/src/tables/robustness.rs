//! Table 2 of *Checking and Enforcing Robustness against TSO*: what becomes of the attacks, how many fences it takes, and the time, beside
//! SPIN on the same queries, each a program instrumented for one attack as the paper has it.

use super::comparison::{DifferenceReason, Excuse, TableComparison};
use super::document::Chapter;
use super::row::{MeasurementEffort, SKIPPED, empty, guarded};
use crate::measure::ratio;
use crate::papers::robustness_2013::{RobustnessRow, TABLE_2};
use crate::questions::fences::{self, FenceExperiment};
use crate::questions::robustness::{Fates, every_attack, measure, size};
use crate::table::{MarkdownTable, count, seconds};
use crate::{sources, spin};
use anyhow::{Context, Result, ensure};
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{
    AttackFate, RobustnessAnswer, RobustnessEngine, RobustnessQuestion, attack_name, instrument,
};
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_program::HardwareProgram;
use std::time::Duration;

const REASONS: [DifferenceReason; 8] = [
    DifferenceReason {
        excuses: &[
            Excuse {
                row: "CLH lock (robust)",
                numbers: &[
                    ("T", "2", "7"),
                    ("L", "14", "62"),
                    ("I", "16", "58"),
                    ("RQ", "4", "54"),
                    ("NR1", "4", "48"),
                    ("NR2", "0", "6"),
                ],
            },
            Excuse {
                row: "MCS lock (robust)",
                numbers: &[
                    ("T", "2", "4"),
                    ("L", "28", "52"),
                    ("I", "38", "50"),
                    ("RQ", "24", "30"),
                    ("NR1", "16", "26"),
                    ("NR2", "6", "4"),
                ],
            },
            Excuse {
                row: "Cilk's THE queue (non-robust)",
                numbers: &[
                    ("T", "3", "5"),
                    ("L", "43", "86"),
                    ("I", "46", "79"),
                    ("RQ", "33", "152"),
                    ("NR1", "22", "141"),
                    ("NR2", "3", "8"),
                ],
            },
            Excuse {
                row: "NBWL (robust)",
                numbers: &[
                    ("T", "3", "4"),
                    ("L", "36", "45"),
                    ("I", "40", "45"),
                    ("RQ", "40", "30"),
                    ("NR1", "16", "26"),
                    ("NR2", "8", "4"),
                ],
            },
        ],
        why: "our versions have fewer threads, and the lock of our NBWL spins on plain loads, which makes more attacks.",
    },
    DifferenceReason {
        excuses: &[
            Excuse {
                row: "Lock-free stack (robust)",
                numbers: &[
                    ("L", "32", "46"),
                    ("I", "34", "50"),
                    ("RQ", "4", "14"),
                    ("NR1", "2", "14"),
                    ("NR2", "2", "0"),
                ],
            },
            Excuse {
                row: "NBW4 (robust)",
                numbers: &[
                    ("L", "20", "25"),
                    ("I", "20", "22"),
                    ("RQ", "3", "9"),
                    ("NR1", "0", "7"),
                    ("NR2", "0", "2"),
                ],
            },
        ],
        why: "our versions are written with fewer instructions.",
    },
    DifferenceReason {
        excuses: &[
            Excuse { row: "NBW2 (non-robust)", numbers: &[("L", "14", "21"), ("I", "13", "19")] },
            Excuse { row: "NBW3 (robust)", numbers: &[("L", "15", "22"), ("I", "14", "20")] },
        ],
        why: "our versions are written with fewer instructions, but as many stores and loads.",
    },
    DifferenceReason {
        excuses: &[
            Excuse { row: "Dekker (non-robust)", numbers: &[("L", "22", "24"), ("I", "28", "30")] },
            Excuse { row: "Lamport (non-robust)", numbers: &[("L", "30", "33"), ("I", "33", "36")] },
            Excuse { row: "Lamport (robust)", numbers: &[("L", "36", "39"), ("I", "39", "42")] },
        ],
        why: "the paper's texts have a jump of its own at the end of each thread's round.",
    },
    DifferenceReason {
        excuses: &[Excuse { row: "Dekker (robust)", numbers: &[("L", "28", "32"), ("I", "34", "38")] }],
        why: "the same, and the paper's text has a fence more a thread.",
    },
    DifferenceReason {
        excuses: &[
            Excuse { row: "Peterson (non-robust)", numbers: &[("RQ", "12", "23"), ("R", "6", "9")] },
            Excuse { row: "Dekker (non-robust)", numbers: &[("RQ", "30", "95"), ("R", "18", "55")] },
            Excuse { row: "Lamport (non-robust)", numbers: &[("RQ", "27", "36"), ("R", "6", "12")] },
        ],
        why: "of these the paper counts the queries of fence insertion, too; figure 6 of the paper of 2015 has 12, 30 and 27, the numbers of attacks.",
    },
    DifferenceReason {
        excuses: &[Excuse { row: "Cilk's THE queue (non-robust)", numbers: &[("R", "4", "3")] }],
        why: "one thread of ours both pushes and pops, so that the store of a push can be delayed past a load of a pop, too.",
    },
    DifferenceReason {
        excuses: &[
            Excuse { row: "Peterson (non-robust)", numbers: &[("NR1", "0", "2"), ("NR2", "0", "12")] },
            Excuse { row: "Dekker (non-robust)", numbers: &[("NR1", "0", "12"), ("NR2", "8", "28")] },
            Excuse { row: "Lamport (non-robust)", numbers: &[("NR2", "0", "15")] },
            Excuse { row: "NBW2 (non-robust)", numbers: &[("NR1", "6", "9"), ("NR2", "0", "5")] },
            Excuse { row: "Parker (non-robust)", numbers: &[("NR2", "0", "1")] },
        ],
        why: "attacks on the store's own cell, and others that cannot close a cycle, need no search here (*free*); and the queries of fence insertion are not among ours.",
    },
];

/// What is found about a program.
pub struct RobustnessMeasurement {
    answer: RobustnessAnswer,
    size: [usize; 3],
    fates: Fates,
    fences: usize,
    /// For all attacks, and for the cheapest fences.
    times: [Duration; 2],
}

pub fn chapter(effort: &MeasurementEffort) -> Chapter {
    let mut comparison = TableComparison::new(&REASONS);
    let mut counts = MarkdownTable::new(&["program", "robust", "T", "L", "I", "RQ", "NR1", "free", "NR2", "R", "F"]);
    let mut times = MarkdownTable::new(&[
        "program",
        "file",
        "Spin",
        "Ver",
        "Real",
        "attacks",
        "states",
        "fences",
        "ratio",
        "SPIN: queries",
        "agree",
        "compiling¹",
        "verifying",
    ]);
    for paper in TABLE_2 {
        let limits = *effort;
        match guarded(effort, paper.file, move || find(&paper, &limits)) {
            Err(problem) => {
                counts.row(empty(paper.name, &problem, 11));
                times.row(empty(paper.name, &problem, 13));
            }
            Ok(found) => {
                counts.row(compared(&mut comparison, &paper, &found));
                times.row(timed(effort, &paper, found));
            }
        }
    }
    let text = format!(
        "## Checking and Enforcing Robustness against TSO (2013), Table 2\n\n\
         Bouajjani, Derevenetc, Meyer, ESOP 2013; measured there with Trencher and SPIN on an Intel Core i5 M 560 at 2.67 GHz with four cores. \
         Our versions of the programs are in `examples/`.\n\n\
         ### Attacks and fences\n\n\
         Obtained by `ravelin check FILE --model tso --attacks` (every attack settled, engine `shared`) and `ravelin fence FILE`. In brackets the paper's \
         number, if it is the same; a ≠ b: ours is a, the paper's b, in bold for results. T, L, I: threads, labels, instructions. RQ: attacks. NR1: no path from the store to the \
         load, or none without a fence. *free*: dismissed for another reason without a search. NR2, R: searched, infeasible and feasible. F: \
         fences that make it robust.\n\n{counts}\n{comparison}\n\
         ### Time\n\n\
         The paper's seconds (Spin: making verifiers; Ver: running them and Trencher; Real: all of it on the wall clock), for the check and the fences together. Then ours, in \
         processor time of one worker: settling all attacks, and finding the cheapest fences. Ratio: the paper's Real over both of ours, for orders of magnitude only, since the \
         machines and some of the programs differ. The last four columns are SPIN on this machine, on every attack that needs a search, one instrumented program each \
         (`ravelin convert FILE --instrument ATTACK --to promela`), as in the paper: how many, for how many it says the same as Ravelin, and processor time of \
         SPIN with gcc and of the verifiers. ¹ One run.\n\n{times}\n"
    );
    Chapter { paper: "000", text, plots: Vec::new(), unexplained: comparison.unexplained() }
}

fn find(paper: &RobustnessRow, effort: &MeasurementEffort) -> Result<RobustnessMeasurement> {
    let program = sources::example(paper.file)?;
    let budget = Budget::unlimited().time(effort.limit);
    let question = RobustnessQuestion { budget, ..every_attack(RobustnessEngine::Shared) };
    let (answer, checking) = measure(&program, question, effort.repetitions)?;
    ensure!(answer.verdict != Verdict::Unknown, "not settled in {} s", effort.limit.as_secs());
    let plan = FenceExperiment { time: Some(effort.limit), ..FenceExperiment::ROBUST };
    let repaired = fences::measure(&program, Language::Rav, plan, effort.repetitions)?;
    let late = || format!("fences not found in {} s", effort.limit.as_secs());
    ensure!(fences::is_settled(&repaired.answer), late());
    let repairing = repaired.time.with_context(late)?;
    let fates = Fates::of(&answer);
    Ok(RobustnessMeasurement {
        answer,
        size: size(&program),
        fates,
        fences: repaired.fences,
        times: [checking, repairing],
    })
}

fn compared(comparison: &mut TableComparison, paper: &RobustnessRow, found: &RobustnessMeasurement) -> Vec<String> {
    let RobustnessMeasurement { fates, size, .. } = found;
    let word = |robust: bool| if robust { "yes" } else { "no" };
    let sizes = [("T", 0), ("L", 1), ("I", 2)]
        .map(|(column, at)| comparison.size(paper.name, column, size[at], paper.size[at]));
    let [threads, labels, instructions] = sizes;
    let mut result = |column, ours: usize, theirs: usize| comparison.result(paper.name, column, ours, theirs);
    let mut cells = vec![
        paper.name.to_owned(),
        String::new(),
        threads,
        labels,
        instructions,
        result("RQ", fates.attacks, paper.queries),
        result("NR1", fates.fenced, paper.fenced),
        fates.free.to_string(),
        result("NR2", fates.infeasible, paper.infeasible),
        result("R", fates.feasible, paper.feasible),
        result("F", found.fences, paper.fences),
    ];
    cells[1] =
        comparison.result(paper.name, "robust", word(found.answer.verdict == Verdict::Holds), word(paper.robust));
    cells
}

fn timed(effort: &MeasurementEffort, paper: &RobustnessRow, found: RobustnessMeasurement) -> Vec<String> {
    let [checking, fences] = found.times;
    let real = Duration::from_secs_f64(paper.seconds[2]);
    let mut cells = vec![paper.name.to_owned(), format!("`{}`", paper.file)];
    cells.extend(paper.seconds.map(|time| format!("{time:.1} s")));
    cells.extend([seconds(checking), count(found.answer.explored.states), seconds(fences)]);
    // A time of 0.0 s says only that it was short.
    cells.push(if real.is_zero() { String::new() } else { format!("{:.0}", ratio(real, checking + fences)) });
    let searched = found.fates.infeasible + found.fates.feasible;
    cells.push(searched.to_string());
    if searched == 0 {
        cells.extend([String::new(), String::new(), String::new()]);
    } else if effort.quick {
        cells.extend([SKIPPED.to_owned(), String::new(), String::new()]);
    } else if !spin::is_installed() {
        cells.extend(["not installed".to_owned(), String::new(), String::new()]);
    } else {
        cells.extend(match ask_spin(effort, paper.file, &found.answer) {
            Ok((agree, compiling, verifying)) => [agree, seconds(compiling), seconds(verifying)],
            Err(problem) => [problem, String::new(), String::new()],
        });
    }
    cells
}

/// For how many of the attacks that were searched SPIN agrees, and what it took.
fn ask_spin(
    effort: &MeasurementEffort,
    file: &str,
    answer: &RobustnessAnswer,
) -> Result<(String, Duration, Duration), String> {
    let program = HardwareProgram::new(&sources::example(file).map_err(|error| error.to_string())?);
    let (mut agree, mut asked) = (0, 0);
    let (mut compiling, mut verifying) = (Duration::ZERO, Duration::ZERO);
    for judged in &answer.attacks {
        let feasible = match judged.fate {
            AttackFate::Feasible(_) => true,
            AttackFate::Infeasible => false,
            AttackFate::Dismissed(_) | AttackFate::Open => continue,
        };
        let instrumented = instrument(&program, judged.attack).map_err(|error| error.to_string())?;
        let what = format!("SPIN on {file}, {}", attack_name(&program, judged.attack));
        let (limit, repetitions) = (effort.limit, effort.repetitions);
        let verified = guarded(effort, &what, move || spin::verify(&instrumented, limit, repetitions))?;
        asked += 1;
        agree += usize::from(verified.violated == feasible);
        compiling += verified.compiling;
        verifying += verified.verifying;
    }
    let agree = if agree == asked { agree.to_string() } else { format!("**{agree} of {asked}**") };
    Ok((agree, compiling, verifying))
}

#[cfg(test)]
mod tests {
    use super::super::EXACT;
    use super::*;

    #[test]
    fn verdicts_and_fences_are_the_papers() {
        let mut comparison = TableComparison::new(&REASONS);
        for paper in TABLE_2 {
            let found = find(&paper, &EXACT).unwrap();
            compared(&mut comparison, &paper, &found);
            assert_eq!(found.answer.verdict == Verdict::Holds, paper.robust, "{}", paper.name);
            assert_eq!(found.fences, paper.fences, "{}", paper.name);
        }
        assert_eq!(comparison.unexplained(), Vec::<String>::new());
    }

    #[test]
    fn spin_answers_the_instrumented_queries_alike() {
        if !spin::is_installed() {
            return;
        }
        let found = find(&TABLE_2[14], &EXACT).unwrap();
        let (agree, ..) = ask_spin(&EXACT, TABLE_2[14].file, &found.answer).unwrap();
        assert_eq!(agree, "1");
    }
}
