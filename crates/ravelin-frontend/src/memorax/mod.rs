//! Memorax `.rmm`: processes with labels, and tuples of labels that must not be reached. `docs/memorax.md` describes it.
//!
//! Text → tokens ([`lexer`]) → tokens without macros ([`macros`]) → tree ([`ast`], by the parser) → program (by lowering).
//! Each stage goes on after errors. Places in a macro's body point into its definition; what an argument brought points
//! at the use.

mod ast;
pub(crate) mod lexer;
mod lower;
mod macros;
mod parser;

use crate::{Diagnostic, Language, Parsed};
use ravelin_program::Source;
use std::collections::HashSet;

/// More findings than this are not shown: nobody reads them.
const MAX_DIAGNOSTICS: usize = 500;

/// Reads a file. Every error in it is reported, and no text makes this fail otherwise.
pub fn parse(source: Source) -> Parsed {
    let mut diagnostics = Vec::new();
    let tokens = lexer::lex(&source.text, &mut diagnostics);
    let tokens = macros::expand(&source.text, &tokens, &mut diagnostics);
    let file = parser::parse_file(&source.text, tokens, &mut diagnostics);
    let mut program = lower::lower(&file, &source, &mut diagnostics);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(ravelin_program::validate(&program).into_iter().map(Diagnostic::from));
    }
    tidy(&mut diagnostics);
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    if valid {
        program.source = source.clone();
    }
    let program = valid.then_some(program);
    Parsed { program, diagnostics, expectations: Vec::new(), source, language: Language::Memorax }
}

/// Sorts, and drops what was said before: copies of a process and uses of a macro have the same errors.
fn tidy(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span, diagnostic.message.clone())));
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.severity));
    if diagnostics.len() > MAX_DIAGNOSTICS {
        // Errors first, so that cutting the list cannot make a wrong file look right.
        diagnostics.sort_by_key(|diagnostic| diagnostic.severity);
        diagnostics.truncate(MAX_DIAGNOSTICS);
        if let Some(last) = diagnostics.last_mut() {
            last.notes.push(format!("only the first {MAX_DIAGNOSTICS} findings are shown"));
        }
    }
}
