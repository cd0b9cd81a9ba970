//! A search spread over several processes: `--cluster` on each machine, or `ravelin cluster`, which starts them on this one.

mod local;

pub use local::run;

use crate::arguments::{Check, Inputs, Reach, Resources};
use crate::exit::Exit;
use crate::interrupt;
use crate::limits::parse_time;
use crate::resume::Resume;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use ravelin::{Budget, Peers};
use ravelin_cluster::{Hosts, Introduction, Links, Secret, UnexpectedPeer, WaitPolicy, connect};
use ravelin_output::complain;
use signal_hook::low_level;
use std::ffi::OsString;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Clone, Debug, Args)]
pub struct Cluster {
    /// Join a search by several processes. HOSTS is a file with the address of each process, host:port, one per line. Start the same
    /// command on each machine, with the number of its line as --process; process 0 prints the answer
    #[arg(long, value_name = "HOSTS", requires = "process")]
    pub cluster: Option<PathBuf>,
    /// The number of this process in --cluster, from 0
    #[arg(long, value_name = "NUMBER", requires = "cluster")]
    pub process: Option<usize>,
    /// How long to wait for all processes of --cluster
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "60s", hide_short_help = true)]
    pub connect_timeout: Duration,
    /// A file with a secret of at least 16 bytes that all processes of --cluster share, readable only by its owner (chmod 600). Processes
    /// without the secret are rejected [default: the environment variable RAVELIN_SECRET, if it is set]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub secret_file: Option<PathBuf>,
}

/// `ravelin cluster`.
#[derive(Debug, Args)]
pub struct Local {
    /// Number of processes to start on this machine
    #[arg(long, value_name = "N", global = true, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub local: u16,
    #[command(subcommand)]
    pub command: Question,
}

/// What several processes can answer together.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// Check whether a program is robust, as `ravelin check`
    Check(Box<Check>),
    /// Check whether a forbidden state is reachable, as `ravelin reach`
    Reach(Box<Reach>),
    /// Resume an interrupted search, as `ravelin resume`
    Resume(Box<Resume>),
}

impl Cluster {
    /// Connects with the other processes, if there are to be any.
    pub fn connect(&self, inputs: &Inputs) -> anyhow::Result<Option<Links>> {
        let (Some(path), Some(process)) = (&self.cluster, self.process) else { return Ok(None) };
        let hosts = self.hosts(path)?;
        let introduction = Introduction { process, fingerprint: fingerprint(inputs, path)? };
        let secret = self.secret()?;
        if secret.is_none() && !hosts.are_local() {
            complain!(
                "warning: the processes are on several machines and have no secret: every process that reaches them \
                 from one of these machines can join (use --secret-file)"
            );
        }
        let note = |sighting: &UnexpectedPeer| complain!("note: {sighting}; still waiting for the right one");
        let waiting = WaitPolicy {
            patience: self.connect_timeout,
            secret: secret.as_ref(),
            stop: Some(interrupt::stop()),
            note: Some(&note),
        };
        let links = connect(&hosts, introduction, &waiting);
        let links = links.with_context(|| format!("process {process} of {}", path.display()))?;
        Ok(Some(links))
    }

    /// What the processes share, from the file or the environment.
    fn secret(&self) -> anyhow::Result<Option<Secret>> {
        if let Some(path) = &self.secret_file {
            return Ok(Some(Secret::read(path).with_context(|| path.display().to_string())?));
        }
        let Some(text) = std::env::var_os(SECRET_VARIABLE) else { return Ok(None) };
        Ok(Some(Secret::new(text.as_encoded_bytes()).context(SECRET_VARIABLE)?))
    }

    /// The option that asks for other processes, if one does.
    pub fn asked(&self) -> Option<&'static str> {
        self.cluster.is_some().then_some("--cluster")
    }

    /// Limits count for all processes together; unless it is given, that of memory is what all machines have, taken to be alike. Each
    /// process has one worker, unless it is given, because there are the others.
    pub fn budget(&self, resources: &Resources) -> Budget<'static> {
        let mut budget = resources.budget();
        let hosts = self.cluster.as_deref().and_then(|path| self.hosts(path).ok());
        if let (Some(hosts), None) = (hosts, resources.max_memory) {
            let memory = budget.limits.memory;
            budget.limits.memory = memory.map(|memory| memory.saturating_mul(hosts.machines() as u64));
        }
        if self.cluster.is_some() { budget.workers(resources.workers.unwrap_or(1)) } else { budget }
    }

    fn hosts(&self, path: &Path) -> anyhow::Result<Hosts> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Hosts::parse(&text).with_context(|| path.display().to_string())
    }
}

/// As peers, if there are any.
pub fn peers(links: &Option<Links>) -> Option<&dyn Peers> {
    links.as_ref().map(|links| links as &dyn Peers)
}

/// After a signal the other processes may be gone already, and closing the links would wait for them. So the process ends here, with its
/// answer given.
pub fn leave_if_stopped(links: &Option<Links>, exit: Exit) {
    if links.is_some() && interrupt::stop().load(Ordering::SeqCst) {
        low_level::exit(exit.code().into());
    }
}

const SECRET_VARIABLE: &str = "RAVELIN_SECRET";

/// Options with a value that belong to one process: where it is, and limits that count for all if one process has them.
const OF_ONE_PROCESS: [&str; 6] =
    ["--cluster", "--process", "--connect-timeout", "--secret-file", "--timeout", "--max-memory"];
/// Options with a value that say how process 0 prints the answer. A checkpoint keeps them, so they have to agree where there is one.
const OF_THE_ANSWER: [&str; 4] = ["--format", "--color", "--html", "--svg"];

/// A number for what is asked: the version, the options that have to agree and the text of the programs, but not where they lie.
fn fingerprint(inputs: &Inputs, hosts: &Path) -> anyhow::Result<u64> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut texts = Vec::new();
    for file in &inputs.files {
        if file.as_os_str() == "-" {
            bail!("several processes cannot read one standard input: name a file");
        }
        texts.push(std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let is_place =
        |word: &OsString| word == hosts.as_os_str() || inputs.files.iter().any(|file| file.as_os_str() == word);
    // Not for secrets: it tells mistakes from intentions. The version of the algorithm is that of the binary, which is compared, too.
    #[allow(deprecated)]
    let mut hasher = std::hash::SipHasher::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    for word in question_words(words).iter().filter(|word| !is_place(word)) {
        hasher.write(word.as_encoded_bytes());
        hasher.write_u8(0);
    }
    for text in texts {
        hasher.write_usize(text.len());
        hasher.write(&text);
    }
    Ok(hasher.finish())
}

/// The words of a command line that have to agree, with `--option=value` as two.
fn question_words(words: Vec<OsString>) -> Vec<OsString> {
    let keeps_checkpoint = words.iter().any(|word| word.to_str().is_some_and(|word| word.starts_with("--checkpoint")));
    let is_free = |name: &str| OF_ONE_PROCESS.contains(&name) || !keeps_checkpoint && OF_THE_ANSWER.contains(&name);
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.to_str().filter(|text| text.starts_with("--")).map(|text| text.split_once('=')) {
            Some(Some((name, value))) => (OsString::from(name), Some(OsString::from(value))),
            _ => (word.clone(), None),
        };
        match name.to_str() {
            Some(text) if is_free(text) => drop(value.or_else(|| words.next())),
            _ => kept.extend(std::iter::once(name).chain(value)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_one_process_need_not_agree() {
        let words = |text: &str| question_words(text.split(' ').map(OsString::from).collect());
        let asked = words("check a.rav --model tso --max-states 9");
        for same in [
            "check --timeout 5s a.rav --model=tso --max-states 9 --process 1",
            "check a.rav --model tso --max-states=9 --connect-timeout=1s --max-memory 1G --secret-file x --format json",
        ] {
            assert_eq!(words(same), asked, "{same}");
        }
        for other in ["check a.rav --model pso --max-states 9", "check a.rav --model tso --max-states 8", "reach a.rav"]
        {
            assert_ne!(words(other), asked, "{other}");
        }
        let kept = |text: &str| words(&format!("check a.rav --checkpoint d {text}"));
        assert_eq!(kept("--timeout 5s"), kept("--max-memory 1G"));
        assert_ne!(kept("--format json"), kept("--format text"));
    }
}
