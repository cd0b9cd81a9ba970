//! Tests in C: a function for each thread, over atomic and plain accesses to cells that are passed by address.
//!
//! Functions and statements are read by [`parser`], expressions by [`expression`], and [`lower`] makes them automata,
//! with [`evaluate`] for what expressions load and compute. The tree is here.

mod evaluate;
mod expression;
pub mod lower;
pub mod parser;

use super::cursor::Name;
use ravelin_program::{BinaryOp, Order, RmwOp, Span, Value};

pub struct Function {
    pub number: Value,
    pub name: Name,
    /// Each is the address of the cell of the same name.
    pub parameters: Vec<Name>,
    pub body: Vec<Statement>,
    /// Its closing brace.
    pub end: Span,
    /// A type of 64 bits that holds no address is named.
    pub wide: bool,
    /// Where its statements and the ends of its blocks are written.
    pub(crate) written: Vec<super::outline::CStatement>,
}

pub enum Statement {
    /// `int r;` or `int r = e;`
    Declare {
        name: Name,
        value: Option<Expression>,
    },
    /// `r = e;`
    Assign {
        name: Name,
        value: Expression,
    },
    /// `*p = e;`, where the place is the address.
    Store {
        place: Expression,
        value: Expression,
        span: Span,
    },
    If {
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    While {
        condition: Expression,
        body: Vec<Statement>,
    },
    /// `do … while (e);`
    Do {
        body: Vec<Statement>,
        condition: Expression,
    },
    /// For its effects.
    Evaluate(Expression),
    Return(Span),
}

#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExpressionKind {
    Number(Value),
    Name(String),
    /// `&r`
    AddressOf(Name),
    /// `*e`
    Deref(Box<Expression>),
    /// `a[e]`
    Index(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Binary(BinaryOp, Box<Expression>, Box<Expression>),
    Call(Box<Call>),
}

/// An atomic operation with its arguments but for the orders.
#[derive(Clone, Debug)]
pub struct Call {
    pub operation: Operation,
    pub arguments: Vec<Expression>,
    pub order: Order,
    /// Of a compare-exchange that fails.
    pub failure: Order,
    /// Where orders are written.
    pub orders: Vec<Span>,
    /// The name of the function.
    pub name: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Load,
    Store,
    Init,
    Rmw(RmwOp),
    CompareExchange { weak: bool },
    Fence,
}
