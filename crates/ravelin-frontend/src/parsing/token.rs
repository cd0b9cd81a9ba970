//! Tokens: words, numbers and symbols, each with its place.

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

impl TokenKind {
    pub fn class(self) -> TokenClass {
        match self {
            TokenKind::Word => TokenClass::Word,
            TokenKind::Missing => TokenClass::Missing,
            TokenKind::End => TokenClass::End,
            TokenKind::Number(_) | TokenKind::Symbol(_) | TokenKind::Register => TokenClass::Other,
        }
    }

    pub fn is_symbol(self, symbol: &str) -> bool {
        matches!(self, TokenKind::Symbol(found) if found == symbol)
    }
}

/// What every parser has to know of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenClass {
    Word,
    Other,
    /// Nothing is expected or found here any more: the error has been reported.
    Missing,
    End,
}

/// A token of one of the languages, which may say more than this.
pub trait Token: Copy {
    /// What symbols are compared with.
    type Symbol<'s>: Copy;

    fn class(self) -> TokenClass;
    fn span(self) -> Span;
    /// Whether it is this symbol; `text` is what stands at its place.
    fn is_symbol(self, text: &str, symbol: Self::Symbol<'_>) -> bool;
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
    type Symbol<'s> = &'s str;

    fn class(self) -> TokenClass {
        self.kind.class()
    }

    fn span(self) -> Span {
        self.span
    }

    fn is_symbol(self, _: &str, symbol: &str) -> bool {
        self.kind.is_symbol(symbol)
    }
}
