//! What a program would do with a stale value.
//!
//! The run of a stale access is made again up to it. There the access reads an older value that the axioms allow, and
//! the program goes on under sequential consistency: once as it does after every script, and under a few schedules that are
//! drawn. Such a run is one of the behaviours of C11 (`ravelin-runtime/src/stale.rs` says why). The same schedule without the stale
//! value is run beside it: what goes wrong there as well is no consequence.
//!
//! One stale access is sound but not complete, and so are a few schedules. That the program only rejoins what it does anyway
//! is no proof that it always does.

use super::plan::VerifyPlan;
use super::problem::{ProblemKey, ProblemRun, Problems, problems_of};
use super::stale::StaleRun;
use crate::watch::{NotWatched, SteeredProgram, SteeredRun, Streams};
use ravelin_answer::sanitizer::{Consequence, StaleOutcome, StaleValue, signal_words};
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_findings::steering::SteeredEnd;
use ravelin_verify::Script;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Schedules that are drawn for each stale value.
const DRAWN: u64 = 7;
/// Seconds after which a run without progress is ended. A stale value may let a thread go round a loop for ever in which
/// there is no step.
const NO_PROGRESS: u64 = 2;

/// The worst that runs with a stale value showed.
#[derive(Debug)]
struct StaleEnd {
    outcome: StaleOutcome,
    sentence: String,
    script: Script,
}

impl VerifyPlan {
    /// Finds out what stale accesses lead to, until the time is over.
    pub(super) fn find_consequences(&self, problems: &mut Problems, start: Instant) -> Result<(), NotWatched> {
        let mut watch = self.watch.clone();
        watch.streams = Streams { input: Some(PathBuf::from("/dev/null")), silent: true };
        watch.options.push("no-robustness".to_owned());
        watch.options.push(format!("no-progress={NO_PROGRESS}"));
        let mut program = SteeredProgram::start(watch, self.fresh_processes, self.unroll)?;
        for problem in problems.all_mut() {
            if let Some(stale) = problem.stale.take() {
                problem.consequence = Some(self.consequence(&stale, &mut program, start)?);
                problem.stale = Some(stale);
            }
        }
        Ok(())
    }

    fn consequence(
        &self,
        stale: &StaleRun,
        program: &mut SteeredProgram,
        start: Instant,
    ) -> Result<Consequence, NotWatched> {
        let mut ends: Vec<StaleEnd> = Vec::new();
        let mut runs = 0;
        for script in stale.scripts() {
            let mut worst: Option<StaleEnd> = None;
            for seed in 0..=DRAWN {
                let with = Script { seed, ..script.clone() };
                let without = Script { stale: None, ..with.clone() };
                let Some(weak) = self.run(program, &with, start)? else { break };
                if weak.run.end == Some(SteeredEnd::NotEnabled) {
                    continue;
                }
                let Some(strong) = self.run(program, &without, start)? else { break };
                // A run may have been killed because the time is over.
                if self.is_over(start) {
                    break;
                }
                runs += 1;
                let (outcome, sentence) = compare(&weak, &strong);
                if worst.as_ref().is_none_or(|worst| outcome < worst.outcome) {
                    worst = Some(StaleEnd { outcome, sentence, script: with });
                }
                if outcome <= StaleOutcome::Standstill {
                    // Other schedules would show nothing worse that matters, and each may take as long.
                    break;
                }
            }
            ends.extend(worst);
        }
        ends.sort_by_key(|end| end.outcome);
        let value = |end: &StaleEnd| end.script.stale.map_or(0, |stale| stale.value).to_string();
        let (outcome, sentence) = match ends.first() {
            None => (
                StaleOutcome::NotDecided,
                "not tried: the value is not known, the access waits, or the time is over".to_owned(),
            ),
            Some(StaleEnd { outcome: StaleOutcome::Rejoins, sentence, .. }) => {
                (StaleOutcome::Rejoins, format!("{sentence} (tried {runs} times)"))
            }
            Some(end) => (end.outcome, format!("with the stale value {} {}", value(end), end.sentence)),
        };
        let shown =
            |end: &StaleEnd| StaleValue { value: value(end), outcome: end.outcome, schedule: end.script.to_string() };
        Ok(Consequence { outcome, sentence, values: ends.iter().map(shown).collect(), runs })
    }
}

impl ProblemRun {
    /// How bad it is.
    pub(super) fn outcome(&self) -> Option<StaleOutcome> {
        self.consequence.as_ref().map(|consequence| consequence.outcome)
    }
}

/// What a run with a stale value does that the same schedule without it does not do.
fn compare(weak: &SteeredRun, strong: &SteeredRun) -> (StaleOutcome, String) {
    let (ended, known) = (weak.run.end.is_none(), problems_of(&strong.watched, strong.run.end.is_none()));
    let new: Vec<ProblemKey> =
        problems_of(&weak.watched, ended).into_iter().filter(|key| !known.contains(key)).collect();
    let signal = weak.watched.signal.filter(|signal| Some(*signal) != strong.watched.signal);
    let crashes = new.iter().any(|key| matches!(key, ProblemKey::Crash(..)));
    match signal {
        Some(libc::SIGABRT) => {
            return (StaleOutcome::Abort, "the program aborts, as if an assertion failed".to_owned());
        }
        Some(signal) if crashes || !new.is_empty() => {
            return (StaleOutcome::Crash, format!("the program crashes by {}", signal_words(signal)));
        }
        _ => {}
    }
    if new.iter().any(|key| matches!(key, ProblemKey::Stuck(_))) {
        return (StaleOutcome::Standstill, "no thread can continue".to_owned());
    }
    if weak.run.end == Some(SteeredEnd::Unrolled) && strong.run.end.is_none() {
        return (StaleOutcome::Standstill, "a thread goes round a loop without an end (--unroll)".to_owned());
    }
    let code = weak.watched.exit_code;
    if ended && code != strong.watched.exit_code {
        return (StaleOutcome::ExitCode, format!("the program ends with exit code {code}"));
    }
    if new.iter().any(ProblemKey::is_race) {
        return (StaleOutcome::DataRace, "there is a data race".to_owned());
    }
    if ended && visible(&weak.run.events) == visible(&strong.run.events) {
        return (StaleOutcome::Rejoins, "the threads do the same as without the stale value".to_owned());
    }
    (StaleOutcome::NotDecided, "the program goes on in another way and ends well".to_owned())
}

/// What each thread does that others can see, in order: writes with their values, and operations on objects.
fn visible(events: &[RunEvent]) -> BTreeMap<u32, Vec<(Act, u64, u64)>> {
    let mut threads: BTreeMap<u32, Vec<(Act, u64, u64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| !event.is(flags::ROUND)) {
        let act = event.operation.act;
        if !matches!(act, Act::Load | Act::Local | Act::Fence | Act::LockFails) {
            threads.entry(event.thread).or_default().push((act, event.operation.address, event.written));
        }
    }
    threads
}
