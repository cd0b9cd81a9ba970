//! Calls: functions of the file are followed, those of the C library become steps of the model or are carried out.

use super::library::{BitCount, LibraryCall, Signedness, known};
use super::objects::LARGEST;
use super::specialise::{Interrupt, Next, Specialiser, Start, Step};
use super::state::State;
use super::threads::Spawn;
use super::value::Datum;
use crate::flow::Raw;
use crate::ir::module::{BinaryOperator, Call, Callee, Operand, Predicate, Value};
use ravelin_program::{Domain, Escape, Expr, Instruction, Order};

impl<'m> Specialiser<'_, 'm> {
    pub fn call(&mut self, state: &mut State, call: &'m Call, at: Raw) -> Step<Next> {
        let function = match &call.callee {
            Callee::Assembly { template, .. } => return self.assembly(state, call, template, at),
            Callee::Value(Value::Constant(crate::ir::module::Constant::Function(function))) => *function,
            Callee::Value(value) => match self.value(state, value, &crate::ir::module::Type::Pointer)? {
                Datum::Function(function) => function,
                Datum::Computed(pointer) => return self.call_one_of(state, call, pointer, at),
                Datum::Int(_) => {
                    let at = self.flush_joins(state, at)?;
                    return self.fail(at);
                }
                _ => {
                    return Err(self.refuse(
                        "a call through a pointer, and which function it points to is not known here".to_owned(),
                    ));
                }
            },
        };
        self.call_function(state, call, function, at)
    }

    /// Calls the function to which a pointer leads that is a value of the model: one of those whose addresses are.
    fn call_one_of(&mut self, state: &State, call: &'m Call, pointer: Expr, at: Raw) -> Step<Next> {
        let module = self.world.module;
        let span = self.span;
        let same_type = |function: &usize| {
            let own = &module.functions[*function];
            let parameters = own.parameters.iter().map(|parameter| own.type_of(parameter.local));
            own.returns == call.returns && parameters.eq(call.arguments.iter().map(|argument| &argument.ty))
        };
        let same_count = |function: &usize| module.functions[*function].parameters.len() == call.arguments.len();
        let mut functions: Vec<usize> = self.world.facts.functions().filter(same_type).collect();
        if functions.is_empty() {
            functions = self.world.facts.functions().filter(same_count).collect();
        }
        let mut none = Vec::new();
        for function in functions {
            let is = pointer.clone().eq(Expr::Const(self.world.escape_function(function)));
            let way = self.model()?.emit(at, Instruction::Assume(is.clone()), span);
            let mut state = state.clone();
            let next = self.call_function(&mut state, call, function, way)?;
            self.later(state, next);
            none.push(super::operate::negated(is));
        }
        let none = none.into_iter().reduce(Expr::and).unwrap_or(Expr::Const(1));
        let way = self.model()?.emit(at, Instruction::Assume(none), span);
        self.fail(way)
    }

    fn call_function(&mut self, state: &mut State, call: &'m Call, function: usize, at: Raw) -> Step<Next> {
        let module = self.world.module;
        let callee = &module.functions[function];
        if !callee.is_declaration() && !super::library::is_always_known(&callee.name) {
            let arguments =
                call.arguments.iter().map(|argument| self.operand(state, argument)).collect::<Step<Vec<Datum>>>()?;
            return self.inline(state, function, arguments, at);
        }
        match known(&callee.name) {
            Some(known) => self.library(state, known, call, at),
            None => {
                Err(self.refuse(format!("`{}` is not defined in this file, and a model does not know it", callee.name)))
            }
        }
    }

    fn assembly(&mut self, state: &mut State, call: &Call, template: &str, at: Raw) -> Step<Next> {
        let words: Vec<&str> = template.split([';', '\n', '\t', ' ']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [] | ["pause"] | ["nop"] | ["rep", "nop"] | ["yield"] if call.arguments.is_empty() => {
                self.done(state, Datum::Undefined, at)
            }
            words if words == ["mfence"] || adds_nothing_locked(words) => {
                if !self.is_model() {
                    return self.done(state, Datum::Undefined, at);
                }
                let at = self.flush_joins(state, at)?;
                let span = self.span;
                let at = self.model()?.emit(at, Instruction::Fence(Order::SeqCst), span);
                self.done(state, Datum::Undefined, at)
            }
            // A barrier for the compiler that passes a value through.
            [] => {
                let datum = match call.arguments.as_slice() {
                    [only] => self.operand(state, only)?,
                    _ => Datum::Undefined,
                };
                self.done(state, datum, at)
            }
            _ => Err(self.refuse(format!("inline assembly is not supported: `{}`", words.join(" ")))),
        }
    }

    /// The call is over.
    pub fn done(&mut self, state: &mut State, datum: Datum, at: Raw) -> Step<Next> {
        let frame = state.frame();
        let block = self.world.module.functions[frame.function].block(frame.block);
        match block.instructions.get(frame.index) {
            Some(instruction) => {
                let result = instruction.result;
                self.advance(state, result, datum);
                Ok(Next::On(at))
            }
            None => self.resume_after_invoke(state, datum, at),
        }
    }

    fn argument<'c>(&self, call: &'c Call, number: usize) -> Step<&'c Operand> {
        call.arguments.get(number).ok_or_else(|| self.refuse("a call with too few arguments".to_owned()))
    }

    pub fn argument_datum(&mut self, state: &State, call: &Call, number: usize) -> Step<Datum> {
        let argument = self.argument(call, number)?;
        self.operand(state, argument)
    }

    fn library(&mut self, state: &mut State, known: LibraryCall, call: &'m Call, at: Raw) -> Step<Next> {
        let zero = Datum::Int(0);
        match known {
            LibraryCall::Ignored => self.done(state, zero, at),
            LibraryCall::Failure => {
                let at = self.flush_joins(state, at)?;
                self.fail(at)
            }
            LibraryCall::ThreadExit => {
                let result = self.argument_datum(state, call, 0)?;
                self.end_thread(state, &result, at)?;
                Ok(Next::Elsewhere)
            }
            LibraryCall::Exit => self.exit(state, at),
            LibraryCall::ThreadCreate => {
                let handle = self.argument_datum(state, call, 0)?;
                let function = self.argument_datum(state, call, 2)?;
                let argument = self.argument_datum(state, call, 3)?;
                let at = self.spawn(state, Spawn { handle, function, argument, destroys: None }, at)?;
                self.done(state, zero, at)
            }
            LibraryCall::ThreadCreateC11 => {
                let handle = self.argument_datum(state, call, 0)?;
                let function = self.argument_datum(state, call, 1)?;
                let argument = self.argument_datum(state, call, 2)?;
                let at = self.spawn(state, Spawn { handle, function, argument, destroys: None }, at)?;
                self.done(state, zero, at)
            }
            LibraryCall::ThreadJoin | LibraryCall::ThreadJoinC11 => self.join_thread(state, known, call, at),
            LibraryCall::Detach => {
                let handle = self.argument_datum(state, call, 0)?;
                self.detach(&handle);
                self.done(state, zero, at)
            }
            LibraryCall::Equal => {
                let (left, right) = (self.argument_datum(state, call, 0)?, self.argument_datum(state, call, 1)?);
                let equal = self.with_operands(|operands| operands.compare(Predicate::Equal, 64, &left, &right))?;
                self.done(state, equal, at)
            }
            LibraryCall::ThreadSelf => {
                let number = Datum::Int(self.thread as i64);
                self.done(state, number, at)
            }
            LibraryCall::ThreadPointer => {
                let address = Datum::Int(-((self.thread as i64 + 1) << 12));
                self.done(state, address, at)
            }
            LibraryCall::MutexInit
            | LibraryCall::MutexInitC11
            | LibraryCall::MutexLock
            | LibraryCall::MutexTryLock
            | LibraryCall::MutexTimedLock
            | LibraryCall::MutexUnlock
            | LibraryCall::MutexAttributes
            | LibraryCall::MutexType
            | LibraryCall::SpinInit => self.mutex(state, known, call, at),
            LibraryCall::RwLockInit
            | LibraryCall::ReadLock
            | LibraryCall::TryReadLock
            | LibraryCall::TimedReadLock
            | LibraryCall::WriteLock
            | LibraryCall::TryWriteLock
            | LibraryCall::TimedWriteLock
            | LibraryCall::RwUnlock => self.readers_and_writers(state, known, call, at),
            LibraryCall::SemaphoreInit
            | LibraryCall::SemaphorePost
            | LibraryCall::SemaphoreWait
            | LibraryCall::SemaphoreTryWait
            | LibraryCall::SemaphoreTimedWait
            | LibraryCall::SemaphoreValue => self.semaphore(state, known, call, at),
            LibraryCall::Once => self.once(state, call, at),
            LibraryCall::GuardAcquire | LibraryCall::GuardRelease | LibraryCall::GuardAbort => {
                self.guard(state, known, call, at)
            }
            LibraryCall::KeyCreate | LibraryCall::GetSpecific | LibraryCall::SetSpecific | LibraryCall::ErrorNumber => {
                self.keys(state, known, call, at)
            }
            LibraryCall::AtomicBegin | LibraryCall::AtomicEnd => {
                if !self.is_model() && self.starts.is_empty() {
                    return self.done(state, zero, at);
                }
                self.needs_model()?;
                let at = self.flush_joins(state, at)?;
                let span = self.span;
                let begins = known == LibraryCall::AtomicBegin;
                let step = if begins { Instruction::BusLock } else { Instruction::BusUnlock };
                let at = self.model()?.emit(at, step, span);
                self.done(state, zero, at)
            }
            LibraryCall::ConditionInit
            | LibraryCall::ConditionWait
            | LibraryCall::ConditionTimedWait
            | LibraryCall::ConditionSignal
            | LibraryCall::ConditionBroadcast => self.condition_variable(state, known, call, at),
            LibraryCall::BarrierInit | LibraryCall::BarrierWait => self.wait_for_others(state, known, call, at),
            LibraryCall::CxxThreadStart
            | LibraryCall::CxxThreadJoin
            | LibraryCall::CxxThreadDetach
            | LibraryCall::CxxConditionWait => self.cplusplus(state, known, call, at),
            LibraryCall::Allocate => {
                let size = self.argument_datum(state, call, 0)?;
                self.heap(state, size, false, at)
            }
            LibraryCall::AllocateAligned => {
                let size = self.argument_datum(state, call, 1)?;
                self.heap(state, size, false, at)
            }
            LibraryCall::AllocateZeroed => {
                let (count, size) = (self.argument_datum(state, call, 0)?, self.argument_datum(state, call, 1)?);
                let size = match (count, size) {
                    (Datum::Int(count), Datum::Int(size)) => {
                        count.checked_mul(size).map_or(Datum::Undefined, Datum::Int)
                    }
                    _ => Datum::Undefined,
                };
                self.heap(state, size, true, at)
            }
            LibraryCall::Free => self.free(state, call, at),
            LibraryCall::Copy => {
                let (to, from) = (self.argument_datum(state, call, 0)?, self.argument_datum(state, call, 1)?);
                let size = self.known_size(state, call, 2)?;
                let at = self.copy(state, &to, &from, size, at)?;
                self.done(state, to, at)
            }
            LibraryCall::Fill => {
                let to = self.argument_datum(state, call, 0)?;
                let Datum::Int(byte) = self.argument_datum(state, call, 1)? else {
                    return Err(self.refuse("memory is set to a byte that is not known".to_owned()));
                };
                let size = self.known_size(state, call, 2)?;
                let at = self.fill(state, &to, byte as u8, size, at)?;
                self.done(state, to, at)
            }
            LibraryCall::Assume => {
                let datum = self.argument_datum(state, call, 0)?;
                if let Datum::Int(1..) | Datum::Undefined | Datum::Opaque = datum {
                    return self.done(state, zero, at);
                }
                let condition = self.condition(&datum)?;
                let span = self.span;
                if condition == Expr::Const(0) {
                    let model = self.model()?;
                    let end = model.end;
                    model.emit_to(at, Instruction::Assume(condition), end, span);
                    return Ok(Next::Elsewhere);
                }
                let at = self.model()?.emit(at, Instruction::Assume(condition), span);
                self.done(state, zero, at)
            }
            LibraryCall::Nondet(bits) => {
                let Domain { lo, hi, .. } = super::value::domain(bits, Escape::Error);
                self.any_value(state, lo, hi, at)
            }
            LibraryCall::Random => self.any_value(state, 0, i32::MAX.into(), at),
            LibraryCall::First => {
                let datum = self.argument_datum(state, call, 0)?;
                self.done(state, datum, at)
            }
            LibraryCall::Maximum { signed } => self.extreme(state, call, signed, true, at),
            LibraryCall::Minimum { signed } => self.extreme(state, call, signed, false, at),
            LibraryCall::Overflow(op, signedness) => {
                let bits = match &call.arguments.first().map(|argument| &argument.ty) {
                    Some(ty) => super::value::bits_of(ty).unwrap_or(64),
                    None => 64,
                };
                let (left, right) = (self.argument_datum(state, call, 0)?, self.argument_datum(state, call, 1)?);
                let datum = match (&left, &right) {
                    (Datum::Int(left), Datum::Int(right)) => overflowing(op, signedness, bits, *left, *right),
                    (Datum::Undefined, _) | (_, Datum::Undefined) => Datum::Undefined,
                    _ => {
                        let message = "whether a result fits is asked of numbers that are not known here";
                        return Err(self.refuse(message.to_owned()));
                    }
                };
                self.done(state, datum, at)
            }
            LibraryCall::Bits(count) => {
                let bits = super::value::bits_of(&call.returns).unwrap_or(64);
                let datum = match self.argument_datum(state, call, 0)? {
                    Datum::Int(value) => {
                        let number = super::value::unsigned(bits, value);
                        let counted = match count {
                            BitCount::LeadingZeros => number.leading_zeros() - (64 - bits),
                            BitCount::TrailingZeros => number.trailing_zeros().min(bits),
                            BitCount::Ones => number.count_ones(),
                        };
                        Datum::Int(super::value::canonical(bits, counted.into()))
                    }
                    datum @ (Datum::Undefined | Datum::Opaque) => datum,
                    _ => return Err(self.refuse("the bits of a number are counted that is not known here".to_owned())),
                };
                self.done(state, datum, at)
            }
            LibraryCall::Absolute => {
                let bits = super::value::bits_of(&call.returns).unwrap_or(64);
                let datum = self.argument_datum(state, call, 0)?;
                let negative = self
                    .with_operands(|operands| operands.compare(Predicate::SignedLess, bits, &datum, &Datum::Int(0)))?;
                let minus = crate::ir::module::BinaryOperator::Sub;
                let negated = self.with_operands(|operands| operands.binary(minus, bits, &Datum::Int(0), &datum))?;
                self.either(state, &negative, negated, datum, at)
            }
        }
    }

    fn known_size(&mut self, state: &State, call: &Call, number: usize) -> Step<u64> {
        match self.argument_datum(state, call, number)? {
            Datum::Int(size) => Ok(u64::try_from(size).unwrap_or(u64::MAX).min(LARGEST)),
            _ => Err(self.refuse("the number of bytes is not known".to_owned())),
        }
    }

    /// Of the values that make no difference one is left in the end (see [`super::choices`]).
    fn any_value(&mut self, state: &mut State, lo: i64, hi: i64, at: Raw) -> Step<Next> {
        let domain = if (lo, hi) == (0, 1) { Domain::BOOL } else { Domain::new(lo, hi, Escape::Error) };
        let reg = self.part_register(state, 0, domain)?;
        let span = self.span;
        let at = self.model()?.emit(at, Instruction::Havoc { reg, lo, hi }, span);
        self.done(state, Datum::Computed(Expr::Atom(reg)), at)
    }

    fn extreme(&mut self, state: &mut State, call: &Call, signed: bool, largest: bool, at: Raw) -> Step<Next> {
        let bits = super::value::bits_of(&call.returns).unwrap_or(64);
        let (left, right) = (self.argument_datum(state, call, 0)?, self.argument_datum(state, call, 1)?);
        let predicate = match (signed, largest) {
            (true, true) => Predicate::SignedGreater,
            (true, false) => Predicate::SignedLess,
            (false, true) => Predicate::UnsignedGreater,
            (false, false) => Predicate::UnsignedLess,
        };
        let first = self.with_operands(|operands| operands.compare(predicate, bits, &left, &right))?;
        self.either(state, &first, left, right, at)
    }

    /// Gives the call one of two results.
    pub fn either(&mut self, state: &mut State, decided: &Datum, yes: Datum, no: Datum, at: Raw) -> Step<Next> {
        match decided {
            Datum::Int(value) => self.done(state, if *value != 0 { yes } else { no }, at),
            Datum::Undefined | Datum::Opaque => self.done(state, decided.clone(), at),
            _ => {
                let condition = self.condition(decided)?;
                let span = self.span;
                let mut way = state.clone();
                let negation = super::operate::negated(condition.clone());
                let other = self.model()?.emit(at, Instruction::Assume(negation), span);
                let next = self.done(&mut way, no, other)?;
                self.later(way, next);
                let at = self.model()?.emit(at, Instruction::Assume(condition), span);
                self.done(state, yes, at)
            }
        }
    }

    /// Where the call that is executed stands: its path, block and instruction.
    pub fn site(&self, state: &State) -> (usize, u32, usize) {
        let frame = state.frame();
        (frame.path, frame.block.0, frame.index)
    }

    /// The pointer is to a function with a body.
    pub fn thread_function(&self, function: &Datum) -> Step<usize> {
        match function {
            Datum::Function(function) if !self.world.module.functions[*function].is_declaration() => Ok(*function),
            Datum::Function(function) => {
                let name = &self.world.module.functions[*function].name;
                Err(self.refuse(format!("a thread runs `{name}`, which is not defined in this file")))
            }
            _ => Err(self.refuse("a thread is started, and its function is not known here".to_owned())),
        }
    }

    pub fn note_start(&mut self, start: Start) {
        self.starts.push(start);
    }

    /// While `main` is executed: this can only be a step of the model.
    pub fn needs_model(&self) -> Step<()> {
        if self.is_model() { Ok(()) } else { Err(Interrupt::NeedsModel) }
    }
}

/// A locked instruction that adds 0 to the top of the stack, which is a fence: `lock; addl $0,-4(%rsp)`.
fn adds_nothing_locked(words: &[&str]) -> bool {
    let ["lock", "addl" | "addq" | "orl" | "orq", operands @ ..] = words else { return false };
    let operands = operands.concat();
    let place = operands.strip_prefix("$$0,").and_then(|place| place.split_once('('));
    place.is_some_and(|(offset, register)| {
        (offset.is_empty() || offset.parse::<i32>().is_ok()) && matches!(register, "%rsp)" | "%esp)")
    })
}

/// The result of `bits` bits, and whether it is another number than the exact one.
fn overflowing(op: BinaryOperator, signedness: Signedness, bits: u32, left: i64, right: i64) -> Datum {
    let number = |value: i64| match signedness {
        Signedness::Signed => i128::from(value),
        Signedness::Unsigned => i128::from(super::value::unsigned(bits, value)),
    };
    let (left, right) = (number(left), number(right));
    let exact = match op {
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Sub => left.checked_sub(right),
        _ => left.checked_mul(right),
    };
    let result = super::value::canonical(bits, exact.unwrap_or_else(|| left.wrapping_mul(right)));
    Datum::Parts(vec![Datum::Int(result), Datum::Int((exact != Some(number(result))).into())])
}
