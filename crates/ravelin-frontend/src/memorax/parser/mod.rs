//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the end of the block, or
//! at the next section, so that one run reports every error of a file.

mod expression;
mod file;
mod statement;

use super::ast::{File, Name};
use super::lexer::{Token, is_reserved};
use crate::Diagnostic;
use crate::parsing::{Cursor, NestedParser, Open, Parse, SyntaxError, TokenKind, TokenParser};
use ravelin_program::Span;

/// Words that begin a section.
const SECTIONS: [&str; 6] = ["forbidden", "predicates", "data", "process", "registers", "text"];

/// Parses what the macros left; gives back all of it that could be understood.
pub fn parse_file(text: &str, mut tokens: Vec<Token>, diagnostics: &mut Vec<Diagnostic>) -> File {
    // The last character, since an error at the end should point at something.
    let end = text.trim_end().len();
    let last = text[..end].char_indices().next_back().map_or(0, |(start, _)| start);
    tokens.push(Token { kind: TokenKind::End, span: Span::new(last, end), region: 0, used_at: None });
    Parser { cursor: Cursor::new(text, tokens), open: Open::default(), diagnostics }.file()
}

struct Parser<'a, 'd> {
    cursor: Cursor<'a, Token>,
    open: Open,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> TokenParser<'a> for Parser<'a, '_> {
    type Token = Token;

    const RESERVED: &'static str = "reserved word";

    fn cursor(&mut self) -> &mut Cursor<'a, Token> {
        &mut self.cursor
    }

    fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        self.diagnostics
    }

    fn is_reserved(word: &str) -> bool {
        is_reserved(word)
    }

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
}

impl<'a> NestedParser<'a> for Parser<'a, '_> {
    const SIMPLIFY: [Option<&'static str>; 2] = [None, None];

    fn open(&mut self) -> &mut Open {
        &mut self.open
    }
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
}
