//! Litmus tests in the format of herd and diy, for X86_64, X86 and C. `docs/litmus.md` says what is read and how.
//!
//! A test is a header, an initial state, code and a condition over final states. The header is read by lines ([`header`]),
//! the rest as tokens ([`lexer`], [`cursor`]). Initial state ([`init`]) and condition ([`condition`]) are the same for all
//! dialects. Code is a table of instructions for [`x86`] and a list of functions for [`c`]; both are lowered to lines with
//! labels, from which [`assemble`] makes a thread's automaton. [`cells`] gives memory its addresses, and [`observe`]
//! resolves what a condition names. [`outline()`] tells where statements and cells are written.

mod assemble;
mod c;
mod cells;
mod condition;
mod cursor;
mod header;
mod init;
mod lexer;
mod observe;
mod outline;
mod x86;

use crate::diagnostic::tidy;
use crate::{Diagnostic, Language, ParseResult};
use cursor::LitmusCursor;
use header::{Dialect, LitmusHeader};
use ravelin_program::{Arithmetic, Domain, Escape, Memory, Program, Source, Thread, Value, validate};

pub(crate) use outline::{
    CCode, LitmusOutline, OrderedCall, OutlineCell, OutlineRow, StatementRole, StoreExchange, outline,
};

/// More errors than this are not shown.
const MAX_DIAGNOSTICS: usize = 100;

/// Reads a litmus test. Every error in it is reported, and no text makes this fail otherwise.
pub fn parse(source: Source) -> ParseResult {
    let mut diagnostics = Vec::new();
    let mut program = read(&source.text, &mut diagnostics);
    if let Some(program) = &program
        && !diagnostics.iter().any(Diagnostic::is_error)
    {
        diagnostics.extend(validate(program).into_iter().map(Diagnostic::from));
    }
    tidy(&mut diagnostics, MAX_DIAGNOSTICS);
    if diagnostics.iter().any(Diagnostic::is_error) {
        program = None;
    }
    if let Some(program) = &mut program {
        program.source = source.clone();
    }
    ParseResult { program, diagnostics, expectations: Vec::new(), source, language: Language::Litmus }
}

/// The threads of a test, and what the rest of it has to know about them.
struct Code {
    threads: Vec<Thread>,
    /// The number by which conditions name each thread.
    numbers: Vec<Value>,
    arithmetic: Arithmetic,
}

fn read(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Program> {
    let LitmusHeader { dialect, name, body } = header::read(text, diagnostics)?;
    let tokens = lexer::tokens(text, body, dialect, diagnostics);
    let mut cursor = LitmusCursor::new(text, tokens, diagnostics);
    let init = init::parse(&mut cursor)?;
    let (code, cells, verdict) = match dialect {
        Dialect::C => {
            let functions = c::parser::functions(&mut cursor);
            let verdict = condition::parse(&mut cursor);
            let (code, cells) = c::lower::lower(&functions, &init, cursor.diagnostics);
            (code, cells, verdict)
        }
        Dialect::X86 | Dialect::X86_64 => {
            let table = x86::table::parse(&mut cursor, dialect);
            let verdict = condition::parse(&mut cursor);
            let (code, cells) = x86::lower::lower(&table, &init, dialect, cursor.diagnostics);
            (code, cells, verdict)
        }
    };
    // What a broken line would have declared is unknown, so names are resolved only if there is none.
    if cursor.diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let mut observer = observe::Observer { dialect, init: &init, code, cells, diagnostics: cursor.diagnostics };
    let (goal, observation) = observer.resolve(&verdict);
    let observe::Observer { mut code, cells, .. } = observer;
    // How wide arithmetic is, the last thread may be the first to tell.
    for transition in code.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        transition.instruction.compute_in(code.arithmetic);
    }
    Some(Program {
        name,
        memory: Memory { variables: cells.into_variables(), ..Memory::default() },
        threads: code.threads,
        goals: goal.into_iter().collect(),
        observation,
        source: Source::default(),
    })
}

/// Arithmetic modulo a power of two, with values shown signed.
fn wrapping(wide: bool) -> Arithmetic {
    let (lo, hi) = if wide { (Value::MIN, Value::MAX) } else { (Value::from(i32::MIN), Value::from(i32::MAX)) };
    Arithmetic::Wrapping(Domain::new(lo, hi, Escape::Wrap))
}
