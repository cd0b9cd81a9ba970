//! Expressions that keep to what the grammar of C litmus tests has: no `!`, `&&`, `||`, `%` and no sign. They have no
//! effects, so `&` and `|` of truth values do for `&&` and `||`. A comparison counts as 0 or 1, as in C.

use super::{Inexpressible, int};
use ravelin_program::{BinaryOp, Expr, RegId, UnaryOp, Value};

/// The text of an expression, without parentheses around it.
pub(super) fn expression(expr: &Expr, thread: &str, local: &dyn Fn(RegId) -> String) -> Result<String, Inexpressible> {
    let text = |expr: &Expr| expression(expr, thread, local);
    let operand = |expr: &Expr| -> Result<String, Inexpressible> {
        let text = text(expr)?;
        let alone = matches!(expr, Expr::Atom(_)) || text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(if alone || text.starts_with('(') && matches!(expr, Expr::Const(_)) { text } else { format!("({text})") })
    };
    let truth = |expr: &Expr| match is_truth(expr) {
        true => operand(expr),
        false => Ok(format!("({} != 0)", operand(expr)?)),
    };
    Ok(match expr {
        Expr::Const(value) => literal(int(*value)?),
        Expr::Atom(register) => local(*register),
        Expr::Unary(UnaryOp::Neg, _, inner) => format!("0 - {}", operand(inner)?),
        Expr::Unary(UnaryOp::Not, _, inner) => match &**inner {
            Expr::Binary(op, _, left, right) if op.is_comparison() && !op.is_call() => {
                let op = op.opposite().unwrap_or(BinaryOp::Ne);
                format!("{} {} {}", operand(left)?, op.symbol(), operand(right)?)
            }
            inner => format!("{} == 0", operand(inner)?),
        },
        Expr::Binary(BinaryOp::And, _, left, right) => format!("{} & {}", truth(left)?, truth(right)?),
        Expr::Binary(BinaryOp::Or, _, left, right) => format!("{} | {}", truth(left)?, truth(right)?),
        Expr::Binary(BinaryOp::Rem, _, left, right) => {
            let (left, right) = (operand(left)?, operand(right)?);
            format!("{left} - (({left} / {right}) * {right})")
        }
        Expr::Binary(op, ..) if op.is_call() || matches!(op, BinaryOp::Shl | BinaryOp::Shr) => {
            return Err(Inexpressible::Operator { thread: thread.to_owned(), operator: op.symbol() });
        }
        Expr::Binary(op, _, left, right) => format!("{} {} {}", operand(left)?, op.symbol(), operand(right)?),
    })
}

/// A number; the grammar has no negative ones.
pub(super) fn literal(value: Value) -> String {
    if value < 0 { format!("(0 - {})", value.unsigned_abs()) } else { value.to_string() }
}

/// Has no value but 0 and 1.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(UnaryOp::Not, _, _) => true,
        Expr::Binary(op, ..) => op.is_truth(),
        _ => false,
    }
}
