//! Positions in a source text.

use std::fmt;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// Line and column of a span's start, or `None` for a span without a place.
    pub fn position(&self, span: Span) -> Option<Position> {
        let start = span.start as usize;
        if span.is_nowhere() || start > self.text.len() {
            return None;
        }
        let before = &self.text.as_bytes()[..start];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        Some(Position { line, column })
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
}
