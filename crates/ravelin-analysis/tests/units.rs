//! The unit tests of files that need nothing else of their crate. Such a file is compiled once more here; with `--lib` the whole
//! crate would be.

#![allow(dead_code)]

#[path = "../src/parameterised/instances.rs"]
mod instances;
#[path = "../src/fences/loops.rs"]
mod loops;
