//! Where a thread goes on: branches, selections, calls of functions of the file, and returns.

use super::operate::negated;
use super::specialise::{Next, Specialiser, Step};
use super::state::State;
use super::value::{Datum, bits_of};
use crate::flow::Raw;
use crate::ir::module::{BlockId, LocalId, Operand, Operation, Terminator};
use ravelin_program::{Expr, Instruction};
use std::collections::BTreeSet;

/// Calls in calls.
const DEEPEST: usize = 64;

impl<'m> Specialiser<'_, 'm> {
    pub fn select(
        &mut self,
        state: &mut State,
        result: Option<LocalId>,
        condition: &Operand,
        yes: &Operand,
        no: &Operand,
        at: Raw,
    ) -> Step<Next> {
        let decided = self.operand(state, condition)?;
        match &decided {
            Datum::Int(value) => {
                let datum = self.operand(state, if *value != 0 { yes } else { no })?;
                self.advance(state, result, datum);
                Ok(Next::On(at))
            }
            Datum::Opaque | Datum::Undefined => {
                self.advance(state, result, decided);
                Ok(Next::On(at))
            }
            _ => {
                let (left, right) = (self.operand(state, yes)?, self.operand(state, no)?);
                if left == right {
                    self.advance(state, result, left);
                    return Ok(Next::On(at));
                }
                let condition = self.condition(&decided)?;
                // The two ways go on separately, each with a known value.
                for (condition, datum) in [(negated(condition.clone()), right), (condition, left)] {
                    let mut way = state.clone();
                    let span = self.span;
                    let next = self.model()?.emit(at, Instruction::Assume(condition), span);
                    self.advance(&mut way, result, datum);
                    self.work.push((way, next));
                }
                Ok(Next::Elsewhere)
            }
        }
    }

    pub fn terminator(&mut self, state: &mut State, terminator: &'m Terminator, at: Raw) -> Step<Next> {
        match terminator {
            Terminator::Return(value) => {
                let datum = match value {
                    Some(operand) => self.operand(state, operand)?,
                    None => Datum::Undefined,
                };
                self.leave(state, datum, at)
            }
            Terminator::Jump(next) => self.branch(state, *next, at),
            Terminator::Branch { condition, yes, no } => {
                let decided = self.operand(state, condition)?;
                if let Datum::Int(value) = decided {
                    return self.branch(state, if value != 0 { *yes } else { *no }, at);
                }
                let condition = self.condition(&decided)?;
                let negation = negated(condition.clone());
                let span = self.span;
                for (failing, next, holds) in [(*no, *yes, &condition), (*yes, *no, &negation)] {
                    if self.fails_at_once(state, failing) {
                        let next_at = self.model()?.emit(at, Instruction::Assert(holds.clone()), span);
                        state.learn(holds);
                        return self.branch(state, next, next_at);
                    }
                }
                for (condition, next) in [(negation, *no), (condition, *yes)] {
                    let mut way = state.clone();
                    way.learn(&condition);
                    let next_at = self.model()?.emit(at, Instruction::Assume(condition), span);
                    let next = self.branch(&mut way, next, next_at)?;
                    self.later(way, next);
                }
                Ok(Next::Elsewhere)
            }
            Terminator::Switch { value, default, cases } => self.switch(state, value, *default, cases, at),
            Terminator::Invoke { call, .. } => self.call(state, call, at),
            Terminator::Unreachable => self.fail(at),
            Terminator::Unsupported(name) => Err(self.refuse(format!("`{name}` is not supported"))),
        }
    }

    fn switch(
        &mut self,
        state: &mut State,
        value: &Operand,
        default: BlockId,
        cases: &[(i128, BlockId)],
        at: Raw,
    ) -> Step<Next> {
        let datum = self.operand(state, value)?;
        let bits = bits_of(&value.ty).unwrap_or(64);
        if let Datum::Int(known) = datum {
            let case = cases.iter().find(|(case, _)| super::value::canonical(bits, *case) == known);
            return self.branch(state, case.map_or(default, |(_, block)| *block), at);
        }
        // A decision about the number itself, not about whether it is 0.
        let chosen = self.with_operands(|operands| operands.condition(&datum))?;
        let span = self.span;
        let mut none: Option<Expr> = None;
        for (case, block) in cases {
            let case = Expr::Const(super::value::canonical(bits, *case));
            let is = chosen.clone().eq(case);
            let is_not = negated(is.clone());
            none = Some(match none {
                Some(before) => before.and(is_not),
                None => is_not,
            });
            let next = self.model()?.emit(at, Instruction::Assume(is), span);
            let mut way = state.clone();
            let next = self.branch(&mut way, *block, next)?;
            self.later(way, next);
        }
        let next = match none {
            Some(none) => self.model()?.emit(at, Instruction::Assume(none), span),
            None => at,
        };
        self.branch(state, default, next)
    }

    /// Whether a block does nothing but report a failed assertion or abort.
    fn fails_at_once(&self, state: &State, block: BlockId) -> bool {
        let function = &self.world.module.functions[state.frame().function];
        let block = function.block(block);
        let mut fails = false;
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::Call(call) => match self.world.called_name(call) {
                    Some(name) if super::library::is_failure(name) => fails = true,
                    Some(name) if super::library::is_ignored(name) => {}
                    _ => return fails,
                },
                Operation::Load { .. } | Operation::Store { .. } | Operation::Fence { .. } => return fails,
                Operation::CompareExchange { .. } | Operation::ReadModifyWrite { .. } => return fails,
                _ => {}
            }
        }
        fails
    }

    /// Goes to another block of the same function.
    pub fn branch(&mut self, state: &mut State, next: BlockId, mut at: Raw) -> Step<Next> {
        let module = self.world.module;
        let frame = state.frame();
        let (function, path, from) = (frame.function, frame.path, frame.block);
        let mut known = Vec::new();
        let mut pending = Vec::new();
        let mut phis = 0;
        for instruction in &module.functions[function].block(next).instructions {
            let Operation::Phi { ty, incoming } = &instruction.operation else { break };
            phis += 1;
            let Some(result) = instruction.result else { continue };
            let Some((value, _)) = incoming.iter().find(|(_, block)| *block == from) else {
                return Err(self.refuse("a phi without a value for the block that leads to it".to_owned()));
            };
            let datum = self.value(state, value, ty)?;
            match datum {
                Datum::Computed(expr) => {
                    let register = self.value_register(function, path, result, 0)?;
                    pending.push((register, expr));
                    known.push((result, Datum::Computed(Expr::Atom(register))));
                }
                datum => known.push((result, datum)),
            }
        }
        if !pending.is_empty() {
            let span = self.span;
            at = self.model()?.assign(at, pending, span);
        }
        let frame = state.frame_mut();
        frame.values.extend(known);
        frame.block = next;
        frame.index = phis;
        self.enter(state, at)
    }

    /// Enters a function of the file.
    pub fn inline(&mut self, state: &mut State, function: usize, arguments: Vec<Datum>, at: Raw) -> Step<Next> {
        let module = self.world.module;
        if state.frames.len() >= DEEPEST {
            let name = &module.functions[function].name;
            return Err(self.refuse(format!("calls are nested more than {DEEPEST} deep: `{name}` is recursive")));
        }
        let frame = state.frame();
        let path = self.world.paths.call(frame.path, frame.block.0, frame.index, function);
        if self.named_after.is_none() && self.world.places.defines(module, function) {
            self.named_after = Some(function);
        }
        let mut next = State::start(function, path).frames;
        let parameters = &module.functions[function].parameters;
        if arguments.len() < parameters.len() {
            return Err(self.refuse(format!("`{}` is called with too few arguments", module.functions[function].name)));
        }
        let mut copies = BTreeSet::new();
        let mut at = at;
        for (number, (parameter, datum)) in parameters.iter().zip(arguments).enumerate() {
            let datum = match &parameter.by_value {
                Some(ty) => {
                    let (copy, next_at) = self.copy_argument(state, path, number, ty, &datum, at)?;
                    at = next_at;
                    copies.insert(copy);
                    Datum::Pointer(copy, 0)
                }
                None => datum,
            };
            next[0].values.insert(parameter.local, datum);
        }
        next[0].objects = copies;
        state.frames.extend(next);
        self.enter(state, at)
    }

    /// Returns from a function.
    fn leave(&mut self, state: &mut State, datum: Datum, at: Raw) -> Step<Next> {
        let Some(frame) = state.frames.pop() else { return Ok(Next::Elsewhere) };
        let (datum, at) = match frame.once {
            Some(place) => (Datum::Int(0), self.end_once(state, place, at)?),
            None => (datum, at),
        };
        for object in &frame.objects {
            state.memory.remove(object);
        }
        if state.frames.is_empty() {
            if let Some((function, argument)) = state.destroys.take() {
                let path = self.world.paths.call(usize::MAX, self.thread as u32, 1, function);
                state.frames = State::start(function, path).frames;
                if let Some(parameter) = self.world.module.functions[function].parameters.first() {
                    state.frame_mut().values.insert(parameter.local, argument);
                }
                return self.enter(state, at);
            }
            let at = self.end_detached(state, at)?;
            self.end_thread(state, &datum, at)?;
            return Ok(Next::Elsewhere);
        }
        let module = self.world.module;
        let caller = state.frame();
        let block = module.functions[caller.function].block(caller.block);
        match block.instructions.get(caller.index) {
            Some(call) => {
                self.advance(state, call.result, datum);
                self.enter(state, at)
            }
            None => self.resume_after_invoke(state, datum, at),
        }
    }

    /// A call at the end of a block has returned.
    pub fn resume_after_invoke(&mut self, state: &mut State, datum: Datum, at: Raw) -> Step<Next> {
        let frame = state.frame();
        let block = self.world.module.functions[frame.function].block(frame.block);
        let Terminator::Invoke { result, normal, .. } = &block.terminator else {
            return Err(self.refuse("a call returns to where there is none".to_owned()));
        };
        if let Some(result) = result {
            state.frame_mut().values.insert(*result, datum);
        }
        self.branch(state, *normal, at)
    }

    /// The program fails here.
    pub fn fail(&mut self, at: Raw) -> Step<Next> {
        let span = self.span;
        let model = self.model()?;
        let end = model.end;
        model.emit_to(at, Instruction::Assert(Expr::Const(0)), end, span);
        Ok(Next::Elsewhere)
    }
}
