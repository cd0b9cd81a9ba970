//! A process started by a small one: `ravelin-bench cost`, which this program calls itself.
//!
//! Linux counts, as the most memory of a process, also what the process that started it had at that time. A search that ran before in this
//! process would be taken for memory of the watched program, so the program is started by a process that did nothing yet.

use super::RunCost;
use super::ending::ended;
use super::group::{end_group, end_with_parent};
use anyhow::{Context, Result, ensure};
use ravelin_process::interrupt::{is_asked, stop};
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often is looked whether it ended.
const LOOK: Duration = Duration::from_millis(2);

#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds after which it is killed
    #[arg(long)]
    limit: u64,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    words: Vec<OsString>,
}

/// Runs the program and prints its status, microseconds of processor time, and KiB of memory.
pub fn run(arguments: &Arguments) -> Result<()> {
    // The program has a group of its own, so an interrupt must be passed on.
    stop();
    let (program, words) = arguments.words.split_first().context("no program")?;
    let (status, cost) = ended(Command::new(program).args(words), Duration::from_secs(arguments.limit))?;
    println!("{status} {} {}", cost.time.as_micros(), cost.memory);
    Ok(())
}

/// As [`ended`], by a process of its own.
pub fn ended_alone(command: &Command, limit: Duration) -> Result<(i32, RunCost)> {
    let mut outer = Command::new(std::env::current_exe().context("this program cannot be found")?);
    outer
        .args(["cost", "--limit", &limit.as_secs().to_string(), "--"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Not SIGKILL: it has to end the program.
    end_with_parent(&mut outer, libc::SIGTERM);
    let mut child = outer.spawn().with_context(|| format!("cannot start {outer:?}"))?;
    let mut told = false;
    // It prints one line, which a pipe holds.
    while child.try_wait()?.is_none() {
        if is_asked() && !told {
            end_group(child.id() as libc::pid_t, libc::SIGTERM);
            told = true;
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output()?;
    let problem = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", problem.trim().trim_start_matches("error: "));
    read(&String::from_utf8_lossy(&output.stdout)).context("no cost was told")
}

fn read(told: &str) -> Option<(i32, RunCost)> {
    let mut words = told.split_whitespace();
    let status = words.next()?.parse().ok()?;
    let time = Duration::from_micros(words.next()?.parse().ok()?);
    Some((status, RunCost { time, memory: words.next()?.parse().ok()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_read_as_it_is_printed() {
        let (status, cost) = read("256 1500 4096\n").unwrap();
        assert_eq!((status, cost.time, cost.memory), (256, Duration::from_micros(1500), 4096));
        assert!(read("").is_none() && read("0 1").is_none() && read("a b c").is_none());
    }
}
