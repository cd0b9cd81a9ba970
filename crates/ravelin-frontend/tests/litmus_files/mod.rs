//! The files that tests of the litmus front end share.

use ravelin_frontend::{litmus, render};
use ravelin_program::{Program, Source};
use std::fs;
use std::path::Path;

/// Names and texts, in order.
pub fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus_corpus");
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}

/// The program of a text that has no errors.
pub fn read(name: &str, text: &str) -> Program {
    let parsed = litmus::parse(Source::new(name, text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    assert!(parsed.diagnostics.is_empty(), "{shown}");
    parsed.program.unwrap_or_else(|| panic!("no program: {name}"))
}
