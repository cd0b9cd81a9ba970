//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-explore --test explore NAME::` runs those of one file.

mod checkpoints;
mod combined;
mod explore;
mod jumble;
mod order;
mod peers;
