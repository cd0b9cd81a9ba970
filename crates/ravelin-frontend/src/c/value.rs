//! Values during specialisation: known ones, and expressions over registers of the model for the others.
//!
//! An integer of `n` bits is kept sign-extended to 64, except that one bit is 0 or 1. All operations keep this form, so
//! equal values are equal numbers.

use super::objects::ObjectId;
use crate::ir::module::Type;
use ravelin_program::{Arithmetic, Domain, Escape, Expr, Value};

/// What is known of a value of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Datum {
    Int(Value),
    /// A byte of an object. A null pointer is `Int(0)`.
    Pointer(ObjectId, i64),
    /// Index of a function of the module.
    Function(usize),
    /// Computed from registers when the model runs.
    Computed(Expr),
    /// The elements of a struct or an array.
    Parts(Vec<Datum>),
    /// Never written, or the result of something undefined.
    Undefined,
    /// A float, or computed from one. It may be passed around, and never reaches memory or a decision.
    Opaque,
}

impl Datum {
    pub fn is_known(&self) -> bool {
        matches!(self, Datum::Int(_) | Datum::Pointer(..) | Datum::Function(_))
    }

    /// The register, if the value is just that.
    pub fn computed(expr: Expr) -> Datum {
        match expr {
            Expr::Const(value) => Datum::Int(value),
            expr => Datum::Computed(expr),
        }
    }
}

/// An exact result as a value of `bits` bits.
pub(super) fn canonical(bits: u32, exact: i128) -> Value {
    match bits {
        1 => (exact & 1) as Value,
        64.. => exact as Value,
        _ => {
            let unused = 64 - bits;
            ((exact as i64) << unused) >> unused
        }
    }
}

/// The bits of a value, read as a number without sign.
pub(super) fn unsigned(bits: u32, value: Value) -> u64 {
    if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) }
}

/// The values of an integer of `bits` bits.
pub(super) fn domain(bits: u32, escape: Escape) -> Domain {
    match bits {
        1 => Domain::new(0, 1, escape),
        64.. => Domain::new(Value::MIN, Value::MAX, escape),
        _ => Domain::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1, escape),
    }
}

/// Arithmetic of `bits` bits.
pub(super) fn wrapping(bits: u32) -> Arithmetic {
    Arithmetic::Wrapping(domain(bits, Escape::Wrap))
}

/// How many bits a value of this type has in a register; `None` if it is no integer or pointer.
pub(super) fn bits_of(ty: &Type) -> Option<u32> {
    match ty {
        Type::Int(bits) if *bits <= 64 => Some(*bits),
        Type::Pointer => Some(64),
        _ => None,
    }
}
