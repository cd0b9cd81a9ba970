//! `ravelin serve`: a web page on this machine where one writes a program, picks a model and a question, and sees the answer.
//!
//! The server is small and on its own: requests are parsed by `httparse` and everything else is the standard library, a thread a
//! connection. The common small servers give no say over time: with `tiny_http` a client that sends its request byte by byte
//! holds a thread for as long as it likes. Here every connection has a deadline for its head, its body and its answer
//! ([`http`]).
//!
//! Nothing of a program is read in this process. Every check is a child, `ravelin check -` and the like, within limits of time,
//! states and memory ([`child`]); a crash, a hang or a mountain of states ends the child and nobody else. What it answers comes back
//! as the JSON of docs/json.md and is shown by ravelin-report.
//!
//! Who may ask: the page itself. Requests under a host's name that is not ours are refused, so that a name that is made to
//! point here gets nothing; requests that change or start anything must be JSON from the same origin ([`guard`]).

mod answer;
mod child;
mod examples;
mod guard;
mod http;
mod listen;
mod results;
mod route;

pub use child::{Limits, PARENT};
pub use listen::{Ready, serve};

use std::net::IpAddr;
use std::path::PathBuf;

/// How the server is started.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program that checks: `ravelin` itself.
    pub program: PathBuf,
    /// A folder whose programs can be chosen beside the examples.
    pub folder: Option<PathBuf>,
    pub address: IpAddr,
    /// 0 picks a free one.
    pub port: u16,
    /// Names of this machine that requests may use, beside addresses and `localhost`.
    pub names: Vec<String>,
    pub limits: Limits,
    /// Checks that run at once.
    pub jobs: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen at {address}: {error}")]
    Listen { address: std::net::SocketAddr, error: std::io::Error },
    #[error("{folder}: {error}")]
    Folder { folder: String, error: std::io::Error },
}
