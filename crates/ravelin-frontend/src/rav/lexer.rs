//! Text to tokens. Comments stand in a list of their own, since only the formatter wants them.
//!
//! Lexing never stops: characters that mean nothing are reported, once for each run of them, and skipped.

use super::ast::{Comment, HeaderLine};
use crate::Diagnostic;
use crate::parsing::{Lexer, LineToken, TokenKind};
use ravelin_program::Span;

/// What the parser works on.
#[derive(Debug)]
pub struct RavTokens {
    /// Ends with a token of kind [`TokenKind::End`].
    pub tokens: Vec<LineToken>,
    /// In order of their places.
    pub comments: Vec<Comment>,
    /// The `//!` lines with which the file begins.
    pub header: Vec<HeaderLine>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Longer ones first, so that the first match is the longest.
const SYMBOLS: &[&str] = &[
    "<<=", ">>=", "..=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "..", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "->", "=>", "::", "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "=", "+", "-", "*", "/", "%", "&",
    "|", "^", "!", "<", ">", "@",
];

pub fn lex(text: &str) -> RavTokens {
    let mut lexer = RavLexer {
        text,
        at: 0,
        newlines: 0,
        in_header: true,
        out: RavTokens { tokens: Vec::new(), comments: Vec::new(), header: Vec::new(), diagnostics: Vec::new() },
    };
    lexer.run(SYMBOLS);
    lexer.out
}

struct RavLexer<'a> {
    text: &'a str,
    at: usize,
    /// How many line ends stand between the last token or comment and here.
    newlines: usize,
    /// Nothing but header lines has been seen.
    in_header: bool,
    out: RavTokens,
}

impl Lexer for RavLexer<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn at(&mut self) -> &mut usize {
        &mut self.at
    }

    fn newline(&mut self) {
        self.newlines += 1;
    }

    fn report(&mut self, error: Diagnostic) {
        self.out.diagnostics.push(error);
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let first = self.out.tokens.is_empty() && self.out.comments.is_empty() && self.out.header.is_empty();
        self.out.tokens.push(LineToken {
            kind,
            span: Span::new(self.at, self.at + length),
            starts_line: self.newlines > 0 || first,
            blank_before: self.newlines > 1,
        });
        self.in_header = false;
        self.newlines = 0;
        self.at += length;
    }

    fn line_comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        let text = self.rest()[..length].trim_end().to_owned();
        let span = Span::new(self.at, self.at + text.len());
        if self.in_header && text.starts_with("//!") {
            self.out.header.push(HeaderLine { text, span, blank_before: self.newlines > 1 });
            self.newlines = 0;
        } else {
            self.comment(text, span);
        }
        self.at += length;
    }

    fn block_comment(&mut self) {
        let bytes = self.rest().as_bytes();
        let (mut depth, mut length) = (0usize, 0usize);
        while length < bytes.len() {
            match &bytes[length..bytes.len().min(length + 2)] {
                b"/*" => (depth, length) = (depth + 1, length + 2),
                b"*/" => (depth, length) = (depth - 1, length + 2),
                _ => length += 1,
            }
            if depth == 0 {
                break;
            }
        }
        let span = Span::new(self.at, self.at + length);
        let mut text = self.rest()[..length].to_owned();
        if depth > 0 {
            self.out.diagnostics.push(
                Diagnostic::error(Span::new(self.at, self.at + 2), "this comment is never closed")
                    .with_help("end it with `*/`; block comments nest, so every `/*` inside needs its own"),
            );
            text = String::new();
        }
        if !text.is_empty() {
            self.comment(text, span);
        }
        self.at += length;
    }

    fn number(&mut self, length: usize) {
        let span = Span::new(self.at, self.at + length);
        let written = &self.rest()[..length];
        let digits: String = written.chars().filter(|&c| c != '_').collect();
        let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hexadecimal) => (hexadecimal, 16),
            None => (digits.as_str(), 10),
        };
        let well_formed = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let value = u64::from_str_radix(digits, radix).ok();
        if !well_formed {
            self.out.diagnostics.push(
                Diagnostic::error(span, format!("`{written}` is not an integer"))
                    .with_note("integers are decimal (`42`, `1_000`) or hexadecimal (`0x2a`)"),
            );
        } else if value.is_none() {
            self.out.diagnostics.push(too_large(span));
        }
        self.push(TokenKind::Number(value.filter(|_| well_formed).unwrap_or(0)), length);
    }
}

impl RavLexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn comment(&mut self, text: String, span: Span) {
        let first = self.out.tokens.is_empty() && self.out.comments.is_empty() && self.out.header.is_empty();
        self.out.comments.push(Comment {
            text,
            span,
            starts_line: self.newlines > 0 || first,
            blank_before: self.newlines > 1,
        });
        self.in_header = false;
        self.newlines = 0;
    }
}

/// An integer that no value can hold.
pub fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this integer does not fit in 64 bits").with_note(
        "values go from -9223372036854775808 to 9223372036854775807, and those of `u64` to 18446744073709551615",
    )
}
