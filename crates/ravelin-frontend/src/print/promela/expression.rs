//! Expressions in Promela, with what can go wrong while they are evaluated.
//!
//! SPIN computes with C's 32-bit `int`. Every term carries a range that its value cannot leave, so most arithmetic is
//! known to fit and is written as it is; where it may not fit, a check is noted that SPIN makes before it computes.
//! Checks are conditions over the state before the step, in the order of evaluation: each may rely on all earlier ones
//! having been false.

use ravelin_program::{Arithmetic, BinaryOp, Domain, Expr, Fault, UnaryOp, Value};

/// The largest number written; the smallest is its negative, so that no sign change overflows.
pub(super) const MOST: i128 = 2_147_483_647;

/// The values from `lo` to `hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub lo: i128,
    pub hi: i128,
}

impl Range {
    pub const BOOL: Range = Range { lo: 0, hi: 1 };
    pub const INT: Range = Range { lo: -MOST, hi: MOST };

    pub fn exactly(value: impl Into<i128>) -> Range {
        let value = value.into();
        Range { lo: value, hi: value }
    }

    pub fn of(domain: Domain) -> Range {
        Range { lo: domain.lo.into(), hi: domain.hi.into() }
    }

    pub fn within(self, other: Range) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }

    pub fn meets(self, other: Range) -> bool {
        self.lo <= other.hi && other.lo <= self.hi
    }

    pub fn join(self, other: Range) -> Range {
        Range { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// What is left of the range inside another. Where nothing is, no run gets there, and one value stands for all.
    pub fn clip(self, other: Range) -> Range {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Range { lo, hi } } else { Range::exactly(other.lo) }
    }

    fn hull(values: impl IntoIterator<Item = i128>) -> Range {
        let mut values = values.into_iter();
        let first = values.next().unwrap_or(0);
        values.fold(Range::exactly(first), |range, value| range.join(Range::exactly(value)))
    }

    fn corners(self, other: Range, op: impl Fn(i128, i128) -> i128) -> Range {
        Range::hull([op(self.lo, other.lo), op(self.lo, other.hi), op(self.hi, other.lo), op(self.hi, other.hi)])
    }

    fn magnitude(self) -> i128 {
        self.lo.abs().max(self.hi.abs())
    }
}

/// A Promela expression (a single operand: a name, a number or something in parentheses) and the range of its value.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub text: String,
    pub range: Range,
}

impl Term {
    /// A value known beforehand is written as a number.
    pub fn new(text: String, range: Range) -> Term {
        if range.lo == range.hi { Term::constant(range.lo) } else { Term { text, range } }
    }

    pub fn constant(value: impl Into<i128>) -> Term {
        let value = value.into();
        let text = if value < 0 { format!("({value})") } else { value.to_string() };
        Term { text, range: Range::exactly(value) }
    }

    pub fn known(&self) -> Option<i128> {
        (self.range.lo == self.range.hi).then_some(self.range.lo)
    }

    /// Where the value is outside a range, as a condition; `None` if it never is.
    pub fn outside(&self, range: Range) -> Option<String> {
        if !self.range.meets(range) {
            return Some("true".to_owned());
        }
        let below = (self.range.lo < range.lo).then(|| format!("{} < {}", self.text, range.lo));
        let above = (self.range.hi > range.hi).then(|| format!("{} > {}", self.text, range.hi));
        match (below, above) {
            (Some(below), Some(above)) => Some(format!("({below} || {above})")),
            (Some(one), None) | (None, Some(one)) => Some(format!("({one})")),
            (None, None) => None,
        }
    }
}

/// What stands in the way of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The step cannot be taken.
    Blocked,
    Fault,
    /// An assertion fails.
    Failure,
    /// A value is beyond SPIN's integers: no answer.
    TooWide,
}

/// A condition that is an obstacle where it holds.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub obstacle: Obstacle,
    pub when: String,
}

/// Compiles expressions one after the other and collects their checks.
#[derive(Default)]
pub(super) struct Compiler {
    pub checks: Vec<Check>,
}

impl Compiler {
    pub fn check(&mut self, obstacle: Obstacle, when: String) {
        self.checks.push(Check { obstacle, when });
    }

    /// Does something whose checks count only where a condition holds.
    pub fn only_if<T>(&mut self, condition: &str, run: impl FnOnce(&mut Compiler) -> T) -> T {
        let before = self.checks.len();
        let result = run(self);
        for check in &mut self.checks[before..] {
            check.when = format!("({condition} && {})", check.when);
        }
        result
    }

    pub fn term<A>(&mut self, expr: &Expr<A>, read: &mut impl FnMut(&A) -> Term) -> Term {
        match expr {
            Expr::Const(value) => Term::constant(*value),
            Expr::Atom(atom) => read(atom),
            Expr::Unary(UnaryOp::Not, _, operand) => {
                let operand = self.term(operand, read);
                Term::new(format!("({} == 0)", operand.text), Range::BOOL)
            }
            Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
                let operand = self.term(operand, read);
                let exact = Range { lo: -operand.range.hi, hi: -operand.range.lo };
                // Two minus signs in a row would be a decrement.
                self.settle(*arithmetic, format!("(0 - {})", operand.text), exact, || "false".to_owned())
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), _, left, right) => {
                let left = self.term(left, read);
                let (condition, sign) = match op {
                    BinaryOp::And => (format!("{} != 0", left.text), "&&"),
                    _ => (format!("{} == 0", left.text), "||"),
                };
                let right = self.only_if(&condition, |compiler| compiler.term(right, read));
                Term::new(format!("(({} != 0) {sign} ({} != 0))", left.text, right.text), Range::BOOL)
            }
            Expr::Binary(op, arithmetic, left, right) => {
                let left = self.term(left, read);
                let right = self.term(right, read);
                self.binary(*op, *arithmetic, &left, &right)
            }
        }
    }

    pub fn binary(&mut self, op: BinaryOp, arithmetic: Arithmetic, left: &Term, right: &Term) -> Term {
        if let (Some(a), Some(b)) = (left.known(), right.known())
            && let (Ok(a), Ok(b)) = (Value::try_from(a), Value::try_from(b))
        {
            match op.apply(arithmetic, a, b) {
                Ok(value) if Range::exactly(value).within(Range::INT) => return Term::constant(value),
                Ok(_) | Err(Fault::Overflow) => self.check(Obstacle::TooWide, "true".to_owned()),
                Err(_) => self.check(Obstacle::Fault, "true".to_owned()),
            }
            return Term::constant(0);
        }
        let (a, b) = (left.range, right.range);
        let (x, y) = (&left.text, &right.text);
        let text = format!("({x} {} {y})", op.symbol());
        match op {
            BinaryOp::Add => {
                let exact = Range { lo: a.lo + b.lo, hi: a.hi + b.hi };
                let wide = || format!("(({y} > 0 && {x} > {MOST} - {y}) || ({y} < 0 && {x} < (-{MOST}) - {y}))");
                self.settle(arithmetic, text, exact, wide)
            }
            BinaryOp::Sub => {
                let exact = Range { lo: a.lo - b.hi, hi: a.hi - b.lo };
                let wide = || format!("(({y} < 0 && {x} > {MOST} + {y}) || ({y} > 0 && {x} < (-{MOST}) + {y}))");
                self.settle(arithmetic, text, exact, wide)
            }
            BinaryOp::Mul => {
                let exact = a.corners(b, |a, b| a * b);
                let wide = || {
                    format!(
                        "(({x} > 0 && ({y} > {MOST} / {x} || {y} < (-{MOST}) / {x})) || ({x} < 0 && (({y} > 0 && {x} \
                         < (-{MOST}) / {y}) || ({y} < 0 && {x} < {MOST} / {y}))))"
                    )
                };
                self.settle(arithmetic, text, exact, wide)
            }
            BinaryOp::Div | BinaryOp::Rem => {
                if b.meets(Range::exactly(0)) {
                    self.check(Obstacle::Fault, format!("({y} == 0)"));
                }
                let most =
                    if op == BinaryOp::Div { a.magnitude() } else { a.magnitude().min((b.magnitude() - 1).max(0)) };
                let negative = if op == BinaryOp::Div { a.lo < 0 || b.lo < 0 } else { a.lo < 0 };
                let positive = op == BinaryOp::Div || a.hi > 0;
                let exact = Range { lo: if negative { -most } else { 0 }, hi: if positive { most } else { 0 } };
                self.settle(arithmetic, text, exact, || "false".to_owned())
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let bits = 128 - a.magnitude().max(b.magnitude()).leading_zeros();
                let hi = (1i128 << bits) - 1;
                let lo = if a.lo < 0 || b.lo < 0 { -hi - 1 } else { 0 };
                // Of two's complement numbers of at most 31 bits these have at most 31 bits.
                self.settle(arithmetic, text, Range { lo, hi }.clip(Range { lo: -MOST - 1, hi: MOST }), || {
                    format!("({text} < (-{MOST}))", text = format_args!("({x} {} {y})", op.symbol()))
                })
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                if let Some(outside) = right.outside(Range { lo: 0, hi: 63 }) {
                    self.check(Obstacle::Fault, outside);
                }
                let by = b.clip(Range { lo: 0, hi: 63 });
                if op == BinaryOp::Shl {
                    let exact = a.corners(by, |a, b| a << b);
                    let wide =
                        || format!("({x} != 0 && ({y} > 30 || {x} > ({MOST} >> {y}) || {x} < (-({MOST} >> {y}))))");
                    return self.settle(arithmetic, text, exact, wide);
                }
                // C leaves shifts by 32 and more open.
                let text = if by.hi > 31 { format!("({y} > 31 -> 0 - ({x} < 0) : {x} >> {y})") } else { text };
                self.settle(arithmetic, text, a.corners(by, |a, b| a >> b), || "false".to_owned())
            }
            _ => Term::new(text, Range::BOOL),
        }
    }

    /// Brings an exact result, of which SPIN must not compute more than fits, back to a value.
    fn settle(&mut self, arithmetic: Arithmetic, text: String, exact: Range, wide: impl FnOnce() -> String) -> Term {
        if !exact.within(Range::INT) {
            self.check(Obstacle::TooWide, wide());
        }
        let term = Term::new(text, exact.clip(Range::INT));
        match arithmetic {
            Arithmetic::Checked => term,
            Arithmetic::Wrapping(domain) => self.wrap(term, domain),
        }
    }

    /// The value congruent to a term in a domain.
    pub fn wrap(&mut self, term: Term, domain: Domain) -> Term {
        let range = Range::of(domain);
        if term.range.within(range) {
            return term;
        }
        let size = range.hi - range.lo + 1;
        let offset = Range { lo: term.range.lo - range.lo, hi: term.range.hi - range.lo };
        if !range.within(Range::INT) || size > MOST / 2 || !offset.within(Range { lo: -MOST / 2, hi: MOST / 2 }) {
            // The arithmetic of wrapping would itself overflow.
            if let Some(outside) = term.outside(range.clip(Range::INT)) {
                self.check(Obstacle::TooWide, outside);
            }
            return Term::new(term.text.clone(), term.range.clip(range.clip(Range::INT)));
        }
        if let Some(value) = term.known().and_then(|value| Value::try_from(value).ok()) {
            return Term::constant(domain.wrap(value.into()));
        }
        Term::new(format!("WRAP({}, {}, {size})", term.text, range.lo), range)
    }
}
