//! Positions in a source text.

use std::fmt;
use std::sync::OnceLock;

/// A half-open range of bytes in a [`Source`]. The empty span at 0 means "nowhere": generated, not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const NOWHERE: Span = Span { start: 0, end: 0 };

    pub fn new(start: usize, end: usize) -> Span {
        let clip = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clip(start), end: clip(end) }
    }

    /// The smallest span that contains both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn is_nowhere(self) -> bool {
        self == Span::NOWHERE
    }
}

/// A text with its name (usually a path), kept so that answers can quote it.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub name: String,
    /// Positions are found by an index that is made once, so the text is not changed after the first question for one.
    pub text: String,
    /// Where lines begin, once a position was asked for: a listing asks for as many as there are statements.
    lines: OnceLock<Vec<u32>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        self.name == other.name && self.text == other.text
    }
}

impl Eq for Source {}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// Line and column of a span's start, or `None` for a span without a place.
    pub fn position(&self, span: Span) -> Option<Position> {
        let start = span.start as usize;
        if span.is_nowhere() || start > self.text.len() {
            return None;
        }
        let lines = self.lines();
        let line = lines.partition_point(|&begins| begins as usize <= start);
        let line_start = lines[line - 1] as usize;
        let column = String::from_utf8_lossy(&self.text.as_bytes()[line_start..start]).chars().count() + 1;
        Some(Position { line, column })
    }

    /// The whole lines that a range of bytes touches, and the number of the first one.
    pub fn lines_around(&self, start: usize, end: usize) -> (usize, std::ops::Range<usize>) {
        let lines = self.lines();
        let end = end.min(self.text.len());
        let first = lines.partition_point(|&begins| begins as usize <= start.min(end)).max(1);
        let after = lines.partition_point(|&begins| begins as usize <= end);
        let begins = lines[first - 1] as usize;
        let ends = lines.get(after).map_or(self.text.len(), |&next| next as usize);
        (first, begins..ends)
    }

    /// Where each line begins; the first begins at 0. Spans reach no further than 4 GiB, and neither does this.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            let begins = newlines.map_while(|(at, _)| u32::try_from(at + 1).ok());
            std::iter::once(0).chain(begins).collect()
        })
    }

    /// The text a span covers.
    pub fn quote(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

/// A position for users: both numbers start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = Source::new("a", "ab\nçd\n");
        assert_eq!(source.position(Span::new(1, 2)), Some(Position { line: 1, column: 2 }));
        assert_eq!(source.position(Span::new(5, 6)), Some(Position { line: 2, column: 2 }));
        assert_eq!(source.position(Span::NOWHERE), None);
        assert_eq!(source.position(Span::new(99, 100)), None);
    }

    #[test]
    fn positions_are_those_of_counting() {
        for text in ["", "\n", "a", "a\n", "\n\nb", "é\nü\r\n\nz\n", "no end"] {
            let source = Source::new("a", text);
            for start in 1..=text.len() {
                let before = &text.as_bytes()[..start];
                let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
                let begins = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
                let column = String::from_utf8_lossy(&before[begins..]).chars().count() + 1;
                assert_eq!(
                    source.position(Span::new(start, start)),
                    Some(Position { line, column }),
                    "{text:?} {start}"
                );
            }
        }
    }

    #[test]
    fn lines_around_a_range_are_whole() {
        let source = Source::new("a", "ab\ncd\nef");
        let around = |start, end| {
            let (first, range) = source.lines_around(start, end);
            (first, &source.text[range])
        };
        assert_eq!(around(0, 1), (1, "ab\n"));
        assert_eq!(around(4, 5), (2, "cd\n"));
        assert_eq!(around(1, 7), (1, "ab\ncd\nef"));
        assert_eq!(around(7, 99), (3, "ef"));
        assert_eq!(Source::new("a", "").lines_around(0, 0), (1, 0..0));
    }
}
