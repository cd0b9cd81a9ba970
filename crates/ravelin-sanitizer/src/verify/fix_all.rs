//! The cheapest stronger orders and fences with which every schedule of a program is right.
//!
//! The loop is that of `ravelin fence` (`ravelin-analysis/src/fences/listing.rs`): take the cheapest changes that satisfy
//! all clauses, verify the program with them, and learn clauses from what is still wrong. Every clause holds for every set
//! of changes that serves the purpose, so the first set that does is a cheapest one among those that are offered.
//!
//! The program is not built again. Its runs are the same with all changes, and so are their events; the judge is given
//! the orders and fences that the changed program would have. Data races are found by the runtime, which is told the changes.
//! What was found before is looked at first: to judge one run again is much cheaper than to make all.
//!
//! What no order removes, such as an assertion that fails under sequential consistency, is left, and does not count when
//! the rest is repaired.

use super::offers::Offers;
use super::plan::{ExploredProgram, Fixing, Listeners, VerifyPlan};
use super::problem::{ProblemKey, ProblemRun, Problems, problems_of};
use super::stale::StaleRun;
use crate::patch::{self, Patch, SourceEdit};
use crate::repair::{Fix, OrderChange};
use crate::report::{Finding, Report, Wanted};
use crate::watch::{NotWatched, SteeredProgram, Streams, WatchCommand};
use ravelin_answer::sanitizer::{Verification, signal_words};
use ravelin_answer::{FixTrial, Verdict};
use ravelin_covers::{Cancellation, Covers, clauses};
use ravelin_verify::Script;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is known about a program with the cheapest changes.
#[derive(Debug)]
pub struct FixedProgram {
    /// What was found without changes.
    pub before: Report,
    /// What no change removes.
    pub remaining: Report,
    /// The changes.
    pub fixes: Vec<Fix>,
    /// About the changed program.
    pub verification: Verification,
    /// The runs of all programs that were tried.
    pub runs: u64,
    /// The source with the changes.
    pub patches: Vec<Patch>,
    /// Changes that are not among them.
    pub by_hand: Vec<Fix>,
    /// Accesses that would have to be changed to make all seq_cst.
    pub weaker_than_seq_cst: usize,
}

/// Something wrong that was seen, and that changes may remove.
enum Sighting {
    Stale(StaleRun),
    Race(Script, ProblemKey),
}

impl VerifyPlan {
    /// Finds the cheapest changes. A time limit is for all runs together, a limit on runs for each program that is tried.
    pub fn fix_all(&self, wanted: &Wanted, listeners: Listeners) -> Result<FixedProgram, NotWatched> {
        let start = Instant::now();
        let fixing = Fixing { notes_accesses: true, ..Fixing::default() };
        let first = VerifyPlan { keep_going: true, fixing, resume: None, ..self.clone() }.explored(listeners)?;
        let before = self.report(&first.problems, &first.executable, wanted);
        let directory = std::env::current_dir().ok();
        let offers = Offers::new(&first.seen, &first.modules, first.executable.as_deref(), directory);
        let covers = Covers::with_kinds(offers.costs(), offers.kinds());
        let order = offers.by_cost();
        let fixer = Fixer {
            plan: VerifyPlan { keep_going: false, silent: true, ..self.clone() },
            wanted,
            watch: first.watch.clone(),
            executable: first.executable.clone(),
            offers,
            order,
            covers,
            sightings: Vec::new(),
            left: Problems::default(),
            runs: first.verification.runs,
            doubt: None,
            start,
        };
        fixer.fix(first, before, listeners)
    }
}

struct Fixer<'a> {
    plan: VerifyPlan,
    wanted: &'a Wanted,
    /// The program, with runs that begin where those of the exploration did.
    watch: WatchCommand,
    executable: Option<PathBuf>,
    offers: Offers,
    /// The offers, cheapest first.
    order: Vec<usize>,
    covers: Covers,
    sightings: Vec<Sighting>,
    /// What no change removes.
    left: Problems,
    runs: u64,
    /// Why the answer is not a proof.
    doubt: Option<String>,
    start: Instant,
}

impl Fixer<'_> {
    fn fix(mut self, first: ExploredProgram, before: Report, listeners: Listeners) -> Result<FixedProgram, NotWatched> {
        let complete_before = first.verification.complete || !first.problems.is_empty();
        let mut verification = first.verification;
        let mut problems = first.problems;
        let mut set: Vec<usize> = Vec::new();
        if complete_before {
            loop {
                let found = problems.into_runs();
                let is_done = found.is_empty();
                for problem in found {
                    self.learn(problem, &set)?;
                }
                if is_done {
                    break;
                }
                let Some(next) = self.next_set()? else {
                    self.doubt = self.plan.limit(0, self.start).or(Some("there is no set of changes".to_owned()));
                    break;
                };
                if next.is_empty() && set.is_empty() && verification.complete {
                    // All schedules are known.
                    break;
                }
                set = next;
                let explored = self.verify(&set, listeners)?;
                self.runs += explored.verification.runs;
                (verification, problems) = (explored.verification, explored.problems);
            }
        }
        if let Some(doubt) = self.doubt.take() {
            verification.complete = false;
            verification.limits.push(doubt);
        }
        let remaining = self.plan.report(&self.left, &self.executable, self.wanted);
        verification.failures = self.left.failures();
        set.sort_by_key(|&offer| (self.offers.all[offer].place, self.offers.all[offer].change));
        let (patches, by_hand) = self.patches(&set);
        Ok(FixedProgram {
            before,
            remaining,
            fixes: set.iter().map(|&offer| self.offers.fix(offer)).collect(),
            verification,
            runs: self.runs,
            patches,
            by_hand,
            weaker_than_seq_cst: self.offers.weaker_than_seq_cst(),
        })
    }

    /// Verifies the program with changes, up to the first problem.
    fn verify(&self, set: &[usize], listeners: Listeners) -> Result<ExploredProgram, NotWatched> {
        let mut plan = self.plan.clone();
        plan.fixing.changes = self.offers.changes(set);
        plan.watch.options.extend(self.offers.words(set));
        plan.timeout = self.plan.timeout.map(|timeout| timeout.saturating_sub(self.start.elapsed()));
        plan.explored(listeners)
    }

    /// The cheapest set that satisfies all clauses and leaves nothing that was seen; `None` if there was no time.
    fn next_set(&mut self) -> Result<Option<Vec<usize>>, NotWatched> {
        loop {
            let set = match self.covers.cheapest(&|| self.is_late()) {
                Ok(Some(set)) => set,
                Ok(None) | Err(Cancellation) => return Ok(None),
            };
            let mut learned = Vec::new();
            for sighting in &self.sightings {
                if self.is_late() {
                    return Ok(None);
                }
                if self.leaves(sighting, &set)? {
                    learned = self.clauses(sighting, &set)?;
                    break;
                }
            }
            if learned.is_empty() {
                return Ok(Some(set));
            }
            for clause in learned {
                self.covers.require(clause);
            }
        }
    }

    /// Learns from a run of the program with these changes that has problems.
    fn learn(&mut self, problem: ProblemRun, set: &[usize]) -> Result<(), NotWatched> {
        if let Some(run) = &problem.stale {
            let places = run.places();
            let removable = self.is_wanted(&problem) && self.learn_from(Sighting::Stale(run.clone()), set)?;
            if !removable {
                self.plan.fixing.left_stale.insert(places);
                self.leave(problem);
            }
            return Ok(());
        }
        for key in problems_of(&problem.watched, problem.failed.is_some()) {
            if self.plan.fixing.left.contains(&key) {
                continue;
            }
            let mut alone = problem.clone();
            for process in &mut alone.watched.processes {
                process.findings.retain(|found| key.is(found));
            }
            let removable = key.is_race()
                && self.is_wanted(&alone)
                && self.learn_from(Sighting::Race(alone.script.clone(), key.clone()), set)?;
            if !removable {
                self.plan.fixing.left.push(key);
                self.leave(alone);
            }
        }
        Ok(())
    }

    /// Learns from what was seen in the program with these changes. Says whether changes can remove it.
    fn learn_from(&mut self, sighting: Sighting, set: &[usize]) -> Result<bool, NotWatched> {
        if !self.leaves(&sighting, set)? {
            self.doubt = Some("a finding was not there when it was looked at again".to_owned());
            return Ok(false);
        }
        let learned = self.clauses(&sighting, set)?;
        if learned.iter().any(Vec::is_empty) {
            return Ok(false);
        }
        for clause in learned {
            self.covers.require(clause);
        }
        self.sightings.push(sighting);
        Ok(true)
    }

    /// What every set satisfies that removes what was seen.
    fn clauses(&self, sighting: &Sighting, set: &[usize]) -> Result<Vec<Vec<usize>>, NotWatched> {
        clauses(&self.order, set, &mut |taken| self.leaves(sighting, taken))
    }

    /// Whether what was seen is there in the program with these changes.
    fn leaves(&self, sighting: &Sighting, taken: &[usize]) -> Result<bool, NotWatched> {
        match sighting {
            Sighting::Stale(run) => Ok(run.is_left_by(&self.offers.changes(taken), &|| self.is_late())),
            Sighting::Race(script, race) => {
                let mut watch = self.watch.clone();
                watch.streams = Streams::none();
                watch.options.push("no-robustness".to_owned());
                watch.options.extend(self.offers.words(taken));
                let run = SteeredProgram::start(watch, true, self.plan.unroll)?.run(script)?;
                Ok(run.is_some_and(|run| problems_of(&run.watched, true).contains(race)))
            }
        }
    }

    /// Whether the user wants to hear of it.
    fn is_wanted(&self, problem: &ProblemRun) -> bool {
        let report = self.plan.report(&Problems::of(problem), &self.executable, self.wanted);
        problem.failed.is_some() || !report.is_clean() || !report.crashes.is_empty()
    }

    /// No change removes it, or nobody wants to hear of it.
    fn leave(&mut self, problem: ProblemRun) {
        if self.is_wanted(&problem) {
            self.left.push(problem);
        }
    }

    fn patches(&self, set: &[usize]) -> (Vec<Patch>, Vec<Fix>) {
        let mut edits = Vec::new();
        for &offer in set {
            let place = &self.offers.places[self.offers.all[offer].place];
            let first_of_line =
                self.offers.places.iter().filter(|other| (&other.file, other.line) == (&place.file, place.line));
            let is_first = first_of_line.map(|other| other.column).min() == Some(place.column);
            edits.push(SourceEdit {
                file: Path::new(&place.file).to_owned(),
                line: place.line,
                column: place.column,
                change: self.offers.all[offer].change,
                is_first,
            });
        }
        let (patches, undone) = patch::patches(&edits);
        (patches, undone.into_iter().map(|edit| self.offers.fix(set[edit])).collect())
    }

    fn is_late(&self) -> bool {
        self.plan.is_over(self.start)
    }
}

impl FixedProgram {
    /// The answer, with the change of the source as a diff if it is asked for.
    pub fn answer(&self, program: &str, diff: Option<String>) -> FixTrial {
        let remaining = self.problems();
        let is_gone = |found: &&Finding| !self.remaining.findings.iter().any(|left| left.is_same(found));
        let fences = self.fixes.iter().filter(|fix| fix.repair == OrderChange::Fence).count();
        let by_hand = self.by_hand.iter().filter(|_| diff.is_some()).map(Fix::to_string).collect();
        FixTrial {
            program: program.to_owned(),
            verdict: match (remaining.is_empty(), self.verification.complete) {
                (false, _) => Verdict::Violated,
                (true, true) => Verdict::Holds,
                (true, false) => Verdict::Unknown,
            },
            runs: self.runs,
            all: true,
            fixes: self.fixes.iter().map(Fix::to_string).collect(),
            gone: self.before.findings.iter().filter(is_gone).map(Finding::sentence_with_places).collect(),
            remaining,
            new: Vec::new(),
            fences,
            strengthened: self.fixes.len() - fences,
            weaker_than_seq_cst: self.weaker_than_seq_cst,
            verification: Some(self.verification.clone()),
            diff,
            by_hand,
        }
    }

    /// What no change removes, in a sentence each.
    fn problems(&self) -> Vec<String> {
        let mut all: Vec<String> = self.remaining.findings.iter().map(Finding::sentence_with_places).collect();
        let answer = self.remaining.answer(None);
        all.extend(answer.stuck.iter().map(|stuck| stuck.words().to_owned()));
        all.extend(answer.crashes.iter().map(|crash| format!("crash by {}", signal_words(crash.signal))));
        let failures = self.verification.failures.iter();
        all.extend(failures.map(|failure| format!("exit code {} with {}", failure.exit_code, failure.schedule)));
        all
    }
}
