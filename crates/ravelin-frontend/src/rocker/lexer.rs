//! Text to tokens. TPL has words, decimal numbers, C's operators and `//` comments.
//!
//! Lexing never stops: what means nothing is reported and skipped. The comments before the first token are kept, because
//! they may hold expected answers.

use crate::Diagnostic;
use crate::parsing::{Lexer, LineToken, TokenKind};
use ravelin_program::Span;

#[derive(Debug)]
pub struct RockerTokens<'a> {
    /// Ends with a token of kind [`TokenKind::End`].
    pub tokens: Vec<LineToken>,
    pub leading: Vec<Comment<'a>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A line that is only a comment, from its `//` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// Longer ones first, so that the first match is the longest.
const SYMBOLS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "=", "+", "-", "*", "/", "%",
    "&", "|", "^", "!", "<", ">",
];

pub fn lex(text: &str) -> RockerTokens<'_> {
    let mut lexer = TplLexer {
        text,
        at: 0,
        starts_line: true,
        out: RockerTokens { tokens: Vec::new(), leading: Vec::new(), diagnostics: Vec::new() },
    };
    lexer.run(SYMBOLS);
    lexer.out
}

struct TplLexer<'a> {
    text: &'a str,
    at: usize,
    starts_line: bool,
    out: RockerTokens<'a>,
}

impl Lexer for TplLexer<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn at(&mut self) -> &mut usize {
        &mut self.at
    }

    fn newline(&mut self) {
        self.starts_line = true;
    }

    fn report(&mut self, error: Diagnostic) {
        self.out.diagnostics.push(error);
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let span = Span::new(self.at, self.at + length);
        self.out.tokens.push(LineToken { kind, span, starts_line: self.starts_line, blank_before: false });
        self.starts_line = false;
        self.at += length;
    }

    fn line_comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        let text = self.rest()[..length].trim_end();
        if self.out.tokens.is_empty() {
            self.out.leading.push(Comment { text, span: Span::new(self.at, self.at + text.len()) });
        }
        self.at += length;
    }

    /// TPL has none, but what stands in one is surely not meant as a program.
    fn block_comment(&mut self) {
        let length = self.rest().find("*/").map_or(self.rest().len(), |end| end + 2);
        let span = Span::new(self.at, self.at + 2);
        self.out.diagnostics.push(
            Diagnostic::error(span, "TPL has no block comments").with_help("start every line of the comment with `//`"),
        );
        self.at += length;
    }

    fn number(&mut self, length: usize) {
        let written = &self.rest()[..length];
        let span = Span::new(self.at, self.at + length);
        let value = written.parse::<i64>();
        if !written.bytes().all(|byte| byte.is_ascii_digit()) {
            self.out
                .diagnostics
                .push(Diagnostic::error(span, format!("`{written}` is not a number")).with_note("numbers are decimal"));
        } else if value.is_err() {
            self.out.diagnostics.push(
                Diagnostic::error(span, "this number is too large").with_note("the largest value there can be is 255"),
            );
        }
        self.push(TokenKind::Number(value.unwrap_or(0).unsigned_abs()), length);
    }
}

impl<'a> TplLexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}
