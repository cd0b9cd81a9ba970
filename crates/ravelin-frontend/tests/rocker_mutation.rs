//! No text whatever makes the front end fail. Thousands of damaged texts are derived from the corpus, the same ones in every
//! run; a failure prints the text that caused it.

use crate::corpus;
use crate::mutation::Mutants;
use ravelin_frontend::{Diagnostic, print, rav, render, rocker};
use ravelin_program::{Program, Source};

/// Parses and renders; gives back the program if the text is one.
fn exercise(text: &str) -> Option<Program> {
    let parsed = rocker::parse(Source::new("mutant.tpl", text));
    let failed = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), failed, "a program is given exactly if there is no error:\n{text}");
    let places: Vec<u32> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.span.start).collect();
    assert!(places.is_sorted() || places.len() >= 500, "{text}");
    // Each costs as much as its line is long.
    render(&parsed.diagnostics[..parsed.diagnostics.len().min(20)], &parsed.source, false);
    parsed.program
}

/// What mutations put into a text.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "{", "}", "(", ")", "[", "]", ";", ",", ":", "=", "==", "&&", "||", "|", "!", "-", "+", "*", "/", "%", ".", "0",
    "1", "255", "256", "9223372036854775808", "0x", "x", "r", "p", "if (r == 1)", "else", "while (true)", "goto",
    "l:", "goto l;", "skip;", "fn t {", "global z;", "na z;", "local r;", "track x: all;", "max_value 3;", "oneof",
    "oneof ({", "});", ".load()", ".store(1)", ".naload()", ".nastore(1)", "wait(x, 1);", "BCAS(x, 0, 1);",
    "r = CAS(x, 0, 1);", "FADD(x, 1);", "exchange(x, 1)", ", acq", ", rel", "rlx", "fence;", "fence(upd)", "lock(x);",
    "assert(", "assume(", "verify(r);", "//", "/*", "*/", "// ROBUSTNESS egr: robust: ra.\n", "\n", "\r\n", "\0", "é",
    "\u{1f600}", "true", "byte", "print",
];

#[test]
fn no_mutation_of_the_corpus_makes_the_front_end_fail() {
    let seeds = corpus::texts("rocker_corpus");
    let mut survivors = 0;
    for text in Mutants::new(&seeds, PARTS, 0x5eed_0123_4567_89ab).take(4000) {
        if let Some(program) = exercise(&text) {
            let printed = print::rav(&program);
            let again = rav::parse(Source::new("printed.rav", printed.clone()));
            assert!(again.program.is_some(), "{text}\n=>\n{printed}");
            survivors += 1;
        }
    }
    assert!(survivors > 400, "only {survivors} mutants were programs; the mutations are too wild");
}

#[test]
fn deep_long_and_large_texts_are_refused_or_read_but_never_fatal() {
    let long = |part: &str, count: usize| part.repeat(count);
    let texts = [
        format!("global x; fn t {{ x.store({}1{}); }}", long("(", 5000), long(")", 5000)),
        format!("global x; fn t {{ x.store({}1); }}", long("-", 5000)),
        format!("global x; fn t {{ x.store({}1); }}", long("+", 5000)),
        format!("global x; fn t {{ x.store(1{}); }}", long(" + 1", 20_000)),
        format!("global x; fn t {{ x.store(1{}); }}", long(" + (1", 300)),
        format!("global x; fn t {{ local r; r = {}r{}; }}", long("r[", 3000), long("]", 3000)),
        format!("global x; fn t {{ wait(x{}); }}", long(", 1", 5000)),
        format!("fn t {{ {} {} }}", long("{", 5000), long("}", 5000)),
        format!("fn t {{ {} }}", long("while (true) {", 5000)),
        format!("fn t {{ {} }}", long("while (true) {\n", 5000)),
        format!("fn t {{ {} }}", long("oneof ({", 5000)),
        format!("fn t {{ {} }}", long("oneof ({ skip; } { skip; });", 3000)),
        format!("fn t {{ local r; {} }}", long("if (r == 0) {} else ", 5000)),
        format!("fn t {{ {} skip; }}", (0..3000).map(|n| format!("l{n}: ")).collect::<String>()),
        format!("fn t {{ {} }}", long("goto nowhere;\n", 3000)),
        format!("global x; {}", (0..2000).map(|n| format!("fn t{n} {{ y{n}.store(1); }} ")).collect::<String>()),
        format!("global {};", (0..3000).map(|n| format!("v{n}")).collect::<Vec<_>>().join(", ")),
        long("fn ", 5000),
        long("fn t {\n", 3000),
        long("global\n", 3000),
        long("/*", 3000),
        long("}", 3000),
        long(";", 3000),
        "max_value 9223372036854775807; global x = 9223372036854775808; fn t { x.store(9223372036854775807 * 2); }"
            .to_owned(),
        "max_value 0; global x; fn t { lock(x); }".to_owned(),
        String::new(),
        "\u{feff}".to_owned(),
        "\0\u{1f600}é".to_owned(),
    ];
    for text in texts {
        exercise(&text);
    }
}
