//! A process that is waited for, but not for ever: what it cost, and an end if it does not come to one by itself.

use super::RunCost;
use super::group::{end_group, end_with_parent};
use anyhow::{Context, Result, bail, ensure};
use ravelin_process::interrupt::is_asked;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often is looked whether it ended. What is measured is processor time, so waiting costs nothing.
const LOOK: Duration = Duration::from_millis(2);

/// Runs a command without input and output. Its status as the system gives it, and its cost with that of its children; beyond the limit it
/// is killed, with all that it started. So it is if this process is interrupted or killed.
pub fn ended(command: &mut Command, limit: Duration) -> Result<(i32, RunCost)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    end_with_parent(command, libc::SIGKILL);
    // The child is waited for below, because only wait4 tells what it cost.
    #[allow(clippy::zombie_processes)]
    let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let process = child.id() as libc::pid_t;
    let began = Instant::now();
    loop {
        if let Some(ended) = look(process, libc::WNOHANG)? {
            return Ok(ended);
        }
        let interrupted = is_asked();
        if interrupted || began.elapsed() > limit {
            end_group(process, libc::SIGKILL);
            look(process, 0)?;
            ensure!(!interrupted, "interrupted");
            bail!("did not end in {} s", limit.as_secs());
        }
        std::thread::sleep(LOOK);
    }
}

/// None if it still runs.
fn look(process: libc::pid_t, options: libc::c_int) -> Result<Option<(i32, RunCost)>> {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables that live until the call returns; the process is a child of this one and nobody
    // else waits for it.
    let waited = unsafe { libc::wait4(process, &mut status, options, &mut usage) };
    if waited == 0 {
        return Ok(None);
    }
    ensure!(waited == process, "nothing to wait for");
    let time =
        |time: libc::timeval| Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64);
    let cost = RunCost { time: time(usage.ru_utime) + time(usage.ru_stime), memory: usage.ru_maxrss as u64 };
    Ok(Some((status, cost)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_tells_its_status_and_what_does_not_is_ended() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let minute = Duration::from_secs(60);
        assert_eq!(ended(&mut shell("exit 3"), minute).unwrap().0 >> 8, 3);
        let error = ended(&mut shell("sleep 1000 & wait"), Duration::ZERO).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("did not end in 0 s"));
        let error = ended(&mut Command::new("/no/such/program"), minute).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("/no/such/program")));
    }
}
