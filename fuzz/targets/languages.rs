//! Every front end on any text: no panic, a program exactly if there is no error, and what is printed can be read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ravelin_frontend::{Diagnostic, Language, parse, print, render};
use ravelin_program::Source;

fuzz_target!(|input: (u8, &str)| {
    let (choice, text) = input;
    let language = Language::ALL[usize::from(choice) % Language::ALL.len()];
    let parsed = parse(Source::new("fuzzed", text), language);
    assert_eq!(parsed.program.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error));
    render(&parsed.diagnostics[..parsed.diagnostics.len().min(20)], &parsed.source, false);
    if let Some(program) = parsed.program {
        let printed = print::rav(&program);
        let again = parse(Source::new("printed.rav", printed.clone()), Language::Rav);
        assert!(again.program.is_some(), "{printed}");
    }
});
