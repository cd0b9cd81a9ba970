//! Fixtures that carry the diagnostics expected of them, as carets under the offending characters: a comment
//! `^^^ message` speaks about the line above it, and the carets give the columns.

use ravelin_frontend::{Diagnostic, Severity, render};
use ravelin_program::Source;

/// A diagnostic or what announces it: line, column, width and message.
pub type Finding = (usize, usize, usize, String);

/// The diagnostics of a fixture must be those that its carets announce, and no others. `comment` is how a comment begins
/// and ends in the language.
pub fn check(source: &Source, diagnostics: &[Diagnostic], comment: (&str, &str)) {
    assert_same(source, diagnostics, announced(&source.text, comment));
}

/// Compares diagnostics with what carets announced.
pub fn assert_same(source: &Source, diagnostics: &[Diagnostic], mut expected: Vec<Finding>) {
    let mut found: Vec<Finding> = diagnostics.iter().map(|diagnostic| finding(source, diagnostic)).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "\n{}", render(diagnostics, source, false));
}

fn finding(source: &Source, diagnostic: &Diagnostic) -> Finding {
    let position = source.position(diagnostic.span).expect("a place");
    let width = source.quote(diagnostic.span).chars().count();
    let kind = if diagnostic.severity == Severity::Warning { "warning: " } else { "" };
    let help = diagnostic.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
    (position.line, position.column, width.max(1), format!("{kind}{}{help}", diagnostic.message))
}

fn announced(fixture: &str, (opening, closing): (&str, &str)) -> Vec<Finding> {
    let mut announced = Vec::new();
    let mut line_above = 0;
    for (number, line) in fixture.lines().enumerate() {
        match line.find(opening).zip(line.find('^')) {
            Some((comment, caret)) if comment < caret && line[comment + opening.len()..caret].trim().is_empty() => {
                let carets = line[caret..].chars().take_while(|&c| c == '^').count();
                let message = line[caret + carets..].trim_end();
                let message = message.strip_suffix(closing).unwrap_or(message).trim();
                announced.push((line_above, caret + 1, carets, message.to_owned()));
            }
            _ => line_above = number + 1,
        }
    }
    announced
}
