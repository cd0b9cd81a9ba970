//! All tests that use only the public interface, as one program: linking is most of what a test program costs.
//!
//! `cargo test -p ravelin-backward --test backward NAME::` runs those of one file.

mod parts;
mod random_nets;
