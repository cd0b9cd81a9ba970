//! The processes of a search on this machine: starts them, waits for them, and returns how each ended.
//!
//! They are processes of this program, with `--cluster` and `--process` after the words of its command line. They meet
//! in a directory that only this user can enter. When one dies, the others notice and end by themselves; those that do
//! not are killed. When a signal comes ([`interrupt`]), all are asked to stop, and killed if they take too long or if a
//! second signal comes.

use crate::Hosts;
use ravelin_process::{interrupt, parent};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Time between two looks at the processes.
const LOOK: Duration = Duration::from_millis(10);
/// How long the others may take to notice that one is gone.
const GRACE: Duration = Duration::from_secs(20);
/// How long they may take to stop when a signal asks for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much of the last error output of a process is kept.
const LAST_WORDS: usize = 4096;

/// Why the processes could not be started.
#[derive(Debug, Error)]
pub enum LocalError {
    /// There is no directory for them.
    #[error("cannot create {0}: {1}")]
    Directory(String, io::Error),
    /// One could not be started; the others were killed.
    #[error("cannot start process {0}: {1}")]
    Start(usize, io::Error),
}

/// How a process ended.
#[derive(Debug)]
pub struct ProcessEnd {
    /// The number of the process.
    pub number: usize,
    /// It ended neither with an answer nor with a message about the input.
    pub died: bool,
    status: ExitStatus,
    /// The end of its error output; empty for process 0, whose output is that of this process.
    last_words: String,
}

impl ProcessEnd {
    /// Its exit code; none if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match (self.status.signal(), self.code()) {
            (Some(signal), _) => write!(f, "process {number} was ended by signal {signal}"),
            (None, Some(code)) => write!(f, "process {number} ended with {code}"),
            (None, None) => write!(f, "process {number} ended"),
        }?;
        if self.last_words.is_empty() { Ok(()) } else { write!(f, ":\n{}", self.last_words) }
    }
}

/// Runs this program as several processes with the same words of a command line. `is_answer` recognises the exit codes
/// of a process that did not die. The ends are in the order of the processes.
pub fn run_local(
    processes: usize,
    words: &[OsString],
    is_answer: &dyn Fn(i32) -> bool,
) -> Result<Vec<ProcessEnd>, LocalError> {
    let meeting = Meeting::new()?;
    let hosts = meeting.directory.join("hosts");
    std::fs::write(&hosts, Hosts::local(&meeting.directory, processes).to_string())
        .map_err(|error| LocalError::Directory(hosts.display().to_string(), error))?;
    let mut started = Vec::new();
    for number in 0..processes {
        match Process::start(words, number, &hosts, &meeting) {
            Ok(process) => started.push(process),
            Err(error) => {
                started.iter_mut().for_each(Process::kill);
                return Err(LocalError::Start(number, error));
            }
        }
    }
    let died = |end: ExitStatus| !end.code().is_some_and(is_answer);
    let ends = wait(&mut started, &died);
    drop(meeting);
    let end = |(number, (process, status)): (usize, (Process, ExitStatus))| {
        let last_words = process.last_words.and_then(|thread| thread.join().ok()).unwrap_or_default();
        ProcessEnd { number, died: died(status), status, last_words }
    };
    Ok(started.into_iter().zip(ends).enumerate().map(end).collect())
}

/// Waits for all.
fn wait(processes: &mut [Process], died: &dyn Fn(ExitStatus) -> bool) -> Vec<ExitStatus> {
    let (mut first_death, mut asked) = (None, None);
    loop {
        if asked.is_none() && interrupt::is_asked() {
            asked = Some(Instant::now());
            processes.iter_mut().for_each(Process::ask_to_stop);
        }
        let ends: Vec<Option<ExitStatus>> = processes.iter_mut().map(Process::end).collect();
        if ends.iter().flatten().any(|end| died(*end)) {
            first_death.get_or_insert_with(Instant::now);
        }
        if ends.iter().all(Option::is_some) {
            return ends.into_iter().flatten().collect();
        }
        let is_late = |since: Option<Instant>, grace| since.is_some_and(|since| since.elapsed() > grace);
        if interrupt::second().is_some() || is_late(asked, PATIENCE) || is_late(first_death, GRACE) {
            processes.iter_mut().for_each(Process::kill);
        }
        std::thread::sleep(LOOK);
    }
}

struct Process {
    child: Child,
    end: Option<ExitStatus>,
    /// Collects the error output of processes other than the first.
    last_words: Option<JoinHandle<String>>,
}

impl Process {
    fn start(words: &[OsString], number: usize, hosts: &Path, meeting: &Meeting) -> io::Result<Process> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words).arg("--cluster").arg(hosts).arg("--process").arg(number.to_string()).stdin(Stdio::null());
        parent::adopt_in(&mut command, &meeting.directory);
        if number > 0 {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
        }
        let mut child = command.spawn()?;
        let last_words = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                // An error ends the output.
                let _ = stderr.read_to_end(&mut said);
                let last = &said[said.len().saturating_sub(LAST_WORDS)..];
                String::from_utf8_lossy(last).trim_end().to_owned()
            })
        });
        Ok(Process { child, end: None, last_words })
    }

    fn end(&mut self) -> Option<ExitStatus> {
        if self.end.is_none() {
            // Waiting fails only for a child that was waited for already.
            self.end = self.child.try_wait().ok().flatten();
        }
        self.end
    }

    fn ask_to_stop(&mut self) {
        let number = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (Some(number), None, Some(stop)) = (number, self.end(), Signal::from_named_raw(parent::STOP)) {
            // It has not been waited for, so the number is still its own.
            let _ = kill_process(number, stop);
        }
    }

    fn kill(&mut self) {
        // It may have ended in the meantime.
        let _ = self.child.kill();
    }
}

/// A directory of one's own in which the processes meet.
struct Meeting {
    directory: PathBuf,
}

impl Meeting {
    fn new() -> Result<Meeting, LocalError> {
        let mut number = 0;
        loop {
            let name = format!("{}{}-{number}", parent::MEETING_NAME, std::process::id());
            let directory = std::env::temp_dir().join(name);
            match std::fs::DirBuilder::new().mode(0o700).create(&directory) {
                Ok(()) => return Ok(Meeting { directory }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(LocalError::Directory(directory.display().to_string(), error)),
            }
        }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // It has only what was put there: sockets of processes that were ended, and the list.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
