//! `ravelin serve`.

use crate::exit::Exit;
use crate::{interrupt, limits};
use clap::Args;
use ravelin_output::{complain, stdout};
use ravelin_serve::{Limits, Ready, Settings, serve};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
The page is for this machine only, unless --listen says otherwise. Every check runs as a process of its own within the limits
given here. Ctrl-C, SIGTERM and SIGHUP end the server and its checks.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Serve {
    /// A folder whose programs can be chosen, beside the examples
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// The port; 0 picks a free one
    #[arg(long, default_value_t = 7357, value_name = "PORT")]
    pub port: u16,
    /// The address to listen at; others than this machine's own let other machines run checks here
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub listen: IpAddr,
    /// A name of this machine that the page may be asked for under, beside its addresses, `localhost` and its host name
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Longest time of a check, in seconds or such as 90s, 5m
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = limits::parse_time)]
    pub timeout: Duration,
    /// Most states of a check
    #[arg(long, default_value_t = 5_000_000, value_name = "N")]
    pub max_states: u64,
    /// Most memory for the states of a check, such as 512M or 4G
    #[arg(long, default_value = "512M", value_name = "SIZE", value_parser = limits::parse_size)]
    pub max_memory: u64,
    /// Checks at once [default: one for each core but one]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Threads that a check searches with
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub workers: usize,
}

pub fn run(arguments: &Serve) -> anyhow::Result<Exit> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let settings = Settings {
        program: std::env::current_exe()?,
        folder: arguments.folder.clone(),
        address: arguments.listen,
        port: arguments.port,
        names: arguments.names.clone(),
        limits: Limits {
            time: arguments.timeout,
            states: arguments.max_states,
            memory: arguments.max_memory,
            workers: arguments.workers.max(1),
        },
        jobs: arguments.jobs.unwrap_or_else(|| cores.saturating_sub(1)).max(1),
    };
    let stop = interrupt::stop();
    serve(settings, stop, &|ready: &Ready| {
        if !ready.address.ip().is_loopback() {
            complain!("warning: other machines can reach this server and run checks on it");
        }
        // Whoever started it with its output closed knows the port.
        let _ = writeln!(stdout(), "listening at {}", ready.url);
    })?;
    Ok(Exit::Holds)
}
