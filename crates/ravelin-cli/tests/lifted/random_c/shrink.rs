//! Makes a program smaller while something stays true of it: statements, functions and definitions are left out, values
//! are replaced by a part of themselves or by 1, and statements by those in them.
//!
//! Tries large parts first. What it leaves out may be needed by what stays, which the condition has to notice: a program
//! that does not compile does not have the fault that is looked for.

use super::{CProgram, Caller, Part, Piece};

/// The smallest program that is found with at most so many questions. The given one must satisfy the condition.
pub fn shrunk(program: CProgram, mut questions: u32, mut keeps: impl FnMut(&CProgram) -> bool) -> CProgram {
    let mut best = program;
    loop {
        let before = best.clone();
        for kind in Edit::ALL {
            let mut at = 0;
            while questions > 0 {
                let mut smaller = best.clone();
                if !edit(&mut smaller, kind, at) {
                    break;
                }
                questions -= 1;
                if smaller != best && keeps(&smaller) {
                    best = smaller;
                } else {
                    at += 1;
                }
            }
        }
        if best == before || questions == 0 {
            return best;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// Who calls the first function.
    Caller,
    Function,
    /// All statements of a body.
    Statements,
    Statement,
    /// A statement is replaced by those in it.
    Unwrap,
    Value,
    /// A local variable.
    Local,
    Definition,
}

impl Edit {
    const ALL: [Edit; 8] = [
        Edit::Caller,
        Edit::Function,
        Edit::Statements,
        Edit::Statement,
        Edit::Unwrap,
        Edit::Value,
        Edit::Local,
        Edit::Definition,
    ];
}

/// Changes the n-th place of a kind; false if there are fewer.
fn edit(program: &mut CProgram, kind: Edit, mut at: usize) -> bool {
    match kind {
        Edit::Caller => {
            let mut simpler = [Caller::Main, Caller::Thread].into_iter().take_while(|caller| *caller != program.caller);
            let found = simpler.nth(at);
            program.caller = found.unwrap_or(program.caller);
            found.is_some()
        }
        // The first function is called by `main`.
        Edit::Function => {
            let there = at + 1 < program.functions.len();
            if there {
                program.functions.remove(at + 1);
            }
            there
        }
        Edit::Local => program.functions.iter_mut().any(|function| {
            let there = at < function.locals.len();
            if there {
                function.locals.remove(at);
            } else {
                at -= function.locals.len();
            }
            there
        }),
        Edit::Definition => {
            let there = at < program.definitions.len();
            if there {
                let name = defined(&program.definitions.remove(at));
                program.cells.retain(|(cell, _)| cell.split(['.', '[']).next() != name.as_deref());
            }
            there
        }
        _ => program
            .functions
            .iter_mut()
            .any(|f| in_body(&mut f.body, kind, &mut at) || (kind == Edit::Value && in_value(&mut f.result, &mut at))),
    }
}

/// The variable that a definition names, if it is one of a variable.
fn defined(definition: &str) -> Option<String> {
    let before = definition.split(['=', '[', ';']).next()?;
    before.split_whitespace().last().filter(|_| definition.starts_with("static")).map(str::to_owned)
}

/// Leaves the n-th statement of a body out, or, in a second round of numbers, puts those in it in its place; counts `at`
/// down and gives false if there are fewer.
pub fn leave_out(body: &mut Vec<Piece>, at: &mut usize) -> bool {
    in_body(body, Edit::Statement, at) || in_body(body, Edit::Unwrap, at)
}

fn in_body(body: &mut Vec<Piece>, kind: Edit, at: &mut usize) -> bool {
    if kind == Edit::Statements && !body.is_empty() {
        if *at == 0 {
            body.clear();
            return true;
        }
        *at -= 1;
    }
    if kind == Edit::Statement || kind == Edit::Unwrap {
        if *at < body.len() {
            let inner = body.remove(*at).0.into_iter().filter_map(|part| match part {
                Part::Body(body) if kind == Edit::Unwrap => Some(body),
                _ => None,
            });
            body.splice(*at..*at, inner.flatten().collect::<Vec<_>>());
            return true;
        }
        *at -= body.len();
    }
    body.iter_mut().any(|piece| in_piece(piece, kind, at))
}

fn in_piece(piece: &mut Piece, kind: Edit, at: &mut usize) -> bool {
    piece.0.iter_mut().any(|part| match part {
        Part::Text(_) => false,
        Part::Value(value) => kind == Edit::Value && in_value(value, at),
        Part::Body(body) => in_body(body, kind, at),
    })
}

/// The places of a value are its replacements and those of its parts.
fn in_value(value: &mut Piece, at: &mut usize) -> bool {
    let parts: Vec<Piece> = value
        .0
        .iter()
        .filter_map(|part| match part {
            Part::Value(part) => Some(part.clone()),
            _ => None,
        })
        .collect();
    let one = Piece::text("1");
    let replacements: Vec<Piece> = [one.clone()].into_iter().chain(parts).filter(|other| other != value).collect();
    if *value != one {
        if let Some(other) = replacements.get(*at) {
            *value = other.clone();
            return true;
        }
        *at -= replacements.len();
    }
    in_piece(value, Edit::Value, at)
}
