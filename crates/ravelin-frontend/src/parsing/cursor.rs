//! A place in the tokens of a text, and the small steps that parsers take there.

use super::token::{LineToken, Token, TokenClass, TokenKind};
use ravelin_program::Span;

/// Gives out tokens; after the last one it gives the end for ever.
pub struct Cursor<'a, T> {
    text: &'a str,
    /// The last one is the end.
    tokens: Vec<T>,
    /// How many tokens have been consumed.
    pub at: usize,
}

impl<'a, T: Token> Cursor<'a, T> {
    pub fn new(text: &'a str, tokens: Vec<T>) -> Cursor<'a, T> {
        debug_assert!(tokens.last().is_some_and(|token| token.class() == TokenClass::End));
        Cursor { text, tokens, at: 0 }
    }

    // Looking.

    pub fn token(&self) -> T {
        self.ahead(0)
    }

    pub fn ahead(&self, distance: usize) -> T {
        self.nth(self.at + distance)
    }

    /// The token before which so many stand in the text.
    pub fn nth(&self, number: usize) -> T {
        self.tokens[number.min(self.tokens.len() - 1)]
    }

    /// The tokens that have been consumed since so many had been.
    pub fn since(&self, start: usize) -> &[T] {
        self.tokens.get(start..self.at).unwrap_or_default()
    }

    /// Where the next token stands.
    pub fn span(&self) -> Span {
        self.token().span()
    }

    pub fn quote(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// What stands at the place of a token.
    pub fn text_of(&self, token: T) -> &'a str {
        self.quote(token.span())
    }

    pub fn word_of(&self, token: T) -> Option<&'a str> {
        (token.class() == TokenClass::Word).then(|| self.quote(token.span()))
    }

    pub fn word(&self) -> Option<&'a str> {
        self.word_of(self.token())
    }

    pub fn is(&self, symbol: T::Symbol<'_>) -> bool {
        self.is_ahead(0, symbol)
    }

    pub fn is_ahead(&self, distance: usize, symbol: T::Symbol<'_>) -> bool {
        let token = self.ahead(distance);
        token.is_symbol(self.text_of(token), symbol)
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    pub fn is_end(&self) -> bool {
        self.token().class() == TokenClass::End
    }

    /// The end of what has been consumed.
    pub fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].span().end as usize)
    }

    /// From the given token to the last one consumed.
    pub fn span_from(&self, start: usize) -> Span {
        let start = self.nth(start).span().start as usize;
        Span::new(start, self.last_end().max(start))
    }

    // Consuming.

    pub fn bump(&mut self) -> T {
        let token = self.token();
        if token.class() != TokenClass::End {
            self.at += 1;
        }
        token
    }

    pub fn eat(&mut self, symbol: T::Symbol<'_>) -> bool {
        let found = self.is(symbol);
        if found {
            self.bump();
        }
        found
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Goes to the first token from here on at which parsing can `stop`.
    pub fn skip_until(&mut self, stop: impl Fn(T) -> bool) {
        while !self.is_end() && !stop(self.token()) {
            self.bump();
        }
    }
}

impl<T: for<'s> Token<Symbol<'s> = &'s str>> Cursor<'_, T> {
    /// Skips a block with all blocks in it.
    pub fn skip_braces(&mut self) {
        self.skip_between("{", "}");
    }

    /// Skips from an opening symbol to its closing one. Parentheses never go beyond a statement.
    pub fn skip_between(&mut self, open: &str, close: &str) {
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
}

impl Cursor<'_, LineToken> {
    /// Goes to where the next statement can start: after a `;`, after a block, before the `}` of this block, or before a
    /// word at which one `starts`. Returns whether it went past a block.
    pub fn skip_statement(&mut self, starts: impl Fn(&Self) -> bool) -> bool {
        loop {
            match self.token().kind {
                TokenKind::End | TokenKind::Symbol("}") => return false,
                TokenKind::Symbol(";") => {
                    self.bump();
                    return false;
                }
                TokenKind::Symbol("{") => {
                    self.skip_braces();
                    return true;
                }
                TokenKind::Word if starts(self) => return false,
                _ => {
                    self.bump();
                }
            }
        }
    }
}
