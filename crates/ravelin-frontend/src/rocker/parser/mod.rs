//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the `}` of the block, or
//! at a line that starts like a statement or a declaration, so that one run reports every error of a file.
//!
//! Nesting is limited, because everything that walks the tree afterwards does so by recursion.

mod expression;
mod item;
mod keyword;
mod statement;

use super::MAX_DIAGNOSTICS;
use super::ast::{File, Name, Number};
use super::lexer::{Comment, RockerTokens, lex};
use crate::Diagnostic;
use crate::cursor::{Cursor, LineToken, Parse, SyntaxError, TokenKind};
use crate::suggest::did_you_mean;
use keyword::{ReservedWord, reserved};
use ravelin_program::Span;

/// How deeply blocks and expressions may be nested in each other.
const MAX_DEPTH: usize = 128;
/// How many operators one statement may hold; a chain of them is a tree as deep as it is long.
const MAX_OPERATORS: usize = 400;

/// Words that begin a declaration.
const ITEM_WORDS: &[&str] = &["fn", "global", "max_value", "na", "track"];

/// Words that begin a statement.
const STATEMENT_WORDS: &[&str] = &[
    "BCAS", "CAS", "FADD", "assert", "assume", "exchange", "fence", "goto", "if", "lock", "oneof", "skip", "unlock",
    "verify", "wait", "while",
];

/// Parses a file; gives back all of it that could be understood, and the comments before it.
pub fn parse_file(text: &str) -> (File, Vec<Comment<'_>>, Vec<Diagnostic>) {
    let RockerTokens { tokens, leading, diagnostics } = lex(text);
    let cursor = Cursor::new(text, tokens);
    let mut parser = Parser { cursor, depth: 0, operators: 0, late_locals: Vec::new(), diagnostics };
    let file = parser.file();
    (file, leading, parser.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a, LineToken>,
    depth: usize,
    operators: usize,
    /// Locals declared in the midst of a thread: an error, but their uses are none.
    late_locals: Vec<Name>,
    diagnostics: Vec<Diagnostic>,
}

/// A thread starts here. `fn` is no keyword, so one word is not enough.
fn is_function(cursor: &Cursor<LineToken>) -> bool {
    cursor.is_word("fn") && cursor.ahead(1).kind == TokenKind::Word && cursor.is_ahead(2, "{")
}

impl Parser<'_> {
    /// What stands here, for messages.
    fn found(&self) -> String {
        let quote = self.cursor.quote(self.cursor.span());
        match self.cursor.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Word if reserved(quote).is_some() => format!("the keyword `{quote}`"),
            _ => format!("`{quote}`"),
        }
    }

    fn expect(&mut self, symbol: &str, why: &str) -> Parse<()> {
        if self.cursor.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}` {why}"))) }
    }

    /// A name, which must not be a keyword. `what` says what it would name.
    fn name(&mut self, what: &str) -> Parse<Name> {
        let Some(word) = self.cursor.word() else { return Err(self.expected(what)) };
        let span = self.cursor.span();
        match reserved(word) {
            None => {
                self.cursor.bump();
                Ok(Name { text: word.to_owned(), span })
            }
            Some(ReservedWord::Tpl) => Err(self.report(
                Diagnostic::error(span, format!("expected {what}, found the keyword `{word}`"))
                    .with_help("keywords cannot be names; choose another one"),
            )),
            Some(ReservedWord::Promela) => {
                // It could not be meant otherwise, so that its uses need not be reported one by one as something else.
                self.cursor.bump();
                self.report(
                    Diagnostic::error(span, format!("`{word}` is a keyword of Promela and cannot be a name"))
                        .with_note("Rocker translates programs to Promela, so TPL reserves its keywords"),
                );
                Ok(Name { text: word.to_owned(), span })
            }
        }
    }

    fn number(&mut self, what: &str) -> Parse<Number> {
        match self.cursor.token().kind {
            // The lexer reports numbers that are no value and reads them as 0.
            TokenKind::Number(value) => Ok(Number { value: value as i64, span: self.cursor.bump().span }),
            _ => Err(self.expected(what)),
        }
    }

    /// The `;` after a complete statement or declaration. One that is missing at the end of a line is reported and nothing
    /// is skipped.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.cursor.eat(";") {
            return Ok(());
        }
        let end = self.cursor.last_end();
        let ends = self.cursor.token().starts_line || self.cursor.is_end() || self.cursor.is("}");
        let span = if ends { Span::new(end, end) } else { self.cursor.span() };
        let reported = self.report(
            Diagnostic::error(span, format!("expected `;` after {after}, found {}", self.found()))
                .with_label("expected `;`"),
        );
        if ends { Ok(()) } else { Err(reported) }
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) -> SyntaxError {
        self.diagnostics.push(diagnostic);
        SyntaxError
    }

    fn expected(&mut self, what: &str) -> SyntaxError {
        self.expected_word(what, [])
    }

    /// As `expected`, where one of some words would have been accepted.
    fn expected_word<'b>(&mut self, what: &str, words: impl IntoIterator<Item = &'b str>) -> SyntaxError {
        let mut diagnostic = Diagnostic::error(self.cursor.span(), format!("expected {what}, found {}", self.found()));
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            diagnostic.help = self.cursor.word().and_then(|word| did_you_mean(word, words));
        }
        self.report(diagnostic)
    }

    /// Goes to where the next statement can start, also before a function or a line that starts with a keyword.
    fn skip_statement(&mut self) {
        let past_a_block = self.cursor.skip_statement(|cursor| {
            let starts = |word: &str| word == "global" || STATEMENT_WORDS.contains(&word);
            is_function(cursor) || cursor.token().starts_line && cursor.word().is_some_and(starts)
        });
        if past_a_block {
            self.cursor.eat(";");
        }
    }

    /// Runs a parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("blocks and expressions are nested more than {MAX_DEPTH} deep here");
            let diagnostic = Diagnostic::error(self.cursor.span(), message);
            return Err(self.report(diagnostic.with_help("compute a part of it into a local, or use `goto`")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
