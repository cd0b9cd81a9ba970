//! The unit tests of files that need nothing else of their crate. Such a file is compiled once more here; with `--lib` the whole
//! crate would be.

#![allow(dead_code)]

#[path = "../src/sanitize/bar.rs"]
mod bar;
#[path = "../src/sanitize/checkpoint.rs"]
mod checkpoint;
#[path = "../src/words.rs"]
mod words;
