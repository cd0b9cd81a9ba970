//! What is known of a value beyond its bits: that it is of a fixed-width integer type, or of an enum.
//!
//! Integers of `u8` to `u64` and `i8` to `i64` are computed as C's and Rust's atomics compute them: in their own type, and
//! those of `u64` without a sign. A range such as `0..5` says only which values there are, so it is no kind. Where the
//! operands of an operator have no kind, or not the same one, it computes with 64 bits.

use super::enums::EnumTypes;
use ravelin_program::{Arithmetic, BinaryOp, Domain, Escape, Notation, RmwOp, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The type's values. The operators wrap in it.
    Integer { lo: Value, hi: Value, unsigned: bool },
    /// By its number.
    Enum(usize),
}

impl Kind {
    pub const U64: Kind = Kind::Integer { lo: Value::MIN, hi: Value::MAX, unsigned: true };

    /// Of an integer type with this name.
    pub fn named(name: &str) -> Option<Kind> {
        let (lo, hi) = match name {
            "u8" => (0, 0xff),
            "u16" => (0, 0xffff),
            "u32" => (0, 0xffff_ffff),
            "u64" => return Some(Kind::U64),
            "i8" => (-0x80, 0x7f),
            "i16" => (-0x8000, 0x7fff),
            "i32" => (-0x8000_0000, 0x7fff_ffff),
            "i64" => (Value::MIN, Value::MAX),
            _ => return None,
        };
        Some(Kind::Integer { lo, hi, unsigned: false })
    }

    /// What the operators of values of this kind compute in, if it is not 64 bits.
    pub fn arithmetic(self) -> Option<Arithmetic> {
        match self {
            Kind::Integer { lo, hi, .. } => Some(Arithmetic::Wrapping(Domain::new(lo, hi, Escape::Wrap))),
            Kind::Enum(_) => None,
        }
    }

    pub fn is_unsigned(self) -> bool {
        matches!(self, Kind::Integer { unsigned: true, .. })
    }
}

/// The kind of what an operator with these operands computes with. A number in the text is of any kind.
pub fn joined(left: Option<Kind>, right: Option<Kind>) -> Option<Kind> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left).filter(|_| left == right),
        (kind, None) | (None, kind) => kind,
    }
}

/// How values of a kind are written for users.
pub fn notation(kind: Option<Kind>, enums: &EnumTypes<'_>) -> Notation {
    match kind {
        Some(Kind::Enum(number)) => Notation::Names(enums.types[number].names.clone()),
        Some(kind) if kind.is_unsigned() => Notation::Unsigned,
        _ => Notation::Signed,
    }
}

/// The operator that does to unsigned numbers what this one does to signed ones.
pub fn unsigned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Div => BinaryOp::UnsignedDiv,
        BinaryOp::Rem => BinaryOp::UnsignedRem,
        BinaryOp::Shr => BinaryOp::LogicalShr,
        BinaryOp::Lt => BinaryOp::UnsignedLt,
        BinaryOp::Le => BinaryOp::UnsignedLe,
        BinaryOp::Gt => BinaryOp::UnsignedGt,
        BinaryOp::Ge => BinaryOp::UnsignedGe,
        BinaryOp::Max => BinaryOp::UnsignedMax,
        BinaryOp::Min => BinaryOp::UnsignedMin,
        other => other,
    }
}

pub fn unsigned_rmw(op: RmwOp) -> RmwOp {
    match op {
        RmwOp::Max => RmwOp::UnsignedMax,
        RmwOp::Min => RmwOp::UnsignedMin,
        other => other,
    }
}
