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
use super::lexer::{Comment, Lexed, Token, TokenKind, lex};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use keyword::{Reserved, reserved};
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
    let Lexed { tokens, leading, diagnostics } = lex(text);
    let mut parser = Parser { text, tokens, at: 0, depth: 0, operators: 0, late_locals: Vec::new(), diagnostics };
    let file = parser.file();
    (file, leading, parser.diagnostics)
}

/// A syntax error was found and has been reported.
struct Reported;

type Parse<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    operators: usize,
    /// Locals declared in the midst of a thread: an error, but their uses are none.
    late_locals: Vec<Name>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    // Looking.

    fn token(&self) -> Token {
        self.ahead(0)
    }

    fn ahead(&self, distance: usize) -> Token {
        self.tokens[(self.at + distance).min(self.tokens.len() - 1)]
    }

    fn quote(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn word(&self) -> Option<&'a str> {
        (self.token().kind == TokenKind::Word).then(|| self.quote(self.token().span))
    }

    fn is(&self, symbol: &str) -> bool {
        self.is_ahead(0, symbol)
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

    /// A thread starts here. `fn` is no keyword, so one word is not enough.
    fn is_function(&self) -> bool {
        self.is_word("fn") && self.ahead(1).kind == TokenKind::Word && self.is_ahead(2, "{")
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
        let quote = self.quote(self.token().span);
        match self.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Word if reserved(quote).is_some() => format!("the keyword `{quote}`"),
            _ => format!("`{quote}`"),
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

    /// A name, which must not be a keyword. `what` says what it would name.
    fn name(&mut self, what: &str) -> Parse<Name> {
        let Some(word) = self.word() else { return Err(self.expected(what)) };
        let span = self.token().span;
        match reserved(word) {
            None => {
                self.bump();
                Ok(Name { text: word.to_owned(), span })
            }
            Some(Reserved::Tpl) => Err(self.report(
                Diagnostic::error(span, format!("expected {what}, found the keyword `{word}`"))
                    .with_help("keywords cannot be names; choose another one"),
            )),
            Some(Reserved::Promela) => {
                // It could not be meant otherwise, so that its uses need not be reported one by one as something else.
                self.bump();
                self.report(
                    Diagnostic::error(span, format!("`{word}` is a keyword of Promela and cannot be a name"))
                        .with_note("Rocker translates programs to Promela, so TPL reserves its keywords"),
                );
                Ok(Name { text: word.to_owned(), span })
            }
        }
    }

    fn number(&mut self, what: &str) -> Parse<Number> {
        match self.token().kind {
            TokenKind::Number(value) => Ok(Number { value, span: self.bump().span }),
            _ => Err(self.expected(what)),
        }
    }

    /// The `;` after a complete statement or declaration. One that is missing at the end of a line is reported and nothing
    /// is skipped.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat(";") {
            return Ok(());
        }
        let end = self.last_end();
        let ends = self.token().starts_line || self.is_end() || self.is("}");
        let span = if ends { Span::new(end, end) } else { self.token().span };
        let reported = self.report(
            Diagnostic::error(span, format!("expected `;` after {after}, found {}", self.found()))
                .with_label("expected `;`"),
        );
        if ends { Ok(()) } else { Err(reported) }
    }

    // Errors.

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    fn expected(&mut self, what: &str) -> Reported {
        self.expected_word(what, [])
    }

    /// As `expected`, where one of some words would have been accepted.
    fn expected_word<'b>(&mut self, what: &str, words: impl IntoIterator<Item = &'b str>) -> Reported {
        let mut diagnostic = Diagnostic::error(self.token().span, format!("expected {what}, found {}", self.found()));
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            diagnostic.help = self.word().and_then(|word| did_you_mean(word, words));
        }
        self.report(diagnostic)
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
                    self.eat(";");
                    return;
                }
                TokenKind::Word if self.is_function() => return,
                TokenKind::Word if self.token().starts_line => {
                    let word = self.quote(self.token().span);
                    if word == "global" || STATEMENT_WORDS.contains(&word) {
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
        self.skip_between("{", "}");
    }

    /// Skips from an opening symbol to its closing one. Parentheses never go beyond a statement.
    fn skip_between(&mut self, open: &str, close: &str) {
        let mut depth = 0usize;
        while !self.is_end() {
            if open != "{" && (self.is(";") || self.is("{") || self.is("}")) {
                return;
            }
            if self.is(open) {
                depth += 1;
            } else if self.is(close) {
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
            let message = format!("blocks and expressions are nested more than {MAX_DEPTH} deep here");
            let diagnostic = Diagnostic::error(self.token().span, message);
            return Err(self.report(diagnostic.with_help("compute a part of it into a local, or use `goto`")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }
}
