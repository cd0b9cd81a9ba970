//! Tries suggestions in the monitor, without rebuilding the program.

use crate::repair::{AccessSite, Fix, OrderChange, fixes_of, last_resort, sites, weaker_than_seq_cst, words};
use crate::report::{Finding, Report, Wanted};
use crate::run_report::RunReport;
use crate::runs::RunPlan;
use crate::watch::NotWatched;
use ravelin_answer::{FixTrial, Verdict};
use std::collections::BTreeSet;

/// After this many rounds, a place that still has new accesses is given up.
const ROUNDS: usize = 4;

/// Runs of a program without and with suggestions, under the same schedules.
///
/// A fix that removes a finding removes it in these runs; that is not a proof.
pub struct Trial<'a> {
    pub plan: RunPlan,
    wanted: &'a Wanted,
    /// All accesses that any run made.
    pub sites: BTreeSet<AccessSite>,
}

impl<'a> Trial<'a> {
    pub fn new(mut plan: RunPlan, wanted: &'a Wanted) -> Trial<'a> {
        plan.watch.options.push("sites".to_owned());
        plan.watch.options.retain(|word| word != "halt-on-first");
        Trial { plan, wanted, sites: BTreeSet::new() }
    }

    /// Makes runs with fixes. Repeats them if there turn out to be more accesses at their places than were known.
    pub fn run(&mut self, fixes: &[Fix]) -> Result<RunReport, NotWatched> {
        for round in 0.. {
            let asked: BTreeSet<String> = fixes.iter().flat_map(|fix| words(fix, &self.sites)).collect();
            let mut plan = self.plan.clone();
            plan.watch.options.extend(asked.iter().cloned());
            let judged = plan.judge(self.wanted, false, None)?;
            for run in &judged.ran {
                let directory = std::env::current_dir().ok();
                self.sites.extend(sites(&run.watched.processes, run.watched.executable.as_deref(), directory));
            }
            let known: BTreeSet<String> = fixes.iter().flat_map(|fix| words(fix, &self.sites)).collect();
            if known == asked || round == ROUNDS {
                return Ok(judged);
            }
        }
        unreachable!("the loop ends by itself")
    }

    /// Fixes that leave no finding in these runs that orders can repair. None of the fixes can be omitted. A finding
    /// may hide another one, so the number of findings does not matter: without a needed fix there is a finding that
    /// the fix removes.
    pub fn fix_all(&mut self, mut report: Report) -> Result<Vec<Fix>, NotWatched> {
        let mut fixes: Vec<Fix> = Vec::new();
        // Every round adds a fix and each place has few, so the loop ends.
        while let Some(new) = next_fixes(&report, &fixes) {
            fixes.extend(new);
            report = self.run(&fixes)?.report;
        }
        let mut at = 0;
        while at < fixes.len() {
            let mut fewer = fixes.clone();
            fewer.remove(at);
            let is_left = |finding: &Finding| report.findings.iter().any(|left| left.is_same(finding));
            if self.run(&fewer)?.report.findings.iter().all(is_left) {
                fixes = fewer;
            } else {
                at += 1;
            }
        }
        Ok(fixes)
    }

    /// Compares two reports about the same runs, without and with the fixes. `all`: these are all suggestions, not only
    /// those that the user named.
    pub fn answer(&self, before: &Report, after: &Report, fixes: &[Fix], all: bool) -> FixTrial {
        let is_in = |finding: &Finding, report: &Report| report.findings.iter().any(|other| other.is_same(finding));
        let list = |of: &Report, and: &Report, both: bool| -> Vec<String> {
            of.findings
                .iter()
                .filter(|finding| is_in(finding, and) == both)
                .map(Finding::sentence_with_places)
                .collect()
        };
        let (remaining, new) = (list(after, before, true), list(after, before, false));
        let fences = fixes.iter().filter(|fix| fix.repair == OrderChange::Fence).count();
        FixTrial {
            program: before.program.clone(),
            verdict: match before.is_complete() && after.is_complete() {
                _ if !remaining.is_empty() || !new.is_empty() => Verdict::Violated,
                true => Verdict::Holds,
                false => Verdict::Unknown,
            },
            runs: self.plan.runs,
            all,
            fixes: fixes.iter().map(Fix::to_string).collect(),
            gone: list(before, after, false),
            remaining,
            new,
            fences,
            strengthened: fixes.len() - fences,
            weaker_than_seq_cst: weaker_than_seq_cst(&self.sites),
            verification: None,
            diff: None,
            by_hand: Vec::new(),
        }
    }
}

/// The new fixes for the most frequent finding; `None` if nothing is left to try.
fn next_fixes(report: &Report, fixes: &[Fix]) -> Option<Vec<Fix>> {
    let try_next = |finding| [fixes_of(finding), last_resort(finding)];
    (report.findings.iter().flat_map(try_next))
        .map(|these| these.into_iter().filter(|fix| !fixes.contains(fix)).collect::<Vec<_>>())
        .find(|these| !these.is_empty())
}
