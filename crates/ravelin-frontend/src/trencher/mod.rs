//! The thread automata of Trencher. `docs/trencher.md` describes the language as it is read here.
//!
//! Text → words ([`word`]) → threads as written ([`syntax`], by the [`parser`]) → program ([`lower`], which resolves
//! registers and states). Each stage goes on after errors. The language has no declarations, so most misspellings are
//! legal; what can hardly be meant (a register that is read but never set, a state without a way to it) is a warning.
//!
//! Values are unbounded in Trencher's papers and `int` in its code, where overflow means nothing. Here they are 64-bit
//! and checked: a value that outgrows them is a fault of the program and never wraps silently. Memory is all unnamed
//! cells that start at 0, and every access is `relaxed`, the plain access of x86.
//!
//! Persist's files are Trencher files with a `memory_size`. Then memory has so many cells, and values are bytes: what is put into a
//! register or a cell wraps, as in the Promela that Persist makes of them. [`wrap`] does the same for files that do not say so.

mod lower;
mod numeral;
pub(crate) mod parser;
pub(crate) mod syntax;
mod word;

use crate::diagnostic::tidy;
use crate::{Diagnostic, Language, ParseResult};
use ravelin_program::{Domain, Escape, Program, Source, Unnamed, Value};

/// More findings than this are not shown: nobody reads them.
const MAX_DIAGNOSTICS: usize = 500;

/// Reads a file. Every error in it is reported, and no text makes this fail otherwise.
pub fn parse(source: Source) -> ParseResult {
    let (file, mut diagnostics) = parser::parse(&source.text);
    let mut program = lower::lower(&file, &mut diagnostics);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(ravelin_program::validate(&program).into_iter().map(Diagnostic::from));
    }
    tidy(&mut diagnostics, MAX_DIAGNOSTICS);
    let valid = !diagnostics.iter().any(Diagnostic::is_error);
    program.name = source.name.clone();
    program.source = source.clone();
    ParseResult {
        program: valid.then_some(program),
        diagnostics,
        expectations: Vec::new(),
        source,
        language: Language::Trencher,
    }
}

/// Makes all values wrap: what is put into a register or a cell is taken modulo this number.
pub fn wrap(program: &mut Program, modulus: Value) {
    let domain = Domain::new(0, modulus - 1, Escape::Wrap);
    program.memory.unnamed = Unnamed::Cells(domain);
    program.memory.variables.iter_mut().for_each(|variable| variable.domain = domain);
    let registers = program.threads.iter_mut().flat_map(|thread| &mut thread.registers);
    registers.for_each(|register| register.domain = domain);
}
