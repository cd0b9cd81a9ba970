//! Section 6.3 of *Dynamic Robustness Verification against Weak Memory*: what watching costs over the stock thread sanitizer.
//!
//! The sources of mimalloc are not part of the project (`case-studies/c/run` fetches them); without them the number stored in
//! `docs/benchmarks-runtime.md` is shown, and said to be stored.

use super::row::{Effort, SKIPPED, guarded};
use crate::bench::runtime::{Measured, builds, costs, table, workloads};
use crate::papers::rsan_2025::{OVERHEAD, OVERHEAD_MIMALLOC, OVERHEAD_TESTS};
use crate::watched::built;
use std::path::PathBuf;

/// The first word of the row of mimalloc.
const MIMALLOC: &str = "mimalloc";

pub fn section(effort: &Effort) -> String {
    let mut section = format!(
        "### Section 6.3: overhead over the thread sanitizer\n\n\
         The paper reports that RSan takes {OVERHEAD} times as long as TSan, on average over {OVERHEAD_TESTS} tests, among them randomly generated ones, and {OVERHEAD_MIMALLOC} times for mimalloc. "
    );
    if effort.quick {
        return section + &format!("Ours: {SKIPPED} (`--quick`).\n\n");
    }
    let (measured, problems) = measure(effort);
    let builds = builds();
    section += "Ours were obtained as by `cargo xtask bench runtime`: the programs in `xtask/programs/runtime` (locks, queues, an allocator, and random accesses with more and more threads, \
                locations and fences), each plain, under the stock thread sanitizer of each compiler (TSan, data races only) and under `ravelin cc`. Processor time of all threads; ratio: \
                Ravelin over the TSan of the same compiler, both on this machine, so these can be compared with the paper's.\n\n";
    section +=
        &format!("{}\n", table(&measured, &builds, |cost| cost.time.as_secs_f64(), |time| format!("{time:.2} s")));
    if !measured.iter().any(|(name, _)| name.starts_with(MIMALLOC)) {
        section += &match stored() {
            Some(ratios) => format!(
                "mimalloc was not measured in this run, for want of its sources (`case-studies/c/run` fetches them). Stored in [benchmarks-runtime.md](benchmarks-runtime.md): {} times TSan.\n\n",
                ratios.join(" and ")
            ),
            None => "mimalloc was not measured, for want of its sources.\n\n".to_owned(),
        };
    }
    for problem in problems {
        section += &format!("**Failed:** {problem}.\n\n");
    }
    section
}

fn measure(effort: &Effort) -> (Measured, Vec<String>) {
    let mimalloc = sources_of_mimalloc();
    let folder = std::env::temp_dir().join(format!("ravelin-tables-{}-overhead", std::process::id()));
    let ready = || -> anyhow::Result<PathBuf> {
        std::fs::create_dir_all(folder.join("findings"))?;
        built()
    };
    let mut measured = Vec::new();
    let mut problems = Vec::new();
    match ready() {
        Err(error) => problems.push(format!("{error:#}")),
        Ok(ravelin) => {
            for workload in workloads(mimalloc.is_some()) {
                let (ravelin, folder, mimalloc) = (ravelin.clone(), folder.clone(), mimalloc.clone());
                let repetitions = if effort.long { effort.repetitions } else { 1 };
                let costs = guarded(effort, workload.0, move || {
                    costs(workload, repetitions, mimalloc.as_deref(), &ravelin, &builds(), &folder)
                });
                match costs {
                    Ok(costs) => measured.push((workload.0, costs)),
                    Err(problem) => problems.push(format!("{}: {problem}", workload.0)),
                }
            }
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
    ratios(&text)
}

fn ratios(document: &str) -> Option<Vec<String>> {
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
        assert_eq!(ratios("## Time\n\n| program | ratio gcc |\n| --- | --- |\n| other | 2.0 |\n"), None);
        assert_eq!(ratios("nothing"), None);
    }
}
