//! Where instructions stand in the text that is shown to users.

use super::expression::expression_end;
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

    /// The text that is shown to users has this function.
    pub fn defines(&self, module: &Module, function: usize) -> bool {
        let place = module.functions[function].debug.and_then(|node| module.debug.function_place(node));
        self.language != Language::Llvm && place.is_some_and(|place| self.is_source(place.file))
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
