//! Many runs of a program, each with its own schedule.
//!
//! Run number i has the requested seed plus i, so any run can be repeated by itself. PCT needs the number of points of
//! a run, which the first run measures. With a controlled schedule a program runs on one processor, so several runs
//! proceed in parallel.
//!
//! The first run is a new process: its output is shown. The others are forked from processes that stand before their
//! second thread, one for each job ([`RunServer`]), unless there is a reason to start new processes ([`FreshReason`]).

use crate::processor;
use crate::watch::{
    FreshReason, NotWatched, ProgramFile, RunServer, ServedRun, Streams, WatchCommand, WatchedRun, file_in_memory,
    interrupted, path_in_memory, watch_file,
};
use ravelin_findings::notes;
use ravelin_schedule::{Schedule, Strategy};
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// How threads are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scheduling {
    /// By the operating system.
    #[default]
    Os,
    Random,
    /// `length` is measured if it is not given.
    Pct {
        depth: u32,
        length: Option<u64>,
    },
    /// A random walk with old values, of which so many are kept per location.
    Weak {
        values: u32,
    },
}

/// How many values of a location a weak run keeps, if nothing else is said.
pub const DEFAULT_VALUES: u32 = 1_000;

/// What to run, and how often.
#[derive(Clone, Debug, Default)]
pub struct RunPlan {
    /// The program, with the words for its runtime that do not depend on the run.
    pub watch: WatchCommand,
    pub scheduling: Scheduling,
    pub seed: u64,
    pub runs: u64,
    /// Runs at a time.
    pub jobs: usize,
    /// How many points without any effect make a livelock; 0 for never.
    pub livelock: u64,
    /// The program's output is not shown; otherwise that of the first run is.
    pub silent: bool,
    /// Each run is a new process.
    pub fresh_processes: bool,
}

/// The runs of a plan.
#[derive(Debug, Default)]
pub struct CompletedRuns {
    /// In order of their numbers.
    pub ran: Vec<CompletedRun>,
    /// Why each run was a new process, or each since some run; `None` if they were forked, or if there was one.
    pub fresh: Option<FreshReason>,
}

/// One run.
#[derive(Debug)]
pub struct CompletedRun {
    /// Its number, from 0.
    pub number: u64,
    /// `None` for the schedule of the operating system.
    pub schedule: Option<Schedule>,
    pub watched: WatchedRun,
}

/// The number of points of a run that was not measured.
const LENGTH: u64 = 1_000;

impl RunPlan {
    /// Makes all runs. `done` is called with each run as it ends, and returns whether to make the others.
    pub fn run(&self, mut done: impl FnMut(&CompletedRun) -> bool + Send) -> Result<CompletedRuns, NotWatched> {
        let input = Input::new(self.runs)?;
        let file = ProgramFile::new(&self.watch.program);
        let mut ran = Vec::new();
        if self.runs == 0 {
            return Ok(CompletedRuns::default());
        }
        // The first run is made alone: errors in the program are reported once, and its length is measured.
        ran.push(self.fresh_run(0, self.length(), &input, &file, None)?);
        let points = ran[0].watched.processes.iter().map(|process| process.points).max().unwrap_or(0);
        let length = if self.length_is_given() || points == 0 { self.length() } else { points };
        if !done(&ran[0]) || interrupted() || self.runs == 1 {
            return Ok(CompletedRuns { ran, fresh: None });
        }
        let fresh = OnceLock::new();
        if let Some(reason) = self.reason_for_fresh_processes(&ran[0]) {
            // It is empty.
            let _ = fresh.set(reason);
        }
        let processors = processor::processors();
        let jobs = self.jobs.max(1);
        let next = AtomicU64::new(1);
        let stop = AtomicBool::new(false);
        let others = Mutex::new((Vec::new(), None, done));
        let work = |processor: Option<usize>| {
            let job = Job { plan: self, length, input: &input, file: &file, processor, fresh: &fresh };
            let mut server = None;
            while !stop.load(Ordering::Relaxed) && !interrupted() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.runs {
                    return;
                }
                let Some(result) = job.run(number, &mut server).transpose() else { return };
                let Ok(mut others) = others.lock() else { return };
                let (all, error, done) = &mut *others;
                match result {
                    Ok(run) => {
                        if !done(&run) {
                            stop.store(true, Ordering::Relaxed);
                        }
                        all.push(run);
                    }
                    Err(wrong) => {
                        *error = Some(wrong);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let work = &work;
            let processor =
                |worker: usize| (jobs > 1).then(|| processors.get(worker % processors.len().max(1)).copied()).flatten();
            // This thread works, too: if memory is limited there may be no others, and the runs take longer.
            for worker in 1..jobs {
                let processor = processor(worker);
                if std::thread::Builder::new().spawn_scoped(scope, move || work(processor)).is_err() {
                    break;
                }
            }
            work(processor(0));
        });
        let (others, error, _) = others.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(error) = error {
            return Err(error);
        }
        ran.extend(others);
        ran.sort_by_key(|run| run.number);
        Ok(CompletedRuns { ran, fresh: fresh.get().copied() })
    }

    /// Whether each run must be a new process, as far as that is known before the program is asked.
    fn reason_for_fresh_processes(&self, first: &CompletedRun) -> Option<FreshReason> {
        let processes = &first.watched.processes;
        match &processes[..] {
            _ if self.fresh_processes => Some(FreshReason::Wanted),
            _ if self.scheduling == Scheduling::Os => Some(FreshReason::SystemSchedule),
            _ if self.watch.keep.is_some() => Some(FreshReason::KeptFindings),
            [process] if process.threads_started <= 1 => Some(FreshReason::OneThread),
            [process] if process.notes & notes::FORKED == 0 => None,
            _ => Some(FreshReason::Processes),
        }
    }

    fn length(&self) -> u64 {
        match self.scheduling {
            Scheduling::Pct { length, .. } => length.unwrap_or(LENGTH),
            _ => LENGTH,
        }
    }

    fn length_is_given(&self) -> bool {
        matches!(self.scheduling, Scheduling::Pct { length: Some(_), .. })
    }

    fn schedule(&self, number: u64, length: u64) -> Option<Schedule> {
        let strategy = match self.scheduling {
            Scheduling::Os => None,
            Scheduling::Random => Some(Strategy::Random),
            Scheduling::Pct { depth, .. } => Some(Strategy::Pct { depth, length }),
            Scheduling::Weak { values } => Some(Strategy::Weak { values }),
        };
        strategy.map(|strategy| Schedule { strategy, seed: self.seed.wrapping_add(number) })
    }

    /// The words for the runtime that depend on the run.
    fn words(&self, schedule: Schedule) -> String {
        format!("schedule={schedule} livelock={}", self.livelock)
    }

    /// The command for a run.
    fn command(&self, number: u64, length: u64, input: &Input, processor: Option<usize>) -> WatchCommand {
        let mut watch_one = self.watch.clone();
        if let Some(schedule) = self.schedule(number, length) {
            let processor = processor.map(|processor| format!(" processor={processor}")).unwrap_or_default();
            let words = format!("{}{processor}", self.words(schedule));
            // As long for every run: the environment lies above the program's stack, which is then at the same address.
            watch_one.options.push(format!("{words:<WORDS_LENGTH$}"));
        }
        watch_one.streams = Streams { input: input.path.clone(), silent: self.silent || number > 0, captured: None };
        if self.runs > 1 {
            watch_one.keep = self.watch.keep.as_ref().map(|keep| keep.join(format!("run-{number:06}")));
        }
        watch_one
    }

    /// A run by a new process.
    fn fresh_run(
        &self,
        number: u64,
        length: u64,
        input: &Input,
        file: &ProgramFile,
        processor: Option<usize>,
    ) -> Result<CompletedRun, NotWatched> {
        let watched = watch_file(&self.command(number, length, input, processor), file)?;
        Ok(CompletedRun { number, schedule: self.schedule(number, length), watched })
    }
}

/// No words of a run are longer, with their numbers.
const WORDS_LENGTH: usize = 160;

/// One of the threads that make runs.
struct Job<'a> {
    plan: &'a RunPlan,
    length: u64,
    input: &'a Input,
    file: &'a ProgramFile,
    processor: Option<usize>,
    /// Why new processes are started from now on, by all jobs.
    fresh: &'a OnceLock<FreshReason>,
}

impl Job<'_> {
    /// Makes a run, forked from the server if that is possible; `None` if there was a request to end.
    fn run(&self, number: u64, server: &mut Option<RunServer>) -> Result<Option<CompletedRun>, NotWatched> {
        let Job { plan, length, input, file, processor, fresh } = *self;
        if let Some(schedule) = plan.schedule(number, length)
            && fresh.get().is_none()
        {
            let (watched, reason) = self.forked_run(number, &plan.words(schedule), server)?;
            if let Some(reason) = reason {
                *server = None;
                // If another job has one already, that one is told.
                let _ = fresh.set(reason);
            }
            if let Some(watched) = watched {
                return Ok(Some(CompletedRun { number, schedule: Some(schedule), watched }));
            }
            if interrupted() {
                return Ok(None);
            }
        }
        plan.fresh_run(number, length, input, file, processor).map(Some)
    }

    fn forked_run(
        &self,
        number: u64,
        words: &str,
        server: &mut Option<RunServer>,
    ) -> Result<(Option<WatchedRun>, Option<FreshReason>), NotWatched> {
        if server.is_none() {
            let command = self.plan.command(number, self.length, self.input, self.processor);
            match RunServer::start(&command, self.file)? {
                Ok(started) => *server = Some(started),
                Err(reason) => return Ok((None, Some(reason))),
            }
        }
        let Some(server) = server else { return Ok((None, None)) };
        Ok(match server.run(words)? {
            ServedRun::Made(watched, reason) => (Some(*watched), reason),
            ServedRun::NotMade(reason) => (None, Some(reason)),
        })
    }
}

/// The input of all runs: the first one must not consume it.
struct Input {
    path: Option<PathBuf>,
    /// Holds it in memory.
    _memory: Option<File>,
    /// It is a file that must be removed.
    own: bool,
}

impl Input {
    fn new(runs: u64) -> Result<Input, NotWatched> {
        let mut stdin = std::io::stdin();
        if runs <= 1 {
            return Ok(Input { path: None, _memory: None, own: false });
        }
        if stdin.is_terminal() {
            return Ok(Input { path: Some(PathBuf::from("/dev/null")), _memory: None, own: false });
        }
        let memory = file_in_memory(c"ravelin-input").ok();
        let in_directory = || std::env::temp_dir().join(format!("ravelin-input-{:08}", std::process::id()));
        let path = memory.as_ref().map_or_else(in_directory, path_in_memory);
        let not_kept = |error| NotWatched::NotKept(path.clone(), error);
        let mut file = match &memory {
            Some(memory) => memory.try_clone(),
            None => File::create_new(&path),
        }
        .map_err(not_kept)?;
        let mut bytes = [0; 1 << 16];
        let mut empty = true;
        loop {
            match stdin.read(&mut bytes) {
                Ok(0) => break,
                Ok(length) => file.write_all(&bytes[..length]).map_err(not_kept)?,
                // A closed input is an empty one.
                Err(_) => break,
            }
            empty = false;
        }
        if empty && memory.is_some() {
            // Runs need not open it again, each for itself.
            return Ok(Input { path: Some(PathBuf::from("/dev/null")), _memory: None, own: false });
        }
        Ok(Input { path: Some(path), own: memory.is_none(), _memory: memory })
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        if let (Some(path), true) = (&self.path, self.own) {
            // A leftover in the temporary directory must not prevent the report.
            let _ = std::fs::remove_file(path);
        }
    }
}
