//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-machine --test machine NAME::` runs those of one file.

mod agrees_with_reference;
mod deadlocks;
mod regressions;
