//! Tokens to tree. The parser never gives up: after a syntax error it goes on at the next `;`, at the `}` of the block,
//! or at a line that starts like a statement or an item, so that one run reports every error of a file.
//!
//! Nesting is limited, because everything that walks the tree afterwards does so by recursion.

mod expression;
mod item;
mod statement;

pub use expression::order_named;

use super::ast::{Comment, Comments, File, Name};
use super::lexer::{Lexed, Token, TokenKind, lex};
use crate::Diagnostic;
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
    let Lexed { tokens, comments, header, diagnostics } = lex(text);
    let mut parser =
        Parser { text, tokens, comments, at: 0, next_comment: 0, depth: 0, operators: 0, broken: false, diagnostics };
    let mut file = parser.file();
    file.header = header;
    (file, parser.diagnostics)
}

/// A syntax error was found and has been reported.
struct Reported;

type Parse<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    comments: Vec<Comment>,
    at: usize,
    next_comment: usize,
    depth: usize,
    operators: usize,
    /// An error was reported in this statement, which is kept all the same: its end is to be searched, not expected.
    broken: bool,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    // Looking.

    fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn ahead(&self, distance: usize) -> Token {
        self.tokens[(self.at + distance).min(self.tokens.len() - 1)]
    }

    fn word_of(&self, token: Token) -> Option<&'a str> {
        (token.kind == TokenKind::Word).then(|| self.quote(token.span))
    }

    fn word(&self) -> Option<&'a str> {
        self.word_of(self.token())
    }

    fn quote(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.token().kind, TokenKind::Symbol(found) if found == symbol)
    }

    fn is_ahead(&self, distance: usize, symbol: &str) -> bool {
        matches!(self.ahead(distance).kind, TokenKind::Symbol(found) if found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn is_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    /// The end of what has been consumed.
    fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].span.end as usize)
    }

    /// From the given token to the last one consumed.
    fn span_from(&self, start: usize) -> Span {
        let start = self.tokens[start.min(self.tokens.len() - 1)].span.start as usize;
        Span::new(start, self.last_end().max(start))
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match self.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Word if is_keyword(self.quote(self.token().span)) => {
                format!("the keyword `{}`", self.quote(self.token().span))
            }
            _ => format!("`{}`", self.quote(self.token().span)),
        }
    }

    // Consuming.

    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.bump();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, symbol: &str, why: &str) -> Parse<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}` {why}"))) }
    }

    fn expect_word(&mut self, word: &str, why: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}` {why}"))) }
    }

    /// A name, which must not be a keyword. `what` says what it would name.
    fn name(&mut self, what: &str) -> Parse<Name> {
        match self.word() {
            Some("_") => {
                Err(self.report(Diagnostic::error(self.token().span, format!("`_` cannot be the name of {what}"))))
            }
            Some(word) if is_keyword(word) => Err(self.report(
                Diagnostic::error(self.token().span, format!("expected {what}, found the keyword `{word}`"))
                    .with_help("keywords cannot be names; choose another one"),
            )),
            Some(word) => {
                let span = self.bump().span;
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
        if self.eat(";") {
            return Ok(());
        }
        let end = self.last_end();
        let span = if self.token().starts_line || self.is_end() { Span::new(end, end) } else { self.token().span };
        let reported = self.report(
            Diagnostic::error(span, format!("expected `;` after {after}, found {}", self.found()))
                .with_label("expected `;`"),
        );
        if self.token().starts_line || self.is("}") || self.is_end() { Ok(()) } else { Err(reported) }
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    fn expected(&mut self, what: &str) -> Reported {
        let diagnostic = Diagnostic::error(self.token().span, format!("expected {what}, found {}", self.found()));
        self.report(diagnostic)
    }

    /// As `expected`, where one of some words would have been accepted.
    fn expected_word<'b>(&mut self, what: &str, words: impl IntoIterator<Item = &'b str>) -> Reported {
        let mut diagnostic = Diagnostic::error(self.token().span, format!("expected {what}, found {}", self.found()));
        diagnostic.help = self.word().and_then(|word| did_you_mean(word, words));
        self.report(diagnostic)
    }

    /// Runs a parser; if it fails, marks the statement as broken and goes on with a replacement.
    fn or_broken<T>(&mut self, result: Parse<T>, replacement: impl FnOnce() -> T) -> T {
        result.unwrap_or_else(|Reported| {
            self.broken = true;
            replacement()
        })
    }

    /// Goes to where the next statement can start: after a `;`, after a block, before the `}` of this block, or before a
    /// line that starts with a keyword.
    fn skip_statement(&mut self) {
        loop {
            match self.token().kind {
                TokenKind::End | TokenKind::Symbol("}") => return,
                TokenKind::Symbol(";") => {
                    self.bump();
                    return;
                }
                TokenKind::Symbol("{") => {
                    self.skip_braces();
                    return;
                }
                TokenKind::Word if self.token().starts_line => {
                    let word = self.quote(self.token().span);
                    if ITEM_WORDS.contains(&word) || STATEMENT_WORDS.contains(&word) {
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips a block with all blocks in it.
    fn skip_braces(&mut self) {
        let mut depth = 0usize;
        while !self.is_end() {
            if self.is("{") {
                depth += 1;
            } else if self.is("}") {
                depth = depth.saturating_sub(1);
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    /// Runs a parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= MAX_DEPTH {
            let diagnostic = Diagnostic::error(
                self.token().span,
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
        let limit = if self.is_end() { u32::MAX } else { self.token().span.start };
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
        let inside = self.comments_before(self.last_end() as u32);
        leading.extend(inside);
        let next = self.token().span.start;
        let mut trailing = Vec::new();
        while let Some(comment) = self.comments.get(self.next_comment)
            && !comment.starts_line
            && (comment.span.start < next || self.is_end())
        {
            trailing.push(comment.clone());
            self.next_comment += 1;
        }
        Comments { leading, trailing, blank_before }
    }
}
