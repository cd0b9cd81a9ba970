//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the `}` of the block,
//! or at a line that starts like a statement or an item, so that one run reports every error of a file.

mod expression;
mod foreign;
mod function;
mod item;
mod matching;
mod statement;

pub use expression::{operator_named, order_named};
pub use item::TYPE_NAMES;

use super::ast::{Comment, Comments, File, Name};
use super::lexer::{RavTokens, lex};
use crate::Diagnostic;
use crate::parsing::{Cursor, LineToken, NestedParser, Open, Parse, StatementParser, SyntaxError, TokenParser};
use std::collections::HashSet;

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
    "enum",
    "exists",
    "false",
    "fence",
    "finally",
    "fn",
    "for",
    "forall",
    "goto",
    "havoc",
    "if",
    "let",
    "lock",
    "locked",
    "loop",
    "match",
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
const ITEM_WORDS: &[&str] =
    &["const", "enum", "exists", "finally", "fn", "forall", "max_value", "never", "static", "thread"];

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
    "match",
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
    let functions = function::declared(text, &tokens);
    let cursor = Cursor::new(text, tokens);
    let (open, broken) = (Open::default(), false);
    let mut parser = Parser { cursor, comments, next_comment: 0, functions, open, broken, diagnostics };
    let mut file = parser.file();
    file.header = header;
    (file, parser.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a, LineToken>,
    comments: Vec<Comment>,
    next_comment: usize,
    /// The names after `fn` in the file.
    functions: HashSet<&'a str>,
    open: Open,
    /// An error was reported in this statement, which is kept all the same: its end is to be searched, not expected.
    broken: bool,
    diagnostics: Vec<Diagnostic>,
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
        is_keyword(word)
    }
}

impl<'a> NestedParser<'a> for Parser<'a> {
    const SIMPLIFY: [Option<&'static str>; 2] =
        [Some("name a part of it with `let`, or split the block"), Some("name a part of it with `let`")];

    fn open(&mut self) -> &mut Open {
        &mut self.open
    }
}

impl Parser<'_> {
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

    /// The `;` after a complete statement or item; after a broken one, wherever that ends.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if std::mem::take(&mut self.broken) {
            self.skip_statement();
            return Ok(());
        }
        self.end_statement(after)
    }

    // Errors.

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
