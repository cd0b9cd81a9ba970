//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the `}` of the block,
//! or at a line that starts like a statement or an item, so that one run reports every error of a file.
//!
//! Nesting is limited, because everything that walks the tree afterwards does so by recursion.

mod expression;
mod item;
mod statement;

pub use expression::{operator_named, order_named};

use super::ast::{Comment, Comments, File, Name};
use super::lexer::{RavTokens, lex};
use crate::Diagnostic;
use crate::cursor::{Cursor, LineToken, Parse, SyntaxError, TokenKind};
use crate::suggest::did_you_mean;
use ravelin_program::Span;

/// How deeply blocks and expressions may be nested in each other.
const MAX_DEPTH: usize = 128;
/// How many operators one statement may hold; a chain of them is a tree as deep as it is long.
const MAX_OPERATORS: usize = 400;

/// Words that cannot be names.
const KEYWORDS: &[&str] = &[
    "assert",
    "assume",
    "blocking",
    "break",
    "bus_lock",
    "bus_unlock",
    "choose",
    "const",
    "continue",
    "else",
    "exists",
    "false",
    "fence",
    "finally",
    "for",
    "forall",
    "goto",
    "havoc",
    "if",
    "let",
    "lock",
    "locked",
    "loop",
    "max_value",
    "mem",
    "never",
    "nop",
    "return",
    "static",
    "thread",
    "true",
    "unlock",
    "wait",
    "while",
    "wrapping",
];

/// Words that begin an item and nothing else.
const ITEM_WORDS: &[&str] = &["const", "exists", "finally", "forall", "max_value", "never", "static", "thread"];

/// Words that begin a statement.
const STATEMENT_WORDS: &[&str] = &[
    "assert",
    "assume",
    "break",
    "bus_lock",
    "bus_unlock",
    "choose",
    "continue",
    "fence",
    "for",
    "goto",
    "havoc",
    "if",
    "let",
    "lock",
    "locked",
    "loop",
    "nop",
    "return",
    "unlock",
    "wait",
    "while",
];

/// Whether a word is reserved and so cannot name anything.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Parses a file; gives back all of it that could be understood.
pub fn parse_file(text: &str) -> (File, Vec<Diagnostic>) {
    let RavTokens { tokens, comments, header, diagnostics } = lex(text);
    let cursor = Cursor::new(text, tokens);
    let mut parser = Parser { cursor, comments, next_comment: 0, depth: 0, operators: 0, broken: false, diagnostics };
    let mut file = parser.file();
    file.header = header;
    (file, parser.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a, LineToken>,
    comments: Vec<Comment>,
    next_comment: usize,
    depth: usize,
    operators: usize,
    /// An error was reported in this statement, which is kept all the same: its end is to be searched, not expected.
    broken: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Parser<'_> {
    /// What stands here, for messages.
    fn found(&self) -> String {
        match self.cursor.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Word if is_keyword(self.cursor.quote(self.cursor.span())) => {
                format!("the keyword `{}`", self.cursor.quote(self.cursor.span()))
            }
            _ => format!("`{}`", self.cursor.quote(self.cursor.span())),
        }
    }

    fn expect(&mut self, symbol: &str, why: &str) -> Parse<()> {
        if self.cursor.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}` {why}"))) }
    }

    fn expect_word(&mut self, word: &str, why: &str) -> Parse<()> {
        if self.cursor.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}` {why}"))) }
    }

    /// A name, which must not be a keyword. `what` says what it would name.
    fn name(&mut self, what: &str) -> Parse<Name> {
        match self.cursor.word() {
            Some("_") => {
                Err(self.report(Diagnostic::error(self.cursor.span(), format!("`_` cannot be the name of {what}"))))
            }
            Some(word) if is_keyword(word) => Err(self.report(
                Diagnostic::error(self.cursor.span(), format!("expected {what}, found the keyword `{word}`"))
                    .with_help("keywords cannot be names; choose another one"),
            )),
            Some(word) => {
                let span = self.cursor.bump().span;
                Ok(Name { text: word.to_owned(), span })
            }
            None => Err(self.expected(what)),
        }
    }

    /// The `;` after a complete statement or item. One that is missing at the end of a line is reported and nothing is
    /// skipped.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if std::mem::take(&mut self.broken) {
            self.skip_statement();
            return Ok(());
        }
        if self.cursor.eat(";") {
            return Ok(());
        }
        let end = self.cursor.last_end();
        let span = if self.cursor.token().starts_line || self.cursor.is_end() {
            Span::new(end, end)
        } else {
            self.cursor.span()
        };
        let reported = self.report(
            Diagnostic::error(span, format!("expected `;` after {after}, found {}", self.found()))
                .with_label("expected `;`"),
        );
        if self.cursor.token().starts_line || self.cursor.is("}") || self.cursor.is_end() {
            Ok(())
        } else {
            Err(reported)
        }
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) -> SyntaxError {
        self.diagnostics.push(diagnostic);
        SyntaxError
    }

    fn expected(&mut self, what: &str) -> SyntaxError {
        let diagnostic = Diagnostic::error(self.cursor.span(), format!("expected {what}, found {}", self.found()));
        self.report(diagnostic)
    }

    /// As `expected`, where one of some words would have been accepted.
    fn expected_word<'b>(&mut self, what: &str, words: impl IntoIterator<Item = &'b str>) -> SyntaxError {
        let mut diagnostic = Diagnostic::error(self.cursor.span(), format!("expected {what}, found {}", self.found()));
        diagnostic.help = self.cursor.word().and_then(|word| did_you_mean(word, words));
        self.report(diagnostic)
    }

    /// Runs a parser; if it fails, marks the statement as broken and goes on with a replacement.
    fn or_broken<T>(&mut self, result: Parse<T>, replacement: impl FnOnce() -> T) -> T {
        result.unwrap_or_else(|SyntaxError| {
            self.broken = true;
            replacement()
        })
    }

    /// Goes to where the next statement can start, also before a line that starts with a keyword.
    fn skip_statement(&mut self) {
        self.cursor.skip_statement(|cursor| {
            let starts = |word| ITEM_WORDS.contains(&word) || STATEMENT_WORDS.contains(&word);
            cursor.token().starts_line && cursor.word().is_some_and(starts)
        });
    }

    /// Runs a parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let diagnostic = Diagnostic::error(
                self.cursor.span(),
                format!("blocks and expressions are nested more than {MAX_DEPTH} deep here"),
            );
            return Err(self.report(diagnostic.with_help("name a part of it with `let`, or split the block")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    // Comments.

    /// The comments before the current token that nobody has taken.
    fn pending_comments(&mut self) -> Vec<Comment> {
        let limit = if self.cursor.is_end() { u32::MAX } else { self.cursor.span().start };
        self.comments_before(limit)
    }

    fn comments_before(&mut self, limit: u32) -> Vec<Comment> {
        let start = self.next_comment;
        while self.comments.get(self.next_comment).is_some_and(|comment| comment.span.start < limit) {
            self.next_comment += 1;
        }
        self.comments[start..self.next_comment].to_vec()
    }

    /// Collects the comments of an item or statement that has just ended.
    fn comments(&mut self, mut leading: Vec<Comment>, blank_before: bool) -> Comments {
        let inside = self.comments_before(self.cursor.last_end() as u32);
        leading.extend(inside);
        let next = self.cursor.span().start;
        let mut trailing = Vec::new();
        while let Some(comment) = self.comments.get(self.next_comment)
            && !comment.starts_line
            && (comment.span.start < next || self.cursor.is_end())
        {
            trailing.push(comment.clone());
            self.next_comment += 1;
        }
        Comments { leading, trailing, blank_before }
    }
}
