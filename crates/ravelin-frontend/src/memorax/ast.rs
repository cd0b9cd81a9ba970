//! The tree of a file, after macros have been put in.

use ravelin_program::{Span, Value};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// Of a register, without the `$`.
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Default)]
pub struct File {
    pub forbidden: Vec<Tuple>,
    pub globals: Vec<Declaration>,
    pub processes: Vec<Process>,
}

/// Control states that must not be occupied at the same time; `None` stands for `*`.
#[derive(Debug)]
pub struct Tuple {
    pub entries: Vec<Option<Name>>,
    pub span: Span,
}

/// Of a shared variable or a register.
#[derive(Debug)]
pub struct Declaration {
    pub name: Name,
    /// `None` stands for `*`.
    pub initial: Option<Value>,
    /// First and last value; `None` stands for `Z`.
    pub domain: Option<(Value, Value)>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Process {
    pub copies: Value,
    pub locals: Vec<Declaration>,
    pub registers: Vec<Declaration>,
    pub text: Vec<Statement>,
    pub span: Span,
    /// The use of a macro that it comes from.
    pub used_at: Option<Span>,
}

#[derive(Debug)]
pub struct Statement {
    pub labels: Vec<Name>,
    pub kind: StatementKind,
    /// Without the labels.
    pub span: Span,
}

#[derive(Debug)]
pub enum StatementKind {
    Nop,
    Assign(Name, Expr),
    Assume(Expr),
    /// `read: $r := x`.
    Load(Name, MemoraxPlace),
    /// `read: x = e`.
    Wait(MemoraxPlace, Expr),
    Write(WriteStrength, MemoraxPlace, Expr),
    Cas(MemoraxPlace, Expr, Expr),
    Fence,
    /// `ssfence`.
    StoreFence,
    /// `llfence`.
    LoadFence,
    Locked(Vec<Vec<Statement>>),
    Either(Vec<Vec<Statement>>),
    Block(Vec<Statement>),
    Goto(Name),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    While(Expr, Box<Statement>),
    /// Could not be understood, which has been reported.
    Error,
}

/// How a write is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStrength {
    Plain,
    /// `locked write`.
    Locked,
    /// `slocked write`.
    StoreOrdered,
    /// `syncwr`.
    Shared,
}

#[derive(Debug)]
pub struct MemoraxPlace {
    pub kind: PlaceKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum PlaceKind {
    Global(Name),
    /// `x[my]`.
    Own(Name),
    /// `x[o]`.
    Other(Name, Value),
    /// `[e]`.
    Pointer(Expr),
}

/// An expression over registers, or a condition.
#[derive(Debug)]
pub struct Expr {
    pub tree: ravelin_program::Expr<Name>,
    pub span: Span,
}
