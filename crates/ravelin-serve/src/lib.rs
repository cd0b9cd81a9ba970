//! `ravelin serve`: a local web page on which users write a program, pick a model and a question, and see the answer.
//!
//! The server is small and self-contained: `httparse` parses requests and everything else is the standard library, with
//! one thread per connection. The common small servers offer no control over time: with `tiny_http` a client that sends
//! its request byte by byte holds a thread as long as it likes. Here every connection has a deadline for its head, its
//! body and its answer ([`http`]).
//!
//! This process never reads a program. Every check is a child, `ravelin check -` and similar commands, within limits of
//! time, states and memory ([`child`]). A crash, a hang or too many states end only the child. Its answer is the JSON
//! of docs/json.md, which ravelin-report displays.
//!
//! Only the page itself may make requests. Requests with an unknown host name are refused, so that a name that is made
//! to point here gets nothing. Requests that change or start anything must be JSON from the same origin ([`guard`]).

mod answer;
mod child;
mod examples;
mod guard;
mod http;
mod lecture;
mod listen;
mod markdown;
mod progress;
mod results;
mod route;

pub use child::CheckLimits;
pub use listen::{Ready, serve};

use std::net::IpAddr;
use std::path::PathBuf;

/// How the server is started.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The program that checks: `ravelin` itself.
    pub program: PathBuf,
    /// A folder with more programs to choose from.
    pub folder: Option<PathBuf>,
    pub address: IpAddr,
    /// The port; 0 picks a free one.
    pub port: u16,
    /// Names of this machine that requests may use, in addition to addresses and `localhost`.
    pub names: Vec<String>,
    pub limits: CheckLimits,
    /// How many checks run at once.
    pub jobs: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen at {address}: {error}")]
    Listen { address: std::net::SocketAddr, error: std::io::Error },
    #[error("{folder}: {error}")]
    Folder { folder: String, error: std::io::Error },
}
