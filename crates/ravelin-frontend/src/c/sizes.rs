//! Accesses through pointers that are not known, and bytes that others access in other sizes.
//!
//! Such a pointer is one of the addresses that became values of the model, with an offset, or an index into an object. Where
//! one of them leads to a scalar of another size, the model asserts that the pointer is not this one: a scalar is one
//! cell, and has no parts.

use super::choices::runs;
use super::facts::Facts;
use super::objects::{ObjectId, Objects};
use super::specialise::{Specialiser, Step};
use super::value::Datum;
use crate::flow::Raw;
use ravelin_program::{BinaryOp, Expr, Instruction, Value};
use std::collections::BTreeSet;

/// Ranges of addresses that one access is compared with.
const MOST_COMPARED: usize = 32;

/// Where an address expression can lead: to an offset from some pointer, or from an address of its own, and any multiple of
/// a number further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AddressShape {
    offset: Value,
    pointers: u32,
    stride: u64,
}

impl AddressShape {
    fn of(expr: &Expr) -> AddressShape {
        let unknown = AddressShape { offset: 0, pointers: 1, stride: 1 };
        match expr {
            Expr::Const(offset) => AddressShape { offset: *offset, pointers: 0, stride: 0 },
            Expr::Atom(_) => AddressShape { offset: 0, pointers: 1, stride: 0 },
            Expr::Binary(BinaryOp::Add, _, left, right) => {
                let (left, right) = (AddressShape::of(left), AddressShape::of(right));
                let pointers = left.pointers + right.pointers;
                // One of two is an index.
                let stride = if pointers > 1 { 1 } else { common_divisor(left.stride, right.stride) };
                AddressShape { offset: left.offset.wrapping_add(right.offset), pointers, stride }
            }
            Expr::Binary(BinaryOp::Mul, _, _, by) => match **by {
                Expr::Const(by) if by != 0 => AddressShape { offset: 0, pointers: 0, stride: by.unsigned_abs() },
                _ => unknown,
            },
            Expr::Binary(BinaryOp::Shl, _, _, by) => match **by {
                Expr::Const(by @ 0..=62) => AddressShape { offset: 0, pointers: 0, stride: 1 << by },
                _ => unknown,
            },
            _ => unknown,
        }
    }

    /// From this start, the address can be reached.
    fn reaches(&self, start: Value, address: Value) -> bool {
        let distance = i128::from(address) - i128::from(start) - i128::from(self.offset);
        match self.stride {
            0 => distance == 0,
            stride => distance % i128::from(stride) == 0,
        }
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

impl Specialiser<'_, '_> {
    /// Asserts that an access through a pointer that is not known does not meet a scalar of another size.
    pub fn check_size(&mut self, pointer: &Datum, size: u32, at: Raw) -> Step<Raw> {
        let Datum::Computed(pointer) = pointer else { return Ok(at) };
        let shape = AddressShape::of(pointer);
        let mut met = BTreeSet::new();
        let mut starts = starts(shape, &self.world.objects, &self.world.facts);
        if size == 1 && shape.pointers == 1 {
            // The one may also be an index into an array of bytes.
            let bytes = AddressShape { pointers: 0, stride: 1, ..shape };
            starts.extend(self::starts(bytes, &self.world.objects, &self.world.facts));
        }
        for (shape, object, start) in starts {
            for (offset, length) in self.world.cells(object) {
                let first = self.world.objects.address(object, offset as i64);
                let addresses = first - Value::from(size) + 1..first + Value::from(length);
                let others = addresses.filter(|address| length != size || *address != first);
                met.extend(others.filter(|address| shape.reaches(start, *address)));
            }
        }
        let met = runs(&met);
        if met.len() > MOST_COMPARED {
            return Err(self.refuse(format!(
                "an access of {size} bytes through a pointer that is not known may meet bytes that are accessed in other sizes"
            )));
        }
        let span = self.span;
        let mut at = at;
        for (first, last) in met {
            let compared = |op, address| Expr::binary(op, pointer.clone(), Expr::Const(address));
            let elsewhere = match first == last {
                true => compared(BinaryOp::Ne, first),
                false => compared(BinaryOp::Lt, first).or(compared(BinaryOp::Gt, last)),
            };
            at = self.model()?.emit(at, Instruction::Assert(elsewhere), span);
        }
        Ok(at)
    }
}

/// The objects that an address leads to, and from where.
fn starts(shape: AddressShape, objects: &Objects, facts: &Facts) -> Vec<(AddressShape, ObjectId, Value)> {
    match shape.pointers {
        0 => {
            let contains = |id: &ObjectId| {
                let object = objects.get(*id);
                (object.address..=object.address + object.size as Value).contains(&shape.offset)
            };
            facts.shared().find(contains).map(|id| (shape, id, 0)).into_iter().collect()
        }
        _ => facts.pointers().map(|(object, offset)| (shape, object, objects.address(object, offset))).collect(),
    }
}
