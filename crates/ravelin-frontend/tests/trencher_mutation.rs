//! No text whatever makes the Trencher front end fail. Thousands of damaged texts are derived from `trencher_corpus/`, the
//! same ones in every run; a failure prints the text that caused it.

use crate::corpus;
use crate::mutation::Mutants;
use ravelin_frontend::{Diagnostic, ParseResult, print, rav, render, trencher};
use ravelin_program::Source;

fn exercise(text: &str) -> ParseResult {
    let parsed = trencher::parse(Source::new("mutant.txt", text));
    let failed = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), failed, "a program is given exactly if there is no error:\n{text}");
    render(&parsed.diagnostics, &parsed.source, false);
    for diagnostic in &parsed.diagnostics {
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        assert!(start <= end && text.get(start..end).is_some(), "{diagnostic:?}\n{text}");
    }
    if let Some(program) = &parsed.program {
        assert_eq!(ravelin_program::validate(program), [], "{text}");
        for transition in program.threads.iter().flat_map(|thread| &thread.transitions) {
            assert!(parsed.source.quote(transition.span).starts_with("transition"), "{text}");
        }
    }
    parsed
}

/// What mutations put into a text.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    " thread ", " initial ", " transition ", " end ", " read ", " write ", " local ", " check ", " mfence ", " noop ",
    " lock ", " unlock ", " # ", "#", " ! ", " == ", " != ", " < ", " <= ", " && ", " || ", " + ", " - ", " * ",
    " & ", " 0 ", " 1 ", " -1 ", " 5abc ", " 9223372036854775807 ", " 9223372036854775808 ", " r ", " a ", "\n", "\r",
    "\r\n", "\0", "é", "\u{1f600}", "\u{feff}", "\u{b}", "\u{a0}", " | ", " ( ", "\nend\n", "\ntransition a b noop\n",
];

#[test]
fn no_mutation_of_the_corpus_makes_the_front_end_fail() {
    let seeds = corpus::texts("trencher_corpus");
    let mut survivors = 0;
    for (round, text) in Mutants::new(&seeds, PARTS, 0x5eed_7e2c_4e12_0001).take(6000).enumerate() {
        let Some(program) = exercise(&text).program else { continue };
        survivors += 1;
        if round % 8 == 0 {
            let printed = print::rav(&program);
            let again = rav::parse(Source::new("again.rav", printed.clone()));
            assert!(
                again.program.is_some(),
                "{text}\n=>\n{printed}{}",
                render(&again.diagnostics, &again.source, false)
            );
        }
    }
    assert!(survivors > 500, "only {survivors} mutants were programs; the mutations are too wild");
}

#[test]
fn large_texts_are_read_or_refused() {
    let long = |part: &str, count: usize| part.repeat(count);
    let threads = |count: usize| (0..count).map(|n| format!("thread t{n} initial a end ")).collect::<String>();
    let texts = [
        (String::new(), true),
        ("# only a comment".to_owned(), true),
        (threads(1024), true),
        (threads(3000), false),
        (format!("thread t initial a {} end", long("transition a a noop ", 100_000)), true),
        (format!("thread t initial a {} end", long("transition a a noop ", 100_001)), false),
        (long("thread\n", 20_000), false),
        (long("transition\n", 20_000), false),
        (format!("thread t {}", long("initial\n", 20_001)), false),
        (format!("thread t {}", long("transition a b write 1\n", 5000)), false),
        (format!("thread t initial a transition a b check {} end", long("&& 1 ", 300)), false),
        (long("# \r", 50_000), true),
        (long(" ", 500_000), true),
        (long("\n#x", 5000), false),
        (format!("thread t initial a transition a b local r {} end", long("9", 100_000)), false),
    ];
    for (text, is_program) in texts {
        let start: String = text.chars().take(60).collect();
        assert_eq!(exercise(&text).program.is_some(), is_program, "{start}…");
    }
}
