//! Threads as they are written: names are still words, and states and registers are not resolved.

use super::word::Word;
use ravelin_program::{BinaryOp, Span, Value};

/// What could be made out of a text.
#[derive(Clone, Debug, Default)]
pub struct FileText<'a> {
    pub memory_size: Option<MemorySize>,
    pub threads: Vec<ThreadText<'a>>,
}

/// `memory_size 4`, as Persist writes it.
#[derive(Clone, Copy, Debug)]
pub struct MemorySize {
    pub cells: usize,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct ThreadText<'a> {
    pub name: Word<'a>,
    /// The states called initial; the last one counts.
    pub initial: Vec<Word<'a>>,
    pub transitions: Vec<TransitionText<'a>>,
    /// No part of it was lost to an error, so that what is not here was not written.
    pub complete: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct TransitionText<'a> {
    pub from: Word<'a>,
    pub to: Word<'a>,
    pub instruction: InstructionText<'a>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum InstructionText<'a> {
    Read { register: Word<'a>, address: Term<'a> },
    Write { value: Term<'a>, address: Term<'a> },
    Local { register: Word<'a>, value: Term<'a> },
    Check(Term<'a>),
    Mfence,
    Noop,
    Lock,
    Unlock,
}

#[derive(Clone, Debug)]
pub enum Term<'a> {
    Number(Value),
    /// A word that is no number but starts as this one.
    Numberlike(Word<'a>, Value),
    Register(Word<'a>),
    Not(Box<Term<'a>>),
    Binary(BinaryOp, Box<Term<'a>>, Box<Term<'a>>),
}
