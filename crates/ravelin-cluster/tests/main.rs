//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-cluster --test cluster NAME::` runs those of one file.

mod links;
mod meeting;
mod units;
