//! Rocker: being written.

use crate::{Diagnostic, Language, Parsed};
use ravelin_program::{Source, Span};

pub fn parse(source: Source) -> Parsed {
    let diagnostics = vec![Diagnostic::error(Span::NOWHERE, "not read yet")];
    Parsed { program: None, diagnostics, expectations: Vec::new(), source, language: Language::Rocker }
}
