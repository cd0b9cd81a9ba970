//! TPL, the language of Rocker: C11-style accesses with orders, one `fn` a thread. `docs/rocker.md` describes what is read.
//!
//! Text → tokens ([`lexer`]) → tree ([`ast`], by the parser) → program (by lowering, which resolves names and makes control
//! flow explicit). Each stage goes on after errors. [`metadata`] reads the comments at the top of a file that say which
//! answers are expected. Where Rocker's translator and its language differ, the language is followed; what `track`
//! says is kept in the tree and has no part in the program.

pub mod ast;
mod lexer;
mod lower;
mod metadata;
mod parser;

use crate::diagnostic::tidy;
use crate::{Diagnostic, Language, ParseResult};
use ravelin_program::{Source, Span};

/// More errors than this are not shown: nobody reads them, and each costs a search for what was meant.
const MAX_DIAGNOSTICS: usize = 500;

/// Reads a file. Every error in it is reported, and no text makes this fail otherwise.
pub fn parse(source: Source) -> ParseResult {
    let (file, comments, mut diagnostics) = parser::parse_file(&source.text);
    let mut program = lower::lower(&file, &source, &mut diagnostics);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(ravelin_program::validate(&program).into_iter().map(Diagnostic::from));
    }
    let (expectations, doubts) = metadata::expectations(&comments);
    diagnostics.extend(doubts);
    tidy(&mut diagnostics, MAX_DIAGNOSTICS);
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    if valid {
        program.source = source.clone();
    }
    ParseResult { program: valid.then_some(program), diagnostics, expectations, source, language: Language::Rocker }
}

/// The tree of a text, for what a program does not hold: the values that are tracked, the locals that are verified. It is
/// what could be understood; [`parse`] tells what is wrong with the rest.
pub fn tree(text: &str) -> ast::File {
    parser::parse_file(text).0
}

/// The words, numbers and symbols of a text, and where each starts.
pub(crate) fn words(text: &str) -> Vec<(&str, usize)> {
    let tokens = lexer::lex(text).tokens.into_iter();
    let word = |span: Span| Some((text.get(span.start as usize..span.end as usize)?, span.start as usize));
    tokens.filter_map(|token| word(token.span)).collect()
}
