//! Expressions: pure arithmetic over atoms.
//!
//! In a thread the atoms are its registers; in a goal they are what an observer sees ([`crate::Observable`]).
//! Comparison and logic give 0 or 1, any value except 0 is true, and `&&`, `||` evaluate their right side only if
//! needed. Unsigned operators take both operands for 64-bit patterns, as C does with `uint64_t`.
//!
//! Every operator has its own [`Arithmetic`]. Operations that a front end adds are computed with 64 bits even if the
//! operators of the source wrap. Examples are the sum of an array's address and an index, and the step of a loop's
//! counter.

use crate::{Arithmetic, Fault, RegId, Value};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr<A = RegId> {
    Const(Value),
    Atom(A),
    Unary(UnaryOp, Arithmetic, Box<Expr<A>>),
    Binary(BinaryOp, Arithmetic, Box<Expr<A>>, Box<Expr<A>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Neg,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    /// `/` on operands re-read as unsigned, and the result re-read as signed.
    UnsignedDiv,
    UnsignedRem,
    /// Shifts zeros in.
    LogicalShr,
    UnsignedLt,
    UnsignedLe,
    UnsignedGt,
    UnsignedGe,
    /// All bits of `a & b` inverted.
    Nand,
    Max,
    Min,
    UnsignedMax,
    UnsignedMin,
}

impl UnaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
        }
    }

    /// Whether its result depends on its [`Arithmetic`].
    pub fn computes(self) -> bool {
        self == UnaryOp::Neg
    }

    pub fn apply(self, arithmetic: Arithmetic, operand: Value) -> Result<Value, Fault> {
        match self {
            UnaryOp::Neg => arithmetic.settle(-i128::from(operand)),
            UnaryOp::Not => Ok(Value::from(operand == 0)),
        }
    }
}

impl BinaryOp {
    pub const ALL: [BinaryOp; 30] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::BitAnd,
        BinaryOp::BitOr,
        BinaryOp::BitXor,
        BinaryOp::Shl,
        BinaryOp::Shr,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::UnsignedDiv,
        BinaryOp::UnsignedRem,
        BinaryOp::LogicalShr,
        BinaryOp::UnsignedLt,
        BinaryOp::UnsignedLe,
        BinaryOp::UnsignedGt,
        BinaryOp::UnsignedGe,
        BinaryOp::Nand,
        BinaryOp::Max,
        BinaryOp::Min,
        BinaryOp::UnsignedMax,
        BinaryOp::UnsignedMin,
    ];

    /// What stands between its operands, or before them if it [`is_call`](BinaryOp::is_call).
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::UnsignedDiv => "udiv",
            BinaryOp::UnsignedRem => "urem",
            BinaryOp::LogicalShr => "lshr",
            BinaryOp::UnsignedLt => "ult",
            BinaryOp::UnsignedLe => "ule",
            BinaryOp::UnsignedGt => "ugt",
            BinaryOp::UnsignedGe => "uge",
            BinaryOp::Nand => "nand",
            BinaryOp::Max => "max",
            BinaryOp::Min => "min",
            BinaryOp::UnsignedMax => "umax",
            BinaryOp::UnsignedMin => "umin",
        }
    }

    /// Written as `udiv(a, b)` and not as `a / b`.
    pub fn is_call(self) -> bool {
        self.precedence() == CALL
    }

    /// How tightly the operator binds, as in Rust; larger is tighter. Calls bind tighter than all operators.
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 3,
            BinaryOp::BitOr => 4,
            BinaryOp::BitXor => 5,
            BinaryOp::BitAnd => 6,
            BinaryOp::Shl | BinaryOp::Shr => 7,
            BinaryOp::Add | BinaryOp::Sub => 8,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 9,
            BinaryOp::UnsignedDiv
            | BinaryOp::UnsignedRem
            | BinaryOp::LogicalShr
            | BinaryOp::UnsignedLt
            | BinaryOp::UnsignedLe
            | BinaryOp::UnsignedGt
            | BinaryOp::UnsignedGe
            | BinaryOp::Nand
            | BinaryOp::Max
            | BinaryOp::Min
            | BinaryOp::UnsignedMax
            | BinaryOp::UnsignedMin => CALL,
        }
    }

    /// The comparison that holds exactly where this one does not.
    pub fn opposite(self) -> Option<BinaryOp> {
        match self {
            BinaryOp::Eq => Some(BinaryOp::Ne),
            BinaryOp::Ne => Some(BinaryOp::Eq),
            BinaryOp::Lt => Some(BinaryOp::Ge),
            BinaryOp::Ge => Some(BinaryOp::Lt),
            BinaryOp::Gt => Some(BinaryOp::Le),
            BinaryOp::Le => Some(BinaryOp::Gt),
            BinaryOp::UnsignedLt => Some(BinaryOp::UnsignedGe),
            BinaryOp::UnsignedGe => Some(BinaryOp::UnsignedLt),
            BinaryOp::UnsignedGt => Some(BinaryOp::UnsignedLe),
            BinaryOp::UnsignedLe => Some(BinaryOp::UnsignedGt),
            _ => None,
        }
    }

    pub fn is_comparison(self) -> bool {
        self.opposite().is_some()
    }

    /// Its result is 0 or 1: a comparison or logic.
    pub fn is_truth(self) -> bool {
        self.is_comparison() || matches!(self, BinaryOp::And | BinaryOp::Or)
    }

    /// Its result is one of its operands.
    pub fn selects(self) -> bool {
        matches!(self, BinaryOp::Max | BinaryOp::Min | BinaryOp::UnsignedMax | BinaryOp::UnsignedMin)
    }

    /// Whether its result depends on its [`Arithmetic`]: it is neither a comparison nor logic, and does not select.
    pub fn computes(self) -> bool {
        !self.is_truth() && !self.selects()
    }

    /// Applies the operator to two values. Division rounds towards zero and the remainder has the dividend's sign,
    /// as in C and Rust.
    pub fn apply(self, arithmetic: Arithmetic, left: Value, right: Value) -> Result<Value, Fault> {
        let (a, b) = (i128::from(left), i128::from(right));
        match self {
            BinaryOp::Add => arithmetic.settle(a + b),
            BinaryOp::Sub => arithmetic.settle(a - b),
            BinaryOp::Mul => arithmetic.settle(a * b),
            BinaryOp::Div if b == 0 => Err(Fault::DivisionByZero),
            BinaryOp::Div => arithmetic.settle(a / b),
            BinaryOp::Rem if b == 0 => Err(Fault::DivisionByZero),
            BinaryOp::Rem => arithmetic.settle(a % b),
            BinaryOp::BitAnd => arithmetic.settle(a & b),
            BinaryOp::BitOr => arithmetic.settle(a | b),
            BinaryOp::BitXor => arithmetic.settle(a ^ b),
            BinaryOp::Shl | BinaryOp::Shr if !(0..64).contains(&right) => Err(Fault::BadShift(right)),
            BinaryOp::Shl => arithmetic.settle(a << b),
            BinaryOp::Shr => arithmetic.settle(a >> b),
            BinaryOp::Eq => Ok(Value::from(a == b)),
            BinaryOp::Ne => Ok(Value::from(a != b)),
            BinaryOp::Lt => Ok(Value::from(a < b)),
            BinaryOp::Le => Ok(Value::from(a <= b)),
            BinaryOp::Gt => Ok(Value::from(a > b)),
            BinaryOp::Ge => Ok(Value::from(a >= b)),
            BinaryOp::And => Ok(Value::from(a != 0 && b != 0)),
            BinaryOp::Or => Ok(Value::from(a != 0 || b != 0)),
            BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem if right == 0 => Err(Fault::DivisionByZero),
            BinaryOp::UnsignedDiv => arithmetic.settle(re_read(unsigned(left) / unsigned(right)).into()),
            BinaryOp::UnsignedRem => arithmetic.settle(re_read(unsigned(left) % unsigned(right)).into()),
            BinaryOp::LogicalShr if !(0..64).contains(&right) => Err(Fault::BadShift(right)),
            BinaryOp::LogicalShr => arithmetic.settle(re_read(unsigned(left) >> right).into()),
            BinaryOp::UnsignedLt => Ok(Value::from(unsigned(left) < unsigned(right))),
            BinaryOp::UnsignedLe => Ok(Value::from(unsigned(left) <= unsigned(right))),
            BinaryOp::UnsignedGt => Ok(Value::from(unsigned(left) > unsigned(right))),
            BinaryOp::UnsignedGe => Ok(Value::from(unsigned(left) >= unsigned(right))),
            BinaryOp::Nand => arithmetic.settle(!(a & b)),
            BinaryOp::Max => Ok(left.max(right)),
            BinaryOp::Min => Ok(left.min(right)),
            BinaryOp::UnsignedMax => Ok(re_read(unsigned(left).max(unsigned(right)))),
            BinaryOp::UnsignedMin => Ok(re_read(unsigned(left).min(unsigned(right)))),
        }
    }
}

/// Precedence of what is written as a call.
const CALL: u8 = 11;

/// The bits of a value as an unsigned number.
fn unsigned(value: Value) -> u64 {
    value.cast_unsigned()
}

/// The value with the bits of an unsigned number.
fn re_read(number: u64) -> Value {
    number.cast_signed()
}

impl<A> Expr<A> {
    pub fn atom(atom: impl Into<A>) -> Expr<A> {
        Expr::Atom(atom.into())
    }

    /// Computed with 64 bits; a result that does not fit is a fault.
    pub fn unary(op: UnaryOp, operand: Expr<A>) -> Expr<A> {
        Expr::unary_in(Arithmetic::Checked, op, operand)
    }

    /// Computed with 64 bits; a result that does not fit is a fault.
    pub fn binary(op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Expr<A> {
        Expr::binary_in(Arithmetic::Checked, op, left, right)
    }

    /// `op operand`, computed according to `arithmetic`. An operator whose result does not depend on it is always
    /// [`Arithmetic::Checked`], so that equal expressions are equal.
    pub fn unary_in(arithmetic: Arithmetic, op: UnaryOp, operand: Expr<A>) -> Expr<A> {
        let arithmetic = if op.computes() { arithmetic } else { Arithmetic::Checked };
        Expr::Unary(op, arithmetic, Box::new(operand))
    }

    /// `left op right`, as [`Expr::unary_in`].
    pub fn binary_in(arithmetic: Arithmetic, op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Expr<A> {
        let arithmetic = if op.computes() { arithmetic } else { Arithmetic::Checked };
        Expr::Binary(op, arithmetic, Box::new(left), Box::new(right))
    }

    /// Evaluates with `read` giving the value of each atom.
    pub fn eval(&self, read: &mut impl FnMut(&A) -> Value) -> Result<Value, Fault> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Atom(atom) => Ok(read(atom)),
            Expr::Unary(op, arithmetic, operand) => op.apply(*arithmetic, operand.eval(read)?),
            Expr::Binary(op, arithmetic, left, right) => {
                let left = left.eval(read)?;
                match op {
                    BinaryOp::And if left == 0 => Ok(0),
                    BinaryOp::Or if left != 0 => Ok(1),
                    _ => op.apply(*arithmetic, left, right.eval(read)?),
                }
            }
        }
    }

    /// The value of an expression without atoms, if it has one.
    pub fn constant(&self) -> Option<Value> {
        if self.has_atoms() {
            return None;
        }
        self.eval(&mut |_| 0).ok()
    }

    /// The condition that holds exactly where this comparison does not: `a != b` for `a == b`.
    pub fn opposite(&self) -> Option<Expr<A>>
    where
        A: Clone,
    {
        match self {
            Expr::Binary(op, arithmetic, left, right) => {
                Some(Expr::Binary(op.opposite()?, *arithmetic, left.clone(), right.clone()))
            }
            _ => None,
        }
    }

    /// The arithmetic of every operator that computes, outermost first.
    pub fn for_each_arithmetic(&self, visit: &mut impl FnMut(Arithmetic)) {
        match self {
            Expr::Const(_) | Expr::Atom(_) => {}
            Expr::Unary(op, arithmetic, operand) => {
                if op.computes() {
                    visit(*arithmetic);
                }
                operand.for_each_arithmetic(visit);
            }
            Expr::Binary(op, arithmetic, left, right) => {
                if op.computes() {
                    visit(*arithmetic);
                }
                left.for_each_arithmetic(visit);
                right.for_each_arithmetic(visit);
            }
        }
    }

    /// Sets the arithmetic of every operator.
    pub fn compute_in(&mut self, arithmetic: Arithmetic) {
        match self {
            Expr::Const(_) | Expr::Atom(_) => {}
            Expr::Unary(op, own, operand) => {
                if op.computes() {
                    *own = arithmetic;
                }
                operand.compute_in(arithmetic);
            }
            Expr::Binary(op, own, left, right) => {
                if op.computes() {
                    *own = arithmetic;
                }
                left.compute_in(arithmetic);
                right.compute_in(arithmetic);
            }
        }
    }

    pub fn has_atoms(&self) -> bool {
        let mut found = false;
        self.for_each_atom(&mut |_| found = true);
        found
    }

    pub fn for_each_atom(&self, visit: &mut impl FnMut(&A)) {
        match self {
            Expr::Const(_) => {}
            Expr::Atom(atom) => visit(atom),
            Expr::Unary(_, _, operand) => operand.for_each_atom(visit),
            Expr::Binary(_, _, left, right) => {
                left.for_each_atom(visit);
                right.for_each_atom(visit);
            }
        }
    }

    /// The same expression with every atom replaced.
    pub fn map_atoms<B>(&self, replace: &mut impl FnMut(&A) -> Expr<B>) -> Expr<B> {
        match self {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Atom(atom) => replace(atom),
            Expr::Unary(op, arithmetic, operand) => Expr::unary_in(*arithmetic, *op, operand.map_atoms(replace)),
            Expr::Binary(op, arithmetic, left, right) => {
                Expr::binary_in(*arithmetic, *op, left.map_atoms(replace), right.map_atoms(replace))
            }
        }
    }

    // Named like its siblings `and` and `or`; an operator would hide that it builds an expression.
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Expr<A> {
        Expr::unary(UnaryOp::Not, self)
    }

    pub fn eq(self, other: Expr<A>) -> Expr<A> {
        Expr::binary(BinaryOp::Eq, self, other)
    }

    pub fn and(self, other: Expr<A>) -> Expr<A> {
        Expr::binary(BinaryOp::And, self, other)
    }

    pub fn or(self, other: Expr<A>) -> Expr<A> {
        Expr::binary(BinaryOp::Or, self, other)
    }
}

impl From<RegId> for Expr<RegId> {
    fn from(register: RegId) -> Self {
        Expr::Atom(register)
    }
}

impl<A> From<Value> for Expr<A> {
    fn from(value: Value) -> Self {
        Expr::Const(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Domain, Escape};

    fn eval(expr: &Expr) -> Result<Value, Fault> {
        expr.eval(&mut |register| register.0 as Value)
    }

    #[test]
    fn arithmetic_is_exact_or_a_fault_or_wraps() {
        let max = Expr::Const(Value::MAX);
        assert_eq!(eval(&Expr::binary(BinaryOp::Add, max, 1.into())), Err(Fault::Overflow));
        let byte = Arithmetic::Wrapping(Domain::new(0, 254, Escape::Wrap));
        assert_eq!(eval(&Expr::binary_in(byte, BinaryOp::Sub, 0.into(), 1.into())), Ok(254));
        let least = Expr::binary(BinaryOp::Div, Value::MIN.into(), (-1).into());
        assert_eq!(eval(&least), Err(Fault::Overflow));
    }

    #[test]
    fn each_operator_computes_in_its_own_way() {
        let two_bits = Arithmetic::Wrapping(Domain::new(0, 3, Escape::Wrap));
        let index = Expr::binary_in(two_bits, BinaryOp::Add, 3.into(), 2.into());
        let address = Expr::binary(BinaryOp::Add, 5.into(), index.clone());
        assert_eq!(eval(&address), Ok(6));
        let negated = Expr::unary_in(two_bits, UnaryOp::Neg, Expr::binary(BinaryOp::Add, 4.into(), 1.into()));
        assert_eq!(eval(&negated), Ok(3));
        let mut seen = Vec::new();
        address.for_each_arithmetic(&mut |arithmetic| seen.push(arithmetic));
        assert_eq!(seen, [Arithmetic::Checked, two_bits]);
    }

    #[test]
    fn a_comparison_has_no_arithmetic_of_its_own() {
        let byte = Arithmetic::Wrapping(Domain::new(0, 255, Escape::Wrap));
        let equal = |arithmetic| Expr::<RegId>::binary_in(arithmetic, BinaryOp::Eq, 1.into(), 2.into());
        assert_eq!(equal(byte), equal(Arithmetic::Checked));
    }

    #[test]
    fn unsigned_operators_see_64_bits() {
        let of = |op, left: Value, right: Value| eval(&Expr::binary(op, left.into(), right.into()));
        for (op, left, right, result) in [
            (BinaryOp::UnsignedDiv, -1, 2, Value::MAX),
            (BinaryOp::UnsignedDiv, -1, 1, -1),
            (BinaryOp::UnsignedDiv, 7, -1, 0),
            (BinaryOp::UnsignedRem, -1, 10, 5),
            (BinaryOp::UnsignedRem, 7, -1, 7),
            (BinaryOp::LogicalShr, -1, 63, 1),
            (BinaryOp::LogicalShr, -1, 0, -1),
            (BinaryOp::UnsignedLt, 1, -1, 1),
            (BinaryOp::UnsignedLe, -1, -1, 1),
            (BinaryOp::UnsignedGt, Value::MIN, Value::MAX, 1),
            (BinaryOp::UnsignedGe, 0, -1, 0),
            (BinaryOp::Nand, 6, 3, -3),
            (BinaryOp::Max, -1, 1, 1),
            (BinaryOp::Min, -1, 1, -1),
            (BinaryOp::UnsignedMax, -1, 1, -1),
            (BinaryOp::UnsignedMin, -1, 1, 1),
        ] {
            assert_eq!(of(op, left, right), Ok(result), "{}({left}, {right})", op.symbol());
        }
        assert_eq!(of(BinaryOp::UnsignedDiv, 1, 0), Err(Fault::DivisionByZero));
        assert_eq!(of(BinaryOp::UnsignedRem, -1, 0), Err(Fault::DivisionByZero));
        assert_eq!(of(BinaryOp::LogicalShr, 1, 64), Err(Fault::BadShift(64)));
        let byte = Arithmetic::Wrapping(Domain::new(0, 255, Escape::Wrap));
        assert_eq!(eval(&Expr::binary_in(byte, BinaryOp::Nand, 6.into(), 3.into())), Ok(253));
    }

    #[test]
    fn logic_looks_right_only_if_needed() {
        let bad = Expr::binary(BinaryOp::Div, 1.into(), 0.into());
        assert_eq!(eval(&Expr::Const(0).and(bad.clone())), Ok(0));
        assert_eq!(eval(&Expr::Const(7).or(bad.clone())), Ok(1));
        assert_eq!(eval(&Expr::Const(1).and(bad)), Err(Fault::DivisionByZero));
    }

    #[test]
    fn constants_fold_only_without_atoms() {
        let three = Expr::binary(BinaryOp::Add, Expr::<RegId>::Const(1), 2.into());
        assert_eq!(three.constant(), Some(3));
        assert_eq!(Expr::Atom(RegId(0)).constant(), None);
    }
}
