//! Read-modify-writes: carried out while `main` is executed, steps of the model otherwise.

use super::access::{Target, order_of};
use super::objects::ObjectId;
use super::specialise::{Interrupt, Next, Specialiser, Step};
use super::state::State;
use super::value::{Datum, bits_of, canonical, wrapping};
use crate::flow::Raw;
use crate::ir::module::{LocalId, Operation, RmwOperator};
use ravelin_program::{Address, Expr, Instruction, RmwOp};

impl<'m> Specialiser<'_, 'm> {
    pub fn read_modify_write(
        &mut self,
        state: &mut State,
        result: Option<LocalId>,
        operation: &'m Operation,
        at: Raw,
    ) -> Step<Next> {
        let (pointer, ty) = match operation {
            Operation::CompareExchange { pointer, expected, .. } => (pointer, &expected.ty),
            Operation::ReadModifyWrite { pointer, operand, .. } => (pointer, &operand.ty),
            _ => return Err(self.refuse("an access of an unknown kind".to_owned())),
        };
        let size = self.access_size(ty)?;
        let Some(bits) = bits_of(ty) else {
            return Err(self.refuse("a read-modify-write of something that is no integer or pointer".to_owned()));
        };
        let pointer = self.operand(state, pointer)?;
        self.learn_type(&pointer, ty);
        match self.locate(state, &pointer, size, true, true)? {
            Target::Private(object, offset) => self.update(state, result, operation, (object, offset, size, bits), at),
            Target::Shared(address, _) => {
                let at = self.flush_joins(state, at)?;
                let at = self.check_access(state, &pointer, size, at)?;
                self.emit_update(state, result, operation, address, bits, at)
            }
        }
    }

    /// While `main` is executed: carries the read-modify-write out.
    fn update(
        &mut self,
        state: &mut State,
        result: Option<LocalId>,
        operation: &'m Operation,
        (object, offset, size, bits): (ObjectId, u64, u32, u32),
        at: Raw,
    ) -> Step<Next> {
        let read = state.memory.get(&object).map(|contents| contents.read(offset, size));
        let Some(Ok(old)) = read else { return Err(self.entangled(object)) };
        let (new, datum) = match operation {
            Operation::CompareExchange { expected, new, .. } => {
                let expected = self.operand(state, expected)?;
                let new = self.operand(state, new)?;
                let equal = self.with_operands(|operands| {
                    operands.compare(crate::ir::module::Predicate::Equal, bits, &old, &expected)
                })?;
                match equal {
                    Datum::Int(0) => (None, Datum::Parts(vec![old, Datum::Int(0)])),
                    Datum::Int(_) => (Some(new), Datum::Parts(vec![old, Datum::Int(1)])),
                    _ => return Err(Interrupt::NeedsModel),
                }
            }
            Operation::ReadModifyWrite { op, operand, .. } => {
                let operand = self.operand(state, operand)?;
                let new = self.updated(*op, bits, &old, &operand)?;
                (Some(new), old)
            }
            _ => return Err(Interrupt::NeedsModel),
        };
        if let Some(new) = new {
            let written = state.memory.get_mut(&object).map(|contents| contents.write(offset, size, new));
            if !matches!(written, Some(Ok(()))) {
                return Err(self.entangled(object));
            }
        }
        self.advance(state, result, datum);
        Ok(Next::On(at))
    }

    /// What a read-modify-write of known values writes.
    fn updated(&mut self, op: RmwOperator, bits: u32, old: &Datum, operand: &Datum) -> Step<Datum> {
        use crate::ir::module::{BinaryOperator, Predicate};
        let binary = match op {
            RmwOperator::Exchange => return Ok(operand.clone()),
            RmwOperator::Add => BinaryOperator::Add,
            RmwOperator::Sub => BinaryOperator::Sub,
            RmwOperator::And | RmwOperator::Nand => BinaryOperator::And,
            RmwOperator::Or => BinaryOperator::Or,
            RmwOperator::Xor => BinaryOperator::Xor,
            RmwOperator::Max | RmwOperator::Min | RmwOperator::UnsignedMax | RmwOperator::UnsignedMin => {
                let predicate = match op {
                    RmwOperator::Max => Predicate::SignedGreater,
                    RmwOperator::Min => Predicate::SignedLess,
                    RmwOperator::UnsignedMax => Predicate::UnsignedGreater,
                    _ => Predicate::UnsignedLess,
                };
                let keeps = self.with_operands(|operands| operands.compare(predicate, bits, old, operand))?;
                return match keeps {
                    Datum::Int(0) => Ok(operand.clone()),
                    Datum::Int(_) => Ok(old.clone()),
                    _ => Err(Interrupt::NeedsModel),
                };
            }
            RmwOperator::Unsupported => return Err(self.refuse("this read-modify-write is not supported".to_owned())),
        };
        let value = self.with_operands(|operands| operands.binary(binary, bits, old, operand))?;
        match (op, value) {
            (RmwOperator::Nand, Datum::Int(value)) => Ok(Datum::Int(canonical(bits, i128::from(!value)))),
            (_, value) => Ok(value),
        }
    }

    fn emit_update(
        &mut self,
        state: &mut State,
        result: Option<LocalId>,
        operation: &'m Operation,
        address: Address,
        bits: u32,
        at: Raw,
    ) -> Step<Next> {
        let frame = state.frame();
        let (function, path) = (frame.function, frame.path);
        let Some(local) = result else {
            return Err(self.refuse("a read-modify-write without a name".to_owned()));
        };
        let (instruction, datum) = match operation {
            Operation::CompareExchange { expected: expected_operand, new, success, failure, weak, .. } => {
                let (expected, new) = (self.operand(state, expected_operand)?, self.operand(state, new)?);
                let (expected, new) = (self.lower(&expected)?, self.lower(&new)?);
                let old = self.value_register(function, path, local, 0)?;
                let ok = self.value_register(function, path, local, 1)?;
                let known = self.operand(state, expected_operand)?;
                let instruction = Instruction::CompareExchange {
                    address,
                    expected,
                    new,
                    success: order_of(Some(*success)),
                    failure: order_of(Some(*failure)),
                    weak: *weak,
                    old: Some(old),
                    ok: Some(ok),
                };
                let at = self.flush_joins(state, at)?;
                let span = self.span;
                let at = self.model()?.emit(at, instruction, span);
                // Where it fails and where it succeeds, different things are known from here on.
                let mut failed = state.clone();
                let next = self.model()?.emit(at, Instruction::Assume(Expr::Atom(ok).not()), span);
                let datum = Datum::Parts(vec![Datum::Computed(Expr::Atom(old)), Datum::Int(0)]);
                self.advance(&mut failed, result, datum);
                self.later(failed, Next::On(next));
                let next = self.model()?.emit(at, Instruction::Assume(Expr::Atom(ok)), span);
                self.advance(state, result, Datum::Parts(vec![known, Datum::Int(1)]));
                return Ok(Next::On(next));
            }
            Operation::ReadModifyWrite { op, operand, order, .. } => {
                let operand = self.operand(state, operand)?;
                let operand = self.lower(&operand)?;
                let op = match op {
                    RmwOperator::Exchange => RmwOp::Exchange,
                    RmwOperator::Add => RmwOp::Add,
                    RmwOperator::Sub => RmwOp::Sub,
                    RmwOperator::And => RmwOp::And,
                    RmwOperator::Or => RmwOp::Or,
                    RmwOperator::Xor => RmwOp::Xor,
                    RmwOperator::Nand => RmwOp::Nand,
                    RmwOperator::Max => RmwOp::Max,
                    RmwOperator::Min => RmwOp::Min,
                    RmwOperator::UnsignedMax => RmwOp::UnsignedMax,
                    RmwOperator::UnsignedMin => RmwOp::UnsignedMin,
                    RmwOperator::Unsupported => {
                        return Err(self.refuse("this read-modify-write is not supported".to_owned()));
                    }
                };
                let old = self.value_register(function, path, local, 0)?;
                let order = order_of(Some(*order));
                let instruction = Instruction::rmw(op, wrapping(bits), address, operand, order, Some(old));
                (instruction, Datum::Computed(Expr::Atom(old)))
            }
            _ => return Err(self.refuse("an access of an unknown kind".to_owned())),
        };
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        let at = self.model()?.emit(at, instruction, span);
        self.advance(state, result, datum);
        Ok(Next::On(at))
    }
}
