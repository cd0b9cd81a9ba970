//! Runs in which something went wrong.

use super::stale::StaleRun;
use crate::report::Run;
use crate::watch::WatchedRun;
use ravelin_answer::sanitizer::{Consequence, Failure};
use ravelin_findings::{FindingRecord, Findings, notes};
use ravelin_verify::Script;

/// A run with a problem.
#[derive(Clone, Debug)]
pub struct ProblemRun {
    pub script: Script,
    pub watched: WatchedRun,
    /// It ended by itself, with this exit code, which is not 0.
    pub failed: Option<u8>,
    /// The stale access, if that is what is wrong.
    pub stale: Option<StaleRun>,
    /// What it would lead to, if that was tried.
    pub consequence: Option<Consequence>,
}

/// Runs with problems; for each place in the program one.
#[derive(Debug, Default)]
pub struct Problems {
    all: Vec<ProblemRun>,
    known: Vec<ProblemKey>,
}

/// What makes two runs show the same problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKey {
    Pair(u64, u64, u64),
    Stuck(Vec<u64>),
    Crash(u64, u64),
    Failed(u8),
}

impl ProblemRun {
    /// What the report says about the run.
    pub fn summary(&self) -> Run {
        Run {
            schedule: None,
            script: Some(self.script.to_string()),
            exit_code: self.watched.exit_code,
            signal: self.watched.signal,
            points: self.watched.processes.iter().map(|process| process.points).sum(),
            trail: 0,
            replayable: self.watched.is_replayable(),
        }
    }
}

impl Problems {
    /// None, and these do not count.
    pub fn knowing(known: &[ProblemKey]) -> Problems {
        Problems { all: Vec::new(), known: known.to_vec() }
    }

    /// Only this one.
    pub fn of(run: &ProblemRun) -> Problems {
        Problems { all: vec![run.clone()], known: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn all(&self) -> &[ProblemRun] {
        &self.all
    }

    pub fn all_mut(&mut self) -> &mut [ProblemRun] {
        &mut self.all
    }

    pub fn into_runs(self) -> Vec<ProblemRun> {
        self.all
    }

    /// Whether one of these problems is new.
    pub fn is_new(&self, keys: &[ProblemKey]) -> bool {
        keys.iter().any(|key| !self.known.contains(key))
    }

    /// These problems are known from now on.
    pub fn know(&mut self, keys: Vec<ProblemKey>) {
        self.known.extend(keys);
    }

    pub fn push(&mut self, run: ProblemRun) {
        self.all.push(run);
    }

    /// What the processes of all runs found, and the run of each.
    pub fn processes(&self) -> (Vec<Findings>, Vec<usize>) {
        let all = self.all.iter().enumerate();
        all.flat_map(|(index, run)| run.watched.processes.iter().cloned().map(move |process| (process, index))).unzip()
    }

    /// Runs that ended by themselves, but not well.
    pub fn failures(&self) -> Vec<Failure> {
        let failed = |run: &ProblemRun| Some(Failure { exit_code: run.failed?, schedule: run.script.to_string() });
        self.all.iter().filter_map(failed).collect()
    }
}

impl ProblemKey {
    /// A data race, which other orders may remove.
    pub fn is_race(&self) -> bool {
        matches!(self, ProblemKey::Pair(problem, ..) if *problem == ravelin_findings::Problem::Race as u64)
    }

    /// Whether a finding is this problem.
    pub fn is(&self, found: &FindingRecord) -> bool {
        *self == pair(found)
    }
}

/// What is wrong with a run. `ended` if it ended by itself.
pub fn problems_of(watched: &WatchedRun, ended: bool) -> Vec<ProblemKey> {
    let mut keys = Vec::new();
    for process in &watched.processes {
        keys.extend(process.findings.iter().map(pair));
        if let Some(stuck) = &process.stuck {
            let places = stuck.threads.iter().map(|thread| thread.stack.first().copied().unwrap_or(0));
            keys.push(ProblemKey::Stuck(places.collect()));
        }
        if let Some(crash) = &process.crash {
            keys.push(ProblemKey::Crash(crash.signal, crash.stack.first().copied().unwrap_or(0)));
        }
    }
    if keys.is_empty() && ended && watched.exit_code != 0 {
        keys.push(ProblemKey::Failed(watched.exit_code));
    }
    keys
}

/// The two places of a finding, in any order for a race.
fn pair(found: &FindingRecord) -> ProblemKey {
    let place = |stack: &[u64]| stack.first().copied().unwrap_or(0);
    let (one, other) = (place(&found.access.stack), place(&found.other.stack));
    ProblemKey::Pair(found.problem as u64, one.min(other), one.max(other))
}

/// Whether a part of the program was not watched.
pub fn unwatched(watched: &WatchedRun) -> bool {
    watched.unrecorded > 0 || watched.processes.iter().any(|process| process.notes & notes::UNWATCHED != 0)
}
