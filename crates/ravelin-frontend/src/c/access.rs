//! Accesses to memory: those to objects of the thread's own are carried out at once, the others become steps of the model.

use super::memory::{Contents, Entangled};
use super::objects::{LARGEST, ObjectId, ObjectKey, scalars};
use super::specialise::{Interrupt, Next, Specialiser, StartAccess, Step};
use super::state::State;
use super::value::{Datum, bits_of, canonical, domain, wrapping};
use crate::flow::Raw;
use crate::ir::module::{AtomicOrder, LocalId, Operand, Operation, RmwOperator, Type};
use ravelin_program::{Address, Domain, Expr, Instruction, Order, RmwOp};

/// Bytes that are set or copied at once.
const MOST_FILLED: u64 = 1 << 16;

/// Where an access goes.
pub(super) enum Target {
    /// To an object that the thread has to itself.
    Private(ObjectId, u64),
    /// To the memory of the model; the scalar, if it is known.
    Shared(Address, Option<(ObjectId, u64)>),
}

/// The order of an access in the source.
pub(super) fn order_of(order: Option<AtomicOrder>) -> Order {
    match order {
        None => Order::NonAtomic,
        Some(AtomicOrder::Monotonic) => Order::Relaxed,
        Some(AtomicOrder::Acquire) => Order::Acquire,
        Some(AtomicOrder::Release) => Order::Release,
        Some(AtomicOrder::AcquireRelease) => Order::AcqRel,
        Some(AtomicOrder::SequentiallyConsistent) => Order::SeqCst,
    }
}

impl<'m> Specialiser<'_, 'm> {
    /// Finds out where an access of `size` bytes goes. `atomic`: objects of the thread's own are moved to the memory of the
    /// model, where the access keeps its order.
    pub fn locate(&mut self, state: &State, pointer: &Datum, size: u32, writes: bool, atomic: bool) -> Step<Target> {
        match pointer {
            Datum::Pointer(object, offset) => {
                let object = *object;
                let length = self.world.objects.get(object).size;
                let Some(start) = u64::try_from(*offset).ok().filter(|start| start + u64::from(size) <= length) else {
                    // The model reports that there is no object.
                    let outside = self.world.objects.address(object, *offset);
                    return self.outside(outside);
                };
                if state.memory.contains_key(&object) {
                    if atomic && self.is_model() {
                        self.world.facts.share(object);
                        return Err(Interrupt::Again);
                    }
                    if !self.is_model() {
                        self.log_access(object, start, size.into(), writes);
                    }
                    return Ok(Target::Private(object, start));
                }
                self.model()?;
                self.world.facts.share(object);
                self.note_scalar(object, start, size)?;
                self.footprint.note(object, start, size, writes);
                if writes {
                    self.world.facts.write(object, start);
                }
                let address = Address::computed(Expr::Const(self.world.objects.address(object, *offset)));
                Ok(Target::Shared(address, Some((object, start))))
            }
            Datum::Int(address) => self.outside(*address),
            Datum::Computed(expr) => {
                self.model()?;
                self.world.facts.access_anywhere(size, writes);
                self.footprint.anywhere = true;
                Ok(Target::Shared(Address::computed(expr.clone()), None))
            }
            Datum::Undefined => Err(self.refuse("a pointer that was never written is used".to_owned())),
            Datum::Function(_) => Err(self.refuse("an access to the code of a function".to_owned())),
            Datum::Parts(_) | Datum::Opaque => {
                Err(self.refuse("an access through something that is no pointer".to_owned()))
            }
        }
    }

    fn outside(&mut self, address: i64) -> Step<Target> {
        self.model()?;
        Ok(Target::Shared(Address::computed(Expr::Const(address)), None))
    }

    /// An object of `size` has this scalar.
    pub fn note_scalar(&mut self, object: ObjectId, start: u64, size: u32) -> Step<()> {
        match self.world.objects.access(object, start, size) {
            Ok(new) => {
                if new {
                    self.world.facts.grow();
                }
                Ok(())
            }
            Err(mixed) => {
                let name = self.world.scalar_name(mixed.object, mixed.earlier.0);
                Err(self.refuse(format!(
                    "`{name}` is accessed with {} bytes here and with {} bytes elsewhere, and a model has no accesses of different sizes to the same bytes",
                    mixed.now.1, mixed.earlier.1
                )))
            }
        }
    }

    fn log_access(&mut self, object: ObjectId, offset: u64, size: u64, writes: bool) {
        if !self.starts.is_empty() {
            // The step that is being executed has been counted already.
            let (started, step) = (self.starts.len(), self.steps - 1);
            self.log.push(StartAccess { object, offset, size, writes, started, step });
        }
    }

    /// Size in bytes of an access to a value of this type.
    fn access_size(&self, ty: &Type) -> Step<u32> {
        let size = self.world.module.size_of(ty).and_then(|size| u32::try_from(size).ok());
        match (ty, size) {
            // Bit-fields are accessed in three bytes, too, which is less than an array of them needs for each.
            (Type::Int(bits), _) if *bits <= 64 => Ok(bits.div_ceil(8)),
            (Type::Pointer | Type::Float(_), Some(size)) => Ok(size),
            (Type::Int(bits), _) => Err(self.refuse(format!("an access of {bits} bits is not supported"))),
            _ => Err(self.refuse("an access to a whole struct or vector is not supported".to_owned())),
        }
    }

    fn entangled(&mut self, object: ObjectId) -> Interrupt {
        let _: Entangled = Entangled;
        if self.is_model() && !self.world.facts.is_shared(object) {
            self.world.facts.share(object);
            return Interrupt::Again;
        }
        let name = &self.world.objects.get(object).name;
        self.refuse(format!("bytes of `{name}` are read in other sizes than they were written in"))
    }

    pub fn load(
        &mut self,
        state: &mut State,
        result: Option<LocalId>,
        ty: &Type,
        pointer: &Operand,
        order: Option<AtomicOrder>,
        at: Raw,
    ) -> Step<Next> {
        let size = self.access_size(ty)?;
        let pointer = self.operand(state, pointer)?;
        self.learn_type(&pointer, ty);
        match self.locate(state, &pointer, size, false, order.is_some())? {
            Target::Private(object, offset) => {
                let read = state.memory.get(&object).map(|contents| contents.read(offset, size));
                let datum = match read {
                    Some(Ok(datum)) => datum,
                    _ => return Err(self.entangled(object)),
                };
                let (datum, at) = self.own_copy(state, result, datum, at)?;
                self.advance(state, result, fit(ty, datum));
                Ok(Next::On(at))
            }
            Target::Shared(address, scalar) => {
                let at = self.check_alive(state, &pointer, at)?;
                let constant = scalar.and_then(|(object, offset)| self.world.constant_scalar(object, offset, size));
                let order = order_of(order);
                let constant = constant.map(|datum| fit(ty, datum));
                if let Some(datum) = &constant
                    && order == Order::NonAtomic
                {
                    self.advance(state, result, datum.clone());
                    return Ok(Next::On(at));
                }
                if matches!(ty, Type::Float(_)) {
                    return Err(self.refuse("floating point in memory that other threads can access".to_owned()));
                }
                let frame = state.frame();
                let (function, path) = (frame.function, frame.path);
                let Some(local) = result else {
                    return Err(self.refuse("a load without a name".to_owned()));
                };
                let reg = self.value_register(function, path, local, 0)?;
                let at = self.flush_joins(state, at)?;
                let span = self.span;
                let at = self.model()?.emit(at, Instruction::Load { reg, address, order }, span);
                self.advance(state, result, constant.unwrap_or(Datum::Computed(Expr::Atom(reg))));
                Ok(Next::On(at))
            }
        }
    }

    /// A variable in memory has a register of its own, which may change; a value that is read from it must not.
    fn own_copy(&mut self, state: &State, result: Option<LocalId>, datum: Datum, at: Raw) -> Step<(Datum, Raw)> {
        let (Datum::Computed(value), Some(local)) = (&datum, result) else { return Ok((datum, at)) };
        let frame = state.frame();
        let reg = self.value_register(frame.function, frame.path, local, 0)?;
        let span = self.span;
        let at = self.model()?.assign(at, vec![(reg, value.clone())], span);
        Ok((Datum::Computed(Expr::Atom(reg)), at))
    }

    pub fn store(
        &mut self,
        state: &mut State,
        value: &Operand,
        pointer: &Operand,
        order: Option<AtomicOrder>,
        at: Raw,
    ) -> Step<Next> {
        let target = self.operand(state, pointer)?;
        let datum = self.operand(state, value)?;
        if let Datum::Parts(parts) = datum {
            let at = self.store_parts(state, &target, &value.ty, &parts, at)?;
            self.advance(state, None, Datum::Undefined);
            return Ok(Next::On(at));
        }
        let size = self.access_size(&value.ty)?;
        self.learn_type(&target, &value.ty);
        let at = self.write(state, &target, size, datum, order_of(order), at)?;
        self.advance(state, None, Datum::Undefined);
        Ok(Next::On(at))
    }

    /// Stores each element of a struct or an array.
    fn store_parts(&mut self, state: &mut State, target: &Datum, ty: &Type, parts: &[Datum], mut at: Raw) -> Step<Raw> {
        let module = self.world.module;
        for (index, part) in parts.iter().enumerate() {
            let element = match ty {
                Type::Array(_, element) => module.size_of(element).map(|size| (index as u64 * size, element.as_ref())),
                ty => module.field(ty, index),
            };
            let Some((offset, field)) = element else {
                return Err(self.refuse("a store of a value whose type has no such part".to_owned()));
            };
            let place = self.with_operands(|operands| {
                operands.binary(crate::ir::module::BinaryOperator::Add, 64, target, &Datum::Int(offset as i64))
            })?;
            at = match part {
                Datum::Parts(inner) => self.store_parts(state, &place, field, inner, at)?,
                datum => {
                    let size = self.access_size(field)?;
                    self.write(state, &place, size, datum.clone(), Order::NonAtomic, at)?
                }
            };
        }
        Ok(at)
    }

    /// Writes a scalar.
    pub fn write(
        &mut self,
        state: &mut State,
        target: &Datum,
        size: u32,
        datum: Datum,
        order: Order,
        at: Raw,
    ) -> Step<Raw> {
        match self.locate(state, target, size, true, order != Order::NonAtomic)? {
            Target::Private(object, offset) => {
                let (datum, at) = self.settle(object, offset, datum, at)?;
                let written = state.memory.get_mut(&object).map(|contents| contents.write(offset, size, datum));
                match written {
                    Some(Ok(())) => Ok(at),
                    _ => Err(self.entangled(object)),
                }
            }
            Target::Shared(address, _) => {
                let value = self.lower(&datum)?;
                let at = self.flush_joins(state, at)?;
                let at = self.check_alive(state, target, at)?;
                let span = self.span;
                Ok(self.model()?.emit(at, Instruction::Store { address, value, order }, span))
            }
        }
    }

    /// A computed value that is written to a variable goes into the variable's own register.
    fn settle(&mut self, object: ObjectId, offset: u64, datum: Datum, at: Raw) -> Step<(Datum, Raw)> {
        let Datum::Computed(value) = datum else { return Ok((datum, at)) };
        let register = self.scalar_register(object, offset)?;
        let span = self.span;
        let at = self.model()?.assign(at, vec![(register, value)], span);
        Ok((Datum::Computed(Expr::Atom(register)), at))
    }

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
                let at = self.check_alive(state, &pointer, at)?;
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

    pub fn fence(&mut self, state: &mut State, order: AtomicOrder, at: Raw) -> Step<Next> {
        let order = order_of(Some(order));
        if !self.is_model() || !order.fits_fence() {
            self.advance(state, None, Datum::Undefined);
            return Ok(Next::On(at));
        }
        let at = self.flush_joins(state, at)?;
        let span = self.span;
        let at = self.model()?.emit(at, Instruction::Fence(order), span);
        self.advance(state, None, Datum::Undefined);
        Ok(Next::On(at))
    }

    /// A local variable in memory.
    pub fn allocate(&mut self, state: &mut State, ty: &Type, count: Option<&Operand>) -> Step<Datum> {
        let count = match count {
            None => 1,
            Some(operand) => match self.operand(state, operand)? {
                Datum::Int(count) => u64::try_from(count).unwrap_or(u64::MAX),
                _ => return Err(self.refuse("a local array whose length is not known".to_owned())),
            },
        };
        let size = self.world.module.size_of(ty).and_then(|size| size.checked_mul(count));
        let Some(size) = size.filter(|size| *size <= LARGEST) else {
            return Err(self.refuse("a local variable is too large for a model".to_owned()));
        };
        let frame = state.frame();
        let key = ObjectKey::Local { thread: self.thread, path: frame.path, block: frame.block.0, index: frame.index };
        let module = self.world.module;
        let function = &module.functions[frame.function];
        let result = function.block(frame.block).instructions.get(frame.index).and_then(|own| own.result);
        let object = self.world.objects.intern(key, size, || {
            let variable = function.variables.iter().find(|variable| Some(variable.local) == result);
            let name = variable.map_or_else(|| function.name.clone(), |variable| variable.name.clone());
            (name, variable.map(|variable| variable.node), Some(ty.clone()))
        });
        if !self.is_model() || !self.world.facts.is_shared(object) {
            state.memory.insert(object, Contents::new(false));
            state.frame_mut().objects.insert(object);
        }
        Ok(Datum::Pointer(object, 0))
    }

    /// The first access to a heap block shows of what type it is.
    pub fn learn_type(&mut self, pointer: &Datum, ty: &Type) {
        if let Datum::Pointer(object, 0) = pointer
            && self.world.objects.learn_type(*object, ty)
        {
            self.world.facts.grow();
        }
    }

    /// The copy of an argument that is passed by value.
    pub fn copy_argument(
        &mut self,
        state: &mut State,
        path: usize,
        number: usize,
        ty: &Type,
        from: &Datum,
        at: Raw,
    ) -> Step<(ObjectId, Raw)> {
        let Some(size) = self.world.module.size_of(ty).filter(|size| *size <= LARGEST) else {
            return Err(self.refuse("an argument is too large for a model".to_owned()));
        };
        let key = ObjectKey::Argument { thread: self.thread, path, number };
        let object = self.world.objects.intern(key, size, || ("argument".to_owned(), None, Some(ty.clone())));
        if !self.is_model() || !self.world.facts.is_shared(object) {
            state.memory.insert(object, Contents::new(false));
        }
        let at = self.copy(state, &Datum::Pointer(object, 0), from, size, at)?;
        Ok((object, at))
    }

    /// Copies bytes, scalar by scalar.
    pub fn copy(&mut self, state: &mut State, to: &Datum, from: &Datum, size: u64, mut at: Raw) -> Step<Raw> {
        if size == 0 {
            return Ok(at);
        }
        if let Some(at) = self.copy_private(state, to, from, size, at)? {
            return Ok(at);
        }
        let parts = self.parts_of_copy(state, to, from, size)?;
        // All are read before any is written, so that the ranges may overlap.
        let mut read = Vec::new();
        for (offset, length) in parts {
            let place = self.displaced(from, offset)?;
            let datum = match self.locate(state, &place, length, false, false)? {
                Target::Private(object, start) => {
                    let contents = state.memory.get(&object).map(|contents| contents.read(start, length));
                    let Some(Ok(datum)) = contents else { return Err(self.entangled(object)) };
                    datum
                }
                Target::Shared(address, scalar) => {
                    at = self.check_alive(state, &place, at)?;
                    let constant = scalar.and_then(|(object, start)| self.world.constant_scalar(object, start, length));
                    match constant {
                        Some(datum) => datum,
                        None => {
                            let reg = self.part_register(state, offset, Domain::FULL)?;
                            at = self.flush_joins(state, at)?;
                            let span = self.span;
                            let load = Instruction::Load { reg, address, order: Order::NonAtomic };
                            at = self.model()?.emit(at, load, span);
                            Datum::Computed(Expr::Atom(reg))
                        }
                    }
                }
            };
            read.push((offset, length, datum));
        }
        for (offset, length, datum) in read {
            let place = self.displaced(to, offset)?;
            at = self.write(state, &place, length, datum, Order::NonAtomic, at)?;
        }
        Ok(at)
    }

    /// Copies between objects that the thread has to itself; `None` if they are not.
    fn copy_private(&mut self, state: &mut State, to: &Datum, from: &Datum, size: u64, at: Raw) -> Step<Option<Raw>> {
        let (Datum::Pointer(target, start), Datum::Pointer(source, first)) = (to, from) else { return Ok(None) };
        let (Ok(start), Ok(first)) = (u64::try_from(*start), u64::try_from(*first)) else { return Ok(None) };
        let inside = |object: &ObjectId, from: u64| {
            state.memory.contains_key(object) && from + size <= self.world.objects.get(*object).size
        };
        if !inside(target, start) || !inside(source, first) || size > MOST_FILLED {
            return Ok(None);
        }
        if !self.is_model() {
            self.log_access(*source, first, size, false);
            self.log_access(*target, start, size, true);
        }
        let Some(contents) = state.memory.get(source) else { return Ok(None) };
        let (parts, zero) = (contents.part(first, size), contents.is_zero());
        let Ok(parts) = parts else { return Err(self.entangled(*source)) };
        let cleared = state.memory.get_mut(target).map(|contents| contents.fill(start, size, 0, zero));
        if !matches!(cleared, Some(Ok(()))) {
            return Err(self.entangled(*target));
        }
        let mut at = at;
        // Registers of the target may be sources, too, if the ranges overlap; then all are read before.
        let mut settled = Vec::new();
        for (offset, length, datum) in parts {
            let datum = match datum {
                Datum::Computed(value) => {
                    let copy = self.part_register(state, offset, Domain::FULL)?;
                    let span = self.span;
                    at = self.model()?.assign(at, vec![(copy, value)], span);
                    Datum::Computed(Expr::Atom(copy))
                }
                datum => datum,
            };
            settled.push((offset, length, datum));
        }
        for (offset, length, datum) in settled {
            let place = self.displaced(to, offset)?;
            at = self.write(state, &place, length, datum, Order::NonAtomic, at)?;
        }
        Ok(Some(at))
    }

    pub fn displaced(&mut self, pointer: &Datum, by: u64) -> Step<Datum> {
        self.with_operands(|operands| {
            operands.binary(crate::ir::module::BinaryOperator::Add, 64, pointer, &Datum::Int(by as i64))
        })
    }

    /// The scalars that a copy consists of: those that are known of either side.
    fn parts_of_copy(&mut self, state: &State, to: &Datum, from: &Datum, size: u64) -> Step<Vec<(u64, u32)>> {
        let mut parts: std::collections::BTreeMap<u64, u32> = std::collections::BTreeMap::new();
        // Scalars of which some bytes are outside: what is inside, and their object.
        let mut cut = Vec::new();
        let mut add = |object: ObjectId, start: u64, (at, length): (u64, u32)| {
            let (first, last) = (at.max(start), (at + u64::from(length)).min(start + size));
            if first >= last {
                return;
            }
            if last - first < u64::from(length) {
                cut.push((first - start..last - start, object));
                return;
            }
            let (offset, end) = (first - start, last - start);
            if parts.range(..end).next_back().is_none_or(|(start, own)| start + u64::from(*own) <= offset) {
                parts.insert(offset, length);
            }
        };
        let mut written_before = Vec::new();
        for side in [from, to] {
            let Datum::Pointer(object, start) = side else {
                if matches!(side, Datum::Computed(_)) {
                    continue;
                }
                return Err(self.refuse("a copy from or to something that is no object".to_owned()));
            };
            let Ok(start) = u64::try_from(*start) else {
                return Err(self.refuse("a copy that leaves its object".to_owned()));
            };
            if let Some(contents) = state.memory.get(object) {
                written_before.extend(contents.entries().map(|(at, length, _)| (*object, start, (at, length))));
            }
            let own = self.world.objects.get(*object);
            for (&at, &length) in &own.cells {
                add(*object, start, (at, length));
            }
            if let Some(ty) = &own.ty {
                for scalar in scalars(self.world.module, ty, 4096) {
                    add(*object, start, scalar);
                }
            }
        }
        for (object, start, scalar) in written_before {
            add(object, start, scalar);
        }
        let is_covered =
            |byte: u64| parts.range(..=byte).next_back().is_some_and(|(start, own)| start + u64::from(*own) > byte);
        if let Some((_, object)) = cut.into_iter().find(|(bytes, _)| !bytes.clone().all(is_covered)) {
            let name = &self.world.objects.get(object).name;
            return Err(
                self.refuse(format!("some bytes of a scalar of `{name}` are set or copied, and others are not"))
            );
        }
        if parts.is_empty() {
            return Err(self.refuse("a copy of memory whose type is not known".to_owned()));
        }
        Ok(parts.into_iter().collect())
    }

    /// Sets bytes, scalar by scalar.
    pub fn fill(&mut self, state: &mut State, to: &Datum, byte: u8, size: u64, mut at: Raw) -> Step<Raw> {
        if size == 0 {
            return Ok(at);
        }
        if let Datum::Pointer(object, offset) = to
            && let Some(contents) = state.memory.get_mut(object)
            && let Ok(start) = u64::try_from(*offset)
            && start + size <= self.world.objects.get(*object).size
        {
            if !self.is_model() {
                self.log_access(*object, start, size, true);
            }
            let whole = byte == 0 && start == 0 && size == self.world.objects.get(*object).size;
            if whole {
                *contents = Contents::new(true);
                return Ok(at);
            }
            if size > MOST_FILLED {
                return Err(self.refuse(format!("more than {MOST_FILLED} bytes are set at once")));
            }
            return match contents.fill(start, size, byte, true) {
                Ok(()) => Ok(at),
                Err(Entangled) => Err(self.entangled(*object)),
            };
        }
        let parts = self.parts_of_copy(state, to, to, size)?;
        for (offset, length) in parts {
            let place = self.displaced(to, offset)?;
            let bytes = i64::from_le_bytes([byte; 8]);
            let datum = Datum::Int(canonical(8 * length.min(8), bytes.into()));
            at = self.write(state, &place, length, datum, Order::NonAtomic, at)?;
        }
        Ok(at)
    }
}

/// A value read from memory as one of a type: a `bool` of the source is a byte.
fn fit(ty: &Type, datum: Datum) -> Datum {
    match (ty, datum) {
        (Type::Int(bits), Datum::Int(value)) => Datum::Int(canonical(*bits, value.into())),
        (Type::Float(_), Datum::Int(_)) => Datum::Opaque,
        (_, datum) => datum,
    }
}

/// The values of a scalar in memory.
pub(super) fn scalar_domain(size: u32) -> Domain {
    domain(8 * size.clamp(1, 8), ravelin_program::Escape::Error)
}
