//! A search spread over several processes: `--cluster` on each machine, or `ravelin cluster`, which starts them on this one.
//!
//! The arguments are here, in every build. What takes part in such a search is `links.rs` with the feature `cluster`, and `absent.rs`
//! without it, which refuses. Nothing else depends on the feature.

#[cfg(feature = "cluster")]
mod links;
#[cfg(not(feature = "cluster"))]
#[path = "absent.rs"]
mod links;

pub use links::run;

use crate::arguments::{Check, Inputs, Reach, Resources};
use crate::exit::Exit;
use crate::resume::Resume;
use clap::{Args, Subcommand};
use ravelin::{Budget, Peers, parse_time};
use ravelin_process::interrupt;
use std::path::PathBuf;
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
    /// With several processes: about so many states are explored by process 0 before the others take part
    #[arg(long, value_name = "STATES", default_value_t = 250_000, hide_short_help = true)]
    pub share_from: u64,
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
    /// The number of this process among several, if there are to be several and this build can take part.
    pub fn number(&self) -> anyhow::Result<Option<usize>> {
        if self.process.is_some() {
            links::available()?;
        }
        Ok(self.process)
    }

    /// Connects with the other processes, if there are to be any.
    pub fn connect(&self, inputs: &Inputs) -> anyhow::Result<Option<Box<dyn Peers>>> {
        let (Some(hosts), Some(process)) = (&self.cluster, self.process) else { return Ok(None) };
        inputs.refuse_c("--cluster")?;
        links::connect(self, hosts, process, inputs).map(Some)
    }

    /// The option that asks for other processes, if one does.
    pub fn option(&self) -> Option<&'static str> {
        self.cluster.is_some().then_some("--cluster")
    }

    /// Limits count for all processes together; unless it is given, that of memory is what all machines have, taken to be alike. Each
    /// process has one worker, unless it is given, because there are the others.
    pub fn budget(&self, resources: &Resources) -> Budget<'static> {
        let mut budget = resources.budget();
        let Some(hosts) = &self.cluster else { return budget };
        if resources.max_memory.is_none() {
            let machines = links::machines(hosts);
            budget.limits.memory = budget.limits.memory.map(|memory| memory.saturating_mul(machines));
        }
        budget.workers(resources.workers.unwrap_or(1))
    }
}

/// After a signal the other processes may be gone already, and closing the links would wait for them. So the process ends here, with its
/// answer given.
pub fn leave_if_stopped(links: Option<&dyn Peers>, exit: Exit) {
    if links.is_some() && interrupt::is_asked() {
        interrupt::leave(exit.code());
    }
}
