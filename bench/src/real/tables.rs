//! The tables of programs of others: time, memory, growth, what was reported, and all of it in a few numbers.
//!
//! A program that one compiler could not build has a dash in its columns.

use super::{RealMeasurement, WATCHED_RUNS};
use crate::benchmarks::runtime::exponent;
use crate::sanitizer::{BuildVariant, Instrumentation, RunCost};
use crate::table::{MarkdownTable, count, judged};

/// The promises: Ravelin over the stock sanitizer of the same compiler.
const TIME_MEAN: f64 = 1.2;
const TIME_LARGEST: f64 = 2.5;
const MEMORY: f64 = 1.5;

/// Cost may grow like the work to the power of this and is still called linear: what the scheduler does differs between runs.
const LINEAR: f64 = 1.15;

type Value = fn(&RunCost) -> f64;

fn time(cost: &RunCost) -> f64 {
    cost.time.as_secs_f64()
}

fn memory(cost: &RunCost) -> f64 {
    cost.memory as f64 / 1024.0
}

/// Everything about the programs, as Markdown.
pub fn sections(measured: &[RealMeasurement]) -> String {
    let mut text = format!("## Programs\n\n{}\n", programs(measured));
    text += &format!("## Summary\n\n{SUMMARY}\n\n{}\n", summary(measured));
    let groups = groups(measured);
    let tables = |what: &dyn Fn(&[&RealMeasurement]) -> MarkdownTable| {
        groups.iter().map(|group| format!("{}\n", what(group))).collect::<String>()
    };
    let times = tables(&|group| costs(group, time, |seconds| format!("{seconds:.2} s")));
    text += &format!("## Time\n\nWith the larger size.\n\n{times}");
    let memories = tables(&|group| costs(group, memory, |mib| format!("{mib:.0} MiB")));
    text += &format!("## Memory\n\nWith the larger size.\n\n{memories}");
    text += &format!("## Growth\n\n{GROWTH}\n\n{}", tables(&growth));
    text += &format!("## Reports\n\n{}\n\n{}", about_reports(), tables(&reports));
    text
}

const SUMMARY: &str = "Ravelin over the thread sanitizer of the same compiler. The mean is the geometric one; a program \
                       is quiet if neither sanitizer reports anything.";
const GROWTH: &str = "The exponent of processor time in work, from the two sizes: 1 is linear. What a start costs makes \
                      it smaller, noise makes it larger or smaller.";

/// What the table of reports says.
fn about_reports() -> String {
    format!(
        "The most reports in one of {WATCHED_RUNS} runs with the larger size. Ravelin looks for robustness violations as \
         well as for data races, the thread sanitizers for races only. What std does inside is invisible to rustc's."
    )
}

fn programs(measured: &[RealMeasurement]) -> MarkdownTable {
    let mut table = MarkdownTable::new(&["program", "packages", "what it does", "smaller size", "larger size"]);
    for program in measured {
        let [small, large] = program.sizes.map(count);
        table.row(vec![program.name.to_owned(), program.packages.clone(), program.does.to_owned(), small, large]);
    }
    table
}

/// Programs whose tables have the same columns: those in C and C++, those in Rust.
fn groups(measured: &[RealMeasurement]) -> Vec<Vec<&RealMeasurement>> {
    let is_rust = |program: &&RealMeasurement| program.builds.iter().any(|build| build.compiler == "rustc");
    let (rust, c): (Vec<_>, Vec<_>) = measured.iter().partition(is_rust);
    [c, rust].into_iter().filter(|group| !group.is_empty()).collect()
}

/// The builds of any program of a group, in the order of the columns.
fn columns(group: &[&RealMeasurement]) -> Vec<BuildVariant> {
    let mut columns: Vec<BuildVariant> = Vec::new();
    for build in group.iter().flat_map(|program| &program.builds) {
        if !columns.contains(build) {
            columns.push(*build);
        }
    }
    let rank =
        |build: &BuildVariant| crate::sanitizer::BUILDS.iter().position(|other| other == build).unwrap_or(usize::MAX);
    columns.sort_by_key(rank);
    columns
}

fn compilers(group: &[&RealMeasurement]) -> Vec<&'static str> {
    let watched = columns(group).into_iter().filter(|build| build.kind == Instrumentation::Ravelin);
    watched.map(|build| build.compiler).collect()
}

impl RealMeasurement {
    fn number(&self, build: BuildVariant) -> Option<usize> {
        self.builds.iter().position(|other| *other == build)
    }

    /// What a build costs with the larger size.
    fn cost(&self, build: BuildVariant) -> Option<&RunCost> {
        self.costs[1].get(self.number(build)?)
    }

    /// Ravelin over the stock sanitizer.
    fn ratio(&self, compiler: &'static str, value: Value) -> Option<f64> {
        let cost = |kind| self.cost(BuildVariant { compiler, kind }).map(value);
        Some(cost(Instrumentation::Ravelin)? / cost(Instrumentation::Stock)?.max(1e-6))
    }

    fn exponent(&self, build: BuildVariant) -> Option<f64> {
        let number = self.number(build)?;
        let times = [time(self.costs[0].get(number)?), time(self.costs[1].get(number)?)];
        Some(exponent(times, self.sizes[1] as f64 / self.sizes[0] as f64))
    }

    fn is_quiet(&self, compiler: &'static str) -> bool {
        let reports = |kind| self.findings.get(self.number(BuildVariant { compiler, kind })?).copied().flatten();
        [Instrumentation::Stock, Instrumentation::Ravelin].map(reports) == [Some(0), Some(0)]
    }
}

fn costs(group: &[&RealMeasurement], value: Value, show: fn(f64) -> String) -> MarkdownTable {
    let (columns, compilers) = (columns(group), compilers(group));
    let mut head = vec!["program".to_owned()];
    head.extend(columns.iter().map(|build| build.name()));
    head.extend(compilers.iter().map(|compiler| format!("ratio {compiler}")));
    let mut table = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for program in group {
        let mut row = vec![program.name.to_owned()];
        row.extend(columns.iter().map(|build| or_dash(program.cost(*build).map(|cost| show(value(cost))))));
        row.extend(compilers.iter().map(|compiler| or_dash(program.ratio(compiler, value).map(two_digits))));
        table.row(row);
    }
    table
}

fn growth(group: &[&RealMeasurement]) -> MarkdownTable {
    by_build(group, columns(group), |program, build| program.exponent(build).map(two_digits))
}

fn reports(group: &[&RealMeasurement]) -> MarkdownTable {
    let columns = columns(group).into_iter().filter(|build| build.kind != Instrumentation::Plain).collect();
    by_build(group, columns, |program, build| {
        let reports = program.findings.get(program.number(build)?).copied().flatten()?;
        Some(reports.to_string())
    })
}

fn by_build(
    group: &[&RealMeasurement],
    columns: Vec<BuildVariant>,
    cell: fn(&RealMeasurement, BuildVariant) -> Option<String>,
) -> MarkdownTable {
    let mut head = vec!["program".to_owned()];
    head.extend(columns.iter().map(|build| build.name()));
    let mut table = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for program in group {
        let mut row = vec![program.name.to_owned()];
        row.extend(columns.iter().map(|build| or_dash(cell(program, *build))));
        table.row(row);
    }
    table
}

/// A column for each compiler, with what was promised.
fn summary(measured: &[RealMeasurement]) -> MarkdownTable {
    let all: Vec<&RealMeasurement> = measured.iter().collect();
    let compilers = compilers(&all);
    let mut head = vec!["over TSan of the same compiler".to_owned()];
    head.extend(compilers.iter().map(|&compiler| compiler.to_owned()));
    let mut table = MarkdownTable::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    let ratios = |compiler: &'static str, value: Value, quiet: bool| -> Vec<(&'static str, f64)> {
        let programs = measured.iter().filter(|program| !quiet || program.is_quiet(compiler));
        programs.filter_map(|program| Some((program.name, program.ratio(compiler, value)?))).collect()
    };
    let mut row = |name: &str, cell: &dyn Fn(&'static str) -> Option<String>| {
        let cells = compilers.iter().map(|compiler| or_dash(cell(compiler)));
        table.row(std::iter::once(name.to_owned()).chain(cells).collect());
    };
    row("programs", &|compiler| Some(ratios(compiler, time, false).len().to_string()));
    row("quiet programs", &|compiler| Some(ratios(compiler, time, true).len().to_string()));
    row("time, mean of quiet programs", &|compiler| {
        mean(&ratios(compiler, time, true)).map(|mean| promised(mean, TIME_MEAN, ""))
    });
    row("time, mean of all programs", &|compiler| mean(&ratios(compiler, time, false)).map(two_digits));
    row("time, largest", &|compiler| {
        largest(&ratios(compiler, time, false)).map(|(name, ratio)| promised(ratio, TIME_LARGEST, name))
    });
    row("memory, mean of all programs", &|compiler| {
        mean(&ratios(compiler, memory, false)).map(|mean| promised(mean, MEMORY, ""))
    });
    row("memory, largest", &|compiler| {
        largest(&ratios(compiler, memory, false)).map(|(name, ratio)| promised(ratio, MEMORY, name))
    });
    row("exponent of Ravelin's time, largest", &|compiler| {
        let build = BuildVariant { compiler, kind: Instrumentation::Ravelin };
        let exponents = measured.iter().filter_map(|program| Some((program.name, program.exponent(build)?)));
        largest(&exponents.collect::<Vec<_>>()).map(|(name, exponent)| promised(exponent, LINEAR, name))
    });
    table
}

fn promised(value: f64, most: f64, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!(" {name}") };
    judged(value, &name, &format!("at most {most}"), value <= most)
}

/// The geometric mean.
fn mean(ratios: &[(&str, f64)]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|(_, ratio)| ratio.max(1e-6).ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

fn largest(values: &[(&'static str, f64)]) -> Option<(&'static str, f64)> {
    values.iter().copied().max_by(|left, right| left.1.total_cmp(&right.1))
}

fn two_digits(value: f64) -> String {
    format!("{value:.2}")
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "–".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::BUILDS;
    use std::time::Duration;

    fn program(name: &'static str, times: [[u64; 5]; 2], findings: [usize; 5]) -> RealMeasurement {
        let cost = |time| RunCost { time: Duration::from_secs(time), memory: 1024 * time };
        RealMeasurement {
            name,
            packages: "package 1".to_owned(),
            does: "something",
            sizes: [10, 40],
            builds: BUILDS.to_vec(),
            costs: times.map(|times| times.map(cost).to_vec()),
            findings: findings.map(Some).to_vec(),
        }
    }

    fn row<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.starts_with(&format!("| {name}"))).unwrap_or_default();
        line.trim_matches('|').split('|').map(str::trim).skip(1).collect()
    }

    #[test]
    fn the_summary_leaves_out_what_is_not_quiet() {
        let quiet = program("quiet", [[1, 1, 1, 1, 1], [1, 4, 4, 4, 8]], [0; 5]);
        let loud = program("loud", [[1, 1, 1, 1, 1], [1, 4, 16, 4, 4]], [0, 1, 0, 0, 0]);
        let text = summary(&[quiet, loud]).to_string();
        assert_eq!(row(&text, "quiet programs"), ["1", "2"]);
        assert_eq!(row(&text, "time, mean of quiet"), ["1.00 (at most 1.2: met)", "1.41 (at most 1.2: missed)"]);
        assert_eq!(row(&text, "time, mean of all"), ["2.00", "1.41"]);
        assert_eq!(row(&text, "time, largest")[0], "4.00 loud (at most 2.5: missed)");
        assert_eq!(row(&text, "exponent")[0], "2.00 loud (at most 1.15: missed)");
    }

    #[test]
    fn what_was_not_built_is_a_dash() {
        let mut half = program("half", [[1, 1, 1, 1, 1], [4, 4, 4, 4, 4]], [0; 5]);
        half.builds.truncate(3);
        let whole = program("whole", [[1, 1, 1, 1, 1], [4, 8, 4, 4, 4]], [0; 5]);
        let group = [&half, &whole];
        let text = costs(&group, time, two_digits).to_string();
        assert_eq!(row(&text, "half"), ["4.00", "4.00", "4.00", "–", "–", "1.00", "–"]);
        assert_eq!(row(&text, "whole")[5..], ["0.50", "1.00"]);
        assert_eq!(row(&growth(&group).to_string(), "whole"), ["1.00", "1.50", "1.00", "1.00", "1.00"]);
        assert_eq!(row(&reports(&group).to_string(), "half"), ["0", "0", "–", "–"]);
    }
}
