//! Text to tokens for rav and TPL, which have the same words, symbols and comments.
//!
//! Lexing never stops: characters that mean nothing are reported, once for each run of them, and skipped.

use super::token::TokenKind;
use crate::Diagnostic;
use ravelin_program::Span;

/// What a lexer does with each piece of its text. Every method but `report` moves the lexer past the piece.
pub trait Lexer {
    fn text(&self) -> &str;
    /// How many bytes have been read.
    fn at(&mut self) -> &mut usize;
    fn newline(&mut self);
    fn line_comment(&mut self);
    fn block_comment(&mut self);
    /// Something that begins with a digit, and so many bytes.
    fn number(&mut self, length: usize);
    fn push(&mut self, kind: TokenKind, length: usize);
    fn report(&mut self, error: Diagnostic);

    /// Reads the whole text. Longer symbols come before their prefixes.
    fn run(&mut self, symbols: &'static [&'static str]) {
        if self.text().starts_with('\u{feff}') {
            *self.at() = '\u{feff}'.len_utf8();
        }
        loop {
            let at = *self.at();
            let Some(lexeme) = lexeme(self.text(), at, symbols) else { break };
            match lexeme {
                Lexeme::Newline => {
                    self.newline();
                    *self.at() += 1;
                }
                Lexeme::Space(length) => *self.at() += length,
                Lexeme::LineComment => self.line_comment(),
                Lexeme::BlockComment => self.block_comment(),
                Lexeme::Word(length) => self.push(TokenKind::Word, length),
                Lexeme::Number(length) => self.number(length),
                Lexeme::Symbol(symbol) => self.push(TokenKind::Symbol(symbol), symbol.len()),
                Lexeme::Nonsense(length, error) => {
                    self.report(error);
                    *self.at() += length;
                }
            }
        }
        self.push(TokenKind::End, 0);
    }
}

/// What a text of rav or TPL begins with.
enum Lexeme {
    Newline,
    /// So many bytes of white space.
    Space(usize),
    LineComment,
    BlockComment,
    /// So many bytes.
    Word(usize),
    /// Something that begins with a digit, and so many bytes.
    Number(usize),
    Symbol(&'static str),
    /// So many bytes that mean nothing, and the error that says so.
    Nonsense(usize, Diagnostic),
}

/// What stands at `at` in a text; `None` at its end. Longer symbols come before their prefixes.
fn lexeme(text: &str, at: usize, symbols: &'static [&'static str]) -> Option<Lexeme> {
    let rest = &text[at..];
    let next = rest.chars().next()?;
    let word = || rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(if next == '\n' {
        Lexeme::Newline
    } else if next.is_whitespace() {
        Lexeme::Space(next.len_utf8())
    } else if rest.starts_with("//") {
        Lexeme::LineComment
    } else if rest.starts_with("/*") {
        Lexeme::BlockComment
    } else if next.is_ascii_alphabetic() || next == '_' {
        Lexeme::Word(word())
    } else if next.is_ascii_digit() {
        Lexeme::Number(word())
    } else if let Some(symbol) = symbols.iter().find(|symbol| rest.starts_with(**symbol)) {
        Lexeme::Symbol(symbol)
    } else {
        let length = rest.find(|c: char| c.is_ascii()).unwrap_or(rest.len()).max(1);
        let shown = rest[..length].escape_debug().take(40).collect::<String>();
        let error = Diagnostic::error(Span::new(at, at + length), format!("`{shown}` means nothing here"));
        Lexeme::Nonsense(length, error)
    })
}
