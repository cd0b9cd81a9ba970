//! `ravelin cluster`: starts the processes of a search on this machine, waits for them, and tells how it ended if one of them did not
//! live to see it.

use super::Local;
use crate::exit::Exit;
use crate::progress;
use anyhow::{Context, bail};
use ravelin_cluster::Hosts;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks at the processes.
const LOOK: Duration = Duration::from_millis(10);
/// How long the others may take to notice that one is gone.
const GRACE: Duration = Duration::from_secs(20);
/// How much of what a process said last is shown.
const LAST_WORDS: usize = 4096;

pub fn run(arguments: &Local) -> anyhow::Result<Exit> {
    let words = words_for_processes(std::env::args_os().skip(1));
    if words.iter().any(|word| word == "--cluster") {
        bail!("`ravelin cluster` starts the processes itself; use --cluster with `ravelin check` or `ravelin reach`");
    }
    // Ctrl-C reaches the processes by itself; this one waits for what they say.
    progress::stop_on_ctrl_c();
    let meeting = Meeting::new()?;
    let hosts = meeting.directory.join("hosts");
    let processes = usize::from(arguments.local);
    std::fs::write(&hosts, Hosts::local(&meeting.directory, processes).to_string())?;
    let mut started = Vec::new();
    for number in 0..processes {
        match Process::start(number, &words, &hosts) {
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

/// Waits for all. When one dies, the others notice and end by themselves; those that do not are ended.
fn wait(processes: &mut [Process]) -> Vec<ExitStatus> {
    let mut first_death = None;
    loop {
        let ends: Vec<Option<ExitStatus>> = processes.iter_mut().map(Process::ended).collect();
        if ends.iter().flatten().any(|end| died(*end)) {
            first_death.get_or_insert_with(Instant::now);
        }
        if ends.iter().all(Option::is_some) {
            return ends.into_iter().flatten().collect();
        }
        if first_death.is_some_and(|death| death.elapsed() > GRACE) {
            processes.iter_mut().for_each(Process::kill);
        }
        std::thread::sleep(LOOK);
    }
}

/// Ended neither with an answer nor with a message about the input.
fn died(end: ExitStatus) -> bool {
    !matches!(end.code(), Some(0..=3))
}

fn told(processes: Vec<Process>, ends: &[ExitStatus]) -> anyhow::Result<Exit> {
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
        if died(end) || alone {
            let how = match (end.signal(), end.code()) {
                (Some(signal), _) => format!("was ended by signal {signal}"),
                (None, Some(code)) => format!("ended with {code}"),
                (None, None) => "ended".to_owned(),
            };
            eprintln!(
                "error: process {number} {how}{}",
                if said.is_empty() { String::new() } else { format!(":\n{said}") }
            );
        }
    }
    Ok(if ends.iter().any(|&end| died(end)) { exit.max(Exit::Unknown) } else { exit })
}

struct Process {
    number: usize,
    child: Child,
    end: Option<ExitStatus>,
    /// What the processes other than the first say is shown only if it matters.
    last_words: Option<JoinHandle<String>>,
}

impl Process {
    fn start(number: usize, words: &[OsString], hosts: &Path) -> anyhow::Result<Process> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words).arg("--cluster").arg(hosts).arg("--process").arg(number.to_string()).stdin(Stdio::null());
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
            let name = format!("ravelin-cluster-{}-{attempt}", std::process::id());
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
