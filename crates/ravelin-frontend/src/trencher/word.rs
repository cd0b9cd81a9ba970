//! Words: whatever stands between blanks. A word has no kind of its own; its place decides whether it is a keyword, a
//! number, an operator or a name.

use crate::parsing::{Token, TokenClass};
use ravelin_program::Span;

/// A word, or the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordToken {
    pub class: TokenClass,
    pub span: Span,
    /// Nothing but blanks stands before it on its line.
    pub starts_line: bool,
}

impl Token for WordToken {
    type Symbol<'s> = &'s str;

    fn class(self) -> TokenClass {
        self.class
    }

    fn span(self) -> Span {
        self.span
    }

    fn is_symbol(self, text: &str, symbol: &str) -> bool {
        self.class != TokenClass::End && text == symbol
    }
}

/// A word with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// The words of a text. Its end is a place that an error can point at: the last character that is not blank.
pub fn words(text: &str) -> Vec<WordToken> {
    // A byte order mark is no part of the first word.
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut words = Vec::new();
    let mut starts_line = true;
    while let Some(blanks) = text[at..].find(|character| !is_blank(character)) {
        let start = at + blanks;
        let length = text[start..].find(is_blank).unwrap_or(text.len() - start);
        starts_line |= text[at..start].contains(['\n', '\r']);
        at = start + length;
        words.push(WordToken { class: TokenClass::Word, span: Span::new(start, at), starts_line });
        starts_line = false;
    }
    let last = text.trim_end().char_indices().next_back();
    let end = last.map_or(Span::NOWHERE, |(start, character)| Span::new(start, start + character.len_utf8()));
    words.push(WordToken { class: TokenClass::End, span: end, starts_line: true });
    words
}

/// The blanks of C in its default locale; others, such as a no-break space, are parts of words.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}
