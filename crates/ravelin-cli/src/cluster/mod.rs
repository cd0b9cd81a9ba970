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
use ravelin_cluster::{Hosts, Introduction, Links, connect};
use ravelin_explore::{Limits, Peers};
use signal_hook::low_level;
use std::ffi::OsString;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[derive(Clone, Debug, Args)]
pub struct Cluster {
    /// Take part in a search over several processes: a file with the address of each, host:port, one a line. Start the same command on
    /// each machine, with the number of its line as --process; process 0 prints the answer
    #[arg(long, value_name = "HOSTS", requires = "process")]
    pub cluster: Option<PathBuf>,
    /// Which process of --cluster this is, from 0
    #[arg(long, value_name = "NUMBER", requires = "cluster")]
    pub process: Option<usize>,
    /// How long to wait until all processes of --cluster are there
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "60s", hide_short_help = true)]
    pub connect_timeout: Duration,
}

/// `ravelin cluster`.
#[derive(Debug, Args)]
pub struct Local {
    /// Processes to start on this machine
    #[arg(long, value_name = "N", global = true, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub local: u16,
    #[command(subcommand)]
    pub command: Question,
}

/// What several processes can answer together.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// Is a program robust? As `ravelin check`
    Check(Box<Check>),
    /// Can a forbidden state be reached? As `ravelin reach`
    Reach(Box<Reach>),
    /// Go on with a search that was ended. As `ravelin resume`
    Resume(Box<Resume>),
}

impl Cluster {
    /// Connects with the other processes, if there are to be any.
    pub fn connect(&self, inputs: &Inputs) -> anyhow::Result<Option<Links>> {
        let (Some(path), Some(process)) = (&self.cluster, self.process) else { return Ok(None) };
        let hosts = self.hosts(path)?;
        let fingerprint = fingerprint(inputs, path)?;
        let stop = interrupt::stop();
        let links = connect(&hosts, Introduction { process, fingerprint }, self.connect_timeout, Some(stop))
            .with_context(|| format!("process {process} of {}", path.display()))?;
        Ok(Some(links))
    }

    /// The option that asks for other processes, if one does.
    pub fn asked(&self) -> Option<&'static str> {
        self.cluster.is_some().then_some("--cluster")
    }

    /// Limits count for all processes together; unless it is given, that of memory is what all machines have, taken to be alike.
    pub fn limits(&self, resources: &Resources) -> Limits {
        let mut limits = resources.limits();
        let hosts = self.cluster.as_deref().and_then(|path| self.hosts(path).ok());
        if let (Some(hosts), None) = (hosts, resources.max_memory) {
            limits.memory = limits.memory.map(|memory| memory.saturating_mul(hosts.machines() as u64));
        }
        limits
    }

    /// Workers of each process: one, unless it is given, because there are the others.
    pub fn workers(&self, resources: &Resources) -> usize {
        if self.cluster.is_some() { resources.workers.unwrap_or(1).max(1) } else { resources.workers() }
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

/// A number for what is asked: the version, the options and the text of the programs, but not where they lie.
fn fingerprint(inputs: &Inputs, hosts: &Path) -> anyhow::Result<u64> {
    // Not for secrets: it tells mistakes from intentions. The version of the algorithm is that of the binary, which is compared, too.
    #[allow(deprecated)]
    let mut hasher = std::hash::SipHasher::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    let mut words = std::env::args_os().skip(1);
    let is_file = |word: &OsString| inputs.files.iter().any(|file| file.as_os_str() == word);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--process" | "--connect-timeout") => {
                words.next();
            }
            Some(text) if text.starts_with("--process=") || text.starts_with("--connect-timeout=") => {}
            _ if word == hosts.as_os_str() || is_file(&word) => {}
            _ => hasher.write(word.as_encoded_bytes()),
        }
        hasher.write_u8(0);
    }
    for file in &inputs.files {
        if file.as_os_str() == "-" {
            bail!("several processes cannot read one standard input: name a file");
        }
        hasher.write(&std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    Ok(hasher.finish())
}
