//! A search spread over several processes: `--cluster` on each machine, or `ravelin cluster`, which starts them on this one.

use crate::arguments::{Check, Inputs, Reach, Resources};
use crate::exit::{Exit, READER_IS_GONE};
use crate::resume::Resume;
use crate::words;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use ravelin::{Budget, Peers, fingerprint, parse_time};
use ravelin_cluster::{Hosts, Introduction, Links, Secret, UnexpectedPeer, WaitPolicy, connect, run_local};
use ravelin_output::complain;
use ravelin_process::{input, interrupt};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
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
pub struct LocalCluster {
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
        let introduction = Introduction { process, fingerprint: question(inputs, path)? };
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
    pub fn option(&self) -> Option<&'static str> {
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
    if links.is_some() && interrupt::is_asked() {
        interrupt::leave(exit.code());
    }
}

const SECRET_VARIABLE: &str = "RAVELIN_SECRET";

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
