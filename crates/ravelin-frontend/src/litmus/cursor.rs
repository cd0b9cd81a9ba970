//! A place in the tokens, and what is said of what stands there.

use super::lexer::{LitmusToken, LitmusTokenKind};
use crate::Diagnostic;
use crate::parsing::{Cursor, TokenParser};
use ravelin_program::{Span, Value};
use std::ops::{Deref, DerefMut};

/// How deep expressions, statements and conditions may nest.
pub const MAX_DEPTH: usize = 100;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// A cursor that also knows where errors go.
pub struct LitmusCursor<'t, 'd> {
    cursor: Cursor<'t, LitmusToken>,
    pub diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t> Deref for LitmusCursor<'t, '_> {
    type Target = Cursor<'t, LitmusToken>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for LitmusCursor<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

impl<'t> TokenParser<'t> for LitmusCursor<'t, '_> {
    type Token = LitmusToken;

    const RESERVED: &'static str = "keyword";

    fn cursor(&mut self) -> &mut Cursor<'t, LitmusToken> {
        &mut self.cursor
    }

    fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        self.diagnostics
    }

    /// Instructions and keywords may be names.
    fn is_reserved(_: &str) -> bool {
        false
    }
}

impl<'t, 'd> LitmusCursor<'t, 'd> {
    pub fn new(text: &'t str, tokens: Vec<LitmusToken>, diagnostics: &'d mut Vec<Diagnostic>) -> LitmusCursor<'t, 'd> {
        LitmusCursor { cursor: Cursor::new(text, tokens), diagnostics }
    }

    /// The span of the token taken last.
    pub fn before(&self) -> Span {
        self.nth(self.at.saturating_sub(1)).span
    }

    pub fn is_name(&self, ahead: usize) -> bool {
        self.ahead(ahead).kind == LitmusTokenKind::Word
    }

    /// Takes a sign that must be here; `place` says what it belongs to.
    pub fn take(&mut self, sign: &str, place: &str) -> Option<Span> {
        let span = self.span();
        self.expect(sign, place).ok().map(|()| span)
    }

    pub fn name(&mut self, what: &str) -> Option<Name> {
        let Some(text) = self.word().map(str::to_owned) else {
            self.expected(what);
            return None;
        };
        Some(Name { text, span: self.bump().span })
    }

    /// An integer, perhaps with a sign. Values from 2⁶³ on are taken as 64-bit patterns.
    pub fn integer(&mut self, what: &str) -> Option<(Value, Span)> {
        let start = self.token().span;
        let negative = self.eat("-");
        let LitmusTokenKind::Int(value) = self.token().kind else {
            self.expected(what);
            return None;
        };
        let span = start.to(self.bump().span);
        match pattern(if negative { -value } else { value }) {
            Some(value) => Some((value, span)),
            None => {
                self.error(span, "this number does not fit in 64 bits");
                None
            }
        }
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(span, message));
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
