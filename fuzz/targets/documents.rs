//! JSON documents that were kept, read back and explained: no panic on any text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ravelin_report::text::Style;
use ravelin_report::{explain, story};

fuzz_target!(|text: &str| {
    if let Ok(document) = story::read(text) {
        explain::explain(&document, Style::default());
    }
});
