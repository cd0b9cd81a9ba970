//! Every example in the description of the language is a program without errors, and survives formatting.

use ravelin_frontend::{rav, render};
use ravelin_program::Source;
use std::fs;
use std::path::Path;

#[test]
fn every_example_in_the_documentation_parses() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let text = fs::read_to_string(&path).expect("docs/language.md is there");
    let mut examples = 0;
    for part in text.split("```rav\n").skip(1) {
        let (code, _) = part.split_once("```").expect("a fence that is closed");
        let parsed = rav::parse(Source::new("language.md", code));
        let shown = render(&parsed.diagnostics, &parsed.source, false);
        let program = parsed.program.unwrap_or_else(|| panic!("{code}\n{shown}"));
        assert!(parsed.diagnostics.is_empty(), "{shown}");
        // The examples also show the style.
        assert_eq!(rav::format(&parsed.ast), code);
        assert!(!program.threads.is_empty());
        examples += 1;
    }
    assert!(examples >= 10, "only {examples} examples were found");
}
