//! Why a program has no finite view.

use ravelin_explore::Limit;
use ravelin_program::{Program, Span, Value};
use thiserror::Error;

/// What is not finite, or not small enough, with the line it is declared in and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotFinite {
    #[error("thread `{0}` has any number of copies; this engine needs a number: give --copies N")]
    AnyNumberOfCopies(String),
    #[error(
        "{}`{name}` takes more than {limit} values; this engine needs finite domains: declare a small type, for example `{example}`",
        in_line(.line)
    )]
    Cell { name: String, line: Option<usize>, limit: usize, example: String },
    #[error(
        "{}register `{name}` of thread `{thread}` takes more than {limit} values; this engine needs finite domains: declare a \
         small type, for example `let {name}: 0..8`",
        in_line(.line)
    )]
    Register { name: String, thread: String, line: Option<usize>, limit: usize },
    #[error(
        "more than {limit} addresses are accessed through `mem[…]`; use arrays, or declare small types for the indices"
    )]
    Addresses { limit: usize },
    #[error("thread `{thread}` has more than {limit} local states; declare smaller types for its registers")]
    LocalStates { thread: String, limit: usize },
    #[error(
        "{}thread `{thread}` has a locked block that stores but does not drain the store buffer; this engine does not cover it",
        in_line(.line)
    )]
    UndrainedStore { thread: String, line: Option<usize> },
    #[error(
        "{}thread `{thread}` takes the bus lock; with any number of threads this is not covered: give --copies N",
        in_line(.line)
    )]
    BusLock { thread: String, line: Option<usize> },
    #[error(
        "{}with any number of threads a goal may only require a minimum number of copies (`2 of p@label`), at most 63; for other goals \
         give --copies N",
        in_line(.line)
    )]
    GoalCounts { line: Option<usize> },
    #[error(
        "{}a goal about final states needs all threads to be at their ends, which is not decided for any number of them: give --copies N, or \
         use `never`",
        in_line(.line)
    )]
    FinalGoal { line: Option<usize> },
    #[error("the goals have more than {limit} cases; write them with fewer variables or smaller types")]
    Goals { limit: usize },
    /// A limit of the budget was hit first. No refusal: with more of it there may be a view.
    #[error(transparent)]
    Limit(#[from] Limit),
}

fn in_line(line: &Option<usize>) -> String {
    line.map_or(String::new(), |line| format!("line {line}: "))
}

pub(super) fn line_of(program: &Program, span: Span) -> Option<usize> {
    program.source.position(span).map(|position| position.line)
}

pub(super) fn cell(program: &Program, address: Value, limit: usize) -> NotFinite {
    match program.memory.variable_at(address) {
        Some(variable) => NotFinite::Cell {
            name: program.memory.name_of(address),
            line: line_of(program, variable.span),
            limit,
            example: match variable.len {
                Some(len) => format!("static {}: [0..8; {len}]", variable.name),
                None => format!("static {}: 0..8", variable.name),
            },
        },
        None => NotFinite::Cell {
            name: program.memory.name_of(address),
            line: None,
            limit,
            example: "max_value 7".to_owned(),
        },
    }
}
