//! Text to tokens. TPL has words, decimal numbers, C's operators and `//` comments.
//!
//! Lexing never stops: what means nothing is reported and skipped. The comments before the first token are kept, because
//! they may hold expected answers.

use crate::Diagnostic;
use crate::cursor::{self, TokenKind};
use ravelin_program::Span;

#[derive(Debug)]
pub struct RockerTokens<'a> {
    /// Ends with a token of kind [`TokenKind::End`].
    pub tokens: Vec<Token>,
    pub leading: Vec<Comment<'a>>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A line that is only a comment, from its `//` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment<'a> {
    pub text: &'a str,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// The first token of its line.
    pub starts_line: bool,
}

impl cursor::Token for Token {
    fn kind(self) -> TokenKind {
        self.kind
    }

    fn span(self) -> Span {
        self.span
    }
}

/// Longer ones first, so that the first match is the longest.
const SYMBOLS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", "[", "]", ";", ":", ",", ".", "=", "+", "-", "*", "/", "%",
    "&", "|", "^", "!", "<", ">",
];

pub fn lex(text: &str) -> RockerTokens<'_> {
    let mut lexer = Lexer {
        text,
        at: 0,
        starts_line: true,
        out: RockerTokens { tokens: Vec::new(), leading: Vec::new(), diagnostics: Vec::new() },
    };
    lexer.run();
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    starts_line: bool,
    out: RockerTokens<'a>,
}

impl<'a> Lexer<'a> {
    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        while let Some(next) = self.rest().chars().next() {
            if next == '\n' {
                self.starts_line = true;
                self.at += 1;
            } else if next.is_whitespace() {
                self.at += next.len_utf8();
            } else if self.rest().starts_with("//") {
                self.line_comment();
            } else if self.rest().starts_with("/*") {
                self.block_comment();
            } else if next.is_ascii_alphabetic() || next == '_' {
                self.push(TokenKind::Word, self.word_length());
            } else if next.is_ascii_digit() {
                self.number();
            } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| self.rest().starts_with(**symbol)) {
                self.push(TokenKind::Symbol(symbol), symbol.len());
            } else {
                self.nonsense();
            }
        }
        self.push(TokenKind::End, 0);
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn word_length(&self) -> usize {
        self.rest().find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest().len())
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let span = Span::new(self.at, self.at + length);
        self.out.tokens.push(Token { kind, span, starts_line: self.starts_line });
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

    fn number(&mut self) {
        let length = self.word_length();
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

    fn nonsense(&mut self) {
        let length = self.rest().find(|c: char| c.is_ascii()).unwrap_or(self.rest().len()).max(1);
        let span = Span::new(self.at, self.at + length);
        let shown = self.rest()[..length].escape_debug().take(40).collect::<String>();
        self.out.diagnostics.push(Diagnostic::error(span, format!("`{shown}` means nothing here")));
        self.at += length;
    }
}
