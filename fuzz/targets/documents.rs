//! JSON documents that were kept, read back, printed and explained: no panic on any text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ravelin_answer::Document;
use ravelin_answer::text::Style;
use ravelin_report::{explain, story};

fuzz_target!(|text: &str| {
    for answer in Document::read(text).into_iter().flat_map(|document| document.answers) {
        answer.text(Style { color: true, width: Some(60) });
    }
    if let Ok(document) = story::read(text) {
        explain::explain(&document, Style::default());
    }
});
