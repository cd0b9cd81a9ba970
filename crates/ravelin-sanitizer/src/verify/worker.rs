//! One of the threads that make runs, and what they share.

use super::beginning;
use super::plan::{DrawnRuns, Listeners, Progress, VerifyPlan};
use super::problem::{ProblemRun, Problems, problems_of, unwatched};
use super::saved;
use super::seen::SeenAccesses;
use super::sequential::SequentialRuns;
use super::stale::{self, Judging, KnownRounds, StalePlaces, StaleRun};
use crate::watch::{FreshReason, NotWatched, OutputPipes, SteeredProgram, SteeredRun, Streams};
use ravelin_findings::events::{RunEvent, flags};
use ravelin_findings::notes;
use ravelin_findings::steering::{MOST_EVENTS, SteeredEnd, doubts};
use ravelin_verify::exploration::{Outcome, Task, shorten};
use ravelin_verify::{Exploration, Script};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What the workers share.
pub struct Shared<'a> {
    plan: &'a VerifyPlan,
    start: Instant,
    listeners: Listeners<'a>,
    pub state: Mutex<VerifyState>,
    /// A task may be there.
    changed: Condvar,
    pub stop: AtomicBool,
}

/// What is known so far.
pub struct VerifyState {
    pub exploration: Exploration,
    /// Runs that were begun.
    claimed: u64,
    pub problems: Problems,
    /// Limits that were met.
    pub limits: Vec<String>,
    /// Why runs were cut off.
    pub cuts: Vec<&'static str>,
    pub doubts: u64,
    /// What else limits the answer.
    pub notes: Vec<String>,
    pub threads: u64,
    pub fresh: Option<FreshReason>,
    pub error: Option<NotWatched>,
    rounds: KnownRounds,
    places: StalePlaces,
    pub seen: SeenAccesses,
    /// What the runs did, if that is needed to say what stale values lead to.
    pub sequential: SequentialRuns,
    last_shown: Option<Instant>,
    last_saved: Instant,
}

/// A run to make: one that the exploration wants, or one that is drawn.
struct Claim {
    script: Script,
    task: Option<Task>,
}

/// Why runs were cut off.
pub const TOO_LONG: &str = "a run was longer than 131,072 steps, and what comes after them was not looked at";
const _: () = assert!(MOST_EVENTS == 131_072);
pub const UNROLLED: &str = "a loop that is not known to wait was repeated too often (--unroll)";

impl VerifyState {
    pub fn new(plan: &VerifyPlan) -> VerifyState {
        VerifyState {
            exploration: Exploration::new(plan.options),
            claimed: 0,
            problems: Problems::knowing(&plan.fixing.left),
            limits: Vec::new(),
            cuts: Vec::new(),
            doubts: 0,
            notes: Vec::new(),
            threads: 0,
            fresh: None,
            error: None,
            rounds: KnownRounds::default(),
            places: plan.fixing.left_stale.clone(),
            seen: SeenAccesses::default(),
            sequential: SequentialRuns::default(),
            last_shown: None,
            last_saved: Instant::now(),
        }
    }

    /// Runs that were begun.
    pub fn claimed(&self) -> u64 {
        self.claimed
    }

    /// The only run of a program without a second thread.
    pub fn take_single(&mut self, run: &SteeredRun) {
        self.doubts |= doubts_about(&run.watched);
        let keys = problems_of(&run.watched, true);
        if !keys.is_empty() {
            let failed = (run.watched.exit_code != 0 && is_only_failed(&run.watched)).then_some(run.watched.exit_code);
            let watched = run.watched.clone();
            self.problems.push(ProblemRun {
                script: Script::default(),
                watched,
                failed,
                stale: None,
                consequence: None,
            });
        }
    }
}

impl<'a> Shared<'a> {
    pub fn with(
        plan: &'a VerifyPlan,
        start: Instant,
        listeners: Listeners<'a>,
        state: Mutex<VerifyState>,
    ) -> Shared<'a> {
        Shared { plan, start, listeners, state, changed: Condvar::new(), stop: AtomicBool::new(false) }
    }

    pub fn lock(&self) -> MutexGuard<'_, VerifyState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn fail(&self, error: NotWatched) {
        self.lock().error.get_or_insert(error);
        self.end();
    }

    fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// The next run to make; `None` if there is none, or a limit is met.
    fn claim(&self) -> Option<Claim> {
        let mut state = self.lock();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(limit) = self.plan.limit(state.claimed, self.start) {
                if !state.exploration.is_finished() && !state.limits.contains(&limit) {
                    state.limits.push(limit);
                }
                drop(state);
                self.end();
                return None;
            }
            if let Some(DrawnRuns { seed, runs }) = self.plan.drawn {
                if state.claimed >= runs {
                    drop(state);
                    self.end();
                    return None;
                }
                let seed = seed.wrapping_add(state.claimed).max(1);
                state.claimed += 1;
                return Some(Claim { script: Script { seed, ..Script::default() }, task: None });
            }
            if let Some(task) = state.exploration.next() {
                state.claimed += 1;
                return Some(Claim { script: task.script.clone(), task: Some(task) });
            }
            if state.exploration.is_finished() {
                drop(state);
                self.end();
                return None;
            }
            // Another worker's run may add some.
            let waited = self.changed.wait_timeout(state, Duration::from_millis(50));
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
    }

    /// The time is over, and a run was not looked at to its end. It may be the last one.
    fn meet_limit(&self) {
        let mut state = self.lock();
        let limit = self.plan.limit(0, self.start).filter(|limit| !state.limits.contains(limit));
        state.limits.extend(limit);
        drop(state);
        self.end();
    }

    fn show(&self, state: &mut VerifyState) {
        const OFTEN: Duration = Duration::from_millis(100);
        const NOW_AND_THEN: Duration = Duration::from_secs(10);
        if let Some(rest) = self.listeners.rest
            && state.last_saved.elapsed() >= NOW_AND_THEN
        {
            state.last_saved = Instant::now();
            rest(&saved::save(self.plan, state));
        }
        if let Some(progress) = self.listeners.progress
            && state.last_shown.is_none_or(|last| last.elapsed() >= OFTEN)
        {
            state.last_shown = Some(Instant::now());
            progress(Progress {
                runs: state.claimed,
                statistics: state.exploration.statistics(),
                problems: state.problems.len(),
            });
        }
    }
}

/// One of the threads that make runs.
pub struct Worker<'a> {
    plan: &'a VerifyPlan,
    program: SteeredProgram,
    processor: Option<usize>,
}

impl<'a> Worker<'a> {
    pub fn new(plan: &'a VerifyPlan, processor: Option<usize>) -> Result<Worker<'a>, NotWatched> {
        let program = start_program(plan, processor, Purpose::Schedules)?;
        Ok(Worker { plan, program, processor })
    }

    /// Makes runs until there is nothing left, or a limit is met.
    pub fn work(&mut self, shared: &Shared) {
        while let Some(claim) = shared.claim() {
            match self.plan.run(&mut self.program, &claim.script, shared.start) {
                // It may have been killed because the time is over.
                Ok(Some(_)) if self.plan.is_over(shared.start) => {}
                Ok(Some(run)) => self.take(shared, claim.task.as_ref(), run),
                // There was a request to end, which the next claim finds.
                Ok(None) => {}
                Err(error) => return shared.fail(error),
            }
        }
        let mut state = shared.lock();
        if state.fresh.is_none() {
            state.fresh = self.program.fresh_reason();
        }
    }

    fn take(&mut self, shared: &Shared, task: Option<&Task>, run: SteeredRun) {
        if self.plan.consequences {
            shared.lock().sequential.note(&run);
        }
        let SteeredRun { watched, run, doubts, .. } = run;
        let ended = run.end.is_none();
        let keys = problems_of(&watched, ended);
        let mut state = shared.lock();
        state.rounds.learn(&run.events);
        if self.plan.fixing.notes_accesses {
            state.seen.note(&run.events);
        }
        let outcome = task.map_or(Outcome::New, |task| state.exploration.done(task, &run));
        shared.changed.notify_all();
        state.doubts |= beginning::of_run(doubts, &self.plan.watch) | doubts_about(&watched);
        state.threads =
            state.threads.max(1 + run.events.iter().map(|event| u64::from(event.thread)).max().unwrap_or(0));
        if let Some(cut) = cut_words(run.end)
            && !state.cuts.contains(&cut)
        {
            state.cuts.push(cut);
        }
        if let Outcome::Diverged { at } = outcome
            && cut_words(run.end).is_none()
        {
            note(&mut state, format!("the program does not depend on the schedule only: step {at} differed"));
        }
        if unwatched(&watched) {
            note(&mut state, "a part of the program was not watched".to_owned());
        }
        if !watched.is_replayable() {
            note(&mut state, "a thread waited in a call that is not controlled".to_owned());
        }
        if state.problems.is_new(&keys) {
            state.problems.know(keys);
            let failed = (ended && watched.exit_code != 0 && is_only_failed(&watched)).then_some(watched.exit_code);
            drop(state);
            self.keep(
                shared,
                &run.events,
                ProblemRun { script: script_of(&run.events), watched, failed, stale: None, consequence: None },
            );
            state = shared.lock();
        }
        shared.show(&mut state);
        let is_answered = !self.plan.keep_going && !state.problems.all().is_empty();
        drop(state);
        // A run that ended by itself may be the only one of its trace, also if it did not follow its script. After a finding
        // that is enough, nothing more is looked for: a run that fails has many accesses that only print.
        if self.plan.robustness && !is_answered && (ended || outcome == Outcome::New) {
            let mut events = run.events;
            events.extend(run.pending);
            self.look_for_stale(shared, &events);
        }
    }

    /// Makes the run again with as few preemptions as possible, and keeps the one or the other.
    fn keep(&mut self, shared: &Shared, events: &[RunEvent], problem: ProblemRun) {
        let wanted = problems_of(&problem.watched, true);
        let short = readable(events);
        let mut kept = problem;
        if short != kept.script
            && let Ok(Some(again)) = self.program.run(&short)
            && again.run.end.is_none() == kept.failed.is_some()
            && problems_of(&again.watched, true).iter().any(|key| wanted.contains(key))
        {
            kept = ProblemRun { script: script_of(&again.run.events), watched: again.watched, ..kept };
        }
        shared.lock().problems.push(kept);
        if !self.plan.keep_going {
            shared.end();
        }
    }

    fn look_for_stale(&mut self, shared: &Shared, events: &[RunEvent]) {
        let is_over = || self.plan.is_over(shared.start);
        let found = {
            let state = shared.lock();
            let changes = &self.plan.fixing.changes;
            let judging = Judging { model: self.plan.model, rounds: &state.rounds, changes, is_over: &is_over };
            stale::find(events, &state.places, judging)
        };
        if found.mixed_sizes {
            note(&mut shared.lock(), "atomic accesses of different sizes overlap, which is not judged".to_owned());
        }
        if found.cut_off {
            return shared.meet_limit();
        }
        for (number, stale) in found.stale.iter().enumerate() {
            let shown = if is_over() { Ok(None) } else { self.show_stale(events, stale) };
            let shown = match shown {
                Ok(shown) => shown,
                Err(error) => return shared.fail(error),
            };
            if is_over() {
                let left = found.stale.len() - number;
                let sentence = format!("{left} more accesses may be stale, but there was no time to show it");
                note(&mut shared.lock(), sentence);
                return shared.meet_limit();
            }
            let mut state = shared.lock();
            if !state.places.know(events, stale) {
                continue;
            }
            if let Some(mut run) = shown {
                run.stale = Some(StaleRun::new(events, *stale, self.plan.model, &state.rounds));
                state.problems.push(run);
                drop(state);
                if !self.plan.keep_going {
                    return shared.end();
                }
            }
        }
    }

    /// The run with the stale access, with what the runtime knows about it; `None` if it only makes a loop go round.
    fn show_stale(
        &self,
        events: &[RunEvent],
        found: &ravelin_verify::judge::StaleAccess,
    ) -> Result<Option<ProblemRun>, NotWatched> {
        let script = readable(&stale::until(events, found));
        let mut program = start_program(self.plan, self.processor, Purpose::Robustness)?;
        let Some(again) = program.run(&script)? else { return Ok(None) };
        let mut watched = again.watched;
        if !stale::tell(&mut watched, events, found, self.plan.model) {
            return Ok(None);
        }
        Ok(Some(ProblemRun { script, watched, failed: None, stale: None, consequence: None }))
    }
}

/// What runs are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To see all schedules.
    Schedules,
    /// To show a robustness violation, for which the runtime looks.
    Robustness,
    /// To see what a stale value leads to. It may let a thread go round a loop for ever in which there is no step.
    Consequences,
}

/// Seconds after which a run with a stale value is ended if it makes no progress.
pub const NO_PROGRESS: u64 = 2;

/// Starts the program.
pub fn start_program(
    plan: &VerifyPlan,
    processor: Option<usize>,
    purpose: Purpose,
) -> Result<SteeredProgram, NotWatched> {
    let mut watch = plan.watch.clone();
    watch.streams = Streams::none();
    let robustness = purpose == Purpose::Robustness;
    if !robustness {
        watch.options.push("no-robustness".to_owned());
    }
    watch.options.extend(processor.map(|processor| format!("processor={processor}")));
    if plan.consequences && !robustness {
        let pipes = OutputPipes::new().map_err(|error| NotWatched::NotStarted((&watch.program).into(), error))?;
        watch.streams.captured = Some(Arc::new(pipes));
        let word = format!("no-progress={NO_PROGRESS}");
        // Blanks in its place, so that the stack of the program is at the same address.
        let blanks = " ".repeat(word.len());
        watch.options.push(if purpose == Purpose::Consequences { word } else { blanks });
    }
    SteeredProgram::start(watch, plan.fresh_processes || robustness, plan.unroll)
}

/// The same run with few changes of threads, if finding that does not take too long.
fn readable(events: &[RunEvent]) -> Script {
    const LONGEST: usize = 4096;
    if events.len() > LONGEST { script_of(events) } else { shorten(events) }
}

/// The choices that lead to these events.
pub fn script_of(events: &[RunEvent]) -> Script {
    let choice =
        |event: &RunEvent| ravelin_verify::Choice { thread: event.thread, times_out: event.is(flags::TIMED_OUT) };
    Script { choices: events.iter().filter(|event| !event.is(flags::ROUND)).map(choice).collect(), ..Script::default() }
}

fn is_only_failed(watched: &crate::watch::WatchedRun) -> bool {
    watched.processes.iter().all(|process| process.stuck.is_none() && process.crash.is_none())
}

/// What the report of a run says about other runs.
fn doubts_about(watched: &crate::watch::WatchedRun) -> u64 {
    let forked = watched.processes.iter().any(|process| process.notes & notes::FORKED != 0);
    if forked { doubts::PROCESS } else { 0 }
}

fn note(state: &mut VerifyState, words: String) {
    if !state.notes.contains(&words) {
        state.notes.push(words);
    }
}

fn cut_words(end: Option<SteeredEnd>) -> Option<&'static str> {
    match end? {
        SteeredEnd::Full => Some(TOO_LONG),
        SteeredEnd::Unrolled => Some(UNROLLED),
        SteeredEnd::NotEnabled | SteeredEnd::Asleep => None,
    }
}
