//! Where instructions stand in the text that is shown to users.

use crate::Language;
use crate::ir::module::{Module, Place};
use ravelin_program::{Source, Span};
use std::collections::HashMap;
use std::path::Path;

/// Places in the source file, or in the IR if there is no other text.
#[derive(Debug)]
pub(super) struct Places<'s> {
    source: &'s Source,
    language: Language,
    /// Where each line begins.
    lines: Vec<usize>,
    known: HashMap<u32, Option<Span>>,
}

impl<'s> Places<'s> {
    pub fn new(source: &'s Source, language: Language) -> Places<'s> {
        let newlines = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Places { source, language, lines, known: HashMap::new() }
    }

    /// The first of the places that is in the text.
    pub fn span(&mut self, module: &Module, places: &[Place]) -> Span {
        if self.language == Language::Llvm {
            return places.first().map_or(Span::NOWHERE, |place| place.span);
        }
        for place in places {
            let Some(location) = place.debug else { continue };
            let span = match self.known.get(&location) {
                Some(known) => *known,
                None => {
                    let found = self.find(module, location);
                    self.known.insert(location, found);
                    found
                }
            };
            if let Some(span) = span {
                return span;
            }
        }
        Span::NOWHERE
    }

    fn find(&self, module: &Module, location: u32) -> Option<Span> {
        let place = module.debug.place(location)?;
        if !self.is_source(place.file) {
            return None;
        }
        let line = *self.lines.get((place.line as usize).checked_sub(1)?)?;
        let column = (place.column as usize).saturating_sub(1);
        let text = &self.source.text;
        let mut start = line.checked_add(column)?;
        if start >= text.len() || !text.is_char_boundary(start) {
            start = line;
        }
        if place.column == 0 {
            let rest = text.get(line..)?;
            start += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        }
        Some(Span::new(start, expression_end(text, start)))
    }

    /// The compiler names files by the paths that it was given.
    fn is_source(&self, file: &str) -> bool {
        let name = |path: &str| Path::new(path).file_name().map(|name| name.to_owned());
        file == self.source.name || file.ends_with("<stdin>") || name(file) == name(&self.source.name)
    }
}

/// Where an expression that begins at `start` ends: a call ends with its bracket, a name or an operator with itself.
pub(super) fn expression_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut end = start;
    while end < bytes.len() && is_word(bytes[end]) {
        end += 1;
    }
    if end == start {
        // An operator: `=`, `++`, `+=`.
        while end < bytes.len() && b"=+-*/%&|^<>!".contains(&bytes[end]) {
            end += 1;
        }
        return end.max(start + text[start..].chars().next().map_or(0, char::len_utf8));
    }
    match bytes.get(end) {
        Some(b'(') => closing(bytes, end).map_or(end, |close| close + 1),
        _ => end,
    }
}

/// The bracket that closes the one at `open`. Strings and characters are skipped.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while at < bytes.len() && at - open < 1 << 14 {
        match bytes[at] {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::expression_end;

    #[test]
    fn expressions_end_where_they_end() {
        let end = |text: &str| &text[..expression_end(text, 0)];
        assert_eq!(end("atomic_load(&x, \")\") + 1"), "atomic_load(&x, \")\")");
        assert_eq!(end("x = 1;"), "x");
        assert_eq!(end("+= 2"), "+=");
        assert_eq!(end("f(((x)"), "f");
        assert_eq!(end(""), "");
    }
}
