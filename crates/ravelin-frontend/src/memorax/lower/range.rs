//! Which values an expression can take, from the domains of its registers alone: a warning needs no more, and neither does
//! the list of variables a pointer can mean.

use ravelin_program::{BinaryOp, Domain, Expr, RegId, Register, UnaryOp};

/// All integers between two bounds; `None` stands for no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRange {
    pub lo: Option<i128>,
    pub hi: Option<i128>,
}

impl IntegerRange {
    const ALL: IntegerRange = IntegerRange { lo: None, hi: None };

    pub fn of(domain: Domain) -> IntegerRange {
        match domain.is_full() {
            true => IntegerRange::ALL,
            false => IntegerRange { lo: Some(domain.lo.into()), hi: Some(domain.hi.into()) },
        }
    }

    pub fn within(self, other: IntegerRange) -> bool {
        let above = other.lo.is_none_or(|bound| self.lo.is_some_and(|lo| lo >= bound));
        above && other.hi.is_none_or(|bound| self.hi.is_some_and(|hi| hi <= bound))
    }

    /// Nothing is in both.
    pub fn is_apart_from(self, other: IntegerRange) -> bool {
        let below = |a: Option<i128>, b: Option<i128>| a.zip(b).is_some_and(|(a, b)| a < b);
        below(self.hi, other.lo) || below(other.hi, self.lo)
    }

    /// For messages: `3`, `1 to 3`, `any integer`.
    pub fn show(self) -> String {
        match (self.lo, self.hi) {
            (Some(lo), Some(hi)) if lo == hi => lo.to_string(),
            (Some(lo), Some(hi)) => format!("{lo} to {hi}"),
            (Some(lo), None) => format!("{lo} and more"),
            (None, Some(hi)) => format!("{hi} and less"),
            (None, None) => "any integer".to_owned(),
        }
    }
}

/// The range of an integer expression.
pub fn range(expr: &Expr, registers: &[Register]) -> IntegerRange {
    let add = |a: Option<i128>, b: Option<i128>| a.zip(b).map(|(a, b)| a.saturating_add(b));
    let negate = |range: IntegerRange| IntegerRange { lo: range.hi.map(|hi| -hi), hi: range.lo.map(|lo| -lo) };
    match expr {
        Expr::Const(value) => IntegerRange { lo: Some(i128::from(*value)), hi: Some(i128::from(*value)) },
        Expr::Atom(RegId(register)) => {
            registers.get(*register).map_or(IntegerRange::ALL, |found| IntegerRange::of(found.domain))
        }
        Expr::Unary(UnaryOp::Neg, _, operand) => negate(range(operand, registers)),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), _, left, right) => {
            let (left, mut right) = (range(left, registers), range(right, registers));
            if *op == BinaryOp::Sub {
                right = negate(right);
            }
            IntegerRange { lo: add(left.lo, right.lo), hi: add(left.hi, right.hi) }
        }
        _ => IntegerRange::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_program::{Escape, Span};

    #[test]
    fn ranges_follow_sums_and_differences() {
        let register = |lo, hi| Register {
            name: String::new(),
            domain: Domain::new(lo, hi, Escape::Block),
            initial: lo,
            hidden: false,
            notation: ravelin_program::Notation::Signed,
            span: Span::NOWHERE,
        };
        let registers = [register(0, 2), register(-1, 5)];
        let (r, s) = (Expr::Atom(RegId(0)), Expr::Atom(RegId(1)));
        let difference = range(&Expr::binary(BinaryOp::Sub, r.clone(), s), &registers);
        assert_eq!(difference, IntegerRange { lo: Some(-5), hi: Some(3) });
        let next = range(&Expr::binary(BinaryOp::Add, r, Expr::Const(1)), &registers);
        assert!(
            !next.within(IntegerRange::of(registers[0].domain))
                && !next.is_apart_from(IntegerRange::of(registers[0].domain))
        );
        assert!(IntegerRange::ALL.within(IntegerRange::ALL) && !IntegerRange::ALL.within(next));
    }
}
