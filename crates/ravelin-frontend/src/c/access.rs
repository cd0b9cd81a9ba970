//! Accesses to memory: those to objects of the thread's own are carried out at once, the others become steps of the model.

use super::memory::{Contents, Entangled};
use super::objects::{LARGEST, ObjectId, ObjectKey};
use super::specialise::{Interrupt, Next, Specialiser, StartAccess, Step};
use super::state::State;
use super::value::{Datum, canonical, domain};
use crate::flow::Raw;
use crate::ir::module::{AtomicOrder, LocalId, Operand, Type};
use ravelin_program::{Address, Domain, Expr, Instruction, Order};

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

    pub fn log_access(&mut self, object: ObjectId, offset: u64, size: u64, writes: bool) {
        if !self.starts.is_empty() {
            // The step that is being executed has been counted already.
            let (started, step) = (self.starts.len(), self.steps - 1);
            self.log.push(StartAccess { object, offset, size, writes, started, step });
        }
    }

    /// Size in bytes of an access to a value of this type.
    pub fn access_size(&self, ty: &Type) -> Step<u32> {
        let size = self.world.module.size_of(ty).and_then(|size| u32::try_from(size).ok());
        match (ty, size) {
            // Bit-fields are accessed in three bytes, too, which is less than an array of them needs for each.
            (Type::Int(bits), _) if *bits <= 64 => Ok(bits.div_ceil(8)),
            (Type::Pointer | Type::Float(_), Some(size)) => Ok(size),
            (Type::Int(bits), _) => Err(self.refuse(format!("an access of {bits} bits is not supported"))),
            _ => Err(self.refuse("an access to a whole struct or vector is not supported".to_owned())),
        }
    }

    pub fn entangled(&mut self, object: ObjectId) -> Interrupt {
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
                let at = self.check_access(state, &pointer, size, at)?;
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
            Target::Shared(address, scalar) => {
                if let (Some((object, 0)), Datum::Pointer(table, _)) = (scalar, &datum)
                    && self.world.is_table(*table)
                {
                    state.tables.insert(object, datum.clone());
                }
                let value = self.lower(&datum)?;
                let at = self.flush_joins(state, at)?;
                let at = self.check_access(state, target, size, at)?;
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
