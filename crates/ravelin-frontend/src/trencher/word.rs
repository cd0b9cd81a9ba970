//! Words: whatever stands between blanks. A word has no kind of its own; its place decides whether it is a keyword, a
//! number, an operator or a name.

use ravelin_program::{Span, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    pub text: &'a str,
    pub span: Span,
    /// Nothing but blanks stands before it on its line.
    pub starts_line: bool,
}

/// Gives out the words of a text one by one. It is cheap to copy, so a parser can look ahead and go back.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Words<'a> {
        // A byte order mark is no part of the first word.
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Words { text, offset }
    }

    pub fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// Goes to the end of the line that the last word stands on.
    pub fn skip_line(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset += rest.find(['\n', '\r']).unwrap_or(rest.len());
    }

    /// Goes back, or ahead, such that the next word is this one.
    pub fn go_to(&mut self, word: Word<'a>) {
        self.offset = word.span.start as usize;
    }

    /// Where the text ends, as a place that an error can point at: its last character that is not blank.
    pub fn end(&self) -> Span {
        let last = self.text.trim_end().char_indices().next_back();
        last.map_or(Span::NOWHERE, |(start, character)| Span::new(start, start + character.len_utf8()))
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.offset..];
        let start = self.offset + rest.find(|character| !is_blank(character))?;
        let rest = &self.text[start..];
        let end = start + rest.find(is_blank).unwrap_or(rest.len());
        let starts_line = self.text[..start].trim_end_matches(|c| is_blank(c) && c != '\n' && c != '\r');
        let starts_line = starts_line.is_empty() || starts_line.ends_with(['\n', '\r']);
        self.offset = end;
        Some(Word { text: &self.text[start..end], span: Span::new(start, end), starts_line })
    }
}

/// The blanks of C in its default locale; others, such as a no-break space, are parts of words.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// What a word in the place of an operand says about numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numeral {
    /// `5`, `-3`, `+4`.
    Number(Value),
    /// `5abc`: starts as a number and goes on as something else.
    Beginning(Value),
    /// All digits, but too many.
    TooLarge,
    None,
}

impl Numeral {
    pub fn of(text: &str) -> Numeral {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        let number = &text[..text.len() - unsigned.len() + digits];
        match (digits, number.parse()) {
            (0, _) => Numeral::None,
            (_, Ok(value)) if digits == unsigned.len() => Numeral::Number(value),
            (_, Ok(value)) => Numeral::Beginning(value),
            (_, Err(_)) if digits == unsigned.len() => Numeral::TooLarge,
            (_, Err(_)) => Numeral::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_blanks_only() {
        let words: Vec<&str> = Words::new("\u{feff}a#b\tc\u{b}d\r\u{a0}e\n\n f ").map(|word| word.text).collect();
        assert_eq!(words, ["a#b", "c", "d", "\u{a0}e", "f"]);
        let starts: Vec<bool> = Words::new("a b\n c\r\td").map(|word| word.starts_line).collect();
        assert_eq!(starts, [true, false, true, true]);
    }

    #[test]
    fn numerals_are_told_as_a_stream_of_c_tells_them() {
        let cases = [
            ("5", Numeral::Number(5)),
            ("-3", Numeral::Number(-3)),
            ("+4", Numeral::Number(4)),
            ("007", Numeral::Number(7)),
            ("-9223372036854775808", Numeral::Number(Value::MIN)),
            ("9223372036854775808", Numeral::TooLarge),
            ("5abc", Numeral::Beginning(5)),
            ("-1x", Numeral::Beginning(-1)),
            ("0x10", Numeral::Beginning(0)),
            ("+", Numeral::None),
            ("-", Numeral::None),
            ("-x", Numeral::None),
            ("+-1", Numeral::None),
            ("abc5", Numeral::None),
            ("٥", Numeral::None),
        ];
        for (text, numeral) in cases {
            assert_eq!(Numeral::of(text), numeral, "{text}");
        }
    }
}
