//! Conditions over final states: comparisons of registers and cells with numbers, and `/\`, `\/`, `~` over them.

use super::{Identifiers, Inexpressible, int};
use ravelin_program::{BinaryOp, Condition, Expr, LocId, Observable, Program, UnaryOp};

/// A condition as a litmus test writes it, without parentheses around it.
pub(super) fn proposition(
    program: &Program,
    identifiers: &Identifiers,
    condition: &Condition,
) -> Result<String, Inexpressible> {
    let refused = || Inexpressible::Condition(program.show_condition(condition));
    Propositions { program, identifiers }.write(condition, true, false)?.ok_or_else(refused)
}

struct Propositions<'a> {
    program: &'a Program,
    identifiers: &'a Identifiers,
}

impl Propositions<'_> {
    /// The condition, or its opposite unless `holds`; `None` for one that has no text. A disjunction among `conjuncts`
    /// needs parentheses.
    fn write(&self, condition: &Condition, holds: bool, conjuncts: bool) -> Result<Option<String>, Inexpressible> {
        Ok(match condition {
            Expr::Const(value) => Some(constant((*value != 0) == holds)),
            Expr::Atom(Observable::At(thread, location)) => {
                self.at(thread.0, *location).map(|at| constant(at == holds))
            }
            Expr::Atom(atom) => self.compare(atom, 0, !holds),
            Expr::Unary(UnaryOp::Not, _, operand) => self.write(operand, !holds, conjuncts)?,
            Expr::Unary(UnaryOp::Neg, _, operand) => self.write(operand, holds, conjuncts)?,
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), _, left, right) => {
                // De Morgan: the opposite of a conjunction is a disjunction of opposites.
                let conjunction = (*op == BinaryOp::And) == holds;
                let symbol = if conjunction { "/\\" } else { "\\/" };
                let left = self.write(left, holds, conjunction)?;
                let right = self.write(right, holds, conjunction)?;
                left.zip(right).map(|(left, right)| {
                    let text = format!("{left} {symbol} {right}");
                    if conjuncts && !conjunction { format!("({text})") } else { text }
                })
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right) => {
                let equal = (*op == BinaryOp::Eq) == holds;
                match (&**left, &**right) {
                    (Expr::Const(left), Expr::Const(right)) => Some(constant((left == right) == equal)),
                    (Expr::Atom(atom), other) | (other, Expr::Atom(atom))
                        if !matches!(atom, Observable::At(..)) && !other.has_atoms() =>
                    {
                        match other.constant() {
                            Some(value) => self.compare(atom, int(value)?, equal),
                            None => None,
                        }
                    }
                    // `p@end == 1` and the like.
                    (condition, Expr::Const(value @ (0 | 1))) | (Expr::Const(value @ (0 | 1)), condition)
                        if is_truth(condition) =>
                    {
                        self.write(condition, (*value == 1) == equal, conjuncts)?
                    }
                    // On the right a cell's name would mean its address, so a register has to stand there.
                    (Expr::Atom(place), Expr::Atom(register @ Observable::Register(..)))
                    | (Expr::Atom(register @ Observable::Register(..)), Expr::Atom(place)) => {
                        let names = self.identifiers.observable(place).zip(self.identifiers.observable(register));
                        names.map(|(place, register)| negated(format!("{place}={register}"), equal))
                    }
                    _ => None,
                }
            }
            Expr::Binary(..) => None,
        })
    }

    fn compare(&self, atom: &Observable, value: i64, equal: bool) -> Option<String> {
        let name = self.identifiers.observable(atom)?;
        Some(negated(format!("{name}={value}"), equal))
    }

    /// In a final state a thread is at its end. Which one it is cannot be asked if there are several.
    fn at(&self, thread: usize, location: LocId) -> Option<bool> {
        let thread = &self.program.threads[thread];
        if !thread.is_end(location) {
            return Some(false);
        }
        let ends = (0..thread.locations.len()).filter(|&location| thread.is_end(LocId(location))).count();
        (ends == 1).then_some(true)
    }
}

/// Has no value but 0 and 1.
fn is_truth(condition: &Condition) -> bool {
    match condition {
        Expr::Atom(Observable::At(..)) | Expr::Unary(UnaryOp::Not, _, _) => true,
        Expr::Binary(op, ..) => op.is_truth(),
        _ => false,
    }
}

fn negated(text: String, equal: bool) -> String {
    if equal { text } else { format!("~({text})") }
}

fn constant(value: bool) -> String {
    value.to_string()
}
