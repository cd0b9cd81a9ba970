//! Exploration spread over several processes and machines.
//!
//! Every process makes the same explorations in the same order, each with its part of the states
//! ([`ravelin_explore::Peers`]). This crate exchanges the states that belong to other processes. It finds the processes
//! ([`Hosts`]), connects them after both sides have identified themselves and their question ([`connect`]), and moves
//! words between them in rounds ([`Links`]). Processes on this machine can also be started and watched here
//! ([`run_local`]).
//!
//! The communication layer of timely dataflow (`timely_communication`) moves the words: threads per connection, buffers
//! that are passed on without copying, wake-ups. Its dataflows are not needed, because all processes know the rounds of
//! a level-synchronous search beforehand. Its interface changes often, so it is visible only in `links.rs` and
//! `connection.rs`.

mod connect;
mod connection;
mod dialer;
mod handshake;
mod hosts;
mod links;
mod listener;
mod local;
mod secret;

pub use connect::{ConnectError, Introduction, UnexpectedPeer, WaitPolicy, connect};
pub use hosts::{HostAddress, Hosts, HostsError};
pub use links::Links;
pub use local::{LocalError, ProcessEnd, run_local};
pub use secret::{Secret, SecretError};
