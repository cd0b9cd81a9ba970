//! Many runs of a program, each with its own schedule.
//!
//! Run number i has the requested seed plus i, so any run can be repeated by itself. PCT needs the number of points of
//! a run, which the first run measures. With a controlled schedule a program runs on one processor, so several runs
//! proceed in parallel.

use crate::watch::{NotWatched, Streams, WatchCommand, WatchedRun, file_in_memory, interrupted, path_in_memory, watch};
use ravelin_schedule::{Schedule, Strategy};
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
}

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
    /// Makes all runs and returns them in order of their numbers. `done` is called with each run as it ends, and
    /// returns whether to make the others.
    pub fn run(&self, mut done: impl FnMut(&CompletedRun) -> bool + Send) -> Result<Vec<CompletedRun>, NotWatched> {
        let input = Input::new(self.runs)?;
        let mut ran = Vec::new();
        if self.runs == 0 {
            return Ok(ran);
        }
        // The first run is made alone: errors in the program are reported once, and its length is measured.
        ran.push(self.one(0, self.length(), &input, None)?);
        let points = ran[0].watched.processes.iter().map(|process| process.points).max().unwrap_or(0);
        let length = if self.length_is_given() || points == 0 { self.length() } else { points };
        if !done(&ran[0]) || interrupted() || self.runs == 1 {
            return Ok(ran);
        }
        let processors = processors();
        let jobs = self.jobs.max(1);
        let next = AtomicU64::new(1);
        let stop = AtomicBool::new(false);
        let others = Mutex::new((Vec::new(), None, done));
        let work = |processor: Option<usize>| {
            while !stop.load(Ordering::Relaxed) && !interrupted() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.runs {
                    return;
                }
                let result = self.one(number, length, &input, processor);
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
        Ok(ran)
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

    fn one(
        &self,
        number: u64,
        length: u64,
        input: &Input,
        processor: Option<usize>,
    ) -> Result<CompletedRun, NotWatched> {
        let strategy = match self.scheduling {
            Scheduling::Os => None,
            Scheduling::Random => Some(Strategy::Random),
            Scheduling::Pct { depth, .. } => Some(Strategy::Pct { depth, length }),
        };
        let schedule = strategy.map(|strategy| Schedule { strategy, seed: self.seed.wrapping_add(number) });
        let mut watch_one = self.watch.clone();
        if let Some(schedule) = schedule {
            watch_one.options.push(format!("schedule={schedule}"));
            watch_one.options.push(format!("livelock={}", self.livelock));
            watch_one.options.extend(processor.map(|processor| format!("processor={processor}")));
        }
        watch_one.streams = Streams { input: input.path.clone(), silent: self.silent || number > 0 };
        if self.runs > 1 {
            watch_one.keep = self.watch.keep.as_ref().map(|keep| keep.join(format!("run-{number:06}")));
        }
        Ok(CompletedRun { number, schedule, watched: watch(&watch_one)? })
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
        loop {
            match stdin.read(&mut bytes) {
                Ok(0) => break,
                Ok(length) => file.write_all(&bytes[..length]).map_err(not_kept)?,
                // A closed input is an empty one.
                Err(_) => break,
            }
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

/// The processors that this process may use.
fn processors() -> Vec<usize> {
    // SAFETY: an empty set is all zeroes, and the C library fills it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&processor| libc::CPU_ISSET(processor, &set)).collect()
    }
}

/// A hash of a file's contents, by which a report recognises the program; 0 if it cannot be read.
pub fn fingerprint(file: &Path) -> u64 {
    std::fs::read(file).map_or(0, |bytes| ravelin_findings::hash(&bytes))
}
