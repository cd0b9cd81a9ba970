//! One thread by itself: what a transition does when memory may answer a read with any value.
//!
//! This is the labelled transition system that a program induces before any memory model (paper, section 2.1). Local
//! instructions have no label, all others have one event each. An instruction that blocks has no outcome. One that
//! fails stops the thread at its location.

use super::Label;
use ravelin_program::{Address, Admission, Expr, Fault, Instruction, LocId, Order, Program, RegId, Thread, Value};
use thiserror::Error;

/// The location of a thread, its registers, and the failure that stopped it, if any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GraphThread {
    pub location: LocId,
    pub registers: Vec<Value>,
    pub failure: Option<ThreadFailure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum ThreadFailure {
    #[error("an assertion fails")]
    Assertion,
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// What taking a transition may lead to.
#[derive(Clone, Debug)]
pub(super) struct TransitionOutcome {
    /// The event, if there is one. For a failure, the event whose read led to it, which is not added to the graph.
    pub label: Option<Label>,
    /// The registers afterwards.
    pub registers: Result<Vec<Value>, ThreadFailure>,
}

/// A thread about to execute an instruction.
#[derive(Clone, Copy)]
pub(super) struct LocalThread<'a> {
    pub program: &'a Program,
    pub thread: &'a Thread,
    pub registers: &'a [Value],
}

impl LocalThread<'_> {
    /// The address that the instruction reads, if it reads.
    pub fn read_address(&self, instruction: &Instruction) -> Result<Option<Value>, Fault> {
        match instruction {
            Instruction::Load { address, .. }
            | Instruction::Wait { address, .. }
            | Instruction::Rmw { address, .. }
            | Instruction::CompareExchange { address, .. }
            | Instruction::BlockingCas { address, .. }
            | Instruction::Lock(address) => self.address(address).map(Some),
            _ => Ok(None),
        }
    }

    /// All outcomes of the instruction if it reads `read`; instructions that do not read ignore it. None if it blocks.
    pub fn outcomes(&self, instruction: &Instruction, read: Value) -> Vec<TransitionOutcome> {
        self.attempt(instruction, read).unwrap_or_else(|fault| {
            vec![TransitionOutcome { label: None, registers: Err(ThreadFailure::Fault(fault)) }]
        })
    }

    fn attempt(&self, instruction: &Instruction, read: Value) -> Result<Vec<TransitionOutcome>, Fault> {
        let one = |outcome: Option<TransitionOutcome>| Ok(outcome.into_iter().collect());
        match instruction {
            Instruction::Nop => one(self.outcome(None, &[])),
            Instruction::Assign { reg, value } => one(self.outcome(None, &[(Some(*reg), self.eval(value)?)])),
            Instruction::Havoc { reg, lo, hi } => {
                Ok((*lo..=*hi).filter_map(|value| self.outcome(None, &[(Some(*reg), value)])).collect())
            }
            Instruction::Assume(condition) => {
                let holds = self.eval(condition)? != 0;
                one(if holds { self.outcome(None, &[]) } else { None })
            }
            Instruction::Assert(condition) => {
                let holds = self.eval(condition)? != 0;
                let failed = TransitionOutcome { label: None, registers: Err(ThreadFailure::Assertion) };
                one(if holds { self.outcome(None, &[]) } else { Some(failed) })
            }
            Instruction::Load { reg, address, order } => {
                let label = Label::Read { address: self.address(address)?, value: read, order: *order };
                one(self.outcome(Some(label), &[(Some(*reg), read)]))
            }
            Instruction::Wait { address, condition, order, old } => {
                let label = Some(Label::Read { address: self.address(address)?, value: read, order: *order });
                match condition.holds(read, &mut |register| self.registers[register.0]) {
                    Ok(true) => one(self.outcome(label, &[(*old, read)])),
                    Ok(false) => Ok(Vec::new()),
                    // A failure because of the value read, as that of an RMW.
                    Err(fault) => one(Some(TransitionOutcome { label, registers: Err(ThreadFailure::Fault(fault)) })),
                }
            }
            Instruction::Store { address, value, order } => {
                let (address, value) = (self.address(address)?, self.eval(value)?);
                one(self.store(address, value, *order)?)
            }
            Instruction::Unlock(address) => one(self.store(self.address(address)?, 0, Order::Release)?),
            Instruction::Rmw { op, arithmetic, address, operand, order, old } => {
                let (address, operand) = (self.address(address)?, self.eval(operand)?);
                let written = op.apply(*arithmetic, read, operand);
                one(self.update(address, read, written, *order, &[(*old, read)]))
            }
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
                let address = self.address(address)?;
                let matches = self.eval(expected)? == read;
                // Computed whether or not it is needed, as in the operational semantics.
                let new = self.eval(new)?;
                let mut outcomes = Vec::new();
                if matches {
                    outcomes.extend(self.update(address, read, Ok(new), *success, &[(*old, read), (*ok, 1)]));
                }
                if !matches || *weak {
                    let label = Label::Read { address, value: read, order: *failure };
                    outcomes.extend(self.outcome(Some(label), &[(*old, read), (*ok, 0)]));
                }
                Ok(outcomes)
            }
            Instruction::BlockingCas { address, expected, new, order } => {
                let address = self.address(address)?;
                let matches = self.eval(expected)? == read;
                let new = self.eval(new)?;
                one(if matches { self.update(address, read, Ok(new), *order, &[]) } else { None })
            }
            Instruction::Lock(address) => {
                let address = self.address(address)?;
                one(if read == 0 { self.update(address, 0, Ok(1), Order::Acquire, &[]) } else { None })
            }
            Instruction::Fence(order) => one(self.outcome(Some(Label::Fence { order: *order }), &[])),
            // Refused before any thread runs.
            Instruction::BusLock | Instruction::BusUnlock | Instruction::Locked { .. } => Ok(Vec::new()),
        }
    }

    fn eval(&self, expr: &Expr) -> Result<Value, Fault> {
        expr.eval(&mut |register| self.registers[register.0])
    }

    fn address(&self, address: &Address) -> Result<Value, Fault> {
        self.program.memory.resolve(address, self.eval(&address.expr)?)
    }

    fn store(&self, address: Value, value: Value, order: Order) -> Result<Option<TransitionOutcome>, Fault> {
        Ok(match self.program.memory.domain_at(address)?.admit(value)? {
            Admission::Value(value) => self.outcome(Some(Label::Write { address, value, order }), &[]),
            Admission::Blocked => None,
        })
    }

    /// A successful RMW. It may fail because of the value read, so it keeps the label: the failure is real only if
    /// memory may give this answer to an RMW.
    fn update(
        &self,
        address: Value,
        read: Value,
        written: Result<Value, Fault>,
        order: Order,
        registers: &[(Option<RegId>, Value)],
    ) -> Option<TransitionOutcome> {
        let label = |written| Some(Label::Rmw { address, read, written, order });
        match written.and_then(|value| self.program.memory.domain_at(address)?.admit(value)) {
            Ok(Admission::Value(written)) => self.outcome(label(written), registers),
            Ok(Admission::Blocked) => None,
            Err(fault) => Some(TransitionOutcome { label: label(read), registers: Err(ThreadFailure::Fault(fault)) }),
        }
    }

    /// The outcome that assigns the registers; `None` if a domain blocks one of the values.
    fn outcome(&self, label: Option<Label>, assigned: &[(Option<RegId>, Value)]) -> Option<TransitionOutcome> {
        let mut registers = self.registers.to_vec();
        for &(register, value) in assigned {
            let Some(register) = register else { continue };
            match self.thread.registers[register.0].domain.admit(value) {
                Ok(Admission::Value(value)) => registers[register.0] = value,
                Ok(Admission::Blocked) => return None,
                Err(fault) => return Some(TransitionOutcome { label, registers: Err(ThreadFailure::Fault(fault)) }),
            }
        }
        Some(TransitionOutcome { label, registers: Ok(registers) })
    }
}
