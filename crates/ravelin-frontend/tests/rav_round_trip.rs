//! Formatting a file changes its looks only, and no text whatever makes the front end fail.
//!
//! The corpus in `rav_corpus/` covers every construct. The mutation test derives thousands of damaged texts from it, the
//! same ones in every run; a failure prints the text that caused it.

use crate::corpus;
use crate::mutation::Mutants;
use ravelin_frontend::{Diagnostic, expectations, rav, render};
use ravelin_program::Source;

fn corpus() -> Vec<(String, String)> {
    corpus::files("rav_corpus")
}

/// Parses, renders and formats; a text without errors must survive formatting.
fn exercise(name: &str, text: &str) -> rav::RavParse {
    let parsed = rav::parse(Source::new(name, text));
    let failed = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), failed, "a program is given exactly if there is no error:\n{text}");
    render(&parsed.diagnostics, &parsed.source, false);
    expectations(text);
    let formatted = rav::format(&parsed.ast);
    if let Some(program) = &parsed.program {
        let again = rav::parse(Source::new(name, formatted.clone()));
        let Some(same) = &again.program else {
            let shown = render(&again.diagnostics, &again.source, false);
            panic!("formatting broke a program:\n{text}\n=>\n{formatted}\n{shown}");
        };
        assert!(program.same_as(same), "formatting changed a program:\n{text}\n=>\n{formatted}");
        let twice = rav::format(&again.ast);
        assert_eq!(twice, formatted, "formatting twice is not formatting once:\n{text}");
    }
    parsed
}

#[test]
fn the_corpus_has_no_errors_and_survives_formatting() {
    for (name, text) in corpus() {
        let parsed = exercise(&name, &text);
        assert!(parsed.program.is_some(), "{}", render(&parsed.diagnostics, &parsed.source, false));
    }
}

#[test]
fn formatting_keeps_every_comment() {
    for (name, text) in corpus() {
        let formatted = rav::format(&rav::parse(Source::new(name, text.clone())).ast);
        let words = |text: &str| {
            let mut words: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
            words.sort_unstable();
            words
        };
        // Nothing is lost but empty statements: the letters are the same up to their order.
        let without = |text: &str| words(&text.replace(';', ""));
        assert_eq!(without(&formatted), without(&text));
    }
}

#[test]
fn a_file_formats_to_one_style() {
    let text = "//! expect robust tso: holds\n\n\nstatic   x:[bool;2]=[0,any] ;// flags\nthread p [ me in 0 .. 2 ]{\n\n  \
                // go\nif x[me].load()==1{nop;}else if me>0{}else{\n// nothing\n}\n\n\nlet (a,_)=x[0].compare_exchange(0,1,\
                acq_rel)  ;; /* done */ }\nfinally never 1 of p@l;";
    let parsed = rav::parse(Source::new("t", text));
    expect_test::expect![[r#"
        //! expect robust tso: holds

        static x: [bool; 2] = [0, any]; // flags
        thread p[me in 0..2] {
            // go
            if x[me].load() == 1 {
                nop;
            } else if me > 0 {} else {
                // nothing
            }

            let (a, _) = x[0].compare_exchange(0, 1, acq_rel);
            /* done */
        }
        finally never 1 of p@l;
    "#]]
    .assert_eq(&rav::format(&parsed.ast));
}

/// What mutations put into a text.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "{", "}", "(", ")", "[", "]", ";", ",", "..", "..=", "@", "==", "&&", "||", "!", "-", "&", "=", "+=", ".", ":",
    "0", "1", "9223372036854775807", "9223372036854775808", "0x", "x", "loop", "while", "if", "else", "choose", "or",
    "thread t", "static y;", "let r = 1;", "goto", "@l;", "break;", "continue;", "return;", "locked {", "of", "in",
    "mem[", ".load()", ".store(1)", ".fetch_add(1)", "wait(x == 1);", "any", "//", "/*", "*/", "// c\n", "/* c */",
    "\n", "\n\n", "\r\n", "\0", "é", "\u{1f600}", "//! expect a b: c\n", "wrapping", "max_value 3;", "true", "nop;",
    "enum E { A, B }", "E::A", "fn f(a) -> u8 {", "const fn g(a) -> _ { a }", "f(", "return r;", "match r {", "_ =>", "0..=3 =>",
    "if r { 1 } else { 2 }", "u64", "u8", "18446744073709551615", "->", "=>", "::",
];

#[test]
fn no_mutation_of_the_corpus_makes_the_front_end_fail() {
    let seeds = corpus::texts("rav_corpus");
    let mut survivors = 0;
    for text in Mutants::new(&seeds, PARTS, 0x5eed_1234_abcd_0001).take(5000) {
        let parsed = exercise("mutant.rav", &text);
        survivors += usize::from(parsed.program.is_some());
    }
    assert!(survivors > 200, "only {survivors} mutants were programs; the mutations are too wild to test formatting");
}

#[test]
fn deep_long_and_large_texts_are_refused_or_read_but_never_fatal() {
    let long = |part: &str, count: usize| part.repeat(count);
    let texts = [
        format!("static x; thread t {{ x.store({}1{}); }}", long("(", 5000), long(")", 5000)),
        format!("static x; thread t {{ x.store({}1); }}", long("-", 5000)),
        format!("static x; thread t {{ x.store({}1); }}", long("!", 5000)),
        format!("static x; thread t {{ x.store(1{}); }}", long(" + 1", 20_000)),
        format!("static x; thread t {{ x.store(1{}); }}", long(" + (1", 300)),
        format!("static x; thread t {{ x.store({}0{}); }}", long("mem[", 3000), long("].load()", 3000)),
        format!("thread t {{ {} {} }}", long("{", 5000), long("}", 5000)),
        format!("thread t {{ {} }}", long("loop {", 5000)),
        format!("thread t {{ let r; {} }}", long("if r == 0 {} else ", 5000)),
        format!("thread t {{ {} }}", long("choose { nop; } or { nop; } ", 3000)),
        format!("static a: {}u8{};", long("[", 3000), long("; 2]", 3000)),
        format!("static a: [u8; 2] = {}0{};", long("[", 3000), long("]", 3000)),
        format!("{}static x;{}", long("/*", 5000), long("*/", 5000)),
        format!("const A0 = 1; {}", (0..500).map(|n| format!("const A{} = A{n} + 1; ", n + 1)).collect::<String>()),
        format!("const A500 = 1; {}", (0..500).map(|n| format!("const A{n} = A{} + 1; ", n + 1)).collect::<String>()),
        format!("static x; thread t[64] {{ {} }}", long("x.store(1);", 2000)),
        format!("static x; thread t {{ {} }}", long("undefined.store(1);\n", 600)),
        (0..40).map(|n| format!("thread t{n}[64] {{}} ")).collect(),
        "static a: [u8; 9223372036854775807]; static b: [u8; 65536]; static c;".to_owned(),
        "static a: -1..=9223372036854775807; thread t[-9223372036854775808..1] {} thread u[i in -5..9223372036854775807] {}"
            .to_owned(),
        "thread u[i in -9223372036854775808..=9223372036854775807] { for j in i..=9223372036854775807 {} }".to_owned(),
        "thread t { let r; havoc r in 0..-9223372036854775808; for i in 5..1 {} for i in -3..-1 { r = i; } }".to_owned(),
        format!("{} thread t {{ f0(); }}", (0..300).map(|n| format!("fn f{n}() {{ f{}(); }} ", n + 1)).collect::<String>()),
        format!("fn f(a) -> u8 {{ a }} thread t {{ let r = {}1{}; }}", long("f(", 3000), long(")", 3000)),
        format!("thread t {{ let r = {}1{}; }}", long("if r { ", 3000), long(" } else { 2 }", 3000)),
        format!("thread t {{ let r; {} {} }}", long("match r { _ => {", 3000), long("} }", 3000)),
        format!("enum E {{ {} }} static x: E; thread t {{ x.store(E::A9); }}", (0..5000).map(|n| format!("A{n}, ")).collect::<String>()),
        format!("thread t {{ let r; match r {{ {} _ => {{}} }} }}", (0..3000).map(|n| format!("{n} => {{}} ")).collect::<String>()),
    ];
    for text in texts {
        exercise("large.rav", &text);
    }
}
