//! Figures 6 to 11 of *Lazy TSO Reachability*: whether goals are reached under TSO, how long each engine takes, and how they grow, with SPIN
//! on the same programs under sequential consistency.

use super::comparison::{Comparison, Reason};
use super::document::{Chapter, picture};
use super::plot::{Curve, Measure, Origin, Plot};
use super::row::{Effort, empty, guarded};
use super::under_sc::under_sc;
use crate::asked::reach;
use crate::asked::robustness::size;
use crate::measure::ratio;
use crate::papers::lazy_tso_2015::{FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_9_QUERIES, Point, Row};
use crate::sources;
use crate::table::{Table, count, seconds};
use anyhow::{Result, anyhow};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{Answer, Effort as Spent, Engine};
use ravelin_analysis::robustness::attacks;
use ravelin_program::{Program, lower_for_hardware};
use std::time::Duration;

const REASONS: [Reason; 3] = [
    Reason {
        columns: &["T", "St", "Tr", "RQ"],
        rows: &["MCS lock", "CLH lock", "Lock-free stack"],
        why: "our versions have fewer threads or fewer instructions, and so fewer attacks.",
    },
    Reason {
        columns: &["St", "Tr", "RQ"],
        rows: &["Parker (non-robust)"],
        why: "this paper's Parker has two instructions more than the one of 2013, which ours is like.",
    },
    Reason {
        columns: &["St", "Tr"],
        rows: &["Dekker (non-robust)", "Lamport (non-robust)"],
        why: "the paper's texts have a jump of its own at the end of each thread's round.",
    },
];

/// A program that grows with its constant `N`.
struct Growth {
    /// The name of the picture, and what it shows.
    picture: &'static str,
    title: &'static str,
    /// The heading of its section, and what the paper says about it.
    heading: &'static str,
    says: &'static str,
    file: &'static str,
    across: &'static str,
    values: &'static [usize],
    /// Also, with `--long`.
    more: &'static [usize],
    paper: &'static [Point],
}

const GROWTH: [Growth; 3] = [
    Growth {
        picture: "lazy-tso-figure-7",
        title: "Lamport's fast mutex (figure 7)",
        heading: "Figure 7: Lamport's fast mutex with N threads",
        says: "The marks 23 s and 39 s of the figure's axis belong to N = 4; the text says that Memorax is the faster one there, that CBMC is faster than both, \
               and that Memorax and Trencher run out of 8 GB with N = 5.",
        file: "lazy-tso/lamport-n.rav",
        across: "N, threads",
        values: &[2, 3, 4, 5, 6],
        more: &[7],
        paper: &FIGURE_7,
    },
    Growth {
        picture: "lazy-tso-figure-10",
        title: "Dekker with N paths (figures 8, 10 and 11)",
        heading: "Figures 8, 10 (right) and 11: Dekker with N paths",
        says: "The values of the curves are not printed; the caption of figure 11 says that Memorax takes 84 s for N = 50. Trencher grows exponentially.",
        file: "lazy-tso/dekker-diamond.rav",
        across: "N, paths between a store and a load",
        values: &[3, 10, 50, 100, 200],
        more: &[500],
        paper: &FIGURE_8,
    },
    Growth {
        picture: "lazy-tso-figure-9",
        title: "A loop of N stores, twice (figures 9 and 11)",
        heading: "Figures 9 and 11: a loop of N stores, gone through twice",
        says: "The largest mark of the figure's axis, 45 s, is where its slower tool, CBMC, ends at N = 13; the caption of figure 11 says 515 s for N = 20. Marks at 8 s and 15 s cannot be \
               told apart. Trencher is faster.",
        file: "lazy-tso/long-loop.rav",
        across: "N, stores in the loop",
        values: &[3, 5, 7, 9, 11, 13, 20, 50],
        more: &[100],
        paper: &FIGURE_9,
    },
];

const ENGINES: [Engine; 5] = [Engine::Auto, Engine::Lazy, Engine::Dual, Engine::Sb, Engine::Bounded];

pub fn chapter(effort: &Effort) -> Chapter {
    let (mut text, unexplained) = figure_6(effort);
    let mut plots = Vec::new();
    for growth in &GROWTH {
        let (section, plot) = grown(effort, growth);
        text += &section;
        plots.push((growth.picture, plot));
    }
    Chapter { paper: "002", text, plots, unexplained }
}

fn figure_6(effort: &Effort) -> (String, Vec<String>) {
    let mut comparison = Comparison::new(&REASONS);
    let mut table = Table::new(&[
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
            let [lazy, auto] = [Engine::Lazy, Engine::Auto].map(|engine| ask(&program, engine, &limits));
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
        cells.extend([seconds(lazy_time), seconds(auto_time), format!("{:.0}", ratio(real, lazy_time))]);
        cells.push(under_sc(effort, paper.file, program, false).0);
        table.row(cells);
    }
    let text = format!(
        "## Lazy TSO Reachability (2015), figures 6 to 11\n\n\
         Bouajjani, Calin, Derevenetc, Meyer, FASE 2015; measured there with Trencher, Memorax and CBMC on a virtual machine with 16 cores at 2.67 GHz and 8 GB. \
         Figure 6 is a table; the values of the other figures are not printed, and only what the text and the axes tell is shown here. Ours were obtained by \
         `ravelin reach FILE --model tso --engine ENGINE`, with another constant `N` in the file where a program grows: processor time of all threads, below a tenth of a second time on the wall \
         clock. `lazy` is the paper's algorithm, `sb` that of Memorax; `dual` searches load buffers backwards, `bounded` explores store buffers of a fixed size, and `auto`, the default, is a \
         portfolio. SPIN is asked about the same program under sequential consistency (`ravelin convert FILE --to promela`), where no goal is reached: an exhaustive search, without the time to compile. What it \
         tells is how the space itself grows.\n\n\
         ### Figure 6, and figure 10 (left)\n\n\
         In brackets the paper's number or answer, if it is the same; a ≠ b: ours is a, the paper's b, in bold for results. T, St, Tr: threads, states, transitions. RQ: the paper's queries under SC, one an attack; \
         ours are the attacks, but the lazy engine asks about all of them together, once a round, and gets paths to extend. CPU and Real are the paper's; ratio: Real over `lazy`, for orders of magnitude only. Figure 10 (left) shows Real of the first four \
         beside Memorax and CBMC, whose values are not printed.\n\n{table}\n{comparison}\n"
    );
    (text, comparison.unexplained())
}

fn compared(comparison: &mut Comparison, paper: &Row, program: &Program, answers: [&Answer; 2]) -> Vec<String> {
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
    cells.push(comparison.result(paper.name, "RQ", attacks(&lower_for_hardware(program)).len(), paper.queries));
    cells
}

fn grown(effort: &Effort, growth: &Growth) -> (String, Plot) {
    let mut head = vec!["N"];
    head.extend(ENGINES.iter().map(|engine| engine.name()));
    head.extend(["rounds", "SPIN under sc", "paper"]);
    let mut table = Table::new(&head);
    let mut times: Vec<Vec<(f64, f64)>> = vec![Vec::new(); ENGINES.len()];
    let mut spins = Vec::new();
    // An engine that was stopped is not asked about larger ones.
    let mut alive = [true; ENGINES.len()];
    let mut spin_is_alive = true;
    let more = growth.more.iter().filter(|_| effort.long);
    for &n in growth.values.iter().chain(more) {
        let mut cells = vec![n.to_string()];
        let mut rounds = String::new();
        for (number, engine) in ENGINES.into_iter().enumerate() {
            if !alive[number] {
                cells.push("–".to_owned());
                continue;
            }
            let (file, limits) = (growth.file, *effort);
            let asked = guarded(effort, &format!("{file}, N = {n}, {}", engine.name()), move || {
                ask(&sources::example_with(file, "N", n)?, engine, &limits)
            });
            cells.push(match asked {
                Err(problem) => {
                    alive[number] = false;
                    problem
                }
                Ok((answer, time)) => {
                    let verdict = answer.reachability.verdict;
                    alive[number] = verdict != Verdict::Unknown;
                    if alive[number] {
                        times[number].push((n as f64, time.as_secs_f64()));
                    }
                    if let Spent::Rounds(lazy) = &answer.effort {
                        rounds = lazy.rounds.to_string();
                    }
                    let cell =
                        format!("{} {} ({})", reach::letter(verdict), seconds(time), count(reach::effort(&answer)));
                    // The paper's goals are reached for every N.
                    if verdict == Verdict::Holds { format!("**{cell}**") } else { cell }
                }
            });
        }
        cells.push(rounds);
        if spin_is_alive {
            let asked = sources::example_with(growth.file, "N", n).map_or_else(
                |error| (error.to_string(), None),
                |program| under_sc(effort, growth.file, program, false),
            );
            spin_is_alive = asked.1.is_some() || effort.quick;
            spins.extend(asked.1.map(|time| (n as f64, time.as_secs_f64())));
            cells.push(asked.0);
        } else {
            cells.push("–".to_owned());
        }
        let known = growth.paper.iter().filter(|(_, at, _)| *at == n as f64);
        cells.push(known.map(|(tool, _, time)| format!("{tool} {time} s")).collect::<Vec<_>>().join(", "));
        table.row(cells);
    }
    let mut section = format!(
        "### {}\n\n`examples/{}`. h: holds, v: violated, ?: not settled in {} s; then the time, and states or constraints; rounds of the lazy engine. {}",
        growth.heading,
        growth.file,
        effort.limit.as_secs(),
        growth.says
    );
    if growth.picture == "lazy-tso-figure-9" {
        section += &format!(" The paper's tool asks {FIGURE_9_QUERIES} queries under SC, whatever N is.");
    }
    section += &format!("\n\n{table}\n{}", picture(growth.picture, growth.title));
    (section, plot(growth, times, spins))
}

fn plot(growth: &Growth, times: Vec<Vec<(f64, f64)>>, spins: Vec<(f64, f64)>) -> Plot {
    let ours = ENGINES.iter().zip(times).filter(|(engine, _)| **engine != Engine::Bounded);
    let mut curves: Vec<Curve> =
        ours.map(|(engine, points)| Curve { name: engine.name().to_owned(), origin: Origin::Ours, points }).collect();
    curves.push(Curve { name: "SPIN, under sc".to_owned(), origin: Origin::Ours, points: spins });
    for &(tool, n, time) in growth.paper {
        let name = format!("{tool} (paper)");
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push((n, time)),
            None => curves.push(Curve { name, origin: Origin::Paper, points: vec![(n, time)] }),
        }
    }
    Plot { title: growth.title.to_owned(), across: growth.across, up: Measure::Seconds, curves }
}

fn ask(program: &Program, engine: Engine, effort: &Effort) -> Result<(Answer, Duration)> {
    let (answer, time) = reach::measure(program, engine, effort.limit, effort.repetitions.max(1));
    Ok((answer.map_err(|refused| anyhow!(refused))?, time))
}

#[cfg(test)]
mod tests {
    use super::super::EXACT;
    use super::*;

    #[test]
    fn goals_are_reached_as_the_paper_says() {
        let mut comparison = Comparison::new(&REASONS);
        for paper in FIGURE_6 {
            let program = sources::example(paper.file).unwrap();
            let (lazy, _) = ask(&program, Engine::Lazy, &EXACT).unwrap();
            let (auto, _) = ask(&program, Engine::Auto, &EXACT).unwrap();
            let cells = compared(&mut comparison, &paper, &program, [&lazy, &auto]);
            assert_eq!(cells[0], if paper.reachable { "yes (yes)" } else { "no (no)" }, "{}", paper.name);
        }
        assert_eq!(comparison.unexplained(), Vec::<String>::new());
    }

    #[test]
    fn the_smallest_of_each_growing_program_is_reached() {
        for growth in &GROWTH {
            let program = sources::example_with(growth.file, "N", growth.values[0]).unwrap();
            for engine in ENGINES {
                let (answer, _) = ask(&program, engine, &EXACT).unwrap();
                assert_eq!(answer.reachability.verdict, Verdict::Violated, "{} by {}", growth.file, engine.name());
            }
        }
    }
}
