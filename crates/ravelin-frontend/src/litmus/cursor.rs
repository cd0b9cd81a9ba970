//! A place in the tokens, and the small steps that every parser here takes.

use super::lexer::{LitmusToken, LitmusTokenKind};
use crate::Diagnostic;
use ravelin_program::{Span, Value};

/// How deep expressions, statements and conditions may nest.
pub const MAX_DEPTH: usize = 100;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// Gives out tokens; after the last one it gives the end for ever.
pub struct LitmusCursor<'t, 'd> {
    text: &'t str,
    tokens: Vec<LitmusToken>,
    at: usize,
    pub diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t, 'd> LitmusCursor<'t, 'd> {
    pub fn new(text: &'t str, tokens: Vec<LitmusToken>, diagnostics: &'d mut Vec<Diagnostic>) -> LitmusCursor<'t, 'd> {
        debug_assert!(tokens.last().is_some_and(|token| token.kind == LitmusTokenKind::End));
        LitmusCursor { text, tokens, at: 0, diagnostics }
    }

    pub fn peek(&self) -> LitmusToken {
        self.peek_at(0)
    }

    pub fn peek_at(&self, ahead: usize) -> LitmusToken {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    pub fn next(&mut self) -> LitmusToken {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// How many tokens have been taken: for loops that must get on.
    pub fn taken(&self) -> usize {
        self.at
    }

    /// The span of the token taken last.
    pub fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub fn at_end(&self) -> bool {
        self.peek().kind == LitmusTokenKind::End
    }

    pub fn text_of(&self, token: LitmusToken) -> &'t str {
        match token.kind {
            LitmusTokenKind::End => "",
            _ => &self.text[token.span.start as usize..token.span.end as usize],
        }
    }

    /// Whether the next token is this sign or word.
    pub fn at(&self, text: &str) -> bool {
        self.at_ahead(0, text)
    }

    pub fn at_ahead(&self, ahead: usize, text: &str) -> bool {
        self.text_of(self.peek_at(ahead)) == text
    }

    pub fn is_word(&self, ahead: usize) -> bool {
        self.peek_at(ahead).kind == LitmusTokenKind::Word
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.next();
        }
        found
    }

    /// Takes a sign that must be here; `place` says what it belongs to.
    pub fn expect(&mut self, text: &str, place: &str) -> Option<Span> {
        if self.at(text) {
            return Some(self.next().span);
        }
        self.unexpected(&format!("`{text}` {place}"));
        None
    }

    pub fn word(&mut self, what: &str) -> Option<Name> {
        let token = self.peek();
        if token.kind != LitmusTokenKind::Word {
            self.unexpected(what);
            return None;
        }
        self.next();
        Some(Name { text: self.text_of(token).to_owned(), span: token.span })
    }

    /// An integer, perhaps with a sign. Values from 2⁶³ on are taken as 64-bit patterns.
    pub fn integer(&mut self, what: &str) -> Option<(Value, Span)> {
        let start = self.peek().span;
        let negative = self.eat("-");
        let LitmusTokenKind::Int(value) = self.peek().kind else {
            self.unexpected(what);
            return None;
        };
        let span = start.to(self.next().span);
        match pattern(if negative { -value } else { value }) {
            Some(value) => Some((value, span)),
            None => {
                self.error(span, "this number does not fit in 64 bits");
                None
            }
        }
    }

    /// Reports that something else was expected here. Nothing is said about tokens that are wrong in themselves.
    pub fn unexpected(&mut self, expected: &str) {
        let token = self.peek();
        let found = match token.kind {
            LitmusTokenKind::Wrong => return,
            LitmusTokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text_of(token)),
        };
        self.error(token.span, format!("expected {expected}, found {found}"));
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// Names for a sentence: the first few of them.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 10;
    let mut names: Vec<&str> = names.into_iter().take(MOST + 1).collect();
    if names.len() > MOST {
        names[MOST] = "…";
    }
    names.join(", ")
}

/// The 64-bit value with this number's bits, if it has no more than 64.
pub fn pattern(value: i128) -> Option<Value> {
    Value::try_from(value).ok().or_else(|| u64::try_from(value).ok().map(|bits| bits as Value))
}
