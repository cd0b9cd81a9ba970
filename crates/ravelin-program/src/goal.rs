//! What must not happen.
//!
//! A failing `assert` and a [`crate::Fault`] are implicit goals of every program; the others are explicit. Under a
//! buffered model a condition that mentions memory is evaluated only where all store buffers are empty and the bus lock
//! is free. Conditions over control locations and registers are evaluated everywhere (design: "goals").

use crate::{Arithmetic, BinaryOp, Expr, LocId, RegId, Span, ThreadId, UnaryOp};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    pub kind: GoalKind,
    pub condition: Condition,
    pub span: Span,
}

/// When a condition is evaluated, and which answer is the violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoalKind {
    /// `never C`: violated by any reachable state with C.
    Never,
    /// `exists C` of litmus tests: asks whether some final state has C; one that does is reported as the violation.
    Exists,
    /// `~exists C`, `finally never C`: violated by a final state with C.
    NeverFinally,
    /// `forall C`, `finally C`: violated by a final state without C.
    Finally,
}

/// An expression over what an observer of the whole program sees.
pub type Condition = Expr<Observable>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Observable {
    /// 1 if the thread is at the location; for `thread p[*]` the number of copies that are.
    At(ThreadId, LocId),
    Register(ThreadId, RegId),
    /// The cell at a constant address.
    Memory(crate::Value),
}

/// What final states show, and which of them count. Litmus tests define this; other programs show everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// In the order of output, each with its name in the source (`0:rax`, `[x]`).
    pub shown: Vec<(String, Observable)>,
    /// Final states without it are omitted.
    pub filter: Option<Condition>,
}

/// The condition has a value in every state: no division, no shift, nothing that could overflow.
pub fn is_total(condition: &Condition) -> bool {
    match condition {
        Expr::Const(_) | Expr::Atom(_) => true,
        Expr::Unary(UnaryOp::Not, _, operand) => is_total(operand),
        Expr::Unary(UnaryOp::Neg, _, _) => false,
        Expr::Binary(op, _, left, right) if op.is_comparison() => is_total(left) && is_total(right),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, _, left, right) => is_total(left) && is_total(right),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Arithmetic::Wrapping(_), left, right) => {
            is_total(left) && is_total(right)
        }
        Expr::Binary(..) => is_count(condition),
    }
}

/// A sum of "thread at location" and small constants.
pub fn is_count(condition: &Condition) -> bool {
    const LARGEST: i64 = 1 << 32;
    match condition {
        Expr::Atom(Observable::At(..)) => true,
        Expr::Const(value) => (-LARGEST..=LARGEST).contains(value),
        Expr::Binary(BinaryOp::Add, _, left, right) => is_count(left) && is_count(right),
        _ => false,
    }
}

impl Goal {
    /// It is evaluated only in states in which every thread is at its end.
    pub fn is_final(&self) -> bool {
        self.kind != GoalKind::Never
    }

    pub fn mentions_memory(&self) -> bool {
        let mut found = false;
        self.condition.for_each_atom(&mut |atom| found |= matches!(atom, Observable::Memory(_)));
        found
    }

    /// Whether a value of the condition is a violation.
    pub fn is_violated_by(&self, value: crate::Value) -> bool {
        match self.kind {
            GoalKind::Never | GoalKind::Exists | GoalKind::NeverFinally => value != 0,
            GoalKind::Finally => value == 0,
        }
    }
}
