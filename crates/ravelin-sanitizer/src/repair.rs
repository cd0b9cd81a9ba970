//! Tries suggestions: maps names such as `queue.c:12:release` to places in the program.
//!
//! A fix is named by the place of an access, as reports show it, and by the change there. The runtime knows places by
//! file and offset. A list of all atomic accesses of a run shows which of them belong to a line.

use crate::report::{Finding, Report, Suggestion};
use crate::symbols::Symbols;
use ravelin_answer::sanitizer::{AccessOrder, ProblemGroup};
use ravelin_findings::{AccessKind, Findings, RecordedOrder};
pub use ravelin_verify::OrderChange;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A change of the program's memory orders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fix {
    /// `FILE:LINE`, as reports show it.
    pub place: String,
    pub repair: OrderChange,
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.place, self.repair.name())
    }
}

/// A text that is not a fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a fix; expected FILE:LINE:ORDER with acquire, release, acq_rel, seq_cst or fence, or the number of a finding"
)]
pub struct NoFix(String);

impl FromStr for Fix {
    type Err = NoFix;

    fn from_str(text: &str) -> Result<Fix, NoFix> {
        let wrong = || NoFix(text.to_owned());
        let (place, what) = text.rsplit_once(':').filter(|(place, _)| !place.is_empty()).ok_or_else(wrong)?;
        let repair = OrderChange::ALL.into_iter().find(|repair| repair.name() == what).ok_or_else(wrong)?;
        Ok(Fix { place: place.to_owned(), repair })
    }
}

/// The fixes in a finding's suggestion; empty if it asks for no orders.
pub fn fixes_of(finding: &Finding) -> Vec<Fix> {
    match &finding.suggestion {
        Suggestion::ReleaseAcquire(stronger) => stronger
            .iter()
            .filter_map(|strengthen| {
                let repair = match strengthen.order {
                    AccessOrder::Acquire => OrderChange::Acquire,
                    AccessOrder::Release => OrderChange::Release,
                    AccessOrder::AcqRel => OrderChange::AcqRel,
                    AccessOrder::SeqCst => OrderChange::SeqCst,
                    AccessOrder::Plain | AccessOrder::Relaxed => return None,
                };
                Some(Fix { place: strengthen.place.clone(), repair })
            })
            .collect(),
        Suggestion::Fences(segments) | Suggestion::Drain(segments) if !segments.is_empty() => {
            segments.iter().map(|segment| Fix { place: segment.to.clone(), repair: OrderChange::Fence }).collect()
        }
        Suggestion::Fences(_) | Suggestion::Drain(_) | Suggestion::Unknown => last_resort(finding),
        Suggestion::Synchronise
        | Suggestion::MakeAtomic { .. }
        | Suggestion::FreeLater
        | Suggestion::UseCorrectly(_) => Vec::new(),
    }
}

/// Why there are no such fixes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFixes {
    #[error("there is no finding {number}; there are {all}")]
    NoSuchFinding { number: usize, all: usize },
    #[error(
        "finding {number} is a data race between whose accesses no atomic access is known that could order them, so there is nothing to try out; its suggestion is: {advice}"
    )]
    NothingToTry { number: usize, advice: String },
    #[error(transparent)]
    NoFix(#[from] NoFix),
}

/// The fixes that names stand for, each once: `FILE:LINE:ORDER`, or the number of a finding, from 1.
pub fn named_fixes(names: &[String], report: &Report) -> Result<Vec<Fix>, NoFixes> {
    let mut fixes: Vec<Fix> = Vec::new();
    for name in names {
        let these = match name.parse::<usize>() {
            Ok(number) => {
                let all = report.findings.len();
                let finding = number.checked_sub(1).and_then(|at| report.findings.get(at));
                let finding = finding.ok_or(NoFixes::NoSuchFinding { number, all })?;
                let these = fixes_of(finding);
                if these.is_empty() {
                    return Err(NoFixes::NothingToTry { number, advice: finding.advice() });
                }
                these
            }
            Err(_) => vec![name.parse::<Fix>()?],
        };
        for fix in these {
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        }
    }
    Ok(fixes)
}

/// The last attempt if the suggestion for a robustness violation did not remove it: both accesses seq_cst. For a race
/// that is no more than release and acquire.
pub fn last_resort(finding: &Finding) -> Vec<Fix> {
    if finding.problem.group() != ProblemGroup::Robustness {
        return Vec::new();
    }
    let steps = finding.path.iter().flat_map(|step| [&step.before, &step.after]);
    let accesses = [&finding.other, &finding.access].into_iter().chain(steps);
    let places: BTreeSet<String> =
        accesses.filter(|access| access.is_atomic()).filter_map(|access| access.place()).collect();
    places.into_iter().map(|place| Fix { place, repair: OrderChange::SeqCst }).collect()
}

/// An atomic access that the program made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessSite {
    pub place: String,
    column: Option<u32>,
    /// Its file, as a hash of the path, and the offset in it.
    file: u64,
    offset: u64,
    /// Whether it is seq_cst.
    pub seq_cst: bool,
    writes: bool,
    reads: bool,
}

/// All atomic accesses that processes have listed.
pub fn sites(processes: &[Findings], executable: Option<&Path>, directory: Option<PathBuf>) -> BTreeSet<AccessSite> {
    let mut symbols = Symbols::new(directory);
    let mut all = BTreeSet::new();
    let mut known = BTreeSet::new();
    for process in processes {
        for site in &process.sites {
            let Some(module) = process.modules.iter().find(|module| (module.start..module.end).contains(&site.pc))
            else {
                continue;
            };
            let (file, offset) = (ravelin_findings::hash(&module.path), site.pc.wrapping_sub(module.bias));
            if !known.insert((file, offset)) {
                continue;
            }
            let stack = symbols.stack(&process.modules, executable, &[site.pc]);
            let Some(frame) = stack.first() else { continue };
            all.insert(AccessSite {
                place: frame.place(),
                column: frame.column,
                file,
                offset,
                seq_cst: site.order == RecordedOrder::SeqCst,
                writes: site.kind != AccessKind::Load,
                reads: site.kind != AccessKind::Store,
            });
        }
    }
    all
}

/// The words that pass a fix to the runtime; none if no access at its place was made.
pub fn words<'a>(fix: &'a Fix, sites: &'a BTreeSet<AccessSite>) -> impl Iterator<Item = String> + 'a {
    let takes = |site: &&AccessSite| match fix.repair {
        OrderChange::Acquire => site.reads,
        OrderChange::Release => site.writes,
        _ => true,
    };
    let here = sites.iter().filter(|site| is_at(&site.place, &fix.place)).filter(takes);
    here.map(|site| format!("fix={:x}:{:x}:{}", site.file, site.offset, fix.repair.name()))
}

/// Whether a place is the named one; the name may be a suffix of its path.
fn is_at(place: &str, named: &str) -> bool {
    place == named || place.strip_suffix(named).is_some_and(|rest| rest.ends_with('/'))
}

/// How many accesses there are that are not seq_cst, by their places and whether they read or write.
pub fn weaker_than_seq_cst(sites: &BTreeSet<AccessSite>) -> usize {
    let places: BTreeSet<_> = sites
        .iter()
        .filter(|site| !site.seq_cst)
        .map(|site| (&site.place, site.column, site.reads, site.writes))
        .collect();
    places.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_is_read_as_it_is_written() {
        for text in ["queue.c:12:release", "a/b.cpp:3:fence", "x.c:1:seq_cst"] {
            assert_eq!(text.parse::<Fix>().expect("a fix").to_string(), text);
        }
        for text in ["", "release", ":release", "x.c:12", "x.c:12:relaxed", "x.c:12:"] {
            assert!(text.parse::<Fix>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_place_is_known_by_the_end_of_its_path() {
        assert!(is_at("src/queue.c:12", "queue.c:12"));
        assert!(is_at("queue.c:12", "queue.c:12"));
        assert!(!is_at("src/myqueue.c:12", "queue.c:12"));
        assert!(!is_at("queue.c:121", "queue.c:12"));
    }
}
