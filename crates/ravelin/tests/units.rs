//! The unit tests of files that need little of their crate. Such a file is compiled once more here; with `--lib` the whole
//! crate would be.

#![allow(dead_code)]

#[path = "../src/expect/table.rs"]
mod table;
