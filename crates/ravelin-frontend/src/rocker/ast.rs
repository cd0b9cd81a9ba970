//! The tree of a TPL file, as it is written: names are not resolved.

use ravelin_program::{BinaryOp, Order, RmwOp, Span, UnaryOp};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    pub max_value: Option<Number>,
    /// `global` and `na` declarations, in the order of the text.
    pub variables: Vec<Declaration>,
    pub tracks: Vec<Track>,
    pub threads: Vec<Function>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub value: i64,
    pub span: Span,
}

/// `x` or `x = 3` after `global` (atomic) or `na`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub name: Name,
    pub initial: Option<Number>,
    pub atomic: bool,
}

/// `track x: 0, 1;`: a hint of which values of a variable are worth telling apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    pub name: Name,
    /// `None` for `all`.
    pub values: Option<Vec<Number>>,
}

/// `fn`: one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: Name,
    pub locals: Vec<Name>,
    pub body: Block,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub statements: Vec<Statement>,
    /// With its braces.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub labels: Vec<Name>,
    pub kind: StatementKind,
    /// Without the labels.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Has been reported.
    Error,
    Skip,
    Goto(Name),
    IfGoto {
        condition: Expr,
        label: Name,
    },
    If {
        condition: Expr,
        then: Block,
        otherwise: Option<Block>,
    },
    While {
        condition: Expr,
        body: Block,
    },
    OneOf(Vec<Block>),
    /// `r = e;`.
    Assign {
        target: Name,
        value: Expr,
    },
    /// An access, whose result goes to `target` if there is one.
    Access {
        target: Option<Name>,
        variable: Name,
        operation: Operation,
    },
    Fence(Order),
    Assert(Expr),
    Assume(Expr),
    Verify(Name),
}

/// What is done to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Load(Order),
    Store(Expr, Order),
    Wait { values: Vec<Expr>, order: Order },
    BlockingCas { expected: Expr, new: Expr, order: Order },
    CompareExchange { expected: Expr, new: Expr, success: Order, failure: Order },
    Rmw { op: RmwOp, operand: Expr, order: Order },
    Lock,
    Unlock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// Has been reported.
    Error,
    Number(i64),
    Truth(bool),
    Name(String),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

impl Operation {
    /// Is done to an `na` variable.
    pub fn is_non_atomic(&self) -> bool {
        matches!(self, Operation::Load(Order::NonAtomic) | Operation::Store(_, Order::NonAtomic))
    }

    /// As it is written in TPL.
    pub fn word(&self) -> &'static str {
        match self {
            Operation::Load(Order::NonAtomic) => "naload",
            Operation::Load(_) => "load",
            Operation::Store(_, Order::NonAtomic) => "nastore",
            Operation::Store(..) => "store",
            Operation::Wait { .. } => "wait",
            Operation::BlockingCas { .. } => "BCAS",
            Operation::CompareExchange { .. } => "CAS",
            Operation::Rmw { op: RmwOp::Exchange, .. } => "exchange",
            Operation::Rmw { .. } => "FADD",
            Operation::Lock => "lock",
            Operation::Unlock => "unlock",
        }
    }
}
