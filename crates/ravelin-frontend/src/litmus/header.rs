//! The header of a test: its dialect and name on the first line, then lines of information, up to the first `{`.
//!
//! The information (a quoted cycle, `Key=value`) does not bear on what the test means and is skipped.

use crate::Diagnostic;
use ravelin_program::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// AT&T order: source, destination.
    X86_64,
    /// Intel order: destination, source.
    X86,
    C,
}

pub struct LitmusHeader {
    pub dialect: Dialect,
    pub name: String,
    /// Where the initial state starts: at its `{`.
    pub body: usize,
}

pub fn read(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<LitmusHeader> {
    let start = skip_blank(text, 0);
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |newline| start + newline);
    let first = &text[start..line_end];
    let word_end = start + first.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(first.len());
    let word = &text[start..word_end];
    let dialect = match word {
        "X86_64" => Dialect::X86_64,
        "X86" => Dialect::X86,
        "C" => Dialect::C,
        _ => {
            let found = if word.is_empty() { "nothing".to_owned() } else { format!("`{}`", word.escape_debug()) };
            diagnostics.push(
                Diagnostic::error(span(start, word_end), format!("expected a kind of test, found {found}"))
                    .with_label("the first line of a litmus test is a kind and a name")
                    .with_help("tests for X86_64 (AT&T), X86 (Intel) and C are read"),
            );
            return None;
        }
    };
    let name = first[word.len()..].split(['{', '\t', ' ']).find(|part| !part.is_empty()).unwrap_or_default();
    if name.is_empty() {
        diagnostics.push(
            Diagnostic::error(span(start, word_end), "the test has no name")
                .with_help(format!("write one behind the kind: `{word} SB`")),
        );
    }
    let Some(body) = find_body(text, word_end) else {
        diagnostics.push(
            Diagnostic::error(span(start, line_end), "the test has no initial state")
                .with_help("write `{ }` before the code if all memory and registers start at 0"),
        );
        return None;
    };
    Some(LitmusHeader { dialect, name: name.to_owned(), body })
}

fn span(start: usize, end: usize) -> Span {
    Span::new(start, end)
}

/// Past blanks and comments.
fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        at += rest.len() - trimmed.len();
        let length = if trimmed.starts_with("(*") {
            nested_comment(trimmed)
        } else if trimmed.starts_with("//") {
            Some(trimmed.find('\n').unwrap_or(trimmed.len()))
        } else if trimmed.starts_with("/*") {
            trimmed.find("*/").map(|end| end + 2)
        } else {
            return at;
        };
        match length {
            Some(length) => at += length,
            None => return at,
        }
    }
}

/// The first `{` outside of quotes and comments.
fn find_body(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    // After one comment without an end there is no use in looking for the end of others.
    let mut closed = true;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => return Some(at),
            b'"' => {
                // A quote that its line does not close is no quote.
                let line = bytes[at + 1..].iter().position(|&byte| byte == b'"' || byte == b'\n');
                match line {
                    Some(length) if bytes[at + 1 + length] == b'"' => at += length + 2,
                    _ => at += 1,
                }
            }
            b'(' if closed && bytes.get(at + 1) == Some(&b'*') => {
                let length = nested_comment(&text[at..]);
                closed = length.is_some();
                at += length.unwrap_or(1);
            }
            _ => at += 1,
        }
    }
    None
}

/// The length of the comment `(* … *)` at the start of a text; such comments nest. `None` if it is not closed.
pub fn nested_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'(', b'*') => {
                depth += 1;
                at += 2;
            }
            (b'*', b')') => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}
