//! A program that this one starts and ends, with all that it starts in turn.
//!
//! It is the leader of a process group of its own. So a signal from the terminal reaches only this program, which ends the group: what
//! the other one was doing is never mistaken for its own failure. The leader is waited for last, since the number of the group is taken as
//! long as it has not been.

use crate::interrupt;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Between two looks at the process, the signal and the clock.
const LOOK: Duration = Duration::from_millis(5);
/// How long a group may take to end by itself, and to be gone after it was killed.
const GRACE: Duration = Duration::from_millis(80);

/// A process and its group. They are ended when it is dropped.
pub struct ChildGroup {
    leader: Child,
    /// The leader was waited for, so that its number may be that of another process.
    is_over: bool,
}

/// How waiting for a process ended.
#[derive(Debug)]
pub enum ChildEnd {
    Exited(ExitStatus),
    /// A signal asks this program to end.
    Interrupted,
    /// The time is over.
    Late,
}

impl ChildGroup {
    pub fn spawn(command: &mut Command) -> io::Result<ChildGroup> {
        let leader = command.process_group(0).spawn()?;
        Ok(ChildGroup { leader, is_over: false })
    }

    /// What it prints, if that is piped and was not taken before.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.leader.stdout.take()
    }

    /// Waits until it has ended, a signal comes, or the time is over. After the last two it is still running.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<ChildEnd> {
        let start = Instant::now();
        loop {
            // First: the signal may be why it has ended.
            if interrupt::is_asked() {
                return Ok(ChildEnd::Interrupted);
            }
            if self.has_ended()? {
                return Ok(ChildEnd::Exited(self.clear()?));
            }
            if limit.is_some_and(|limit| start.elapsed() > limit) {
                return Ok(ChildEnd::Late);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Kills what is left of the group, and waits until it is gone.
    fn clear(&mut self) -> io::Result<ExitStatus> {
        let group = self.group();
        self.signal(Signal::KILL);
        let status = self.leader.wait()?;
        self.is_over = true;
        // The others are no children of this process. Nothing is sent here, so that another group of this number is not disturbed.
        until(|| test_kill_process_group(group).is_err());
        Ok(status)
    }

    /// Whether the leader has ended. It keeps its number.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.group()), options)?.is_some())
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.leader)
    }

    /// To the whole group.
    fn signal(&self, signal: Signal) {
        // The group may be empty.
        let _ = kill_process_group(self.group(), signal);
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.signal(Signal::TERM);
        until(|| self.has_ended().unwrap_or(true));
        // An error here has no reader.
        let _ = self.clear();
    }
}

/// Waits until something holds, but not for long.
fn until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() && start.elapsed() < GRACE {
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    fn shell(script: &str) -> ChildGroup {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        ChildGroup::spawn(&mut command).expect("sh starts")
    }

    /// The next line that it prints.
    fn line(child: &mut ChildGroup) -> String {
        let mut line = String::new();
        BufReader::new(child.stdout().expect("a pipe")).read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    fn is_running(process: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).is_some_and(|state| state != "Z")
    }

    #[test]
    fn a_status_is_that_of_the_leader() {
        let ended = shell("exit 7").wait(None).expect("it ends");
        assert!(matches!(ended, ChildEnd::Exited(status) if status.code() == Some(7)), "{ended:?}");
    }

    #[test]
    fn what_does_not_end_is_late() {
        let ended = shell("sleep 1000").wait(Some(Duration::from_millis(10))).expect("it is waited for");
        assert!(matches!(ended, ChildEnd::Late), "{ended:?}");
    }

    #[test]
    fn nothing_of_a_group_is_left() {
        if !std::path::Path::new("/proc/self/stat").exists() {
            return ravelin_testing::skip("the system does not list its processes");
        }
        for script in ["sleep 1000 & echo $!; wait", "trap '' TERM; sleep 1000 & echo $!; wait; wait"] {
            let mut child = shell(script);
            let inner = line(&mut child);
            assert!(is_running(&inner), "{script}");
            drop(child);
            assert!(!is_running(&inner), "{script}");
        }
        let mut child = shell("sleep 1000 & echo $!");
        let inner = line(&mut child);
        child.wait(None).expect("it ends");
        assert!(!is_running(&inner));
    }
}
