//! One thread of a C program as a thread of the model, by specialisation.
//!
//! The code of a thread is executed with what is known: addresses of objects, counters of loops, arguments, the thread's
//! own local variables. What is not known, because it comes from memory that other threads can access, becomes a register,
//! and the instructions on it become steps of the model. A place in the code at which the same is known again is the same
//! location of the model, so loops stay loops. Calls are followed, so there are no functions in the model.
//!
//! A loop whose counter is known is unrolled, which changes neither the states nor the steps of the model. At a place that
//! is met with too many different values, those that differ are kept in registers from then on, so unbounded loops
//! end in finitely many locations.
//!
//! An expression over registers stays valid as long as the value it was computed for is used: values of the IR are assigned
//! once, and a register belongs to one value, so by dominance the value is computed again whenever its operands are.
//! Variables in memory are not like that, and have registers of their own.

use super::facts::Footprint;
use super::objects::{ObjectId, ObjectKey};
use super::operate::{NoResult, Operands};
use super::residual::{RegisterKey, Residual};
use super::state::{Point, Slot, State};
use super::value::{Datum, bits_of, domain};
use super::world::World;
use crate::flow::Raw;
use crate::ir::module::{Function, IrInstruction, LocalId, Operand, Operation, Type, Value};
use ravelin_program::{Domain, Escape, Expr, RegId, Span};
use std::collections::{BTreeSet, HashMap};

/// Why the specialisation of a thread ends early.
#[derive(Debug)]
pub(super) enum Interrupt {
    /// An assumption turned out to be wrong; the facts have grown.
    Again,
    /// While `main` is executed: the next step can only be a step of the model.
    NeedsModel,
    Refused(Box<Refusal>),
}

/// Something that cannot be part of a model, and where.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

pub(super) type Step<T> = Result<T, Interrupt>;

/// A thread that is started.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub function: usize,
    pub argument: Datum,
    /// Called with the argument once the function has returned.
    pub destroys: Option<usize>,
    /// Another thread of the model starts it, at this place; without one it runs from the beginning.
    pub gate: Option<(usize, (usize, u32, usize), u32)>,
    pub span: Span,
}

/// Different sets of known values at one place, before those that differ are put into registers.
const VARIANTS: usize = 48;
/// Different sets at one place, at all.
const MOST_VARIANTS: usize = 4096;
/// Instructions of `main` that are executed before the model begins.
const MOST_EXECUTED: u64 = 2_000_000;
/// Steps of one thread of a model.
const MOST_STEPS: usize = 200_000;

/// The thread that is being specialised.
pub(super) struct Specialiser<'w, 'm> {
    pub world: &'w mut World<'m>,
    pub thread: usize,
    /// `None` while `main` is executed.
    pub residual: Option<Residual>,
    pub footprint: Footprint,
    /// The first function of the source that it calls, after which it is named.
    pub named_after: Option<usize>,
    /// Threads that it starts, in the order in which they were found.
    pub starts: Vec<Start>,
    pub steps: u64,
    /// While `main` is executed: what it accessed after it had started a thread.
    pub log: Vec<StartAccess>,
    points: HashMap<Point, Variants>,
    pub work: Vec<(State, Raw)>,
    /// Where the instruction that is executed stands.
    pub span: Span,
}

/// An access of `main` between the starts of threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartAccess {
    pub object: ObjectId,
    pub offset: u64,
    pub size: u64,
    pub writes: bool,
    /// So many threads ran already.
    pub started: usize,
    pub step: u64,
}

#[derive(Default)]
struct Variants {
    locations: HashMap<State, Raw>,
    one: Option<State>,
    /// Kept in registers here.
    general: BTreeSet<Slot>,
}

/// How a step goes on.
pub(super) enum Next {
    /// With the next instruction.
    On(Raw),
    /// Elsewhere; what follows is in the list of work.
    Elsewhere,
}

impl<'w, 'm> Specialiser<'w, 'm> {
    pub fn new(world: &'w mut World<'m>, thread: usize, residual: Option<Residual>) -> Self {
        Specialiser {
            world,
            thread,
            residual,
            footprint: Footprint::default(),
            named_after: None,
            starts: Vec::new(),
            steps: 0,
            log: Vec::new(),
            points: HashMap::new(),
            work: Vec::new(),
            span: Span::NOWHERE,
        }
    }

    /// Specialises everything that can follow a state.
    pub fn run(&mut self, mut state: State, at: Raw) -> Step<()> {
        let next = self.enter(&mut state, at)?;
        self.later(state, next);
        while let Some((state, at)) = self.work.pop() {
            self.follow(state, at)?;
        }
        Ok(())
    }

    /// Executes a state until `until` steps are done. Whether the thread has ended.
    pub fn execute(&mut self, state: &mut State, until: Option<u64>) -> Step<bool> {
        debug_assert!(self.residual.is_none());
        while until.is_none_or(|until| self.steps < until) {
            if self.steps >= MOST_EXECUTED {
                return Err(self.too_long());
            }
            self.steps += 1;
            if let Next::Elsewhere = self.step(state, Raw::NOWHERE)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `main` does not come to an end: if threads run, what it does after their start is left to the model.
    fn too_long(&mut self) -> Interrupt {
        match self.log.first() {
            Some(first) => {
                self.world.facts.stop_at(first.step);
                Interrupt::Again
            }
            None => self.refuse_with(
                format!("`main` takes more than {MOST_EXECUTED} steps before it starts a thread"),
                "name the functions that run in parallel with --entry, and one that prepares with --init".to_owned(),
            ),
        }
    }

    /// Comes to a place in the code: a known one is the same location.
    pub fn enter(&mut self, state: &mut State, mut at: Raw) -> Step<Next> {
        self.forget_dead(state);
        if self.residual.is_none() {
            return Ok(Next::On(at));
        }
        let point = state.point();
        let general: Vec<Slot> = match self.points.get(&point) {
            Some(variants) => variants.general.iter().copied().collect(),
            None => Vec::new(),
        };
        at = self.generalise(state, &general, at)?;
        let variants = self.points.entry(point.clone()).or_default();
        if let Some(&known) = variants.locations.get(state) {
            return self.join(at, known);
        }
        if variants.locations.len() >= MOST_VARIANTS {
            return Err(self.refuse(format!(
                "this place is reached with more than {MOST_VARIANTS} different sets of values that cannot be kept in registers"
            )));
        }
        if variants.locations.len() >= VARIANTS
            && let Some(one) = &variants.one
        {
            let mut more = state.differences(one);
            more.retain(|slot| !variants.general.contains(slot));
            if !more.is_empty() {
                variants.general.extend(more.iter().copied());
                at = self.generalise(state, &more, at)?;
                let known = self.points.get(&point).and_then(|variants| variants.locations.get(state));
                if let Some(&known) = known {
                    return self.join(at, known);
                }
            }
        }
        let variants = self.points.entry(point).or_default();
        variants.one.get_or_insert_with(|| state.clone());
        variants.locations.insert(state.clone(), at);
        Ok(Next::On(at))
    }

    fn join(&mut self, at: Raw, known: Raw) -> Step<Next> {
        let span = self.span;
        self.model()?.flow.jump(at, known, span);
        Ok(Next::Elsewhere)
    }

    /// One of several ways to go on, to be followed later.
    pub fn later(&mut self, state: State, next: Next) {
        if let Next::On(at) = next {
            self.work.push((state, at));
        }
    }

    /// Puts known values into registers.
    fn generalise(&mut self, state: &mut State, slots: &[Slot], at: Raw) -> Step<Raw> {
        let mut pending = Vec::new();
        for slot in slots {
            match *slot {
                Slot::Value(number, local) => {
                    let Some(frame) = state.frames.get(number) else { continue };
                    let (function, path) = (frame.function, frame.path);
                    let Some(datum) = frame.values.get(&local).cloned() else { continue };
                    if !matches!(datum, Datum::Int(_) | Datum::Pointer(..) | Datum::Computed(_)) {
                        continue;
                    }
                    let value = self.lower(&datum)?;
                    let register = self.value_register(function, path, local, 0)?;
                    pending.push((register, value));
                    state.frames[number].values.insert(local, Datum::Computed(Expr::Atom(register)));
                }
                Slot::Scalar(object, offset) => {
                    let Some(contents) = state.memory.get(&object) else { continue };
                    let datum =
                        contents.entries().find(|(own, _, _)| *own == offset).map(|(_, _, datum)| datum.clone());
                    let Some(datum) = datum else { continue };
                    if !matches!(datum, Datum::Int(_) | Datum::Pointer(..) | Datum::Computed(_)) {
                        continue;
                    }
                    let value = self.lower(&datum)?;
                    let register = self.scalar_register(object, offset)?;
                    pending.push((register, value));
                    if let Some(contents) = state.memory.get_mut(&object) {
                        contents.replace(offset, Datum::Computed(Expr::Atom(register)));
                    }
                }
            }
        }
        if pending.is_empty() {
            return Ok(at);
        }
        let span = self.span;
        Ok(self.model()?.assign(at, pending, span))
    }

    fn follow(&mut self, mut state: State, mut at: Raw) -> Step<()> {
        loop {
            if self.model()?.emitted() > MOST_STEPS {
                return Err(self.refuse(format!("the model of this thread has more than {MOST_STEPS} steps")));
            }
            match self.step(&mut state, at)? {
                Next::On(next) => at = next,
                Next::Elsewhere => return Ok(()),
            }
        }
    }

    /// The next instruction or the end of a block.
    fn step(&mut self, state: &mut State, at: Raw) -> Step<Next> {
        let module = self.world.module;
        let frame = state.frame();
        let block = module.functions[frame.function].block(frame.block);
        match block.instructions.get(frame.index) {
            Some(instruction) => {
                self.span = self.world.span_of(state, instruction.place);
                self.instruction(state, instruction, at)
            }
            None => {
                self.span = self.world.span_of(state, block.place);
                self.terminator(state, &block.terminator, at)
            }
        }
    }

    fn instruction(&mut self, state: &mut State, instruction: &'m IrInstruction, at: Raw) -> Step<Next> {
        let result = instruction.result;
        let datum = match &instruction.operation {
            Operation::Alloca { ty, count, .. } => self.allocate(state, ty, count.as_ref())?,
            Operation::Load { ty, pointer, order, .. } => {
                return self.load(state, result, ty, pointer, *order, at);
            }
            Operation::Store { value, pointer, order, .. } => return self.store(state, value, pointer, *order, at),
            Operation::CompareExchange { .. } | Operation::ReadModifyWrite { .. } => {
                return self.read_modify_write(state, result, &instruction.operation, at);
            }
            Operation::Fence { order, compiler_only } => {
                if !compiler_only {
                    return self.fence(state, *order, at);
                }
                Datum::Undefined
            }
            Operation::Call(call) => return self.call(state, call, at),
            Operation::Select { condition, yes, no } => {
                return self.select(state, result, condition, yes, no, at);
            }
            Operation::Phi { .. } => {
                return Err(self.refuse("a phi that is not at the beginning of its block".to_owned()));
            }
            operation => self.evaluate(state, operation)?,
        };
        self.advance(state, result, datum);
        Ok(Next::On(at))
    }

    /// Gives an instruction's result its value, and goes on to the next one.
    pub fn advance(&mut self, state: &mut State, result: Option<LocalId>, datum: Datum) {
        let frame = state.frame_mut();
        if let Some(result) = result {
            frame.values.insert(result, datum);
        }
        frame.index += 1;
    }

    /// Values that nothing uses any more would only make states differ.
    fn forget_dead(&mut self, state: &mut State) {
        let module = self.world.module;
        let last = state.frames.len() - 1;
        for (number, frame) in state.frames.iter_mut().enumerate() {
            let (code, live) = (&module.functions[frame.function], self.world.liveness(frame.function));
            // An outer frame stands at a call, whose result is not there yet.
            let kept = if number == last {
                live.at(code, frame.block, frame.index)
            } else {
                live.after(code, frame.block, frame.index)
            };
            if let Some(kept) = kept {
                frame.values.retain(|local, _| kept.contains(local));
            }
        }
    }

    pub fn model(&mut self) -> Step<&mut Residual> {
        self.residual.as_mut().ok_or(Interrupt::NeedsModel)
    }

    pub fn is_model(&self) -> bool {
        self.residual.is_some()
    }

    /// The register of a value of the IR.
    pub fn value_register(&mut self, function: usize, path: usize, local: LocalId, part: u32) -> Step<RegId> {
        let function: &Function = &self.world.module.functions[function];
        let variable = function.variables.iter().find(|variable| variable.local == local);
        let name = variable.map(|variable| variable.name.as_str());
        let ty = match function.type_of(local) {
            Type::Struct { fields, .. } => fields.get(part as usize),
            ty => Some(ty),
        };
        let domain = match ty.and_then(bits_of) {
            Some(bits) if bits < 64 => domain(bits, Escape::Error),
            _ => Domain::FULL,
        };
        Ok(self.model()?.register(RegisterKey::Value { path, local, part }, name, domain))
    }

    pub fn scalar_register(&mut self, object: ObjectId, offset: u64) -> Step<RegId> {
        let name = self.world.scalar_name(object, offset);
        Ok(self.model()?.register(RegisterKey::Scalar(object, offset), Some(&name), Domain::FULL))
    }

    /// A register for one step of the instruction at which a state is.
    pub fn part_register(&mut self, state: &State, number: u64, domain: Domain) -> Step<RegId> {
        let frame = state.frame();
        let key = RegisterKey::Part { path: frame.path, block: frame.block, index: frame.index, number };
        Ok(self.model()?.register(key, None, domain))
    }

    pub fn condition(&mut self, datum: &Datum) -> Step<Expr> {
        let condition = self.with_operands(|operands| operands.condition(datum))?;
        let boolean = self.residual.as_ref().is_some_and(|model| {
            let address = |_: &Datum| None;
            Operands { address: &address, bits: &|register| model.bits(register) }.is_boolean(&condition)
        });
        Ok(if boolean { condition } else { Expr::binary(ravelin_program::BinaryOp::Ne, condition, Expr::Const(0)) })
    }

    /// Calls an operation with what it needs to know.
    pub fn with_operands<T>(&mut self, operation: impl FnOnce(&Operands<'_>) -> Result<T, NoResult>) -> Step<T> {
        let result = {
            let objects = &self.world.objects;
            let address = |datum: &Datum| match datum {
                Datum::Pointer(object, offset) => Some(objects.address(*object, *offset)),
                Datum::Function(function) => {
                    objects.find(&ObjectKey::Function(*function)).map(|object| objects.address(object, 0))
                }
                _ => None,
            };
            let residual = &self.residual;
            let bits = |register: RegId| residual.as_ref().map_or(64, |model| model.bits(register));
            operation(&Operands { address: &address, bits: &bits })
        };
        result.map_err(|problem| match problem {
            NoResult::Undefined(what) => self.refuse(what.to_owned()),
            NoResult::Refused(what) => self.refuse(format!("{what} is not supported")),
        })
    }

    /// A value for the model: an address in it is one that every thread may find.
    pub fn lower(&mut self, datum: &Datum) -> Step<Expr> {
        match datum {
            Datum::Pointer(object, offset) => {
                self.world.escape(*object, *offset);
                Ok(Expr::Const(self.world.objects.address(*object, *offset)))
            }
            // Whatever it is, the program does not depend on it, or does something undefined.
            Datum::Undefined => Ok(Expr::Const(0)),
            Datum::Opaque => Err(self.refuse("floating point in memory that other threads can access".to_owned())),
            Datum::Function(function) => Ok(Expr::Const(self.world.escape_function(*function))),
            datum => self.with_operands(|operands| operands.expr(datum)),
        }
    }

    pub fn refuse(&self, message: String) -> Interrupt {
        Interrupt::Refused(Box::new(Refusal { span: self.span, message, help: None }))
    }

    pub fn refuse_with(&self, message: String, help: String) -> Interrupt {
        Interrupt::Refused(Box::new(Refusal { span: self.span, message, help: Some(help) }))
    }

    pub fn operand(&mut self, state: &State, operand: &Operand) -> Step<Datum> {
        self.value(state, &operand.value, &operand.ty)
    }

    pub fn value(&mut self, state: &State, value: &Value, ty: &Type) -> Step<Datum> {
        match value {
            Value::Local(local) => Ok(state.frame().values.get(local).cloned().unwrap_or(Datum::Undefined)),
            Value::Constant(constant) => self.constant(constant, ty),
        }
    }
}
