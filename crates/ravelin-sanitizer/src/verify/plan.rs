//! What to verify and how far, and the answer.

use super::VerifiedProgram;
use super::beginning;
use super::problem::{ProblemKey, Problems};
use super::saved;
use super::seen::SeenAccesses;
use super::stale::StalePlaces;
use super::worker::{Shared, VerifyState, Worker};
use crate::report::{Gathered, Report, Run, Wanted, gather};
use crate::watch::{
    FreshReason, NotWatched, SteeredProgram, SteeredRun, Streams, WatchCommand, interrupted, kill_runs,
};
use ravelin_answer::sanitizer::Verification;
use ravelin_findings::Module;
use ravelin_findings::steering::doubts;
use ravelin_program::Model;
use ravelin_verify::exploration::{ExplorationProgress, Options};
use ravelin_verify::judge::JudgedModel;
use ravelin_verify::{Changes, Script};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// What to verify, and how far.
#[derive(Clone, Debug, Default)]
pub struct VerifyPlan {
    /// The program, with the words for its runtime that do not depend on the run.
    pub watch: WatchCommand,
    /// Runs at a time.
    pub jobs: usize,
    pub options: Options,
    /// How many loads a thread may make in a loop that is not known to wait.
    pub unroll: u64,
    pub max_runs: Option<u64>,
    pub timeout: Option<Duration>,
    /// Looks for stale accesses.
    pub robustness: bool,
    /// Against which model.
    pub model: JudgedModel,
    /// Goes on after the first problem.
    pub keep_going: bool,
    /// Each run is a new process.
    pub fresh_processes: bool,
    /// The output of the first run is not shown.
    pub silent: bool,
    /// What an earlier verification has left.
    pub resume: Option<Vec<u64>>,
    /// Tries what stale accesses lead to.
    pub consequences: bool,
    /// Not all schedules are run, but some that are drawn.
    pub drawn: Option<DrawnRuns>,
    /// For a program that is verified with changes.
    pub fixing: Fixing,
}

/// Runs under schedules that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnRuns {
    /// Of the first run; each later run has the next one.
    pub seed: u64,
    pub runs: u64,
}

/// Changes with which a program is verified.
#[derive(Clone, Debug, Default)]
pub struct Fixing {
    pub(super) changes: Changes,
    /// Problems that no change removes, and that do not count.
    pub(super) left: Vec<ProblemKey>,
    pub(super) left_stale: StalePlaces,
    /// Notes which atomic accesses are made.
    pub(super) notes_accesses: bool,
}

/// What is known when no run is left to make.
pub(super) struct ExploredProgram {
    pub verification: Verification,
    pub problems: Problems,
    pub executable: Option<PathBuf>,
    pub seen: SeenAccesses,
    /// The files of the program and where they are loaded, if accesses are noted.
    pub modules: Vec<Module>,
    pub fresh: Option<FreshReason>,
    /// For runs that are drawn: what limits the answer.
    pub notes: Vec<String>,
    /// And how many of them have no problem.
    pub others: u64,
    /// The program, with runs that begin where these did.
    pub watch: WatchCommand,
}

/// What is called while runs are made.
#[derive(Clone, Copy, Default)]
pub struct Listeners<'a> {
    /// Gets how far it is, often.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Gets what is left, now and then and at the end.
    pub rest: Option<RestListener<'a>>,
}

type RestListener<'a> = &'a (dyn Fn(&[u64]) + Sync);

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Runs that were begun.
    pub runs: u64,
    pub statistics: ExplorationProgress,
    pub problems: usize,
}

impl VerifyPlan {
    /// Makes the runs.
    pub fn verify(&self, wanted: &Wanted, listeners: Listeners) -> Result<VerifiedProgram, NotWatched> {
        let explored = self.explored(listeners)?;
        let report = self.report(&explored.problems, &explored.executable, wanted);
        let mut report = Report { fresh_processes: explored.fresh, ..report };
        report.notes.extend(explored.notes);
        report.runs.extend((0..explored.others).map(|_| Run { replayable: true, ..Run::default() }));
        for finding in &mut report.findings {
            let runs = finding.runs.iter().filter_map(|run| explored.problems.all().get(*run));
            finding.machines = runs.clone().find_map(|run| run.stale.as_ref()?.machines());
            let worst = runs.min_by_key(|run| (run.outcome().is_none(), run.outcome()));
            finding.consequence = worst.and_then(|run| run.consequence.clone());
        }
        // The worst ones first; without consequences, as they were.
        report.findings.sort_by_key(|finding| finding.consequence.as_ref().map(|consequence| consequence.outcome));
        Ok(VerifiedProgram { report, verification: explored.verification })
    }

    /// Makes the runs, without a report.
    pub(super) fn explored(&self, listeners: Listeners) -> Result<ExploredProgram, NotWatched> {
        let start = Instant::now();
        let watchdog = Watchdog::default();
        std::thread::scope(|scope| {
            scope.spawn(|| watchdog.watch(|| self.is_over(start)));
            let explored = self.explored_in_time(start, listeners);
            watchdog.end();
            explored
        })
    }

    fn explored_in_time(&self, start: Instant, listeners: Listeners) -> Result<ExploredProgram, NotWatched> {
        let Some(first) = self.first_run(start)? else { return Ok(self.without_a_run(start)) };
        if !beginning::may_be_marked(&first) {
            return self.explored_from(first, start, listeners);
        }
        let marked = VerifyPlan { watch: beginning::from_mark(&self.watch), silent: true, ..self.clone() };
        match marked.first_run(start)? {
            Some(first) if beginning::is_marked(&first) => marked.explored_from(first, start, listeners),
            Some(_) => self.explored_from(first, start, listeners),
            None => Ok(self.without_a_run(start)),
        }
    }

    /// Makes all runs but the first.
    fn explored_from(
        &self,
        first: SteeredRun,
        start: Instant,
        listeners: Listeners,
    ) -> Result<ExploredProgram, NotWatched> {
        let threads = first.watched.processes.iter().map(|process| process.threads_started).max().unwrap_or(0);
        let mut shared = Shared::new(self, start, listeners)?;
        if first.run.events.is_empty() {
            // There is no schedule to choose.
            shared.take_first(&first);
        } else {
            self.explore(&shared);
        }
        let Shared { state, .. } = shared;
        let mut state = state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(error) = state.error {
            return Err(error);
        }
        if self.consequences {
            let is_complete = self.drawn.is_none()
                && self.resume.is_none()
                && state.exploration.is_finished()
                && state.exploration.is_complete();
            let sequential = std::mem::take(&mut state.sequential);
            self.find_consequences(&mut state.problems, sequential, is_complete, start)?;
        }
        let statistics = state.exploration.statistics();
        let mut limits = state.limits.clone();
        if !state.exploration.is_complete() || self.drawn.is_some() {
            limits.extend(state.cuts.iter().map(|cut| (*cut).to_owned()));
            if let Some(most) = self.options.preemptions {
                limits.push(format!("schedules with more than {most} preemptions were left out (--preemptions)"));
            }
        }
        limits.extend(doubt_words(state.doubts).map(str::to_owned));
        limits.extend(state.notes.iter().cloned());
        let left = !state.exploration.is_finished() && !first.run.events.is_empty() && self.drawn.is_none();
        if let Some(rest) = listeners.rest.filter(|_| left) {
            rest(&saved::save(self, &state));
        }
        if left && limits.is_empty() && state.problems.is_empty() {
            limits.push("not all schedules were run".to_owned());
        }
        let runs = statistics.runs.max(1);
        let notes = if self.drawn.is_some() { limits.clone() } else { Vec::new() };
        let others = self.drawn.map_or(0, |_| state.claimed().saturating_sub(state.problems.len() as u64));
        let verification = Verification {
            runs,
            redundant: statistics.redundant + statistics.impossible,
            threads: threads.max(state.threads),
            events: statistics.depth as u64,
            complete: !left && limits.is_empty(),
            estimated_runs: left.then_some(statistics.estimated_runs as u64).filter(|runs| *runs > 0),
            limits,
            failures: state.problems.failures(),
            checks_robustness: self.robustness,
            ignores_races: self.ignores_races(),
            model: self.judged_model(),
            seconds: start.elapsed().as_secs(),
        };
        Ok(ExploredProgram {
            verification,
            problems: state.problems,
            executable: first.watched.executable,
            seen: state.seen,
            modules: first.watched.processes.into_iter().next().map(|process| process.modules).unwrap_or_default(),
            fresh: state.fresh,
            notes,
            others,
            watch: self.watch.clone(),
        })
    }

    /// Makes one run again, whose output is shown.
    pub fn show(&self, schedule: &str) -> Result<(), NotWatched> {
        let Ok(script) = schedule.parse() else { return Ok(()) };
        let mut watch = beginning::find(&self.watch)?;
        watch.streams = Streams::shown();
        SteeredProgram::start(watch, true, self.unroll)?.run(&script)?;
        Ok(())
    }

    /// Whether there was a request to end.
    pub fn is_interrupted(&self) -> bool {
        interrupted()
    }

    /// One run whose output is shown; errors in the command are found here. `None` if it did not end in time.
    fn first_run(&self, start: Instant) -> Result<Option<SteeredRun>, NotWatched> {
        let mut watch = self.watch.clone();
        watch.streams = Streams { silent: self.silent, ..Streams::none() };
        if self.fixing.notes_accesses {
            // With the list of accesses comes that of files.
            watch.options.push("sites".to_owned());
        }
        let mut program = SteeredProgram::start(watch, true, self.unroll)?;
        Ok(self.run(&mut program, &Script::default(), start)?.filter(|_| !self.is_over(start)))
    }

    /// Makes a run, and again if it was killed: from outside that does not happen again and again.
    pub(super) fn run(
        &self,
        program: &mut SteeredProgram,
        script: &Script,
        start: Instant,
    ) -> Result<Option<SteeredRun>, NotWatched> {
        const REPETITIONS: u32 = 4;
        let mut run = program.run(script)?;
        for _ in 0..REPETITIONS {
            let killed = run.as_ref().is_some_and(|run| run.watched.signal == Some(libc::SIGKILL));
            if !killed || self.is_over(start) {
                break;
            }
            run = program.run(script)?;
        }
        Ok(run)
    }

    /// Whether the runtime was told not to look for data races.
    fn ignores_races(&self) -> bool {
        self.watch.options.iter().any(|option| option == "no-races")
    }

    /// The answer if not even one run ended in time.
    fn without_a_run(&self, start: Instant) -> ExploredProgram {
        let verification = Verification {
            runs: 0,
            redundant: 0,
            threads: 0,
            events: 0,
            complete: false,
            estimated_runs: None,
            limits: self.limit(0, start).into_iter().collect(),
            failures: Vec::new(),
            checks_robustness: self.robustness,
            ignores_races: self.ignores_races(),
            model: self.judged_model(),
            seconds: start.elapsed().as_secs(),
        };
        ExploredProgram {
            verification,
            problems: Problems::default(),
            executable: None,
            seen: SeenAccesses::default(),
            modules: Vec::new(),
            fresh: None,
            notes: Vec::new(),
            others: 0,
            watch: self.watch.clone(),
        }
    }

    /// The model for which accesses are judged; `None` if they are not.
    fn judged_model(&self) -> Option<Model> {
        self.robustness.then_some(match self.model {
            JudgedModel::Rc20 => Model::Rc20,
            JudgedModel::Tso => Model::Tso,
        })
    }

    /// Whether runs must end now, because the time is over or there was a request to end.
    pub(super) fn is_over(&self, start: Instant) -> bool {
        interrupted() || self.timeout.is_some_and(|timeout| start.elapsed() >= timeout)
    }

    fn explore(&self, shared: &Shared) {
        let work = |job: usize| match Worker::new(self, self.processor_of(job)) {
            Ok(mut worker) => worker.work(shared),
            Err(error) => shared.fail(error),
        };
        let work = &work;
        std::thread::scope(|scope| {
            for job in 1..self.jobs.max(1) {
                // If memory is limited there may be fewer, and it takes longer.
                if std::thread::Builder::new().spawn_scoped(scope, move || work(job)).is_err() {
                    break;
                }
            }
            work(0);
        });
    }

    /// The processor for one of several jobs.
    pub(super) fn processor_of(&self, job: usize) -> Option<usize> {
        let processors = crate::processor::processors();
        processors.get(job % processors.len().max(1)).copied().filter(|_| self.jobs > 1)
    }

    /// The report about the runs with problems.
    pub(super) fn report(&self, problems: &Problems, executable: &Option<PathBuf>, wanted: &Wanted) -> Report {
        let (processes, run_of) = problems.processes();
        gather(
            Gathered {
                program: self.watch.program.display().to_string(),
                arguments: self.watch.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
                executable: executable.as_deref(),
                processes,
                unrecorded: 0,
                run_of,
                runs: problems.runs(),
                directory: std::env::current_dir().ok(),
            },
            wanted,
        )
    }

    /// The limit that is met, in words.
    pub(super) fn limit(&self, runs: u64, start: Instant) -> Option<String> {
        if interrupted() {
            return Some("it was interrupted".to_owned());
        }
        if let Some(most) = self.max_runs.filter(|most| runs >= *most) {
            return Some(format!("the limit of {most} runs was met (--max-runs)"));
        }
        let timeout = self.timeout.filter(|timeout| start.elapsed() >= *timeout)?;
        Some(format!("the limit of {} s was met (--timeout)", timeout.as_secs_f64()))
    }
}

/// Ends runs that go on when the time is over.
#[derive(Default)]
struct Watchdog {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Watchdog {
    /// How often it looks.
    const OFTEN: Duration = Duration::from_millis(50);

    fn watch(&self, is_over: impl Fn() -> bool) {
        let mut was_over = false;
        let mut ended = self.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while !*ended {
            let waited = self.changed.wait_timeout(ended, Watchdog::OFTEN);
            ended = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            let is_over = is_over();
            // A run that was asked to end gets a moment to do so.
            if was_over && is_over && !*ended {
                kill_runs();
            }
            was_over = is_over;
        }
    }

    fn end(&self) {
        *self.ended.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        self.changed.notify_all();
    }
}

/// Why other runs may exist.
fn doubt_words(doubts: u64) -> impl Iterator<Item = &'static str> {
    const WORDS: [(u64, &str); 8] = [
        (doubts::DESCRIPTOR, "a thread waited for a file, a socket or another process, which no schedule controls"),
        (doubts::UNKNOWN_WAIT, "a thread waited in a call that is not controlled"),
        (doubts::SIGNAL, "a signal was handled, which may come at other times"),
        (doubts::PROCESS, "the program started another process"),
        (doubts::CANCELLED, "a thread was cancelled, which may take effect at other places"),
        (doubts::FILE, "the program changed a file, which other runs find changed"),
        (doubts::CLOCK, "a clock was read"),
        (doubts::BEGINS, "the program says where runs begin (ravelin_verify_begin) in some schedules only"),
    ];
    WORDS.into_iter().filter(move |(bit, _)| doubts & bit != 0).map(|(_, words)| words)
}

/// What the workers share.
impl<'a> Shared<'a> {
    fn new(plan: &'a VerifyPlan, start: Instant, listeners: Listeners<'a>) -> Result<Shared<'a>, NotWatched> {
        let mut state = VerifyState::new(plan);
        if let Some(words) = &plan.resume {
            saved::restore(plan, words, &mut state)?;
        }
        Ok(Shared::with(plan, start, listeners, Mutex::new(state)))
    }

    fn take_first(&mut self, first: &SteeredRun) {
        if let Ok(mut state) = self.state.lock() {
            state.take_single(first);
        }
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Problems {
    fn runs(&self) -> Vec<Run> {
        self.all().iter().map(|problem| problem.summary()).collect()
    }
}
