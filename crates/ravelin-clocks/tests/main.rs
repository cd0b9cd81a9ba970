//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-clocks --test clocks NAME::` runs those of one file.

mod judged;
mod messages;
mod races;
mod sources;
mod weak;
