//! `ravelin cluster`: starts the processes of a search on this machine, waits for them, and tells how it ended if one of them did not
//! live to see it.

use super::Local;
use crate::exit::Exit;
use crate::{exit, interrupt, parent};
use anyhow::{Context, bail};
use ravelin_cluster::Hosts;
use ravelin_output::complain;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks at the processes.
const LOOK: Duration = Duration::from_millis(10);
/// How long the others may take to notice that one is gone.
const GRACE: Duration = Duration::from_secs(20);
/// How long they may take to stop when a signal asks for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much of what a process said last is shown.
const LAST_WORDS: usize = 4096;

pub fn run(arguments: &Local) -> anyhow::Result<ExitCode> {
    let words = words_for_processes(std::env::args_os().skip(1));
    if words.iter().any(|word| word == "--cluster") {
        bail!("`ravelin cluster` starts the processes itself; use --cluster with `ravelin check` or `ravelin reach`");
    }
    // The processes are asked to stop, and this one waits for what they say; the second signal ends them and then this one.
    interrupt::stop();
    interrupt::leave_second();
    let meeting = Meeting::new()?;
    let hosts = meeting.directory.join("hosts");
    let processes = usize::from(arguments.local);
    std::fs::write(&hosts, Hosts::local(&meeting.directory, processes).to_string())?;
    let mut started = Vec::new();
    for number in 0..processes {
        match Process::start(number, &words, &hosts, &meeting) {
            Ok(process) => started.push(process),
            Err(error) => {
                started.iter_mut().for_each(Process::kill);
                return Err(error).with_context(|| format!("cannot start process {number}"));
            }
        }
    }
    let ends = wait(&mut started);
    drop(meeting);
    told(started, &ends)
}

/// The words of the command line after `cluster`, without the number of processes.
fn words_for_processes(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.skip_while(|word| word != "cluster").skip(1);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--local") => {
                words.next();
            }
            Some(text) if text.starts_with("--local=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

/// Waits for all. When one dies, the others notice and end by themselves; those that do not are ended. When a signal comes, all are asked
/// to stop.
fn wait(processes: &mut [Process]) -> Vec<ExitStatus> {
    let (mut first_death, mut asked) = (None, None);
    loop {
        if asked.is_none() && interrupt::stop().load(Ordering::SeqCst) {
            asked = Some(Instant::now());
            processes.iter_mut().for_each(Process::ask_to_stop);
        }
        let ends: Vec<Option<ExitStatus>> = processes.iter_mut().map(Process::ended).collect();
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

/// Ended neither with an answer, read or not, nor with a message about the input.
fn died(end: ExitStatus) -> bool {
    !matches!(end.code(), Some(0..=3)) && end.code() != Some(exit::READER_IS_GONE.into())
}

fn told(processes: Vec<Process>, ends: &[ExitStatus]) -> anyhow::Result<ExitCode> {
    if let Some(signal) = interrupt::second() {
        return Ok(interrupt::exit_code(signal).into());
    }
    let stopped = interrupt::stop().load(Ordering::SeqCst);
    if stopped && ends.first().is_some_and(|&end| died(end)) {
        complain!("stopped before there was an answer");
    }
    let exit = match ends.first().and_then(|end| end.code()) {
        Some(0) => Exit::Holds,
        Some(1) => Exit::Violated,
        Some(2) => Exit::Wrong,
        _ => Exit::Unknown,
    };
    for (process, &end) in processes.into_iter().zip(ends) {
        let Process { number, last_words, .. } = process;
        let said = last_words.and_then(|thread| thread.join().ok()).unwrap_or_default();
        // A mistake in the command is told by process 0 already.
        let alone = end.code() == Some(2) && exit != Exit::Wrong;
        if (died(end) && !stopped) || alone {
            let how = match (end.signal(), end.code()) {
                (Some(signal), _) => format!("was ended by signal {signal}"),
                (None, Some(code)) => format!("ended with {code}"),
                (None, None) => "ended".to_owned(),
            };
            complain!(
                "error: process {number} {how}{}",
                if said.is_empty() { String::new() } else { format!(":\n{said}") }
            );
        }
    }
    if ends.first().and_then(|end| end.code()) == Some(exit::READER_IS_GONE.into()) {
        return Ok(exit::READER_IS_GONE.into());
    }
    Ok(if ends.iter().any(|&end| died(end)) { exit.max(Exit::Unknown) } else { exit }.into())
}

struct Process {
    number: usize,
    child: Child,
    end: Option<ExitStatus>,
    /// What the processes other than the first say is shown only if it matters.
    last_words: Option<JoinHandle<String>>,
}

impl Process {
    fn start(number: usize, words: &[OsString], hosts: &Path, meeting: &Meeting) -> anyhow::Result<Process> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words).arg("--cluster").arg(hosts).arg("--process").arg(number.to_string()).stdin(Stdio::null());
        parent::adopt(&mut command, &meeting.directory);
        if number > 0 {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
        }
        let mut child = command.spawn()?;
        let last_words = child.stderr.take().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                // What cannot be read was not said.
                let _ = stderr.read_to_end(&mut said);
                let last = &said[said.len().saturating_sub(LAST_WORDS)..];
                String::from_utf8_lossy(last).trim_end().to_owned()
            })
        });
        Ok(Process { number, child, end: None, last_words })
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        if self.end.is_none() {
            // A child that cannot be waited for is gone; that cannot happen before it was waited for.
            self.end = self.child.try_wait().ok().flatten();
        }
        self.end
    }

    fn ask_to_stop(&mut self) {
        let number = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (Some(number), None, Some(stop)) = (number, self.ended(), Signal::from_named_raw(parent::STOP)) {
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
    fn new() -> anyhow::Result<Meeting> {
        for attempt in 0..1000 {
            let name = format!("{}{}-{attempt}", parent::MEETING_NAME, std::process::id());
            let directory = std::env::temp_dir().join(name);
            match std::fs::DirBuilder::new().mode(0o700).create(&directory) {
                Ok(()) => return Ok(Meeting { directory }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot create {}", directory.display())),
            }
        }
        bail!("cannot create a directory in {}", std::env::temp_dir().display())
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // Only what was put there: sockets of processes that were ended, and the list.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_processes_is_not_for_them() {
        let words = |text: &str| words_for_processes(text.split(' ').map(OsString::from));
        assert_eq!(words("cluster check a.rav --local 4 -m tso"), ["check", "a.rav", "-m", "tso"]);
        assert_eq!(words("cluster --local=3 reach a.rav"), ["reach", "a.rav"]);
    }
}
