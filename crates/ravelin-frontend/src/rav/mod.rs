//! The language `.rav`: a Rust programmer's sketch of a concurrent algorithm. `docs/language.md` describes it.
//!
//! Text → tokens ([`lexer`]) → tree ([`ast`], by the parser) → program (by lowering, which resolves names and makes
//! control flow explicit). Each stage goes on after errors. [`format()`] writes a tree back in one style, and
//! [`expectation`] reads the header lines that say what a file's analyses should answer.

pub mod ast;
pub mod expectation;
mod format;
mod lexer;
mod lower;
mod parser;

pub use format::format;
pub(crate) use lower::MAX_ADDRESS;
pub(crate) use lower::for_each_block;
pub use parser::is_keyword;

use crate::Diagnostic;
use crate::diagnostic::tidy;
use ast::HeaderLine;
use ravelin_program::{Program, Source};

/// More errors than this are not shown: nobody reads them, and each costs a search for what was meant.
const MAX_DIAGNOSTICS: usize = 500;

/// What became of a text.
#[derive(Clone, Debug)]
pub struct RavParse {
    /// `None` exactly if one of the diagnostics is an error.
    pub program: Option<Program>,
    /// In order of their places in the text.
    pub diagnostics: Vec<Diagnostic>,
    pub ast: ast::File,
    pub header: Vec<HeaderLine>,
    /// The text, which all spans point into.
    pub source: Source,
}

/// Reads a file. Every error in it is reported, and no text makes this fail otherwise.
pub fn parse(source: Source) -> RavParse {
    let (ast, mut diagnostics) = parser::parse_file(&source.text);
    let mut program = lower::lower(&ast, &source, &mut diagnostics);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(ravelin_program::validate(&program).into_iter().map(Diagnostic::from));
    }
    tidy(&mut diagnostics, MAX_DIAGNOSTICS);
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    if valid {
        program.source = source.clone();
    }
    RavParse { program: valid.then_some(program), diagnostics, header: ast.header.clone(), ast, source }
}
