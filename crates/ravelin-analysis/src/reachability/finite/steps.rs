//! What one instruction can do in a local state, with memory known only as sets of values.
//!
//! The order in which an instruction meets its obstacles is that of the reference semantics (`operational/step.rs`): what is
//! read before a fault decides which reads the edge to the failed place needs. An instruction is run once for each
//! combination of values that its reads may find.

use super::{CellId, CellPair, EdgeEffect, ValueId};
use ravelin_explore::Watch;
use ravelin_program::{Address, Admission, Domain, Expr, Fault, Instruction, Order, Program, RegId, ThreadId, Value};

/// Memory as the steps see it; it learns of cells and values on the way.
pub(super) trait CellValues {
    fn cell(&mut self, address: Value) -> Result<CellId, super::NotFinite>;
    fn address(&self, cell: CellId) -> Value;
    /// By number, the values that may be stored in the cell.
    fn values(&self, cell: CellId) -> &[Value];
    /// How many of them may be read already.
    fn visible(&self, cell: CellId) -> usize;
    /// A step depends on all values of the cell.
    fn note_read(&mut self, cell: CellId);
    fn value(&mut self, cell: CellId, value: Value) -> Result<ValueId, super::NotFinite>;
}

/// The thread before the instruction.
pub(super) struct StartState<'a> {
    pub program: &'a Program,
    pub thread: ThreadId,
    pub registers: &'a [Value],
    pub holds_bus: bool,
    pub stranded: &'a [CellPair],
    /// An instruction is run once for each combination of what it reads, and there may be many.
    pub watch: &'a Watch<'a>,
    /// A single read of this cell finds this value only: the others were looked at before.
    pub only: Option<CellPair>,
}

/// One way for the instruction to go.
pub(super) struct LocalOutcome {
    pub effect: EdgeEffect,
    pub end: LocalEnd,
    pub choice: Value,
}

pub(super) enum LocalEnd {
    Goes { registers: Box<[Value]>, holds_bus: bool },
    Fails(Option<Fault>),
}

/// Why an instruction does not go on in the usual way.
enum InstructionStop {
    /// It cannot be taken.
    Blocked,
    Failed(Option<Fault>),
    NotFinite(super::NotFinite),
}

impl From<Fault> for InstructionStop {
    fn from(fault: Fault) -> InstructionStop {
        InstructionStop::Failed(Some(fault))
    }
}

impl From<super::NotFinite> for InstructionStop {
    fn from(refusal: super::NotFinite) -> InstructionStop {
        InstructionStop::NotFinite(refusal)
    }
}

/// All ways for an instruction to go, or why there is no finite view.
pub(super) fn outcomes(
    before: &StartState,
    instruction: &Instruction,
    values: &mut dyn CellValues,
) -> Result<Vec<LocalOutcome>, super::NotFinite> {
    let choices = match *instruction {
        Instruction::Havoc { lo, hi, .. } => lo..=hi,
        Instruction::CompareExchange { weak: true, .. } => 0..=1,
        _ => 0..=0,
    };
    let mut found = Vec::new();
    for choice in choices {
        // What the reads find, one combination after the other: a list of decisions, each with how many there are.
        let mut script: Vec<(usize, usize)> = Vec::new();
        loop {
            let mut attempt = InstructionRun {
                before,
                values: &mut *values,
                registers: before.registers.into(),
                holds_bus: before.holds_bus,
                reads: Vec::new(),
                writes: Vec::new(),
                kind: EffectKind::Local,
                script: &mut script,
                decided: 0,
            };
            let result = attempt.execute(instruction, choice);
            let end = match result {
                Ok(()) => Some(LocalEnd::Goes { registers: attempt.registers.clone(), holds_bus: attempt.holds_bus }),
                Err(InstructionStop::Failed(fault)) => Some(LocalEnd::Fails(fault)),
                Err(InstructionStop::Blocked) => None,
                Err(InstructionStop::NotFinite(refusal)) => return Err(refusal),
            };
            before.watch.step()?;
            if let Some(end) = end {
                before.watch.hold(outcome_bytes(before))?;
                let effect = attempt.effect(matches!(end, LocalEnd::Fails(_)));
                found.push(LocalOutcome { effect, end, choice });
            }
            while script.last().is_some_and(|(taken, of)| taken + 1 == *of) {
                script.pop();
            }
            match script.last_mut() {
                Some((taken, _)) => *taken += 1,
                None => break,
            }
        }
    }
    Ok(found)
}

/// What one outcome takes in memory, roughly.
pub(super) fn outcome_bytes(before: &StartState) -> usize {
    size_of::<LocalOutcome>() + size_of_val(before.registers) + 64
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EffectKind {
    Local,
    Load,
    Store,
    Fence,
    Atomic,
    BusLock,
    BusUnlock,
}

/// The instruction while it runs.
struct InstructionRun<'a, 'b> {
    before: &'a StartState<'a>,
    values: &'b mut dyn CellValues,
    registers: Box<[Value]>,
    holds_bus: bool,
    /// From memory, or as the thread sees it.
    reads: Vec<CellPair>,
    writes: Vec<CellPair>,
    kind: EffectKind,
    script: &'b mut Vec<(usize, usize)>,
    decided: usize,
}

impl InstructionRun<'_, '_> {
    fn effect(&self, fails: bool) -> EdgeEffect {
        let sorted = |pairs: &[CellPair]| {
            let mut pairs = pairs.to_vec();
            pairs.sort_unstable();
            pairs.into_boxed_slice()
        };
        match self.kind {
            EffectKind::Store if fails => EdgeEffect::Local,
            EffectKind::Local => EdgeEffect::Local,
            EffectKind::Load if self.reads.is_empty() => EdgeEffect::Local,
            EffectKind::Load => EdgeEffect::Load(sorted(&self.reads)),
            EffectKind::Store => EdgeEffect::Store(self.writes[0]),
            EffectKind::Fence => EdgeEffect::Fence,
            // A failing step writes nothing.
            EffectKind::Atomic => {
                let writes = if fails { &[] } else { self.writes.as_slice() };
                EdgeEffect::Atomic { reads: sorted(&self.reads), writes: sorted(writes) }
            }
            EffectKind::BusLock => EdgeEffect::BusLock,
            EffectKind::BusUnlock => EdgeEffect::BusUnlock,
        }
    }

    fn execute(&mut self, instruction: &Instruction, choice: Value) -> Result<(), InstructionStop> {
        match instruction {
            Instruction::Nop => Ok(()),
            Instruction::Assign { reg, value } => {
                let value = self.eval(value)?;
                self.set(*reg, value)
            }
            Instruction::Havoc { reg, .. } => self.set(*reg, choice),
            Instruction::Assume(condition) => match self.eval(condition)? {
                0 => Err(InstructionStop::Blocked),
                _ => Ok(()),
            },
            Instruction::Assert(condition) => match self.eval(condition)? {
                0 => Err(InstructionStop::Failed(None)),
                _ => Ok(()),
            },
            Instruction::Load { reg, address, .. } => {
                self.kind = EffectKind::Load;
                let found = self.load(address)?;
                self.set(*reg, found)
            }
            Instruction::Wait { address, condition, old, .. } => {
                self.kind = EffectKind::Load;
                let found = self.load(address)?;
                if !condition.holds(found, &mut |register| self.registers[register.0])? {
                    return Err(InstructionStop::Blocked);
                }
                self.set_if_wanted(*old, found)
            }
            Instruction::Store { address, value, .. } => self.store(address, value),
            Instruction::Unlock(address) => self.store(address, &Expr::Const(0)),
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                self.drained(EffectKind::Atomic)?;
                let cell = self.address(address)?;
                let operand = self.eval(operand)?;
                let found = self.read(cell)?;
                self.write(cell, op.apply(*arithmetic, found, operand)?)?;
                self.set_if_wanted(*old, found)
            }
            Instruction::CompareExchange { address, expected, new, old, ok, .. } => {
                self.drained(EffectKind::Atomic)?;
                let cell = self.address(address)?;
                let expected = self.eval(expected)?;
                let new = self.eval(new)?;
                let found = self.read(cell)?;
                let fails_for_no_reason = choice == 1;
                if fails_for_no_reason && found != expected {
                    return Err(InstructionStop::Blocked);
                }
                let succeeds = found == expected && !fails_for_no_reason;
                if succeeds {
                    self.write(cell, new)?;
                }
                self.set_if_wanted(*old, found)?;
                self.set_if_wanted(*ok, Value::from(succeeds))
            }
            Instruction::BlockingCas { address, expected, new, .. } => self.blocking_cas(address, expected, new),
            Instruction::Lock(address) => self.blocking_cas(address, &Expr::Const(0), &Expr::Const(1)),
            Instruction::Fence(Order::SeqCst) => self.drained(EffectKind::Fence),
            Instruction::Fence(_) => Ok(()),
            Instruction::BusLock => {
                self.drained(EffectKind::BusLock)?;
                if self.holds_bus {
                    return Err(InstructionStop::Blocked);
                }
                self.holds_bus = true;
                Ok(())
            }
            Instruction::BusUnlock => {
                if !self.holds_bus {
                    return Err(Fault::BusNotHeld.into());
                }
                self.drained(EffectKind::BusUnlock)?;
                self.holds_bus = false;
                Ok(())
            }
            Instruction::Locked { body, drains } => {
                if *drains {
                    self.drained(EffectKind::Atomic)?;
                } else {
                    self.kind = EffectKind::Load;
                }
                body.iter().try_for_each(|part| self.locked_part(part))
            }
        }
    }

    /// A part of a locked block, which keeps the block's own kind. One that stores drains: `explore` refuses others.
    fn locked_part(&mut self, part: &Instruction) -> Result<(), InstructionStop> {
        match part {
            Instruction::Store { address, value, .. } => {
                let cell = self.address(address)?;
                let value = self.eval(value)?;
                self.write(cell, value)
            }
            Instruction::Load { reg, address, .. } => {
                let found = self.load(address)?;
                self.set(*reg, found)
            }
            _ => self.execute(part, 0),
        }
    }

    fn store(&mut self, address: &Address, value: &Expr) -> Result<(), InstructionStop> {
        self.kind = EffectKind::Store;
        let cell = self.address(address)?;
        let value = self.eval(value)?;
        self.write(cell, value)
    }

    fn blocking_cas(&mut self, address: &Address, expected: &Expr, new: &Expr) -> Result<(), InstructionStop> {
        self.drained(EffectKind::Atomic)?;
        let cell = self.address(address)?;
        let expected = self.eval(expected)?;
        let new = self.eval(new)?;
        if self.read(cell)? != expected {
            return Err(InstructionStop::Blocked);
        }
        self.write(cell, new)
    }

    /// The step needs an empty store buffer, which a thread with stranded stores never has again.
    fn drained(&mut self, kind: EffectKind) -> Result<(), InstructionStop> {
        self.kind = kind;
        if self.before.stranded.is_empty() { Ok(()) } else { Err(InstructionStop::Blocked) }
    }

    fn load(&mut self, address: &Address) -> Result<Value, InstructionStop> {
        let cell = self.address(address)?;
        self.read(cell)
    }

    /// What the step wrote itself, what it read before, what is stranded, or any value that the cell may hold.
    fn read(&mut self, cell: CellId) -> Result<Value, InstructionStop> {
        let known = [&self.writes, &self.reads, self.before.stranded as &[CellPair]]
            .into_iter()
            .find_map(|pairs| pairs.iter().rev().find(|(of, _)| *of == cell));
        if let Some((_, value)) = known {
            return Ok(self.values.values(cell)[*value as usize]);
        }
        self.values.note_read(cell);
        let value = match self.before.only {
            Some((only, value)) if only == cell && self.reads.is_empty() => value,
            _ => self.decide(self.values.visible(cell)) as ValueId,
        };
        self.reads.push((cell, value));
        Ok(self.values.values(cell)[value as usize])
    }

    fn decide(&mut self, ways: usize) -> usize {
        if self.decided == self.script.len() {
            self.script.push((0, ways));
        }
        self.decided += 1;
        self.script[self.decided - 1].0
    }

    fn write(&mut self, cell: CellId, value: Value) -> Result<(), InstructionStop> {
        let address = self.values.address(cell);
        let value = admit(self.before.program.memory.domain_at(address)?, value)?;
        let value = self.values.value(cell, value)?;
        self.writes.retain(|(of, _)| *of != cell);
        self.writes.push((cell, value));
        Ok(())
    }

    fn eval(&self, expr: &Expr) -> Result<Value, InstructionStop> {
        Ok(expr.eval(&mut |register| self.registers[register.0])?)
    }

    fn address(&mut self, address: &Address) -> Result<CellId, InstructionStop> {
        let value = self.eval(&address.expr)?;
        Ok(self.values.cell(self.before.program.memory.resolve(address, value)?)?)
    }

    fn set(&mut self, register: RegId, value: Value) -> Result<(), InstructionStop> {
        let domain = self.before.program.threads[self.before.thread.0].registers[register.0].domain;
        self.registers[register.0] = admit(domain, value)?;
        Ok(())
    }

    fn set_if_wanted(&mut self, register: Option<RegId>, value: Value) -> Result<(), InstructionStop> {
        register.map_or(Ok(()), |register| self.set(register, value))
    }
}

fn admit(domain: Domain, value: Value) -> Result<Value, InstructionStop> {
    match domain.admit(value)? {
        Admission::Value(value) => Ok(value),
        Admission::Blocked => Err(InstructionStop::Blocked),
    }
}
