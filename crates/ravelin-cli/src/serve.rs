//! `ravelin serve`.

use crate::exit::Exit;
use clap::Args;
use ravelin_output::{complain, stdout};
use ravelin_process::interrupt;
use ravelin_serve::{CheckLimits, Ready, ServerSettings, serve};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

const HELP: &str = "\
Only this machine can reach the page, unless --listen gives another address. Each check is a separate process with the limits
given here. Ctrl-C, SIGTERM and SIGHUP end the server and its checks.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Serve {
    /// A directory whose programs the page offers besides the examples
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// The port; 0 for a free one
    #[arg(long, default_value_t = 7357, value_name = "PORT")]
    pub port: u16,
    /// The address to listen at; an address that other machines can reach lets them run checks here
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub listen: IpAddr,
    /// A name of this machine that requests may use, besides its addresses, `localhost` and its host name
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Time limit of a check: seconds, or such as 90s, 5m
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = ravelin::parse_time)]
    pub timeout: Duration,
    /// Maximum number of states of a check
    #[arg(long, default_value_t = 5_000_000, value_name = "N")]
    pub max_states: u64,
    /// Maximum memory for the states of a check, such as 512M or 4G
    #[arg(long, default_value = "512M", value_name = "SIZE", value_parser = ravelin::parse_size)]
    pub max_memory: u64,
    /// Number of checks at a time [default: the number of cores minus one]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Number of threads per check
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub workers: usize,
}

pub fn run(arguments: &Serve) -> anyhow::Result<Exit> {
    let settings = ServerSettings {
        program: std::env::current_exe()?,
        folder: arguments.folder.clone(),
        address: arguments.listen,
        port: arguments.port,
        names: arguments.names.clone(),
        limits: CheckLimits {
            time: arguments.timeout,
            states: arguments.max_states,
            memory: arguments.max_memory,
            workers: arguments.workers.max(1),
        },
        jobs: arguments.jobs.unwrap_or_else(|| ravelin::usual_workers().saturating_sub(1)).max(1),
    };
    let stop = interrupt::stop();
    serve(settings, stop, &|ready: &Ready| {
        if !ready.address.ip().is_loopback() {
            complain!("warning: other machines can reach this server and run checks on it");
        }
        // If standard output is closed, the caller chose the port.
        let _ = writeln!(stdout(), "listening at {}", ready.url);
    })?;
    Ok(Exit::Holds)
}
