//! Section 6.3 of *Dynamic Robustness Verification against Weak Memory*: what watching costs over the stock thread sanitizer.
//!
//! The sources of mimalloc are not part of the project (`case-studies/c/run` fetches them); without them the number stored in
//! `docs/benchmarks-runtime.md` is shown, and said to be stored.

use super::row::{MeasurementEffort, guarded};
use crate::benchmarks::runtime::{RuntimeMeasurement, builds, costs, means, ratios, table, workloads};
use crate::papers::rsan_2025::{OVERHEAD, OVERHEAD_MIMALLOC, OVERHEAD_TESTS};
use crate::sanitizer::{BuildVariant, RunCost};
use crate::table::MarkdownTable;
use std::path::{Path, PathBuf};

/// The first word of the row of mimalloc.
const MIMALLOC: &str = "mimalloc";

pub fn section(effort: &MeasurementEffort, ravelin: &Result<PathBuf, String>) -> String {
    let mut section = format!(
        "### Section 6.3: overhead over the thread sanitizer\n\n\
         The paper reports that RSan takes {OVERHEAD} times as long as TSan, on average over {OVERHEAD_TESTS} tests, among them randomly generated ones, and {OVERHEAD_MIMALLOC} times for mimalloc. "
    );
    let ravelin = match ravelin {
        Ok(ravelin) => ravelin,
        Err(problem) => return section + &format!("Ours: {problem}.\n\n"),
    };
    let (measured, problems) = measure(effort, ravelin);
    let builds = builds();
    section += "Ours were obtained as by `cargo xtask bench runtime --quick`: the programs in `bench/programs/runtime` (locks, queues, an allocator, and random accesses with more and more threads, \
                locations and fences), each plain, under the stock thread sanitizer of each compiler (TSan, data races only) and under `ravelin cc`. Processor time of all threads; ratio: \
                Ravelin over the TSan of the same compiler, both on this machine, so these can be compared with the paper's.\n\n";
    if !measured.is_empty() {
        let time = |cost: &RunCost| cost.time.as_secs_f64();
        let table = table(&measured, &builds, time, |time| format!("{time:.2} s"));
        section += &format!("{table}\n{}\n", summary(&measured, &builds));
    }
    for problem in problems {
        section += &format!("**Failed:** {problem}.\n\n");
    }
    section
}

/// Time over TSan's, the paper's and ours.
fn summary(measured: &RuntimeMeasurement, builds: &[BuildVariant]) -> String {
    let time = |cost: &RunCost| cost.time.as_secs_f64();
    let show = |ratios: Vec<(&str, f64)>| {
        let shown = ratios.iter().map(|(compiler, ratio)| format!("{ratio:.2} ({compiler})"));
        shown.collect::<Vec<_>>().join(", ")
    };
    let (mimalloc, how) = match measured.iter().find(|(name, _)| name.starts_with(MIMALLOC)) {
        Some((_, costs)) => (show(ratios(builds, costs, time)), "measured now"),
        None => (
            stored().unwrap_or_default().join(", "),
            "stored in [benchmarks-runtime.md](benchmarks-runtime.md); `case-studies/c/run` fetches its sources to measure it again",
        ),
    };
    let mut table = MarkdownTable::new(&["time over TSan's", "paper, RSan", "ours", "how ours was obtained"]);
    let tests = format!("geometric mean of {} programs, measured now", measured.len());
    table.row(vec!["average".to_owned(), OVERHEAD.to_string(), show(means(measured, builds, time)), tests]);
    table.row(vec![MIMALLOC.to_owned(), OVERHEAD_MIMALLOC.to_string(), mimalloc, how.to_owned()]);
    table.to_string()
}

fn measure(effort: &MeasurementEffort, ravelin: &Path) -> (RuntimeMeasurement, Vec<String>) {
    let mimalloc = sources_of_mimalloc();
    let folder = std::env::temp_dir().join(format!("ravelin-tables-{}-overhead", std::process::id()));
    let mut measured = Vec::new();
    let mut problems = Vec::new();
    if let Err(error) = std::fs::create_dir_all(folder.join("findings")) {
        problems.push(format!("cannot make {}: {error}", folder.display()));
    }
    for workload in workloads(mimalloc.is_some()) {
        let (ravelin, folder, mimalloc) = (ravelin.to_owned(), folder.clone(), mimalloc.clone());
        let repetitions = effort.repetitions;
        let costs = guarded(effort, workload.name, move || {
            costs(workload, repetitions, mimalloc.as_deref(), &ravelin, &builds(), &folder)
        });
        match costs {
            Ok(costs) => measured.push((workload.name, costs)),
            Err(problem) => problems.push(format!("{}: {problem}", workload.name)),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    (measured, problems)
}

fn sources_of_mimalloc() -> Option<PathBuf> {
    let folder = crate::root().join("case-studies/c/sources/mimalloc");
    folder.join("src/static.c").exists().then_some(folder)
}

/// The ratios of mimalloc's row in the stored table of times.
fn stored() -> Option<Vec<String>> {
    let text = std::fs::read_to_string(crate::root().join("docs/benchmarks-runtime.md")).ok()?;
    ratios_in(&text)
}

fn ratios_in(document: &str) -> Option<Vec<String>> {
    let (_, times) = document.split_once("## Time")?;
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = times.lines().filter(|line| line.starts_with('|'));
    let head = cells(lines.next()?);
    let row = cells(lines.find(|line| line.starts_with(&format!("| {MIMALLOC}")))?);
    let named = head.iter().zip(row).filter_map(|(head, cell)| {
        let compiler = head.strip_prefix("ratio ")?;
        Some(format!("{cell} ({compiler})"))
    });
    Some(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_numbers_are_read_from_their_document() {
        let ratios = stored().expect("docs/benchmarks-runtime.md has a row for mimalloc");
        assert_eq!(ratios.len(), 2);
        assert!(ratios[0].ends_with(" (gcc)") && ratios[1].ends_with(" (clang)"), "{ratios:?}");
    }

    #[test]
    fn a_document_without_the_row_has_no_number() {
        assert_eq!(ratios_in("## Time\n\n| program | ratio gcc |\n| --- | --- |\n| other | 2.0 |\n"), None);
        assert_eq!(ratios_in("nothing"), None);
    }
}
