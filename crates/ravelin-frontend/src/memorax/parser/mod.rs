//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the end of the block, or
//! at the next section, so that one run reports every error of a file.
//!
//! Nesting is limited, because everything that walks the tree afterwards does so by recursion.

mod expression;
mod file;
mod statement;

use super::ast::{File, Name};
use super::lexer::{Token, is_reserved};
use crate::Diagnostic;
use crate::cursor::{Cursor, Parse, SyntaxError, TokenKind};
use ravelin_program::Span;

/// How deeply statements and expressions may be nested in each other.
const MAX_DEPTH: usize = 128;
/// How many operators one expression may hold; a chain of them is a tree as deep as it is long.
const MAX_OPERATORS: usize = 400;

/// Words that begin a section.
const SECTIONS: [&str; 6] = ["forbidden", "predicates", "data", "process", "registers", "text"];

/// Parses what the macros left; gives back all of it that could be understood.
pub fn parse_file(text: &str, mut tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> File {
    // The last character, since an error at the end should point at something.
    let end = text.trim_end().len();
    let last = text[..end].char_indices().next_back().map_or(0, |(start, _)| start);
    tokens.push(Token { kind: TokenKind::End, span: Span::new(last, end), region: 0, used_at: None });
    Parser { cursor: Cursor::new(text, tokens), depth: 0, operators: 0, diagnostics }.file()
}

struct Parser<'a, 'd> {
    cursor: Cursor<'a, Token>,
    depth: usize,
    operators: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Parser<'_, '_> {
    /// A word that is not reserved.
    fn is_name(&self) -> bool {
        self.cursor.word().is_some_and(|word| !is_reserved(word))
    }

    fn is_section(&self) -> bool {
        self.cursor.word().is_some_and(|word| SECTIONS.contains(&word))
    }

    /// From the given token to the last one consumed, as far as that is written in one place: what an argument of a macro
    /// put in does not count.
    fn span_from(&self, start: usize) -> Span {
        let first = self.cursor.nth(start);
        self.cursor
            .since(start)
            .iter()
            .filter(|token| token.region == first.region)
            .fold(first.span, |span, token| span.to(token.span))
    }

    fn expect(&mut self, symbol: &str, place: &str) -> Parse<()> {
        match self.cursor.eat(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{symbol}` {place}"))),
        }
    }

    fn expect_word(&mut self, word: &str, place: &str) -> Parse<()> {
        match self.cursor.eat_word(word) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{word}` {place}"))),
        }
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        if !self.is_name() {
            return Err(self.expected(what));
        }
        let token = self.cursor.bump();
        Ok(Name { text: self.cursor.quote(token.span).to_owned(), span: token.span })
    }

    fn register(&mut self) -> Parse<Name> {
        if self.cursor.token().kind != TokenKind::Register {
            return Err(self.expected("a register such as `$r`"));
        }
        let token = self.cursor.bump();
        Ok(Name { text: self.cursor.quote(token.span).trim_start_matches('$').to_owned(), span: token.span })
    }

    fn natural(&mut self, what: &str) -> Parse<i64> {
        match self.cursor.token().kind {
            TokenKind::Number(value) => {
                self.cursor.bump();
                // The lexer reports larger ones and reads them as 0.
                Ok(value as i64)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A number that may have a sign.
    fn integer(&mut self, what: &str) -> Parse<i64> {
        let negative = self.cursor.eat("-");
        let value = self.natural(what)?;
        Ok(if negative { -value } else { value })
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) -> SyntaxError {
        let token = self.cursor.token();
        let diagnostic = match token.used_at {
            Some(used_at) if diagnostic.span == token.span => {
                diagnostic.with_secondary(used_at, "in this use of the macro")
            }
            _ => diagnostic,
        };
        self.diagnostics.push(diagnostic);
        SyntaxError
    }

    fn expected(&mut self, what: &str) -> SyntaxError {
        let token = self.cursor.token();
        let text = self.cursor.quote(token.span);
        let found = match token.kind {
            // What is missing has been reported.
            TokenKind::Missing => return SyntaxError,
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Word if is_reserved(text) => format!("the reserved word `{text}`"),
            _ => format!("`{text}`"),
        };
        self.report(Diagnostic::error(token.span, format!("expected {what}, found {found}")))
    }

    /// Skips to what comes after a broken statement: a `;` or `or` of the same block, its end, or the next process.
    fn skip_statement(&mut self) {
        let mut depth = 0usize;
        while !self.cursor.is_end() && !self.cursor.is_word("process") {
            match self.cursor.token().kind {
                TokenKind::Symbol("{") => depth += 1,
                TokenKind::Symbol("}") if depth == 0 => return,
                TokenKind::Symbol("}") => depth -= 1,
                TokenKind::Symbol(";") if depth == 0 => return,
                TokenKind::Word if depth == 0 && self.cursor.is_word("or") => return,
                _ => {}
            }
            self.cursor.bump();
        }
    }

    /// Runs a parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("statements and expressions are nested more than {MAX_DEPTH} deep here");
            return Err(self.report(Diagnostic::error(self.cursor.span(), message)));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
