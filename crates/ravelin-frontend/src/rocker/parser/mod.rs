//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the `}` of the block, or
//! at a line that starts like a statement or a declaration, so that one run reports every error of a file.

mod expression;
mod item;
mod keyword;
mod statement;

use super::ast::{File, Name, Number};
use super::lexer::{Comment, RockerTokens, lex};
use crate::Diagnostic;
use crate::parsing::{Cursor, LineToken, NestedParser, Open, Parse, SyntaxError, TokenKind, TokenParser};
use keyword::{ReservedWord, reserved};

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
    let mut parser = Parser { cursor, open: Open::default(), late_locals: Vec::new(), diagnostics };
    let file = parser.file();
    (file, leading, parser.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a, LineToken>,
    open: Open,
    /// Locals declared in the midst of a thread: an error, but their uses are none.
    late_locals: Vec<Name>,
    diagnostics: Vec<Diagnostic>,
}

/// A thread starts here. `fn` is no keyword, so one word is not enough.
fn is_function(cursor: &Cursor<LineToken>) -> bool {
    cursor.is_word("fn") && cursor.ahead(1).kind == TokenKind::Word && cursor.is_ahead(2, "{")
}

impl<'a> TokenParser<'a> for Parser<'a> {
    type Token = LineToken;

    const RESERVED: &'static str = "keyword";

    fn cursor(&mut self) -> &mut Cursor<'a, LineToken> {
        &mut self.cursor
    }

    fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.diagnostics
    }

    fn is_reserved(word: &str) -> bool {
        reserved(word).is_some()
    }
}

impl<'a> NestedParser<'a> for Parser<'a> {
    const SIMPLIFY: [Option<&'static str>; 2] =
        [Some("compute a part of it into a local, or use `goto`"), Some("compute a part of it into a local")];

    fn open(&mut self) -> &mut Open {
        &mut self.open
    }
}

impl Parser<'_> {
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

    // Errors.

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
}
