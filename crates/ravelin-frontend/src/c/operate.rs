//! Arithmetic, comparisons and casts on values that may be known.
//!
//! Results of known operands are computed here. For the others an expression is built that gives the same result for every
//! value of the registers: operators of the model compute exactly or wrap to the width, and unsigned ones first take
//! their operands as numbers without sign.

use super::value::{Datum, canonical, unsigned, wrapping};
use crate::ir::module::{BinaryOperator, Predicate};
use ravelin_program::{Arithmetic, BinaryOp, Expr, RegId, UnaryOp, Value};

/// Why an operation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoResult {
    /// The program does something undefined: what it is.
    Undefined(&'static str),
    /// It cannot be expressed.
    Refused(String),
}

/// What operations need to know about their surroundings.
pub(super) struct Operands<'a> {
    /// The address of a known pointer.
    pub address: &'a dyn Fn(&Datum) -> Option<Value>,
    /// How many bits the values of a register have.
    pub bits: &'a dyn Fn(RegId) -> u32,
}

impl Operands<'_> {
    pub fn binary(&self, op: BinaryOperator, bits: u32, left: &Datum, right: &Datum) -> Result<Datum, NoResult> {
        match (op, left, right) {
            (_, Datum::Opaque, _) | (_, _, Datum::Opaque) => return Ok(Datum::Opaque),
            (_, Datum::Undefined, _) | (_, _, Datum::Undefined) => return Ok(Datum::Undefined),
            (BinaryOperator::Add, Datum::Pointer(object, offset), Datum::Int(by))
            | (BinaryOperator::Add, Datum::Int(by), Datum::Pointer(object, offset)) => {
                return Ok(Datum::Pointer(*object, offset.wrapping_add(*by)));
            }
            (BinaryOperator::Sub, Datum::Pointer(object, offset), Datum::Int(by)) => {
                return Ok(Datum::Pointer(*object, offset.wrapping_sub(*by)));
            }
            (BinaryOperator::Sub, Datum::Pointer(a, from), Datum::Pointer(b, to)) if a == b => {
                return Ok(Datum::Int(from.wrapping_sub(*to)));
            }
            _ => {}
        }
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        if let (Expr::Const(a), Expr::Const(b)) = (&left, &right) {
            return compute(op, bits, *a, *b).map(Datum::Int);
        }
        Ok(Datum::computed(self.binary_expr(op, bits, left, right)?))
    }

    fn binary_expr(&self, op: BinaryOperator, bits: u32, left: Expr, right: Expr) -> Result<Expr, NoResult> {
        let wrap = wrapping(bits);
        let exact = Arithmetic::Checked;
        Ok(match op {
            BinaryOperator::Add => sum(wrap, left, right),
            BinaryOperator::Sub => match right {
                Expr::Const(by) if by != Value::MIN => sum(wrap, left, Expr::Const(canonical(bits, -i128::from(by)))),
                right => Expr::binary_in(wrap, BinaryOp::Sub, left, right),
            },
            BinaryOperator::Mul => match (&left, &right) {
                (_, Expr::Const(1)) => left,
                (Expr::Const(1), _) => right,
                _ => Expr::binary_in(wrap, BinaryOp::Mul, left, right),
            },
            BinaryOperator::SignedDiv => Expr::binary_in(wrap, BinaryOp::Div, left, right),
            BinaryOperator::SignedRem => Expr::binary_in(wrap, BinaryOp::Rem, left, right),
            BinaryOperator::UnsignedDiv | BinaryOperator::UnsignedRem => {
                let remainder = op == BinaryOperator::UnsignedRem;
                if let Expr::Const(divisor) = right
                    && unsigned(bits, divisor).is_power_of_two()
                {
                    let divisor = unsigned(bits, divisor);
                    return if remainder {
                        Ok(Expr::binary_in(exact, BinaryOp::BitAnd, left, Expr::Const((divisor - 1) as Value)))
                    } else {
                        self.binary_expr(
                            BinaryOperator::LogicalShiftRight,
                            bits,
                            left,
                            Expr::Const(divisor.trailing_zeros().into()),
                        )
                    };
                }
                if bits >= 64 {
                    let op = if remainder { BinaryOp::UnsignedRem } else { BinaryOp::UnsignedDiv };
                    return Ok(Expr::binary(op, left, right));
                }
                let op = if remainder { BinaryOp::Rem } else { BinaryOp::Div };
                let exact = Expr::binary(op, self.without_sign(bits, left), self.without_sign(bits, right));
                sum(wrap, exact, Expr::Const(0))
            }
            BinaryOperator::ShiftLeft => Expr::binary_in(wrap, BinaryOp::Shl, left, in_range(bits, right)?),
            BinaryOperator::ArithmeticShiftRight => Expr::binary_in(exact, BinaryOp::Shr, left, in_range(bits, right)?),
            BinaryOperator::LogicalShiftRight => match in_range(bits, right)? {
                Expr::Const(0) => left,
                by if bits >= 64 => Expr::binary(BinaryOp::LogicalShr, left, by),
                by => {
                    let shifted = Expr::binary_in(exact, BinaryOp::Shr, self.without_sign(bits, left), by.clone());
                    match by {
                        // At least one bit is gone, so the sign bit is 0.
                        Expr::Const(_) => shifted,
                        _ => sum(wrap, shifted, Expr::Const(0)),
                    }
                }
            },
            BinaryOperator::And => match (&left, &right) {
                (_, Expr::Const(-1)) => left,
                (Expr::Const(-1), _) => right,
                (_, Expr::Const(0)) | (Expr::Const(0), _) => Expr::Const(0),
                (_, Expr::Const(1)) if self.is_boolean(&left) => left,
                (Expr::Const(1), _) if self.is_boolean(&right) => right,
                _ if self.is_boolean(&left) && self.is_boolean(&right) => left.and(right),
                _ => Expr::binary_in(exact, BinaryOp::BitAnd, left, right),
            },
            BinaryOperator::Or => match (&left, &right) {
                (_, Expr::Const(0)) => left,
                (Expr::Const(0), _) => right,
                _ if self.is_boolean(&left) && self.is_boolean(&right) => left.or(right),
                _ => Expr::binary_in(exact, BinaryOp::BitOr, left, right),
            },
            BinaryOperator::Xor => match (&left, &right) {
                (_, Expr::Const(0)) => left,
                (Expr::Const(0), _) => right,
                (_, Expr::Const(1)) if self.is_boolean(&left) => negated(left),
                (Expr::Const(1), _) if self.is_boolean(&right) => negated(right),
                _ => Expr::binary_in(exact, BinaryOp::BitXor, left, right),
            },
        })
    }

    pub fn compare(&self, predicate: Predicate, bits: u32, left: &Datum, right: &Datum) -> Result<Datum, NoResult> {
        match (left, right) {
            (Datum::Opaque, _) | (_, Datum::Opaque) => return Ok(Datum::Opaque),
            (Datum::Undefined, _) | (_, Datum::Undefined) => return Ok(Datum::Undefined),
            (Datum::Function(_), Datum::Int(0)) | (Datum::Int(0), Datum::Function(_)) => {
                return match predicate {
                    Predicate::Equal => Ok(Datum::Int(0)),
                    Predicate::NotEqual => Ok(Datum::Int(1)),
                    _ => Err(NoResult::Refused("an ordering of functions".to_owned())),
                };
            }
            (Datum::Function(a), Datum::Function(b)) => {
                return match predicate {
                    Predicate::Equal => Ok(Datum::Int((a == b).into())),
                    Predicate::NotEqual => Ok(Datum::Int((a != b).into())),
                    _ => Err(NoResult::Refused("an ordering of functions".to_owned())),
                };
            }
            _ => {}
        }
        let (left, right) = (self.expr(left)?, self.expr(right)?);
        if let (Expr::Const(a), Expr::Const(b)) = (&left, &right) {
            return Ok(Datum::Int(decide(predicate, bits, *a, *b).into()));
        }
        // Repeating the sign bit keeps the order of numbers without sign.
        let plain = never_negative(&left) && never_negative(&right);
        Ok(Datum::computed(match predicate {
            Predicate::Equal => self.equality(left, right, true),
            Predicate::NotEqual => self.equality(left, right, false),
            Predicate::SignedLess => Expr::binary(BinaryOp::Lt, left, right),
            Predicate::SignedLessEqual => Expr::binary(BinaryOp::Le, left, right),
            Predicate::SignedGreater => Expr::binary(BinaryOp::Gt, left, right),
            Predicate::SignedGreaterEqual => Expr::binary(BinaryOp::Ge, left, right),
            Predicate::UnsignedLess => {
                Expr::binary(if plain { BinaryOp::Lt } else { BinaryOp::UnsignedLt }, left, right)
            }
            Predicate::UnsignedLessEqual => {
                Expr::binary(if plain { BinaryOp::Le } else { BinaryOp::UnsignedLe }, left, right)
            }
            Predicate::UnsignedGreater => {
                Expr::binary(if plain { BinaryOp::Gt } else { BinaryOp::UnsignedGt }, left, right)
            }
            Predicate::UnsignedGreaterEqual => {
                Expr::binary(if plain { BinaryOp::Ge } else { BinaryOp::UnsignedGe }, left, right)
            }
        }))
    }

    /// `left == right`, or `left != right` if `wanted` is false.
    fn equality(&self, left: Expr, right: Expr, wanted: bool) -> Expr {
        let (left, right) = if matches!(left, Expr::Const(_)) { (right, left) } else { (left, right) };
        let (left, right) = self.with_signs(left, right);
        match right {
            Expr::Const(value @ (0 | 1)) if self.is_boolean(&left) => {
                if (value == 1) == wanted {
                    left
                } else {
                    negated(left)
                }
            }
            right => Expr::binary(if wanted { BinaryOp::Eq } else { BinaryOp::Ne }, left, right),
        }
    }

    /// Numbers without sign are equal if those with their signs are.
    fn with_signs(&self, left: Expr, right: Expr) -> (Expr, Expr) {
        let unmasked = |expr: &Expr| match expr {
            Expr::Binary(BinaryOp::BitAnd, _, inner, mask) => match **mask {
                Expr::Const(mask @ 1..) if (mask as u64 + 1).is_power_of_two() => {
                    let bits = (mask as u64 + 1).trailing_zeros();
                    (self.width(inner) <= bits).then(|| (bits, (**inner).clone()))
                }
                _ => None,
            },
            _ => None,
        };
        match (unmasked(&left), unmasked(&right), &right) {
            (Some((bits, inner)), _, Expr::Const(value)) if *value == unsigned(bits, *value) as Value => {
                (inner, Expr::Const(canonical(bits, (*value).into())))
            }
            (Some((a, first)), Some((b, second)), _) if a == b => (first, second),
            _ => (left, right),
        }
    }

    /// In how many bits, the sign included, the values of an expression are known to fit.
    fn width(&self, expr: &Expr) -> u32 {
        match expr {
            Expr::Const(value) => (1..64).find(|bits| canonical(*bits, (*value).into()) == *value).unwrap_or(64),
            Expr::Atom(register) => (self.bits)(*register),
            Expr::Binary(op, Arithmetic::Wrapping(own), ..) if op.computes() => {
                (1..64).find(|bits| wrapping(*bits) == Arithmetic::Wrapping(*own)).unwrap_or(64)
            }
            _ => 64,
        }
    }

    /// Keeps the lowest `to` bits of a value of `from` bits.
    pub fn truncate(&self, from: u32, to: u32, value: &Datum) -> Result<Datum, NoResult> {
        match value {
            Datum::Opaque | Datum::Undefined => return Ok(value.clone()),
            Datum::Pointer(..) | Datum::Function(_) if to >= from.min(64) => return Ok(value.clone()),
            _ => {}
        }
        Ok(match self.expr(value)? {
            Expr::Const(value) => Datum::Int(canonical(to, value.into())),
            expr if to >= from || self.is_boolean(&expr) => Datum::computed(expr),
            expr if to == 1 => Datum::computed(Expr::binary(BinaryOp::BitAnd, expr, Expr::Const(1))),
            expr => Datum::computed(sum(wrapping(to), expr, Expr::Const(0))),
        })
    }

    /// Widens a value of `from` bits to `to`, filling with zeros.
    pub fn zero_extend(&self, from: u32, to: u32, value: &Datum) -> Result<Datum, NoResult> {
        Ok(match value {
            Datum::Opaque | Datum::Undefined => value.clone(),
            Datum::Int(value) => Datum::Int(canonical(to, unsigned(from, *value).into())),
            value if from >= 64 => value.clone(),
            value => Datum::computed(self.without_sign(from, self.expr(value)?)),
        })
    }

    /// Widens a value of `from` bits, repeating its sign bit.
    pub fn sign_extend(&self, from: u32, value: &Datum) -> Result<Datum, NoResult> {
        Ok(match value {
            Datum::Opaque | Datum::Undefined => value.clone(),
            // One bit is kept as 0 or 1, and its sign bit is itself.
            value if from == 1 => match self.expr(value)? {
                Expr::Const(value) => Datum::Int(-value),
                expr => Datum::computed(Expr::unary(UnaryOp::Neg, expr)),
            },
            value => value.clone(),
        })
    }

    /// A condition as an expression that is 0 or 1.
    pub fn condition(&self, value: &Datum) -> Result<Expr, NoResult> {
        match value {
            Datum::Undefined => Err(NoResult::Undefined("a decision depends on a value that was never written")),
            Datum::Opaque => Err(NoResult::Refused("a decision that depends on floating point".to_owned())),
            value => self.expr(value),
        }
    }

    pub fn expr(&self, value: &Datum) -> Result<Expr, NoResult> {
        match value {
            Datum::Int(value) => Ok(Expr::Const(*value)),
            Datum::Computed(expr) => Ok(expr.clone()),
            Datum::Pointer(..) => (self.address)(value)
                .map(Expr::Const)
                .ok_or_else(|| NoResult::Refused("the address of an object that has none".to_owned())),
            Datum::Function(_) => (self.address)(value)
                .map(Expr::Const)
                .ok_or_else(|| NoResult::Refused("arithmetic on the address of a function".to_owned())),
            Datum::Parts(_) => Err(NoResult::Refused("arithmetic on a whole struct".to_owned())),
            Datum::Undefined => Err(NoResult::Undefined("a value that was never written is used")),
            Datum::Opaque => Err(NoResult::Refused("floating point".to_owned())),
        }
    }

    /// The value of `bits` bits as a number without sign.
    fn without_sign(&self, bits: u32, expr: Expr) -> Expr {
        match expr {
            Expr::Const(value) => Expr::Const(unsigned(bits, value) as Value),
            expr if bits >= 64 || self.is_boolean(&expr) || never_negative(&expr) => expr,
            expr => Expr::binary(BinaryOp::BitAnd, expr, Expr::Const(((1u64 << bits) - 1) as Value)),
        }
    }

    /// The expression is 0 or 1 whatever the registers hold.
    pub fn is_boolean(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Const(value) => matches!(value, 0 | 1),
            Expr::Atom(register) => (self.bits)(*register) == 1,
            Expr::Unary(op, _, _) => *op == UnaryOp::Not,
            Expr::Binary(BinaryOp::BitAnd, _, left, right) => {
                **right == Expr::Const(1) || **left == Expr::Const(1) || self.is_boolean(left) && self.is_boolean(right)
            }
            Expr::Binary(op, ..) => op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or),
        }
    }
}

/// The condition that holds exactly where this one, which is 0 or 1, does not.
pub(super) fn negated(condition: Expr) -> Expr {
    match condition {
        Expr::Const(value) => Expr::Const((value == 0).into()),
        Expr::Unary(UnaryOp::Not, _, inner) => *inner,
        condition => condition.opposite().unwrap_or_else(|| condition.not()),
    }
}

/// `left + right`, with constants added up at once.
pub(super) fn sum(arithmetic: Arithmetic, left: Expr, right: Expr) -> Expr {
    let (left, right) = if matches!(left, Expr::Const(_)) { (right, left) } else { (left, right) };
    match (left, right) {
        (Expr::Binary(BinaryOp::Add, inner, base, first), Expr::Const(second))
            if inner == arithmetic && matches!(*first, Expr::Const(_)) =>
        {
            let Expr::Const(first) = *first else { unreachable!("matched above") };
            match BinaryOp::Add.apply(arithmetic, first, second) {
                Ok(0) if arithmetic == Arithmetic::Checked => *base,
                Ok(both) => Expr::binary_in(arithmetic, BinaryOp::Add, *base, Expr::Const(both)),
                Err(_) => {
                    let left = Expr::binary_in(arithmetic, BinaryOp::Add, *base, Expr::Const(first));
                    Expr::binary_in(arithmetic, BinaryOp::Add, left, Expr::Const(second))
                }
            }
        }
        (left, Expr::Const(0)) if arithmetic == Arithmetic::Checked || settles(arithmetic, &left) => left,
        (left, right) => Expr::binary_in(arithmetic, BinaryOp::Add, left, right),
    }
}

/// The outermost operator computes in this arithmetic already.
fn settles(arithmetic: Arithmetic, expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(op, own, ..) if op.computes() && *own == arithmetic)
}

fn never_negative(expr: &Expr) -> bool {
    match expr {
        Expr::Const(value) => *value >= 0,
        Expr::Unary(op, ..) => *op == UnaryOp::Not,
        Expr::Binary(BinaryOp::BitAnd, _, left, right) => never_negative(left) || never_negative(right),
        Expr::Binary(op, ..) => !op.computes(),
        Expr::Atom(_) => false,
    }
}

/// The amount of a shift must be less than the width. One that is computed is left to the model, whose shifts by 64 or
/// more are faults.
fn in_range(bits: u32, amount: Expr) -> Result<Expr, NoResult> {
    match amount {
        Expr::Const(by) if !(0..i64::from(bits)).contains(&by) => Err(NoResult::Undefined("a shift by too many bits")),
        amount => Ok(amount),
    }
}

fn compute(op: BinaryOperator, bits: u32, a: Value, b: Value) -> Result<Value, NoResult> {
    let (x, y) = (i128::from(a), i128::from(b));
    let (p, q) = (i128::from(unsigned(bits, a)), i128::from(unsigned(bits, b)));
    let shift = |exact: fn(i128, u32) -> i128, from: i128| {
        if (0..i64::from(bits)).contains(&b) {
            Ok(exact(from, b as u32))
        } else {
            Err(NoResult::Undefined("a shift by too many bits"))
        }
    };
    let divisor = |divisor: i128| {
        if divisor == 0 { Err(NoResult::Undefined("a division by zero")) } else { Ok(divisor) }
    };
    let exact = match op {
        BinaryOperator::Add => x + y,
        BinaryOperator::Sub => x - y,
        BinaryOperator::Mul => x.wrapping_mul(y),
        BinaryOperator::SignedDiv => x / divisor(y)?,
        BinaryOperator::SignedRem => x % divisor(y)?,
        BinaryOperator::UnsignedDiv => p / divisor(q)?,
        BinaryOperator::UnsignedRem => p % divisor(q)?,
        BinaryOperator::ShiftLeft => shift(|value, by| value << by, x)?,
        BinaryOperator::LogicalShiftRight => shift(|value, by| value >> by, p)?,
        BinaryOperator::ArithmeticShiftRight => shift(|value, by| value >> by, x)?,
        BinaryOperator::And => x & y,
        BinaryOperator::Or => x | y,
        BinaryOperator::Xor => x ^ y,
    };
    Ok(canonical(bits, exact))
}

fn decide(predicate: Predicate, bits: u32, a: Value, b: Value) -> bool {
    let (p, q) = (unsigned(bits, a), unsigned(bits, b));
    match predicate {
        Predicate::Equal => a == b,
        Predicate::NotEqual => a != b,
        Predicate::UnsignedGreater => p > q,
        Predicate::UnsignedGreaterEqual => p >= q,
        Predicate::UnsignedLess => p < q,
        Predicate::UnsignedLessEqual => p <= q,
        Predicate::SignedGreater => a > b,
        Predicate::SignedGreaterEqual => a >= b,
        Predicate::SignedLess => a < b,
        Predicate::SignedLessEqual => a <= b,
    }
}
