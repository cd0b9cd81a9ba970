//! Instructions that only compute, and constants.

use super::operate::sum;
use super::specialise::{Specialiser, Step};
use super::state::State;
use super::value::{Datum, bits_of, canonical};
use crate::ir::module::{BinaryOperator, CastOperator, Constant, Operand, Operation, Type, Value};
use ravelin_program::{Arithmetic, BinaryOp, Expr};

impl Specialiser<'_, '_> {
    pub fn evaluate(&mut self, state: &State, operation: &Operation) -> Step<Datum> {
        match operation {
            Operation::GetElementPointer { source, base, indices } => self.element(state, source, base, indices),
            Operation::Binary { op, left, right } => {
                let Some(bits) = bits_of(&left.ty) else { return self.unsupported_type(&left.ty) };
                let (op, left, right) = (*op, self.operand(state, left)?, self.operand(state, right)?);
                if (op, &left) == (BinaryOperator::And, &Datum::Undefined) && self.begins_bit_field(state) {
                    return Ok(Datum::Int(0));
                }
                self.with_operands(|operands| operands.binary(op, bits, &left, &right))
            }
            Operation::Compare { predicate, left, right } => {
                let Some(bits) = bits_of(&left.ty) else { return self.unsupported_type(&left.ty) };
                let (left, right) = (self.operand(state, left)?, self.operand(state, right)?);
                let predicate = *predicate;
                self.with_operands(|operands| operands.compare(predicate, bits, &left, &right))
            }
            Operation::Cast { op, value, to } => {
                let datum = self.operand(state, value)?;
                self.cast(*op, &value.ty, to, datum)
            }
            Operation::Select { condition, yes, no } => {
                // In a constant; the instruction is followed in two ways.
                match self.operand(state, condition)? {
                    Datum::Int(0) => self.operand(state, no),
                    Datum::Int(_) => self.operand(state, yes),
                    _ => Err(self.refuse("a constant that depends on an address is not supported".to_owned())),
                }
            }
            Operation::ExtractValue { aggregate, indices } => {
                let mut datum = self.operand(state, aggregate)?;
                for index in indices {
                    datum = match datum {
                        Datum::Parts(mut parts) if (*index as usize) < parts.len() => {
                            parts.swap_remove(*index as usize)
                        }
                        Datum::Undefined => Datum::Undefined,
                        Datum::Int(0) => Datum::Int(0),
                        _ => return Err(self.refuse("a part of something that has none".to_owned())),
                    };
                }
                Ok(datum)
            }
            Operation::InsertValue { aggregate, value, indices } => {
                let whole = self.operand(state, aggregate)?;
                let part = self.operand(state, value)?;
                self.inserted(whole, &aggregate.ty, part, indices)
            }
            Operation::Freeze(operand) => Ok(match self.operand(state, operand)? {
                Datum::Undefined => Datum::Int(0),
                datum => datum,
            }),
            Operation::Float { operands, .. } => {
                for operand in operands {
                    self.operand(state, operand)?;
                }
                Ok(Datum::Opaque)
            }
            Operation::Unsupported(name) => Err(self.refuse(format!("`{name}` is not supported"))),
            _ => Err(self.refuse("this instruction is not supported here".to_owned())),
        }
    }

    /// Whether the current instruction clears bits into which the next instructions write a bit-field. The other bits may
    /// never have been written, and are taken as 0 then.
    fn begins_bit_field(&self, state: &State) -> bool {
        let frame = state.frame();
        let block = self.world.module.functions[frame.function].block(frame.block);
        let Some(cleared) = block.instructions.get(frame.index).and_then(|own| own.result) else { return false };
        block.instructions[frame.index..].iter().any(|later| match &later.operation {
            Operation::Binary { op: BinaryOperator::Or, left, .. } => left.value == Value::Local(cleared),
            _ => false,
        })
    }

    fn unsupported_type(&mut self, ty: &Type) -> Step<Datum> {
        Err(match ty {
            Type::Int(bits) => self.refuse(format!("integers of {bits} bits are not supported")),
            Type::Vector(..) => self.refuse("vectors are not supported".to_owned()),
            _ => self.refuse("arithmetic on this type is not supported".to_owned()),
        })
    }

    fn inserted(&mut self, whole: Datum, ty: &Type, part: Datum, indices: &[u32]) -> Step<Datum> {
        let Some((first, rest)) = indices.split_first() else { return Ok(part) };
        let module = self.world.module;
        let fields: Vec<&Type> = match ty {
            Type::Struct { fields, .. } => fields.iter().collect(),
            Type::Named(index) => match module.structs.get(*index).and_then(|named| named.body.as_ref()) {
                Some(Type::Struct { fields, .. }) => fields.iter().collect(),
                _ => Vec::new(),
            },
            Type::Array(length, element) if *length <= 1024 => vec![element.as_ref(); *length as usize],
            _ => Vec::new(),
        };
        let Some(field) = fields.get(*first as usize) else {
            return Err(self.refuse("a part of something that has none".to_owned()));
        };
        let mut parts = match whole {
            Datum::Parts(parts) => parts,
            other => vec![other; fields.len()],
        };
        let Some(slot) = parts.get_mut(*first as usize) else {
            return Err(self.refuse("a part of something that has none".to_owned()));
        };
        let inner = std::mem::replace(slot, Datum::Undefined);
        let field = (*field).clone();
        *slot = self.inserted(inner, &field, part, rest)?;
        Ok(Datum::Parts(parts))
    }

    fn cast(&mut self, op: CastOperator, from: &Type, to: &Type, datum: Datum) -> Step<Datum> {
        if let Datum::Parts(_) = datum {
            return Err(self.refuse("a cast of a whole struct is not supported".to_owned()));
        }
        let (Some(source), Some(target)) = (bits_of(from), bits_of(to)) else {
            let float = matches!(from, Type::Float(_)) || matches!(to, Type::Float(_));
            return if float { Ok(Datum::Opaque) } else { self.unsupported_type(from) };
        };
        match op {
            CastOperator::Truncate => self.with_operands(|operands| operands.truncate(source, target, &datum)),
            CastOperator::ZeroExtend => self.with_operands(|operands| operands.zero_extend(source, target, &datum)),
            CastOperator::SignExtend => self.with_operands(|operands| operands.sign_extend(source, &datum)),
            CastOperator::PointerToInt if target < 64 => {
                self.with_operands(|operands| operands.truncate(64, target, &datum))
            }
            CastOperator::IntToPointer if source < 64 => {
                self.with_operands(|operands| operands.zero_extend(source, 64, &datum))
            }
            CastOperator::PointerToInt | CastOperator::IntToPointer | CastOperator::Bitcast => Ok(datum),
            CastOperator::Float => Ok(Datum::Opaque),
        }
    }

    /// The address of a part of an object.
    fn element(&mut self, state: &State, source: &Type, base: &Operand, indices: &[Operand]) -> Step<Datum> {
        let base = self.operand(state, base)?;
        if matches!(source, Type::Named(_) | Type::Struct { .. } | Type::Pointer | Type::Int(16..)) {
            self.learn_type(&base, source);
        }
        let module = self.world.module;
        let mut offset = 0i64;
        let mut computed: Option<Expr> = None;
        let mut ty = source;
        for (number, index) in indices.iter().enumerate() {
            let datum = self.operand(state, index)?;
            let structure = number > 0 && matches!(ty, Type::Struct { .. } | Type::Named(_));
            let size = if structure {
                let Datum::Int(field) = datum else {
                    return Err(self.refuse("a field that is not known".to_owned()));
                };
                let found = usize::try_from(field).ok().and_then(|field| module.field(ty, field));
                let Some((at, field)) = found else {
                    return Err(self.refuse("a field that does not exist".to_owned()));
                };
                offset = offset.wrapping_add(at as i64);
                ty = field;
                continue;
            } else if number == 0 {
                module.size_of(ty)
            } else {
                match ty {
                    Type::Array(_, element) | Type::Vector(_, element) => {
                        ty = element;
                        module.size_of(ty)
                    }
                    _ => None,
                }
            };
            let Some(size) = size.and_then(|size| i64::try_from(size).ok()) else {
                return Err(self.refuse("an index into a type without a size".to_owned()));
            };
            match datum {
                Datum::Int(index) => offset = offset.wrapping_add(index.wrapping_mul(size)),
                datum => {
                    let index = self.with_operands(|operands| operands.expr(&datum))?;
                    let scaled = match size {
                        1 => index,
                        size => Expr::binary(BinaryOp::Mul, index, Expr::Const(size)),
                    };
                    computed = Some(match computed {
                        Some(before) => sum(Arithmetic::Checked, before, scaled),
                        None => scaled,
                    });
                }
            }
        }
        match computed {
            None => self.with_operands(|operands| {
                operands.binary(BinaryOperator::Add, 64, &base, &Datum::Int(offset)).map(|datum| match datum {
                    // Addresses do not wrap; a sum that left the address space is reported.
                    Datum::Computed(_) => match operands.expr(&base) {
                        Ok(base) => Datum::computed(sum(Arithmetic::Checked, base, Expr::Const(offset))),
                        Err(_) => datum,
                    },
                    datum => datum,
                })
            }),
            Some(index) => {
                let base = match base {
                    Datum::Undefined => {
                        return Err(self.refuse("a pointer that was never written is used".to_owned()));
                    }
                    // An index that is not known leads anywhere in the object.
                    base => self.lower(&base)?,
                };
                let start = sum(Arithmetic::Checked, base, Expr::Const(offset));
                Ok(Datum::computed(sum(Arithmetic::Checked, index, start)))
            }
        }
    }

    pub fn constant(&mut self, constant: &Constant, ty: &Type) -> Step<Datum> {
        Ok(match constant {
            Constant::Int(value) => match bits_of(ty) {
                Some(bits) => Datum::Int(canonical(bits, *value)),
                None => return Err(self.refuse("integers of more than 64 bits are not supported".to_owned())),
            },
            Constant::Null => Datum::Int(0),
            Constant::Zero => self.zero(ty),
            Constant::Float(_) => Datum::Opaque,
            Constant::Undefined => Datum::Undefined,
            Constant::Global(index) if self.world.module.globals[*index].thread_local => self.thread_local(*index),
            Constant::Global(index) => Datum::Pointer(self.world.global_object(*index), 0),
            Constant::Function(index) => Datum::Function(*index),
            Constant::Aggregate(elements) => {
                let parts = elements.iter().map(|element| match &element.value {
                    Value::Constant(constant) => self.constant(constant, &element.ty),
                    Value::Local(_) => Ok(Datum::Undefined),
                });
                Datum::Parts(parts.collect::<Step<Vec<Datum>>>()?)
            }
            Constant::Bytes(bytes) => {
                Datum::Parts(bytes.iter().map(|byte| Datum::Int(canonical(8, (*byte).into()))).collect())
            }
            Constant::Expression(operation) => {
                // Constants have no operands in a frame, so any state will do.
                let state = State::start(0, 0);
                self.evaluate(&state, operation)?
            }
            Constant::Unsupported(name) => return Err(self.refuse(format!("`{name}` is not supported"))),
        })
    }

    fn zero(&self, ty: &Type) -> Datum {
        let module = self.world.module;
        match ty {
            Type::Float(_) => Datum::Opaque,
            Type::Struct { fields, .. } => Datum::Parts(fields.iter().map(|field| self.zero(field)).collect()),
            Type::Named(index) => match module.structs.get(*index).and_then(|named| named.body.as_ref()) {
                Some(body) if module.size_of(body).is_some() => self.zero(body),
                _ => Datum::Int(0),
            },
            Type::Array(length, element) if *length <= 1 << 16 => {
                Datum::Parts(vec![self.zero(element); *length as usize])
            }
            _ => Datum::Int(0),
        }
    }
}
