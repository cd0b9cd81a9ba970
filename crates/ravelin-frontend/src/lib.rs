//! Text to [`ravelin_program::Program`], and back.
//!
//! One module a language: each turns a text into a program, or into [`Diagnostic`]s that point at the offending
//! characters. A front end never fails early: it gives back what it understood together with everything it found
//! wrong, and no text makes it panic. Printers, which go the other way, live in [`print`].
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

mod diagnostic;
pub mod print;
pub mod rav;

pub use diagnostic::{Diagnostic, Severity, render};
pub use rav::ast::HeaderLine;
pub use rav::expectation::{Expectation, expectations};

use ravelin_program::{Program, Source};
use std::path::Path;

/// The languages that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Ravelin's own; see `docs/language.md`.
    Rav,
}

impl Language {
    pub const ALL: [Language; 1] = [Language::Rav];

    /// Told by the extension of a file's name.
    pub fn from_path(path: &Path) -> Option<Language> {
        let extension = path.extension()?.to_str()?;
        Language::ALL.into_iter().find(|language| language.extension().eq_ignore_ascii_case(extension))
    }

    pub fn extension(self) -> &'static str {
        match self {
            Language::Rav => "rav",
        }
    }
}

/// What became of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// `None` exactly if one of the diagnostics is an error.
    pub program: Option<Program>,
    /// In order of their places in the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The lines at the top that speak about the file, among them its expectations.
    pub header: Vec<HeaderLine>,
    /// The text, which all spans point into.
    pub source: Source,
}

/// Reads a program in the given language.
pub fn parse(source: Source, language: Language) -> Parsed {
    match language {
        Language::Rav => {
            let parsed = rav::parse(source);
            Parsed {
                program: parsed.program,
                diagnostics: parsed.diagnostics,
                header: parsed.header,
                source: parsed.source,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_the_extension() {
        assert_eq!(Language::from_path(Path::new("examples/dekker.rav")), Some(Language::Rav));
        assert_eq!(Language::from_path(Path::new("dekker.RAV")), Some(Language::Rav));
        assert_eq!(Language::from_path(Path::new("rav")), None);
    }
}
