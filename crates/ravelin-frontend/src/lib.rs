//! Text to [`ravelin_program::Program`], and back.
//!
//! One module a language: each turns a text into a program, or into [`Diagnostic`]s that point at the offending
//! characters. A front end never fails early: it gives back what it understood together with everything it found
//! wrong, and no text makes it panic. Printers, which go the other way, live in [`print`]; [`sites`] changes a text in places.
//!
//! This crate must never know what a program does when it runs, nor what will be asked of it.
//!
//! ```
//! use ravelin_frontend::{Language, parse, render};
//! use ravelin_program::Source;
//!
//! let source = Source::new("half.rav", "static x; static y;\nthread t { x.store(1); let r = y.load(); }\n");
//! let parsed = parse(source, Language::Rav);
//! assert_eq!(parsed.program.expect("no errors").threads[0].transitions.len(), 2);
//!
//! let wrong = parse(Source::new("wrong.rav", "static flag;\nthread t { flug.store(1); }\n"), Language::Rav);
//! assert!(wrong.program.is_none());
//! assert!(render(&wrong.diagnostics, &wrong.source, false).contains("did you mean `flag`?"));
//! ```

pub mod atomic_text;
pub mod c;
mod diagnostic;
mod flow;
pub mod ir;
mod language;
pub mod litmus;
pub mod memorax;
mod parsing;
pub mod print;
pub mod rav;
pub mod rocker;
pub mod sites;
mod suggest;
pub mod trencher;

pub use diagnostic::{Diagnostic, Severity, render};
pub use language::Language;
pub use rav::expectation::{Expectation, expectations};

use ravelin_program::{Program, Source};

/// What became of a text.
#[derive(Clone, Debug)]
pub struct ParseResult {
    /// `None` exactly if one of the diagnostics is an error.
    pub program: Option<Program>,
    /// In order of their places in the text.
    pub diagnostics: Vec<Diagnostic>,
    /// What the file says should be answered about it.
    pub expectations: Vec<Expectation>,
    /// The text, which all spans point into.
    pub source: Source,
    pub language: Language,
}

/// Reads a program in the given language.
pub fn parse(source: Source, language: Language) -> ParseResult {
    match language {
        Language::Rav => {
            let parsed = rav::parse(source);
            let (expectations, _) = expectations(&parsed.source.text);
            ParseResult {
                program: parsed.program,
                diagnostics: parsed.diagnostics,
                expectations,
                source: parsed.source,
                language,
            }
        }
        Language::Litmus => litmus::parse(source),
        Language::Trencher => trencher::parse(source),
        Language::Memorax => memorax::parse(source),
        Language::Rocker => rocker::parse(source),
        Language::C => c::not_compiled(source),
        Language::Llvm => {
            let ir = source.text.clone();
            c::lift(source, Language::Llvm, &ir, &c::LiftOptions::default())
        }
    }
}
