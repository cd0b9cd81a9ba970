//! The files that tests of the litmus front end share.

use crate::corpus;
use ravelin_frontend::{litmus, render};
use ravelin_program::{Program, Source};

/// Names and texts, in order.
pub fn corpus() -> Vec<(String, String)> {
    corpus::files("litmus_corpus")
}

/// The program of a text that has no errors.
pub fn read(name: &str, text: &str) -> Program {
    let parsed = litmus::parse(Source::new(name, text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    assert!(parsed.diagnostics.is_empty(), "{shown}");
    parsed.program.unwrap_or_else(|| panic!("no program: {name}"))
}
