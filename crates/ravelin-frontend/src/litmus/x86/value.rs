//! How values of each width are kept.
//!
//! A test that never computes with 64 bits has 32-bit arithmetic: 32-bit results then need no care. Otherwise arithmetic
//! has 64 bits, and results of narrower instructions are cut explicitly. Values of 32 and 64 bits are kept signed, as
//! litmus prints them; values of 8 and 16 bits unsigned.

use ravelin_program::{BinaryOp, Expr, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    Byte,
    Word,
    Long,
    Quad,
}

impl Width {
    pub fn bits(self) -> u32 {
        match self {
            Width::Byte => 8,
            Width::Word => 16,
            Width::Long => 32,
            Width::Quad => 64,
        }
    }

    /// All bits of a width below 64.
    pub fn mask(self) -> Value {
        match self {
            Width::Quad => -1,
            _ => (1 << self.bits()) - 1,
        }
    }

    pub fn is_narrow(self) -> bool {
        self < Width::Long
    }

    /// A constant as it is kept.
    pub fn canonical(self, value: Value) -> Value {
        match self {
            Width::Byte | Width::Word => value & self.mask(),
            Width::Long => Value::from(value as i32),
            Width::Quad => value,
        }
    }

    /// A result of arithmetic over kept values, as it is kept.
    pub fn cut(self, result: Expr, wide: bool) -> Expr {
        if let Some(constant) = constant(&result) {
            return Expr::Const(self.canonical(constant));
        }
        match self {
            Width::Byte | Width::Word => and(result, self.mask()),
            Width::Long if wide => sign(and(result, self.mask()), 1 << 31),
            Width::Long | Width::Quad => result,
        }
    }

    /// A kept value as the signed number that comparisons look at.
    pub fn signed(self, kept: Expr) -> Expr {
        match (self, constant(&kept)) {
            (Width::Byte, Some(constant)) => Expr::Const(Value::from(constant as i8)),
            (Width::Word, Some(constant)) => Expr::Const(Value::from(constant as i16)),
            (Width::Byte | Width::Word, None) => sign(kept, 1 << (self.bits() - 1)),
            _ => kept,
        }
    }
}

pub fn constant(expr: &Expr) -> Option<Value> {
    expr.constant()
}

/// `expr & mask`, computed at once where it is known.
pub fn and(expr: Expr, mask: Value) -> Expr {
    match constant(&expr) {
        Some(constant) => Expr::Const(constant & mask),
        None => Expr::binary(BinaryOp::BitAnd, expr, Expr::Const(mask)),
    }
}

/// Extends the sign bit of an unsigned number.
fn sign(unsigned: Expr, bit: Value) -> Expr {
    let flipped = Expr::binary(BinaryOp::BitXor, unsigned, Expr::Const(bit));
    Expr::binary(BinaryOp::Sub, flipped, Expr::Const(bit))
}
