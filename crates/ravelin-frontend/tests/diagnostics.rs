//! How diagnostics are shown, whatever they point at.

use ravelin_frontend::{Diagnostic, render};
use ravelin_program::{Source, Span};

/// More lines than are quoted between two places.
const MANY: usize = 1 << 16;

#[test]
fn places_that_are_far_apart_are_named_and_not_quoted() {
    let text = format!("first\n{}last\n", "line\n".repeat(MANY));
    let end = text.len();
    let diagnostic = Diagnostic::error(Span::new(end - 5, end - 1), "wrong")
        .with_label("here")
        .with_secondary(Span::new(1, 5), "there");
    let shown = render(&[diagnostic], &Source::new("t", text), false);
    assert!(shown.contains(&format!("t:{}:1", MANY + 2)), "{shown}");
    assert!(shown.contains("here") && shown.contains("1:2: there") && !shown.contains("line"), "{shown}");
}

#[test]
fn a_diagnostic_shows_the_lines_it_speaks_about() {
    let source = Source::new("t", "one\ntwo\nthree\nfour\n");
    let shown = render(&[Diagnostic::error(Span::new(8, 13), "wrong")], &source, false);
    assert!(shown.contains("t:3:1") && shown.contains("3 | three") && !shown.contains("four"), "{shown}");
}

#[test]
fn any_span_over_any_text_renders() {
    let texts = ["", "\n", "\r\n", "\0", "x", "é\r\nü\0\tz", "a\nb\n\nc", "\u{202e}\u{200b}\u{1f600}", "a\rb"];
    for text in texts {
        let source = Source::new("t", text);
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                let span = Span { start: start as u32, end: end as u32 };
                let diagnostic = Diagnostic::error(span, "wrong")
                    .with_label("here")
                    .with_secondary(Span { start: end as u32, end: u32::MAX }, "there")
                    .with_note("a note")
                    .with_help("a help");
                assert!(render(std::slice::from_ref(&diagnostic), &source, false).contains("wrong"));
                assert!(render(&[diagnostic], &source, true).contains("wrong"));
            }
        }
    }
}
