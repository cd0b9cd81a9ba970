//! `timely-spaces dataflow|rounds counters|lamport NUMBER PROCESSES`: a space, searched by several processes of this machine. Prints the
//! number of states and of steps to the farthest one, and the processor time of all processes.
//!
//! An experiment: is a dataflow with a loop, in which timely's progress tracking says when a level is complete, as fast as rounds in which
//! all processes know by themselves what comes next?

mod dataflow;
mod rounds;
mod spaces;

use anyhow::{Context, Result, bail, ensure};
use spaces::Space;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Comes before the number of a process and the addresses of all.
const CHILD: &str = "--child";

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [how, space, number, processes, child @ ..] = words.as_slice() else {
        bail!("usage: timely-spaces dataflow|rounds counters|lamport NUMBER PROCESSES");
    };
    let search = match how.as_str() {
        "dataflow" => dataflow::search,
        "rounds" => rounds::search,
        _ => bail!("`{how}` is neither `dataflow` nor `rounds`"),
    };
    let space = Space::of(space, number.parse()?).with_context(|| format!("there is no space {space} {number}"))?;
    // Only what is written exactly so starts processes: a child that took itself for the first would start others without end.
    ensure!(child.is_empty() || child.len() == 3 && child[0] == CHILD, "too many arguments");
    if let [_, process, addresses] = child {
        let addresses: Vec<String> = addresses.split(',').map(str::to_owned).collect();
        let (states, depth) = search(space, process.parse()?, &addresses)?;
        println!("{states} {depth}");
        return Ok(());
    }
    let processes: usize = processes.parse()?;
    ensure!((1..=64).contains(&processes), "from 1 to 64 processes");
    let addresses = free_addresses(processes)?.join(",");
    let program = std::env::current_exe()?;
    let begun = Instant::now();
    let children: Vec<_> = (0..processes)
        .map(|process| {
            let words = words.iter().cloned().chain([CHILD.to_owned(), process.to_string(), addresses.clone()]);
            Command::new(&program).args(words).stdout(Stdio::piped()).spawn()
        })
        .collect::<std::io::Result<_>>()?;
    let (mut states, mut depth) = (0, 0);
    for child in children {
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "a process failed");
        let text = String::from_utf8(output.stdout)?;
        // What timely says of its connections comes before.
        let answer = text.lines().next_back().context("no answer")?;
        let (here, farthest) = answer.split_once(' ').context("no answer")?;
        let here: u64 = here.parse()?;
        // With rounds every process knows the sum.
        states = if how == "rounds" { here } else { states + here };
        depth = depth.max(farthest.parse::<u64>()?);
    }
    println!("states {states}");
    println!("depth {depth}");
    println!("processor {:.3} s, elapsed {:.3} s", children_time().as_secs_f64(), begun.elapsed().as_secs_f64());
    Ok(())
}

/// Addresses of this machine that are free.
fn free_addresses(processes: usize) -> Result<Vec<String>> {
    let taken: Vec<TcpListener> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<std::io::Result<_>>()?;
    taken.iter().map(|port| Ok(port.local_addr()?.to_string())).collect()
}

/// Processor time of the processes that have ended.
fn children_time() -> Duration {
    // SAFETY: rusage is plain numbers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a variable that lives until the call returns.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}
