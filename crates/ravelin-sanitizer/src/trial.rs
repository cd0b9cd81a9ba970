//! Suggestions tried out in the monitor, without building the program again.

use crate::judged::Judged;
use crate::repair::{Fix, Site, fixes_of, last_resort, sites, words};
use crate::report::{Finding, Report, Wanted};
use crate::runs::Plan;
use crate::watch::NotWatched;
use std::collections::BTreeSet;

/// Rounds after which a place that still has accesses that were not known before is left as it is.
const ROUNDS: usize = 4;

/// Runs of a program without and with suggestions, under the same schedules.
///
/// What a fix makes go away it makes go away in these runs; a proof it is not.
pub struct Trial<'a> {
    pub plan: Plan,
    wanted: &'a Wanted,
    /// All accesses that any run made.
    pub sites: BTreeSet<Site>,
}

impl<'a> Trial<'a> {
    pub fn new(mut plan: Plan, wanted: &'a Wanted) -> Trial<'a> {
        plan.watch.options.push("sites".to_owned());
        plan.watch.options.retain(|word| word != "halt-on-first");
        Trial { plan, wanted, sites: BTreeSet::new() }
    }

    /// Runs with fixes; again if there turn out to be more accesses at their places than were known.
    pub fn run(&mut self, fixes: &[Fix]) -> Result<Judged, NotWatched> {
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

    /// Fixes that leave no finding in these runs that orders can repair, none of which can be left out. A finding may hide
    /// another one, so what counts is not how many there are: without a fix that is needed there is one that it removes.
    pub fn fix_all(&mut self, mut report: Report) -> Result<Vec<Fix>, NotWatched> {
        let mut fixes: Vec<Fix> = Vec::new();
        // Every round adds a fix, so it ends; a place has few.
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
}

/// What the most frequent finding asks for that is not there yet; `None` if nothing is left to try.
fn next_fixes(report: &Report, fixes: &[Fix]) -> Option<Vec<Fix>> {
    let try_next = |finding| [fixes_of(finding), last_resort(finding)];
    (report.findings.iter().flat_map(try_next))
        .map(|these| these.into_iter().filter(|fix| !fixes.contains(fix)).collect::<Vec<_>>())
        .find(|these| !these.is_empty())
}
