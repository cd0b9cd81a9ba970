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

use crate::diagnostic::tidy;
use crate::{Diagnostic, Language, ParseResult};
use ravelin_program::Source;

/// More findings than this are not shown: nobody reads them.
const MAX_DIAGNOSTICS: usize = 500;

/// Reads a file. Every error in it is reported, and no text makes this fail otherwise.
pub fn parse(source: Source) -> ParseResult {
    let mut diagnostics = Vec::new();
    let tokens = lexer::lex(&source.text, &mut diagnostics);
    let tokens = macros::expand(&source.text, &tokens, &mut diagnostics);
    let file = parser::parse_file(&source.text, tokens, &mut diagnostics);
    let mut program = lower::lower(&file, &source, &mut diagnostics);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(ravelin_program::validate(&program).into_iter().map(Diagnostic::from));
    }
    tidy(&mut diagnostics, MAX_DIAGNOSTICS);
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    if valid {
        program.source = source.clone();
    }
    let program = valid.then_some(program);
    ParseResult { program, diagnostics, expectations: Vec::new(), source, language: Language::Memorax }
}
