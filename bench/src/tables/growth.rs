//! How engines grow with a program: figures 7 to 11 of *Lazy TSO Reachability*, each a table and a picture.

use super::document::picture;
use super::lazy::ask;
use super::plot::{Curve, CurveOrigin, Measure, Plot, add_point};
use super::row::{MeasurementEffort, guarded};
use super::under_sc::under_sc;
use crate::papers::lazy_tso_2015::{CurvePoint, FIGURE_7, FIGURE_8, FIGURE_9, FIGURE_9_QUERIES};
use crate::questions::reach;
use crate::sources;
use crate::table::{MarkdownTable, count, seconds_or_stopped};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachEngine, ReachabilityEffort as Spent};

/// A program that grows with its constant `N`.
pub struct GrowthFamily {
    /// The name of the picture, and what it shows.
    pub picture: &'static str,
    title: &'static str,
    /// The heading of its section, and what the paper says about it.
    heading: &'static str,
    says: &'static str,
    file: &'static str,
    across: &'static str,
    values: &'static [usize],
    /// Also, with `--long`.
    more: &'static [usize],
    paper: &'static [CurvePoint],
    /// Queries under SC of the paper's tool, if it says that they do not grow.
    queries: Option<usize>,
}

pub const GROWTH: [GrowthFamily; 3] = [
    GrowthFamily {
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
        queries: None,
    },
    GrowthFamily {
        picture: "lazy-tso-figure-10",
        title: "Dekker with N paths (figures 8, 10 and 11)",
        heading: "Figures 8, 10 (right) and 11: Dekker with N paths",
        says: "The values of the curves are not printed; the caption of figure 11 says that Memorax takes 84 s for N = 50. Trencher grows exponentially.",
        file: "lazy-tso/dekker-diamond.rav",
        across: "N, paths between a store and a load",
        values: &[3, 10, 50, 100, 200],
        more: &[500],
        paper: &FIGURE_8,
        queries: None,
    },
    GrowthFamily {
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
        queries: Some(FIGURE_9_QUERIES),
    },
];

const ENGINES: [ReachEngine; 5] =
    [ReachEngine::Auto, ReachEngine::Lazy, ReachEngine::Dual, ReachEngine::Sb, ReachEngine::Bounded];
const SPIN: &str = "SPIN, under sc";
/// The cell of a tool that was stopped before and is not asked about more.
const NOT_ASKED: &str = "–";

/// A section of the chapter.
pub struct GrowthSection {
    pub section: String,
    pub plot: Plot,
    /// Verdicts that are not the paper's.
    pub wrong: Vec<String>,
}

pub fn growth_section(effort: &MeasurementEffort, growth: &GrowthFamily) -> GrowthSection {
    let mut run = GrowthRun { effort, growth, curves: curves(growth), stopped: Vec::new(), wrong: Vec::new() };
    let mut head = vec!["N"];
    head.extend(ENGINES.iter().map(|engine| engine.name()));
    head.extend(["rounds", "SPIN under sc", "paper"]);
    let mut table = MarkdownTable::new(&head);
    let more = growth.more.iter().filter(|_| effort.long);
    for &n in growth.values.iter().chain(more) {
        let mut cells = vec![n.to_string()];
        let mut rounds = String::new();
        for engine in ENGINES {
            cells.push(run.engine(n, engine, &mut rounds));
        }
        cells.extend([rounds, run.spin(n)]);
        let known = growth.paper.iter().filter(|(_, at, _)| *at == n as f64);
        cells.push(known.map(|(tool, _, time)| format!("{tool} {time} s")).collect::<Vec<_>>().join(", "));
        table.row(cells);
    }
    for &(tool, n, time) in growth.paper {
        add_point(&mut run.curves, &format!("{tool} (paper)"), CurveOrigin::Paper, (n, time));
    }
    let mut section = format!(
        "### {}\n\n`examples/{}`. h: holds, v: violated, ?: not settled in {} s; then the time, and states or constraints; rounds of the lazy engine. {}",
        growth.heading,
        growth.file,
        effort.limit.as_secs(),
        growth.says
    );
    if let Some(queries) = growth.queries {
        section += &format!(" The paper's tool asks {queries} queries under SC, whatever N is.");
    }
    section += &format!("\n\n{table}\n{}", picture(growth.picture, growth.title));
    let plot = Plot { title: growth.title.to_owned(), across: growth.across, up: Measure::Seconds, curves: run.curves };
    GrowthSection { section, plot, wrong: run.wrong }
}

/// Ours, still empty, so that each has its colour. The bounded search is left out: `auto` begins with it.
fn curves(growth: &GrowthFamily) -> Vec<Curve> {
    debug_assert!(growth.values.is_sorted());
    let engines = ENGINES.iter().filter(|engine| **engine != ReachEngine::Bounded).map(|engine| engine.name());
    let names = engines.chain([SPIN]);
    names.map(|name| Curve { name: name.to_owned(), origin: CurveOrigin::Ours, points: Vec::new() }).collect()
}

struct GrowthRun<'a> {
    effort: &'a MeasurementEffort,
    growth: &'a GrowthFamily,
    curves: Vec<Curve>,
    /// Tools that met a limit or failed; they are not asked about larger programs.
    stopped: Vec<&'static str>,
    wrong: Vec<String>,
}

impl GrowthRun<'_> {
    /// The cell of an engine; the rounds of the lazy one.
    fn engine(&mut self, n: usize, engine: ReachEngine, rounds: &mut String) -> String {
        let name = engine.name();
        if self.stopped.contains(&name) {
            return NOT_ASKED.to_owned();
        }
        let (file, effort) = (self.growth.file, *self.effort);
        let asked = guarded(self.effort, &format!("{file}, N = {n}, {name}"), move || {
            ask(&sources::example_with(file, "N", n)?, engine, &effort)
        });
        let (answer, time) = match asked {
            Ok(asked) => asked,
            Err(problem) => {
                self.stopped.push(name);
                return problem;
            }
        };
        if let (ReachEngine::Lazy, Spent::Rounds(lazy)) = (engine, &answer.effort) {
            *rounds = lazy.rounds.to_string();
        }
        let verdict = answer.reachability.verdict;
        let cell =
            format!("{} {} ({})", reach::letter(verdict), seconds_or_stopped(time), count(reach::effort(&answer)));
        match verdict {
            Verdict::Unknown => {
                self.stopped.push(name);
                cell
            }
            Verdict::Violated => {
                if let Some(time) = time.filter(|_| engine != ReachEngine::Bounded) {
                    add_point(&mut self.curves, name, CurveOrigin::Ours, (n as f64, time.as_secs_f64()));
                }
                cell
            }
            // The paper's goals are reached for every N.
            Verdict::Holds => {
                self.wrong.push(format!("{file} with N = {n}: {name} says that the goal is not reached"));
                format!("**{cell}**")
            }
        }
    }

    fn spin(&mut self, n: usize) -> String {
        if self.stopped.contains(&SPIN) {
            return NOT_ASKED.to_owned();
        }
        let program = match sources::example_with(self.growth.file, "N", n) {
            Ok(program) => program,
            Err(error) => return error.to_string(),
        };
        let (cell, time) = under_sc(self.effort, &format!("{}, N = {n}", self.growth.file), program, false);
        match time {
            Some(time) => add_point(&mut self.curves, SPIN, CurveOrigin::Ours, (n as f64, time.as_secs_f64())),
            None if self.effort.quick => {}
            None => self.stopped.push(SPIN),
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::super::EXACT;
    use super::*;

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
