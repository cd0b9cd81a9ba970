//! Every example in the description of litmus tests is read without complaint.

use crate::litmus_files;

use litmus_files::read;
use std::fs;
use std::path::Path;

#[test]
fn every_example_in_the_documentation_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/litmus.md");
    let text = fs::read_to_string(&path).expect("docs/litmus.md is there");
    let mut examples = 0;
    for part in text.split("```litmus\n").skip(1) {
        let (code, _) = part.split_once("```").expect("a fence that is closed");
        assert_eq!(read("litmus.md", code).goals.len(), 1);
        examples += 1;
    }
    assert_eq!(examples, 3, "one for each kind of test");
}
