//! A check as a child process: it reads the program and writes JSON, and failures affect only the child.
//!
//! The child gets its limits and keeps them by itself. In addition there is a slightly later deadline at which it is
//! killed, a kernel limit on its address space and processor time, and a limit on its output. It is also killed when no
//! client waits for the answer any more. At most `jobs` children run at once; others wait in a queue of limited length.

use ravelin_process::parent;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A longer program is not for a page.
pub const LARGEST_PROGRAM: usize = 256 << 10;
/// A longer answer is not for a page.
const LARGEST_ANSWER: u64 = 64 << 20;
/// Time for starting, and for writing the answer, beyond the child's own limit.
const GRACE: Duration = Duration::from_secs(3);
/// How often to check whether a client still waits.
const GLANCE: Duration = Duration::from_millis(100);
/// The memory of a process beyond its states: code, stacks, and caches of allocators.
const BESIDE_STATES: u64 = 1 << 30;
const LONGEST_QUEUE: usize = 256;
/// A child with this variable says how far it is, in lines of its error output that begin with `PROGRESS`
/// (`ravelin-cli/src/progress.rs`).
const PROGRESS_VARIABLE: &str = "RAVELIN_PROGRESS";
const PROGRESS: &str = "progress: ";

/// How far a check is, for those who wait.
pub type CheckProgress = Arc<Mutex<String>>;

/// The limits of each check.
#[derive(Clone, Copy, Debug)]
pub struct CheckLimits {
    pub time: Duration,
    pub states: u64,
    /// The memory limit in bytes.
    pub memory: u64,
    /// Threads that search.
    pub workers: usize,
}

/// How a child ended.
#[derive(Debug)]
pub enum ChildEnd {
    /// It ended by itself: its exit code, its output and its error output.
    Answered { code: i32, answer: Vec<u8>, complaint: String },
    /// It was killed at its deadline.
    TimeOut(Duration),
    /// Its output exceeded the limit.
    TooLong,
    /// It was ended by a signal, or could not be started; what is known about that.
    Crashed(String),
    /// No client waits for it any more.
    Abandoned,
    /// The queue is full.
    Busy,
}

/// Runs children, a few at a time.
pub struct Children {
    pub program: PathBuf,
    pub limits: CheckLimits,
    jobs: usize,
    taken: Mutex<ChildSlot>,
    free: Condvar,
}

#[derive(Default)]
struct ChildSlot {
    running: usize,
    waiting: usize,
}

impl Children {
    pub fn new(program: PathBuf, limits: CheckLimits, jobs: usize) -> Children {
        Children { program, limits, jobs: jobs.max(1), taken: Mutex::default(), free: Condvar::new() }
    }

    /// Runs the program with `arguments` on a text, when it is its turn. `gone` returns whether the client has left.
    pub fn run(&self, arguments: &[String], text: &str, gone: &dyn Fn() -> bool, progress: &CheckProgress) -> ChildEnd {
        tell(progress, "waiting for its turn");
        if !self.enter(gone) {
            return if gone() { ChildEnd::Abandoned } else { ChildEnd::Busy };
        }
        tell(progress, "");
        let ended = self.start(arguments, text, gone, progress);
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).running -= 1;
        self.free.notify_one();
        ended
    }

    /// Waits for a turn; `false` if it gets none.
    fn enter(&self, gone: &dyn Fn() -> bool) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.waiting >= LONGEST_QUEUE {
            return false;
        }
        taken.waiting += 1;
        let mut gave_up = false;
        while taken.running >= self.jobs && !gave_up {
            let waited = self.free.wait_timeout(taken, GLANCE);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
            gave_up = gone();
        }
        taken.waiting -= 1;
        if gave_up {
            // If this thread was notified, it passes the notification on.
            self.free.notify_one();
            return false;
        }
        taken.running += 1;
        true
    }

    fn start(&self, arguments: &[String], text: &str, gone: &dyn Fn() -> bool, progress: &CheckProgress) -> ChildEnd {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir("/").env("NO_COLOR", "1").env(PROGRESS_VARIABLE, "1");
        parent::adopt(&mut command);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return ChildEnd::Crashed(format!("the check could not be started: {error}")),
        };
        // The program has not received its input yet, so it has done nothing that needs a limit.
        self.confine(child.id());
        let (answers, answered) = mpsc::channel();
        if let Some(mut input) = child.stdin.take() {
            let text = text.to_owned();
            // A child that does not read its input ends, and then this thread ends.
            std::thread::spawn(move || input.write_all(text.as_bytes()));
        }
        if let Some(output) = child.stdout.take() {
            let answers = answers.clone();
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = output.take(LARGEST_ANSWER + 1).read_to_end(&mut bytes);
                let _ = answers.send((0, bytes));
            });
        }
        if let Some(output) = child.stderr.take() {
            let (answers, progress) = (answers.clone(), Arc::clone(progress));
            std::thread::spawn(move || {
                let _ = answers.send((1, complaints(output, &progress)));
            });
        }
        drop(answers);
        let deadline = Instant::now() + self.limits.time + GRACE;
        let mut printed = [Vec::new(), Vec::new()];
        let mut cause = None;
        loop {
            match answered.recv_timeout(GLANCE) {
                Ok((which, bytes)) if bytes.len() as u64 > LARGEST_ANSWER => {
                    printed[which].clear();
                    cause = Some(ChildEnd::TooLong);
                    break;
                }
                Ok((which, bytes)) => printed[which] = bytes,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    cause = Some(ChildEnd::TimeOut(self.limits.time));
                    break;
                }
                Err(RecvTimeoutError::Timeout) if gone() => {
                    cause = Some(ChildEnd::Abandoned);
                    break;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        if cause.is_some() {
            let _ = child.kill();
        }
        let status = child.wait();
        if let Some(cause) = cause {
            return cause;
        }
        let [answer, complaint] = printed;
        let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
        match status.map(|status| status.code()) {
            Ok(Some(code)) => ChildEnd::Answered { code, answer, complaint },
            Ok(None) => ChildEnd::Crashed(format!(
                "the check was ended by the system, probably for want of memory. {complaint}"
            )),
            Err(error) => ChildEnd::Crashed(format!("the check was lost: {error}")),
        }
    }

    /// Limits that the kernel enforces. If it refuses, the child's own remain.
    fn confine(&self, child: u32) {
        let pid = i32::try_from(child).ok().and_then(Pid::from_raw);
        let both = |limit: u64| Rlimit { current: Some(limit), maximum: Some(limit) };
        let seconds = (self.limits.time + GRACE).as_secs().saturating_add(1);
        let processor = seconds.saturating_mul(self.limits.workers.max(1) as u64 + 1);
        for (resource, limit) in [
            (Resource::As, self.limits.memory.saturating_mul(2).saturating_add(BESIDE_STATES)),
            (Resource::Cpu, processor),
            (Resource::Core, 0),
        ] {
            let _ = prlimit(pid, resource, both(limit));
        }
    }
}

fn tell(progress: &CheckProgress, how_far: &str) {
    how_far.clone_into(&mut progress.lock().unwrap_or_else(PoisonError::into_inner));
}

/// What a child says on its error output besides how far it is.
fn complaints(output: impl Read, progress: &CheckProgress) -> Vec<u8> {
    let mut complaints = Vec::new();
    let mut lines = BufReader::new(output.take(LARGEST_ANSWER + 1));
    loop {
        let mut line = Vec::new();
        if lines.read_until(b'\n', &mut line).is_err() || line.is_empty() {
            return complaints;
        }
        match str::from_utf8(&line).ok().and_then(|line| line.strip_prefix(PROGRESS)) {
            Some(how_far) => tell(progress, how_far.trim_end()),
            None => complaints.extend(line),
        }
    }
}
