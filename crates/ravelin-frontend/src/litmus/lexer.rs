//! Text to tokens, from the initial state on. One lexer serves all dialects; what differs is said in [`tokens`].

use super::header::{Dialect, nested_comment};
use crate::Diagnostic;
use crate::parsing::{Token, TokenClass};
use ravelin_program::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LitmusTokenKind {
    /// A name, a keyword, a mnemonic; may hold dots, as labels do.
    Word,
    Int(i128),
    Sign,
    /// Said to be wrong already.
    Wrong,
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct LitmusToken {
    pub kind: LitmusTokenKind,
    pub span: Span,
}

impl Token for LitmusToken {
    type Symbol<'s> = &'s str;

    fn class(self) -> TokenClass {
        match self.kind {
            LitmusTokenKind::Word => TokenClass::Word,
            LitmusTokenKind::Int(_) | LitmusTokenKind::Sign => TokenClass::Other,
            LitmusTokenKind::Wrong => TokenClass::Missing,
            LitmusTokenKind::End => TokenClass::End,
        }
    }

    fn span(self) -> Span {
        self.span
    }

    /// Signs and words alike.
    fn is_symbol(self, text: &str, symbol: &str) -> bool {
        self.kind != LitmusTokenKind::End && text == symbol
    }
}

/// Longest first.
const SIGNS: [&str; 23] = [
    "<<=", ">>=", "/\\", "\\/", "=>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "->", "++", "--", "+=", "-=",
    "*=", "/=", "&=", "|=", "^=",
];
const SINGLE: &str = "{}()[];,:=<>+-*/%&|^!~$@#?.";

/// The tokens of `text[from..]`, ended by one [`LitmusTokenKind::End`].
///
/// In the table of an x86 test `||` is two columns. In C, `(*` opens a comment inside of functions only if a blank or
/// a star follows and the comment is closed: `(*x)` is an expression.
pub fn tokens(text: &str, from: usize, dialect: Dialect, diagnostics: &mut Vec<Diagnostic>) -> Vec<LitmusToken> {
    let mut lexer = Lexer { text, at: from, dialect, braces: 0, blocks: 0, no_comment_from: text.len(), diagnostics };
    let mut tokens = Vec::new();
    while lexer.skip_blank() {
        let token = lexer.token();
        match text.as_bytes()[token.span.start as usize] {
            b'{' => lexer.braces += 1,
            b'}' if lexer.braces > 0 => {
                lexer.braces -= 1;
                lexer.blocks += usize::from(lexer.braces == 0);
            }
            _ => {}
        }
        tokens.push(token);
    }
    tokens.push(LitmusToken { kind: LitmusTokenKind::End, span: end_of(text) });
    tokens
}

/// The last character that is not blank: where something is missing.
fn end_of(text: &str) -> Span {
    let end = text.trim_end().len();
    let start = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    Span::new(start, end)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    braces: usize,
    /// How many outermost `{ … }` have been closed; the first is the initial state.
    blocks: usize,
    /// From here on no `(*` is closed: known after the first search that found nothing.
    no_comment_from: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Lexer<'_> {
    /// Goes to the next token; false at the end.
    fn skip_blank(&mut self) -> bool {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.is_empty() {
                return false;
            }
            let length = if trimmed.starts_with("(*") {
                self.comment(trimmed)
            } else if self.dialect == Dialect::C && trimmed.starts_with("//") {
                Some(trimmed.find('\n').unwrap_or(trimmed.len()))
            } else if self.dialect == Dialect::C && trimmed.starts_with("/*") {
                let closed = trimmed[2..].find("*/").map(|end| end + 4);
                if closed.is_none() {
                    self.unclosed();
                }
                Some(closed.unwrap_or(trimmed.len()))
            } else {
                None
            };
            match length {
                Some(length) => self.at += length,
                None => return true,
            }
        }
    }

    /// The length of a comment `(* … *)` here, if it is one.
    fn comment(&mut self, rest: &str) -> Option<usize> {
        if self.at >= self.no_comment_from {
            return None;
        }
        let code = self.dialect == Dialect::C && self.braces > 0 && self.blocks > 0;
        let looks = rest[2..].starts_with(|c: char| c.is_whitespace() || c == '*');
        if code && !looks {
            return None;
        }
        let closed = nested_comment(rest);
        if closed.is_none() {
            self.no_comment_from = self.at;
            if self.dialect != Dialect::C {
                self.unclosed();
                return Some(rest.len());
            }
        }
        closed
    }

    fn unclosed(&mut self) {
        let span = Span::new(self.at, self.at + 2);
        self.diagnostics.push(Diagnostic::error(span, "this comment is not closed"));
    }

    fn token(&mut self) -> LitmusToken {
        let start = self.at;
        let rest = &self.text[start..];
        let first = rest.chars().next().unwrap_or(' ');
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let starts_word = first.is_ascii_alphabetic() || first == '_' || (first == '.' && length > 1);
        let kind = if first.is_ascii_digit() {
            self.at += length;
            self.number(&rest[..length])
        } else if starts_word {
            self.at += length;
            LitmusTokenKind::Word
        } else if let Some(sign) = self.sign(rest) {
            self.at += sign;
            LitmusTokenKind::Sign
        } else {
            self.at += first.len_utf8();
            // A file that is no text at all has one such complaint for every byte.
            if self.diagnostics.len() < super::MAX_DIAGNOSTICS {
                let message = format!("the character `{}` means nothing here", first.escape_debug());
                self.diagnostics.push(Diagnostic::error(Span::new(start, self.at), message));
            }
            LitmusTokenKind::Wrong
        };
        LitmusToken { kind, span: Span::new(start, self.at) }
    }

    fn sign(&self, rest: &str) -> Option<usize> {
        let long = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        match long {
            Some(&"||") if self.dialect != Dialect::C => Some(1),
            Some(sign) => Some(sign.len()),
            None => rest.starts_with(|c| SINGLE.contains(c)).then_some(1),
        }
    }

    /// Decimal or hexadecimal, with the suffixes of C.
    fn number(&mut self, word: &str) -> LitmusTokenKind {
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => i128::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with(['+', '-'])),
            None => digits.parse().ok(),
        };
        let span = Span::new(self.at - word.len(), self.at);
        match value {
            Some(value) if value <= i128::from(u64::MAX) => LitmusTokenKind::Int(value),
            Some(_) => {
                self.diagnostics.push(Diagnostic::error(span, "this number does not fit in 64 bits"));
                LitmusTokenKind::Wrong
            }
            None => {
                self.diagnostics.push(
                    Diagnostic::error(span, format!("`{word}` is not a number"))
                        .with_help("numbers are decimal or hexadecimal (`0x1f`)"),
                );
                LitmusTokenKind::Wrong
            }
        }
    }
}
