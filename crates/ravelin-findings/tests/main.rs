//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-findings --test findings NAME::` runs those of one file.

mod reading;
mod serving;
