//! Exploration spread over several processes and machines.
//!
//! Every process makes the same explorations in the same order, each with its part of the states ([`ravelin_explore::Peers`]). This crate
//! gives them the means to exchange what belongs to the others: it finds the processes ([`Hosts`]), connects them after both sides have
//! said who they are and that they are about the same ([`connect`]), and moves words between them in rounds ([`Links`]).
//!
//! The moving is done by the communication layer of timely dataflow (`timely_communication`): threads a connection, buffers that are
//! handed on without copying, wake-ups. Of its dataflows nothing is needed, because the rounds of a level-synchronous search are known
//! to all beforehand. Its interface changes often, so nothing of it is seen outside `links.rs` and `connection.rs`.

mod connect;
mod connection;
mod dialer;
mod handshake;
mod hosts;
mod links;
mod listener;
mod secret;

pub use connect::{ConnectError, Introduction, Sighting, Waiting, connect};
pub use hosts::{Address, Hosts, HostsError};
pub use links::Links;
pub use secret::{Secret, SecretError};
