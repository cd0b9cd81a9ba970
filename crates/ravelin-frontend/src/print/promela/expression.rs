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
pub(super) struct TermRange {
    pub lo: i128,
    pub hi: i128,
}

impl TermRange {
    pub const BOOL: TermRange = TermRange { lo: 0, hi: 1 };
    pub const INT: TermRange = TermRange { lo: -MOST, hi: MOST };

    pub fn exactly(value: impl Into<i128>) -> TermRange {
        let value = value.into();
        TermRange { lo: value, hi: value }
    }

    pub fn of(domain: Domain) -> TermRange {
        TermRange { lo: domain.lo.into(), hi: domain.hi.into() }
    }

    pub fn within(self, other: TermRange) -> bool {
        other.lo <= self.lo && self.hi <= other.hi
    }

    pub fn meets(self, other: TermRange) -> bool {
        self.lo <= other.hi && other.lo <= self.hi
    }

    pub fn join(self, other: TermRange) -> TermRange {
        TermRange { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// What is left of the range inside another. Where nothing is, no run gets there, and one value stands for all.
    pub fn clip(self, other: TermRange) -> TermRange {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { TermRange { lo, hi } } else { TermRange::exactly(other.lo) }
    }

    fn hull(values: impl IntoIterator<Item = i128>) -> TermRange {
        let mut values = values.into_iter();
        let first = values.next().unwrap_or(0);
        values.fold(TermRange::exactly(first), |range, value| range.join(TermRange::exactly(value)))
    }

    fn corners(self, other: TermRange, op: impl Fn(i128, i128) -> i128) -> TermRange {
        TermRange::hull([op(self.lo, other.lo), op(self.lo, other.hi), op(self.hi, other.lo), op(self.hi, other.hi)])
    }

    fn magnitude(self) -> i128 {
        self.lo.abs().max(self.hi.abs())
    }
}

/// A Promela expression (a single operand: a name, a number or something in parentheses) and the range of its value.
#[derive(Clone, Debug)]
pub(super) struct PromelaTerm {
    pub text: String,
    pub range: TermRange,
}

impl PromelaTerm {
    /// A value known beforehand is written as a number.
    pub fn new(text: String, range: TermRange) -> PromelaTerm {
        if range.lo == range.hi { PromelaTerm::constant(range.lo) } else { PromelaTerm { text, range } }
    }

    pub fn constant(value: impl Into<i128>) -> PromelaTerm {
        let value = value.into();
        let text = if value < 0 { format!("({value})") } else { value.to_string() };
        PromelaTerm { text, range: TermRange::exactly(value) }
    }

    pub fn known(&self) -> Option<i128> {
        (self.range.lo == self.range.hi).then_some(self.range.lo)
    }

    /// Where the value is outside a range, as a condition; `None` if it never is.
    pub fn outside(&self, range: TermRange) -> Option<String> {
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
pub(super) struct ObstacleCheck {
    pub obstacle: Obstacle,
    pub when: String,
}

/// Compiles expressions one after the other and collects their checks.
#[derive(Default)]
pub(super) struct Compiler {
    pub checks: Vec<ObstacleCheck>,
}

impl Compiler {
    pub fn check(&mut self, obstacle: Obstacle, when: String) {
        self.checks.push(ObstacleCheck { obstacle, when });
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

    pub fn term<A>(&mut self, expr: &Expr<A>, read: &mut impl FnMut(&A) -> PromelaTerm) -> PromelaTerm {
        match expr {
            Expr::Const(value) => PromelaTerm::constant(*value),
            Expr::Atom(atom) => read(atom),
            Expr::Unary(UnaryOp::Not, _, operand) => {
                let operand = self.term(operand, read);
                PromelaTerm::new(format!("({} == 0)", operand.text), TermRange::BOOL)
            }
            Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
                let operand = self.term(operand, read);
                let exact = TermRange { lo: -operand.range.hi, hi: -operand.range.lo };
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
                PromelaTerm::new(format!("(({} != 0) {sign} ({} != 0))", left.text, right.text), TermRange::BOOL)
            }
            Expr::Binary(op, arithmetic, left, right) => {
                let left = self.term(left, read);
                let right = self.term(right, read);
                self.binary(*op, *arithmetic, &left, &right)
            }
        }
    }

    pub fn binary(
        &mut self,
        op: BinaryOp,
        arithmetic: Arithmetic,
        left: &PromelaTerm,
        right: &PromelaTerm,
    ) -> PromelaTerm {
        if let (Some(a), Some(b)) = (left.known(), right.known())
            && let (Ok(a), Ok(b)) = (Value::try_from(a), Value::try_from(b))
        {
            match op.apply(arithmetic, a, b) {
                Ok(value) if TermRange::exactly(value).within(TermRange::INT) => return PromelaTerm::constant(value),
                Ok(_) | Err(Fault::Overflow) => self.check(Obstacle::TooWide, "true".to_owned()),
                Err(_) => self.check(Obstacle::Fault, "true".to_owned()),
            }
            return PromelaTerm::constant(0);
        }
        let (a, b) = (left.range, right.range);
        let (x, y) = (&left.text, &right.text);
        let text = format!("({x} {} {y})", op.symbol());
        match op {
            BinaryOp::Add => {
                let exact = TermRange { lo: a.lo + b.lo, hi: a.hi + b.hi };
                let wide = || format!("(({y} > 0 && {x} > {MOST} - {y}) || ({y} < 0 && {x} < (-{MOST}) - {y}))");
                self.settle(arithmetic, text, exact, wide)
            }
            BinaryOp::Sub => {
                let exact = TermRange { lo: a.lo - b.hi, hi: a.hi - b.lo };
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
                if b.meets(TermRange::exactly(0)) {
                    self.check(Obstacle::Fault, format!("({y} == 0)"));
                }
                let most =
                    if op == BinaryOp::Div { a.magnitude() } else { a.magnitude().min((b.magnitude() - 1).max(0)) };
                let negative = if op == BinaryOp::Div { a.lo < 0 || b.lo < 0 } else { a.lo < 0 };
                let positive = op == BinaryOp::Div || a.hi > 0;
                let exact = TermRange { lo: if negative { -most } else { 0 }, hi: if positive { most } else { 0 } };
                self.settle(arithmetic, text, exact, || "false".to_owned())
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let bits = 128 - a.magnitude().max(b.magnitude()).leading_zeros();
                let hi = (1i128 << bits) - 1;
                let lo = if a.lo < 0 || b.lo < 0 { -hi - 1 } else { 0 };
                // Of two's complement numbers of at most 31 bits these have at most 31 bits.
                self.settle(arithmetic, text, TermRange { lo, hi }.clip(TermRange { lo: -MOST - 1, hi: MOST }), || {
                    format!("({text} < (-{MOST}))", text = format_args!("({x} {} {y})", op.symbol()))
                })
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                if let Some(outside) = right.outside(TermRange { lo: 0, hi: 63 }) {
                    self.check(Obstacle::Fault, outside);
                }
                let by = b.clip(TermRange { lo: 0, hi: 63 });
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
            _ if op.is_call() => self.call(op, arithmetic, left, right),
            _ => PromelaTerm::new(text, TermRange::BOOL),
        }
    }

    /// An operator that `.rav` writes as a call. Operands have 32 bits, and are extended by their sign before they count as unsigned.
    fn call(&mut self, op: BinaryOp, arithmetic: Arithmetic, left: &PromelaTerm, right: &PromelaTerm) -> PromelaTerm {
        let (a, b) = (left.range, right.range);
        let (x, y) = (&left.text, &right.text);
        let below = |x: &str, y: &str| format!("((({x} < 0) != ({y} < 0)) -> ({y} < 0) : ({x} < {y}))");
        let never = || "false".to_owned();
        let either = TermRange { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) };
        let any = TermRange { lo: -MOST, hi: MOST };
        match op {
            BinaryOp::UnsignedLt => PromelaTerm::new(below(x, y), TermRange::BOOL),
            BinaryOp::UnsignedGt => PromelaTerm::new(below(y, x), TermRange::BOOL),
            BinaryOp::UnsignedLe => PromelaTerm::new(format!("({} == 0)", below(y, x)), TermRange::BOOL),
            BinaryOp::UnsignedGe => PromelaTerm::new(format!("({} == 0)", below(x, y)), TermRange::BOOL),
            BinaryOp::Max => PromelaTerm::new(format!("({x} > {y} -> {x} : {y})"), either),
            BinaryOp::Min => PromelaTerm::new(format!("({x} < {y} -> {x} : {y})"), either),
            BinaryOp::UnsignedMax => PromelaTerm::new(format!("({} -> {y} : {x})", below(x, y)), either),
            BinaryOp::UnsignedMin => PromelaTerm::new(format!("({} -> {x} : {y})", below(x, y)), either),
            BinaryOp::Nand => {
                let bits = 128 - a.magnitude().max(b.magnitude()).leading_zeros();
                let widest = TermRange { lo: -(1i128 << bits), hi: 1i128 << bits };
                let text = format!("(-1 - ({x} & {y}))");
                self.settle(arithmetic, text, widest.clip(any), never)
            }
            BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem => {
                if b.meets(TermRange::exactly(0)) {
                    self.check(Obstacle::Fault, format!("({y} == 0)"));
                }
                if a.lo < 0 {
                    let few = if op == BinaryOp::UnsignedDiv { 1 } else { 0 };
                    self.check(Obstacle::TooWide, format!("({x} < 0 && {y} > {few})"));
                }
                let text = match op {
                    _ if a.lo >= 0 && b.lo >= 0 => {
                        format!("({x} {} {y})", if op == BinaryOp::UnsignedDiv { "/" } else { "%" })
                    }
                    // Nothing but other negative numbers is as large as a negative one.
                    BinaryOp::UnsignedDiv => {
                        format!("({y} < 0 -> ({} == 0) : ({x} < 0 -> {x} : ({x} / {y})))", below(x, y))
                    }
                    _ => format!("({y} < 0 -> ({} -> {x} : ({x} - {y})) : ({x} % {y}))", below(x, y)),
                };
                let exact = if a.lo >= 0 { TermRange { lo: 0, hi: a.hi.max(1) } } else { any };
                self.settle(arithmetic, text, exact, never)
            }
            _ => {
                if let Some(outside) = right.outside(TermRange { lo: 0, hi: 63 }) {
                    self.check(Obstacle::Fault, outside);
                }
                let shifted = format!("({y} > 31 -> 0 : {x} >> {y})");
                if a.lo >= 0 {
                    return self.settle(arithmetic, shifted, TermRange { lo: 0, hi: a.hi }, never);
                }
                self.check(Obstacle::TooWide, format!("({x} < 0 && {y} > 0 && {y} < 33)"));
                let text = format!("({x} < 0 -> ({y} == 0 -> {x} : ({MOST} >> ({y} - 33))) : {shifted})");
                self.settle(arithmetic, text, any, never)
            }
        }
    }

    /// Brings an exact result, of which SPIN must not compute more than fits, back to a value.
    fn settle(
        &mut self,
        arithmetic: Arithmetic,
        text: String,
        exact: TermRange,
        wide: impl FnOnce() -> String,
    ) -> PromelaTerm {
        if !exact.within(TermRange::INT) {
            self.check(Obstacle::TooWide, wide());
        }
        let term = PromelaTerm::new(text, exact.clip(TermRange::INT));
        match arithmetic {
            Arithmetic::Checked => term,
            Arithmetic::Wrapping(domain) => self.wrap(term, domain),
        }
    }

    /// The value congruent to a term in a domain.
    pub fn wrap(&mut self, term: PromelaTerm, domain: Domain) -> PromelaTerm {
        let range = TermRange::of(domain);
        if term.range.within(range) {
            return term;
        }
        let size = range.hi - range.lo + 1;
        let offset = TermRange { lo: term.range.lo - range.lo, hi: term.range.hi - range.lo };
        if !range.within(TermRange::INT) || size > MOST / 2 || !offset.within(TermRange { lo: -MOST / 2, hi: MOST / 2 })
        {
            // The arithmetic of wrapping would itself overflow.
            if let Some(outside) = term.outside(range.clip(TermRange::INT)) {
                self.check(Obstacle::TooWide, outside);
            }
            return PromelaTerm::new(term.text.clone(), term.range.clip(range.clip(TermRange::INT)));
        }
        if let Some(value) = term.known().and_then(|value| Value::try_from(value).ok()) {
            return PromelaTerm::constant(domain.wrap(value.into()));
        }
        PromelaTerm::new(format!("WRAP({}, {}, {size})", term.text, range.lo), range)
    }
}
