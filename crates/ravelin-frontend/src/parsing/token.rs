//! The tokens of rav, TPL, Memorax and litmus tests: words, numbers and symbols, each with its place.

use ravelin_program::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword; the parser tells them apart, because some keywords are only words in other places.
    Word,
    /// At most 2^63, which is accepted only after a minus.
    Number(u64),
    Symbol(&'static str),
    /// `$r` in Memorax.
    Register,
    /// Stands where a macro of Memorax should have produced something. The error has been reported.
    Missing,
    End,
}

/// A token of one of the languages, which may say more than this.
pub trait Token: Copy {
    fn kind(self) -> TokenKind;
    fn span(self) -> Span;
}

/// A token of rav or TPL, whose parsers go on after an error at the next line that starts a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineToken {
    pub kind: TokenKind,
    pub span: Span,
    /// The first token of its line.
    pub starts_line: bool,
    /// A blank line stands between this and the token or comment before it. Only the formatter of rav needs it.
    pub blank_before: bool,
}

impl Token for LineToken {
    fn kind(self) -> TokenKind {
        self.kind
    }

    fn span(self) -> Span {
        self.span
    }
}
