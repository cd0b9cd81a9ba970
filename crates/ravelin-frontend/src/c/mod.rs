//! C and C++ as programs: what clang made of a file, lifted from LLVM IR to a [`ravelin_program::Program`].
//!
//! The caller compiles the file; this crate starts no process. [`lift`] reads the IR ([`crate::ir`]).

use crate::{Diagnostic, Language, ParseResult};
use ravelin_program::{Source, Span};

/// What of a file is lifted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiftOptions {
    /// Functions that run in parallel, one thread each. Empty: `main` is executed, and it starts the threads.
    pub entry: Vec<String>,
    /// With entries: runs before they do.
    pub init: Option<String>,
    /// How many blocks one `malloc` of the source may hand out.
    pub heap: usize,
}

impl Default for LiftOptions {
    fn default() -> LiftOptions {
        LiftOptions { entry: Vec::new(), init: None, heap: 8 }
    }
}

/// Lifts a file that was compiled to `ir`. Places point into `source`: the C file, or the IR itself if `language` is
/// [`Language::Llvm`].
pub fn lift(source: Source, language: Language, _ir: &str, _options: &LiftOptions) -> ParseResult {
    ParseResult {
        program: None,
        diagnostics: vec![Diagnostic::error(Span::NOWHERE, "C files are not lifted yet")],
        expectations: Vec::new(),
        source,
        language,
    }
}

/// A C file alone is no program: a compiler has to read it first.
pub(crate) fn not_compiled(source: Source) -> ParseResult {
    ParseResult {
        program: None,
        diagnostics: vec![Diagnostic::error(Span::NOWHERE, "C files are compiled before they are read")],
        expectations: Vec::new(),
        source,
        language: Language::C,
    }
}
