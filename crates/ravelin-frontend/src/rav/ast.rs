//! A `.rav` file as it was written: everything that is needed to check it and to write it out again, comments included.
//!
//! The tree keeps what the program does not: parentheses, how integers were written, where comments stand and which
//! lines were followed by a blank one. Names are not resolved. `Error` nodes stand where a syntax error was reported;
//! whoever meets one says nothing more about it.

use ravelin_program::{BinaryOp, GoalKind, Span, UnaryOp};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    pub header: Vec<HeaderLine>,
    pub items: Vec<Item>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
}

/// One `//!` line at the top of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderLine {
    /// With its `//!`, without white space at the end.
    pub text: String,
    pub span: Span,
    pub blank_before: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// With its delimiters.
    pub text: String,
    pub span: Span,
    /// Nothing but white space stands before it on its line.
    pub starts_line: bool,
    pub blank_before: bool,
}

/// The comments around an item or a statement. Those inside it have been moved before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments {
    pub leading: Vec<Comment>,
    /// On the line on which it ends.
    pub trailing: Vec<Comment>,
    /// A blank line stands before its first token.
    pub blank_before: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    pub span: Span,
    pub comments: Comments,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// `const N: usize = 3;`; the type is written for people only.
    Const {
        name: Name,
        ty: Option<Name>,
        value: Expr,
    },
    MaxValue {
        value: Expr,
        escape: Option<Name>,
    },
    Arithmetic(Type),
    /// `strict mem;`: nothing is at addresses without a name.
    StrictMemory,
    /// `gap 3;`: so many addresses are left out.
    Gap(Expr),
    Static {
        name: Name,
        ty: Option<Type>,
        init: Option<Init>,
    },
    Enum(EnumItem),
    /// Shared, because each call of it needs it.
    Function(Arc<Function>),
    Thread(ThreadItem),
    Goal {
        kind: GoalKind,
        /// `forall`, which means the same as `finally`, was written.
        forall: bool,
        condition: Expr,
    },
    Error,
}

/// `enum Color { Red, Green = 5 }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumItem {
    pub name: Name,
    pub variants: Vec<Variant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub name: Name,
    pub value: Option<Expr>,
}

/// `fn f(a, mut b: u8) -> bool { … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: Name,
    /// `const fn`.
    pub constant: bool,
    pub parameters: Vec<Parameter>,
    pub result: Option<Type>,
    pub body: Block,
    /// What it gives if control gets to its end.
    pub value: Option<FunctionValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: Name,
    /// It can be assigned to.
    pub mutable: bool,
    pub ty: Option<Type>,
}

/// The expression at the end of a function's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionValue {
    pub value: Expr,
    pub comments: Comments,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadItem {
    pub name: Name,
    pub copies: ThreadCopies,
    pub body: Block,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadCopies {
    /// `thread p`.
    One,
    /// `thread p[3]`.
    Count(Expr),
    /// `thread p[me in 0..3]`.
    Indexed(Name, RangeExpr),
    /// `thread p[*]`.
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeExpr {
    pub lo: Expr,
    pub hi: Expr,
    pub inclusive: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    Base { escape: Option<Name>, base: Base },
    Array(Box<Type>, Box<Expr>),
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// `bool`, `u8` and so on, or `_` for the default.
    Named(Name),
    Range(Box<RangeExpr>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    pub kind: InitKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitKind {
    Value(Expr),
    Any,
    List(Vec<Init>),
    Repeat(Box<Init>, Box<Expr>),
    Error,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub statements: Vec<Statement>,
    /// Comments after the last statement.
    pub end: Vec<Comment>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
    pub comments: Comments,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    Label(Name),
    Let {
        pattern: Pattern,
        ty: Option<Type>,
        value: Option<Expr>,
    },
    Assign {
        pattern: Pattern,
        value: Expr,
    },
    CompoundAssign {
        name: Name,
        op: BinaryOp,
        value: Expr,
    },
    Effect(Expr),
    If(If),
    /// `while condition { … }`, or `while { fence(); condition } { … }` with fences that are executed before each look at the condition.
    While {
        head: Vec<Statement>,
        condition: Expr,
        body: Block,
    },
    Loop(Block),
    For {
        name: Name,
        range: RangeExpr,
        body: Block,
    },
    Break,
    Continue,
    Match(Match<Block>),
    /// With the value of a function.
    Return(Option<Expr>),
    Goto(Name),
    Choose(Vec<Block>),
    Locked(Block),
    Block(Block),
    Assume(Expr),
    Assert(Expr),
    Fence(Option<Name>),
    Lock(RavPlace),
    Unlock(RavPlace),
    BusLock,
    BusUnlock,
    Havoc {
        name: Name,
        range: RangeExpr,
    },
    Nop,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    pub condition: Expr,
    pub then: Block,
    pub otherwise: Option<Box<Else>>,
}

/// `match value { patterns => body … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<B> {
    pub value: Expr,
    pub arms: Vec<Arm<B>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm<B> {
    /// At least one.
    pub patterns: Vec<ArmPattern>,
    pub body: B,
    /// Of the patterns.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArmPattern {
    /// `_`.
    Any,
    Value(Expr),
    Range(RangeExpr),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Else {
    Block(Block),
    If(If),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `mut` is allowed, for the reader's comfort, and means nothing.
    Name { name: Name, mutable: bool },
    /// `(old, ok)`, each possibly `_`.
    Pair(Name, Name),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// At most 2^63 as the operand of a minus. Values above 2^63 - 1 are unsigned. `text` is how it was written.
    Integer {
        value: u64,
        text: String,
    },
    Bool(bool),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Paren(Box<Expr>),
    /// `checked(e)`, and with a type `wrapping(T, e)`: how the operators in it compute.
    Arithmetic(Option<Type>, Box<Expr>),
    AddressOf(RavPlace),
    /// `Color::Red`.
    Path(Name, Name),
    Call(Box<FunctionCall>),
    /// `if condition { value } else { value }`.
    If(Box<IfExpr>),
    Match(Box<Match<Expr>>),
    /// A name or an indexed one, used as a value: a register, a constant, or in a goal a cell of memory.
    Place(RavPlace),
    Access(Box<AccessCall>),
    Wait(Box<WaitCall>),
    /// `p@label`, `p[1]@label`.
    At(ThreadRef, Name),
    /// `p.r`, `p[1].r`.
    Register(ThreadRef, Name),
    /// `2 of p@label`.
    Count {
        count: Box<Expr>,
        thread: Name,
        label: Name,
    },
    Error,
}

/// `f(a, b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    pub name: Name,
    pub arguments: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IfExpr {
    pub condition: Expr,
    pub then: Expr,
    pub otherwise: Expr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRef {
    pub name: Name,
    pub index: Option<Box<Expr>>,
}

/// `x`, `a[e]`, and with the name `mem`, `mem[e]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RavPlace {
    pub name: Name,
    pub index: Option<Box<Expr>>,
    pub span: Span,
}

impl RavPlace {
    pub fn is_mem(&self) -> bool {
        self.name.text == "mem"
    }
}

/// `place.method(arguments, orders)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessCall {
    pub place: RavPlace,
    pub method: Method,
    pub arguments: Vec<Expr>,
    pub orders: Vec<Name>,
    pub outcome: Option<ExchangeResult>,
}

/// What is taken of a compare-exchange's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeResult {
    IsOk,
    IsErr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Load,
    Store,
    Read,
    Write,
    Rmw(ravelin_program::RmwOp),
    CompareExchange { weak: bool },
    Bcas,
}

impl Method {
    pub const ALL: [Method; 18] = {
        use ravelin_program::RmwOp;
        [
            Method::Load,
            Method::Store,
            Method::Read,
            Method::Write,
            Method::Rmw(RmwOp::Add),
            Method::Rmw(RmwOp::Sub),
            Method::Rmw(RmwOp::And),
            Method::Rmw(RmwOp::Or),
            Method::Rmw(RmwOp::Xor),
            Method::Rmw(RmwOp::Nand),
            Method::Rmw(RmwOp::Max),
            Method::Rmw(RmwOp::Min),
            Method::Rmw(RmwOp::UnsignedMax),
            Method::Rmw(RmwOp::UnsignedMin),
            Method::Rmw(RmwOp::Exchange),
            Method::CompareExchange { weak: false },
            Method::CompareExchange { weak: true },
            Method::Bcas,
        ]
    };

    pub fn name(self) -> &'static str {
        match self {
            Method::Load => "load",
            Method::Store => "store",
            Method::Read => "read",
            Method::Write => "write",
            Method::Rmw(op) => op.method(),
            Method::CompareExchange { weak: false } => "compare_exchange",
            Method::CompareExchange { weak: true } => "compare_exchange_weak",
            Method::Bcas => "bcas",
        }
    }

    /// How many values it takes.
    pub fn arguments(self) -> usize {
        match self {
            Method::Load | Method::Read => 0,
            Method::Store | Method::Write | Method::Rmw(_) => 1,
            Method::CompareExchange { .. } | Method::Bcas => 2,
        }
    }

    /// How many orders it takes at most.
    pub fn orders(self) -> usize {
        match self {
            Method::Read | Method::Write => 0,
            Method::CompareExchange { .. } => 2,
            _ => 1,
        }
    }
}

/// `wait(condition, order)`, where a place in the condition stands for the value read there: `wait(x != 0)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitCall {
    pub condition: Expr,
    pub order: Option<Name>,
}

impl Expr {
    /// Takes steps when it is evaluated: it touches memory, or what it computes branches.
    pub fn has_access(&self) -> bool {
        match &self.kind {
            ExprKind::Access(_) | ExprKind::Wait(_) | ExprKind::Call(_) | ExprKind::If(_) | ExprKind::Match(_) => true,
            ExprKind::Unary(_, operand) | ExprKind::Paren(operand) | ExprKind::Arithmetic(_, operand) => {
                operand.has_access()
            }
            ExprKind::Binary(_, left, right) => left.has_access() || right.has_access(),
            ExprKind::AddressOf(place) | ExprKind::Place(place) => {
                place.index.as_ref().is_some_and(|index| index.has_access())
            }
            _ => false,
        }
    }

    /// Uses a name as a value.
    pub fn has_name(&self) -> bool {
        match &self.kind {
            ExprKind::Place(_) | ExprKind::Path(..) | ExprKind::Call(_) => true,
            ExprKind::Unary(_, operand) | ExprKind::Paren(operand) | ExprKind::Arithmetic(_, operand) => {
                operand.has_name()
            }
            ExprKind::Binary(_, left, right) => left.has_name() || right.has_name(),
            _ => false,
        }
    }

    /// The expression inside any parentheses, `checked(…)` and `wrapping(T, …)`.
    pub fn computed(&self) -> &Expr {
        match &self.kind {
            ExprKind::Paren(inner) | ExprKind::Arithmetic(_, inner) => inner.computed(),
            _ => self,
        }
    }

    /// The expression inside any parentheses.
    pub fn bare(&self) -> &Expr {
        match &self.kind {
            ExprKind::Paren(inner) => inner.bare(),
            _ => self,
        }
    }
}
