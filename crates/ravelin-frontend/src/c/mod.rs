//! C and C++ as programs: what clang made of a file, lifted from LLVM IR to a [`ravelin_program::Program`].
//!
//! The caller compiles the file; this crate starts no process. [`lift`] reads the IR ([`crate::ir`]).

mod access;
mod call;
mod choices;
mod conditions;
mod constructors;
mod control;
mod copies;
mod cplusplus;
mod evaluate;
mod expression;
mod facts;
mod finals;
mod heap;
mod library;
mod lift;
mod liveness;
mod locks;
mod memory;
mod objects;
mod operate;
mod own;
mod places;
mod residual;
mod sizes;
mod specialise;
mod state;
mod threads;
mod update;
mod value;
mod waiting;
mod world;

use crate::ir::module::Module;
use crate::ir::promote::promote;
use crate::{Diagnostic, Language, ParseResult};
use ravelin_program::{Source, Span, validate};

/// What of a file is lifted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiftOptions {
    /// Functions that run in parallel, one thread each. Empty: `main` is executed, and it starts the threads.
    pub entry: Vec<String>,
    /// With entries: runs before they do.
    pub init: Option<String>,
    /// How many blocks one `malloc` of the source may hand out.
    pub heap: usize,
    /// Blocks that were freed may be handed out again.
    pub reuse: bool,
}

impl Default for LiftOptions {
    fn default() -> LiftOptions {
        LiftOptions { entry: Vec::new(), init: None, heap: 8, reuse: true }
    }
}

/// Lifts a file that was compiled to `ir`. Places point into `source`: the C file, or the IR itself if `language` is
/// [`Language::Llvm`].
pub fn lift(source: Source, language: Language, ir: &str, options: &LiftOptions) -> ParseResult {
    let (expectations, mut diagnostics) = crate::expectations(&source.text);
    let program = match crate::ir::read(ir) {
        Ok(module) => match lift::lift(&promoted(module), &source, language, options) {
            Ok(program) => {
                diagnostics.extend(validate(&program).into_iter().map(Diagnostic::from));
                Some(program)
            }
            Err(refusal) => {
                let diagnostic = Diagnostic::error(refusal.span, refusal.message);
                diagnostics.push(match refusal.help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                });
                None
            }
        },
        Err(wrong) => {
            // Places in the IR mean nothing in another text.
            let own = language == Language::Llvm;
            diagnostics.extend(wrong.into_iter().map(|diagnostic| match own {
                true => diagnostic,
                false => Diagnostic { span: Span::NOWHERE, ..diagnostic },
            }));
            None
        }
    };
    let program = program.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
    ParseResult { program, diagnostics, expectations, source, language }
}

/// The module with its local variables as values.
fn promoted(mut module: Module) -> Module {
    for index in 0..module.functions.len() {
        let mut function = module.functions[index].clone();
        promote(&module, &mut function);
        module.functions[index] = function;
    }
    module
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
