//! Weak runs: which of them ended badly, and which accesses took old values there.

use super::Run;
use super::collect::Naming;
use ravelin_answer::sanitizer::{StaleAccess, signal_words};
use ravelin_findings::Findings;
use ravelin_schedule::Strategy;

/// What weak runs did.
#[derive(Clone, Debug, Default)]
pub struct WeakReport {
    /// How many accesses took an old value, in all runs.
    pub stale: u64,
    /// In how many runs some access did.
    pub stale_runs: usize,
    /// How runs ended badly.
    pub ends: Vec<WeakEnd>,
}

/// Runs that ended badly in the same way.
#[derive(Clone, Debug)]
pub struct WeakEnd {
    pub how: String,
    pub standstill: bool,
    /// How many.
    pub runs: usize,
    /// The run with the fewest accesses that took old values.
    pub shown: usize,
    /// These accesses, the last one first.
    pub stale: Vec<StaleAccess>,
}

/// What the processes of each run left; `None` if no run was weak.
pub(super) fn report(
    runs: &[Run],
    run_of: &[usize],
    processes: &[Findings],
    naming: &mut Naming,
) -> Option<WeakReport> {
    let is_weak = |run: &Run| run.schedule.is_some_and(|schedule| matches!(schedule.strategy, Strategy::Weak { .. }));
    if !runs.iter().any(is_weak) {
        return None;
    }
    let of_run =
        |run: usize| run_of.iter().zip(processes).filter(move |(of, _)| **of == run).map(|(_, process)| process);
    let stale = |run: usize| of_run(run).flat_map(|process| &process.stale).map(|stale| stale.count).sum::<u64>();
    let mut report = WeakReport::default();
    // How often accesses took old values in the run that is shown.
    let mut fewest: Vec<u64> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let count = stale(number);
        report.stale = report.stale.saturating_add(count);
        report.stale_runs += usize::from(count > 0);
        let Some((how, standstill)) = end(run, of_run(number)) else { continue };
        match report.ends.iter().position(|known| known.how == how) {
            Some(known) => {
                report.ends[known].runs += 1;
                if count < fewest[known] {
                    (report.ends[known].shown, fewest[known]) = (number, count);
                }
            }
            None => {
                report.ends.push(WeakEnd { how, standstill, runs: 1, shown: number, stale: Vec::new() });
                fewest.push(count);
            }
        }
    }
    for end in &mut report.ends {
        let mut all: Vec<_> =
            of_run(end.shown).flat_map(|process| process.stale.iter().map(move |stale| (process, stale))).collect();
        all.sort_by_key(|(_, stale)| std::cmp::Reverse(stale.point));
        end.stale = all.into_iter().map(|(process, stale)| naming.stale(process, stale)).collect();
    }
    Some(report)
}

/// How a run ended, if it ended badly, and whether no thread could continue.
fn end<'a>(run: &Run, processes: impl Iterator<Item = &'a Findings> + Clone) -> Option<(String, bool)> {
    if let Some(stuck) = processes.clone().find_map(|process| process.stuck.as_ref()) {
        return Some((super::collect::standstill_kind(stuck.kind).name().to_owned(), true));
    }
    if let Some(signal) = run.signal {
        return Some((format!("killed by {}", signal_words(signal)), false));
    }
    // The runtime ends a program with 1 that it stops at a finding.
    let is_stopped =
        run.exit_code == 1 && processes.clone().any(|process| !process.ended && !process.findings.is_empty());
    (run.exit_code != 0 && !is_stopped).then(|| (format!("ended with exit code {}", run.exit_code), false))
}
