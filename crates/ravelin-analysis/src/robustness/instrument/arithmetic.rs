//! Expressions made safe for an instrumented program: where one has a value, and how a cell takes it.

use ravelin_program::{Arithmetic, BinaryOp, Domain, Expr, Value};

/// The condition under which an expression divides by nothing but what it can divide by, and shifts by 0 to 63 bits;
/// `None` if that is always so.
pub(super) fn defined<A: Clone>(expr: &Expr<A>) -> Option<Expr<A>> {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => None,
        Expr::Unary(_, _, operand) => defined(operand),
        // The right side counts only if it is looked at.
        Expr::Binary(BinaryOp::And, _, left, right) => {
            all(defined(left), defined(right).map(|right| (**left).clone().not().or(right)))
        }
        Expr::Binary(BinaryOp::Or, _, left, right) => {
            all(defined(left), defined(right).map(|right| (**left).clone().or(right)))
        }
        Expr::Binary(op, _, left, right) => {
            let divisor = || (**right).clone();
            let own = match (op, &**right) {
                (
                    BinaryOp::Div | BinaryOp::Rem | BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem,
                    Expr::Const(divisor),
                ) if *divisor != 0 => None,
                (BinaryOp::Div | BinaryOp::Rem | BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem, _) => {
                    Some(Expr::binary(BinaryOp::Ne, divisor(), Expr::Const(0)))
                }
                (BinaryOp::Shl | BinaryOp::Shr | BinaryOp::LogicalShr, Expr::Const(bits)) if (0..64).contains(bits) => {
                    None
                }
                (BinaryOp::Shl | BinaryOp::Shr | BinaryOp::LogicalShr, _) => Some(between(divisor(), 0, 63)),
                _ => None,
            };
            all(all(defined(left), defined(right)), own)
        }
    }
}

/// `lo <= expr && expr <= hi`.
pub(super) fn between<A: Clone>(expr: Expr<A>, lo: Value, hi: Value) -> Expr<A> {
    Expr::binary(BinaryOp::Le, Expr::Const(lo), expr.clone()).and(Expr::binary(BinaryOp::Le, expr, Expr::Const(hi)))
}

pub(super) fn all<A>(left: Option<Expr<A>>, right: Option<Expr<A>>) -> Option<Expr<A>> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.and(right)),
        (left, right) => left.or(right),
    }
}

/// A value taken into a domain that wraps.
pub(super) fn wrapped(domain: Domain, value: Expr) -> Expr {
    Expr::binary_in(Arithmetic::Wrapping(domain), BinaryOp::Add, value, Expr::Const(0))
}
