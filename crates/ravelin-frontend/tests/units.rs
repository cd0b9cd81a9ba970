//! The unit tests of files that need nothing else of their crate. Such a file is compiled once more here; with `--lib` the whole
//! crate would be.

#![allow(dead_code)]

#[path = "../src/atomic_text.rs"]
mod atomic_text;
#[path = "../src/c/expression.rs"]
mod c_expression;
#[path = "../src/sites/c/text.rs"]
mod c_text;
#[path = "../src/print/names.rs"]
mod names;
#[path = "../src/trencher/numeral.rs"]
mod numeral;
#[path = "../src/memorax/lower/range.rs"]
mod range;
#[path = "../src/suggest.rs"]
mod suggest;
