//! The processes of `--cluster` connect, and `ravelin cluster` starts its own.

use super::{Cluster, LocalCluster};
use crate::arguments::Inputs;
use crate::exit::{Exit, READER_IS_GONE};
use crate::words;
use anyhow::{Context, bail};
use ravelin::{Peers, fingerprint};
use ravelin_cluster::{Hosts, Introduction, Secret, UnexpectedPeer, WaitPolicy, run_local};
use ravelin_output::complain;
use ravelin_process::{input, interrupt};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Whether this build can take part in a search by several processes: it can.
pub fn available() -> anyhow::Result<()> {
    Ok(())
}

/// Waits until all processes are there.
pub fn connect(arguments: &Cluster, path: &Path, process: usize, inputs: &Inputs) -> anyhow::Result<Box<dyn Peers>> {
    let hosts = read_hosts(path)?;
    let introduction = Introduction { process, fingerprint: question(inputs, path)? };
    let secret = secret(arguments)?;
    if secret.is_none() && !hosts.are_local() {
        complain!(
            "warning: the processes are on several machines and have no secret: every process that reaches them \
             from one of these machines can join (use --secret-file)"
        );
    }
    let note = |sighting: &UnexpectedPeer| complain!("note: {sighting}; still waiting for the right one");
    let waiting = WaitPolicy {
        patience: arguments.connect_timeout,
        secret: secret.as_ref(),
        stop: Some(interrupt::stop()),
        note: Some(&note),
    };
    let links = ravelin_cluster::connect(&hosts, introduction, &waiting);
    let links = links.with_context(|| format!("process {process} of {}", path.display()))?;
    Ok(Box::new(links))
}

/// The number of machines in a file of hosts.
pub fn machines(path: &Path) -> u64 {
    read_hosts(path).map_or(1, |hosts| hosts.machines() as u64)
}

/// `ravelin cluster`: starts the processes, waits for them, and reports those that died.
pub fn run(arguments: &LocalCluster) -> anyhow::Result<ExitCode> {
    let words = words::without(&["--local"], std::env::args_os().skip_while(|word| word != "cluster").skip(1));
    if words.iter().any(|word| word == "--cluster") {
        bail!("`ravelin cluster` starts the processes itself; use --cluster with `ravelin check` or `ravelin reach`");
    }
    // The processes are asked to stop, and this one waits for what they print; the second signal ends them and then this one.
    interrupt::stop();
    interrupt::leave_second();
    let reader_is_gone = i32::from(READER_IS_GONE);
    let is_answer = |code: i32| (0..=3).contains(&code) || code == reader_is_gone;
    let ends = run_local(arguments.local.into(), &words, &is_answer)?;
    if let Some(signal) = interrupt::second() {
        return Ok(interrupt::exit_code(signal).into());
    }
    let stopped = interrupt::is_asked();
    let exit = match ends.first().and_then(|end| end.code()) {
        Some(0) => Exit::Holds,
        Some(1) => Exit::Violated,
        Some(2) => Exit::Wrong,
        _ => Exit::Unknown,
    };
    if stopped && ends.first().is_some_and(|end| end.died) {
        complain!("stopped before there was an answer");
    }
    // Process 0 has reported a mistake in the command already.
    for end in ends.iter().filter(|end| end.died && !stopped || end.code() == Some(2) && exit != Exit::Wrong) {
        complain!("error: {end}");
    }
    if ends.first().and_then(|end| end.code()) == Some(reader_is_gone) {
        return Ok(READER_IS_GONE.into());
    }
    Ok(if ends.iter().any(|end| end.died) { exit.max(Exit::Unknown) } else { exit }.into())
}

fn read_hosts(path: &Path) -> anyhow::Result<Hosts> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Hosts::parse(&text).with_context(|| path.display().to_string())
}

const SECRET_VARIABLE: &str = "RAVELIN_SECRET";

/// What the processes share, from the file or the environment.
fn secret(arguments: &Cluster) -> anyhow::Result<Option<Secret>> {
    if let Some(path) = &arguments.secret_file {
        return Ok(Some(Secret::read(path).with_context(|| path.display().to_string())?));
    }
    let Some(text) = std::env::var_os(SECRET_VARIABLE) else { return Ok(None) };
    Ok(Some(Secret::new(text.as_encoded_bytes()).context(SECRET_VARIABLE)?))
}

/// A number for what is asked: the version, the options that have to agree and the text of the programs, but not where they lie.
fn question(inputs: &Inputs, hosts: &Path) -> anyhow::Result<u64> {
    if inputs.files.iter().any(|file| input::is_standard_input(file)) {
        bail!("several processes cannot read one standard input: name a file");
    }
    let is_place =
        |word: &OsString| word == hosts.as_os_str() || inputs.files.iter().any(|file| file.as_os_str() == word);
    let words = words::of_question(std::env::args_os().skip(1).collect()).into_iter().filter(|word| !is_place(word));
    let mut parts = vec![env!("CARGO_PKG_VERSION").as_bytes().to_vec()];
    parts.extend(words.map(OsString::into_encoded_bytes));
    for file in &inputs.files {
        parts.push(std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    Ok(fingerprint(parts))
}
