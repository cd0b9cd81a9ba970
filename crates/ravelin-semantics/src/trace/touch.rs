//! What one step reads and writes, derived from the states before and after it.
//!
//! The step has already been taken, so addresses and values can be read from the states. Only a locked block has
//! intermediate states that are in neither. Its parts are evaluated one after the other, because an address may depend
//! on a load of the same block.

use crate::operational::{Reference, Refusal, State};
use ravelin_program::{Address, Admission, Domain, Expr, Instruction, ThreadId, TransitionId, Value};
use std::collections::BTreeMap;

/// A load, a store, or a read-modify-write, which is both.
pub(super) struct CellAccess {
    pub address: Value,
    pub read: Option<Value>,
    pub written: Option<Value>,
    /// The written value waits in the store buffer.
    pub buffered: bool,
}

/// The accesses of a step that leads from one state to the other, in order. A failing compare-exchange only reads.
pub(super) fn touches(
    reference: &Reference,
    before: &State,
    (thread, transition, choice): (ThreadId, TransitionId, Value),
    after: &State,
) -> Result<Vec<CellAccess>, Refusal> {
    let registers = &before.threads[thread.0].registers;
    let instruction = &reference.program().threads[thread.0].transitions[transition.0].instruction;
    let touch = |address: &Address, reads: bool, writes: bool, buffered: bool| {
        let address = eval(registers, &address.expr)?;
        let read = reads.then(|| before.visible(thread, address));
        let written = writes.then(|| after.visible(thread, address));
        Ok(vec![CellAccess { address, read, written, buffered }])
    };
    match instruction {
        Instruction::Load { address, .. } | Instruction::Wait { address, .. } => touch(address, true, false, false),
        Instruction::Store { address, .. } | Instruction::Unlock(address) => {
            touch(address, false, true, reference.model().is_buffered())
        }
        Instruction::Rmw { address, .. } | Instruction::BlockingCas { address, .. } | Instruction::Lock(address) => {
            touch(address, true, true, false)
        }
        Instruction::CompareExchange { address, expected, .. } => {
            let found = before.cell(eval(registers, &address.expr)?);
            let succeeds = choice == 0 && found == eval(registers, expected)?;
            touch(address, true, succeeds, false)
        }
        Instruction::Locked { body, .. } => block(reference, before, thread, body),
        Instruction::Nop
        | Instruction::Assign { .. }
        | Instruction::Havoc { .. }
        | Instruction::Assume(_)
        | Instruction::Assert(_)
        | Instruction::Fence(_)
        | Instruction::BusLock
        | Instruction::BusUnlock => Ok(Vec::new()),
    }
}

fn block(
    reference: &Reference,
    before: &State,
    thread: ThreadId,
    body: &[Instruction],
) -> Result<Vec<CellAccess>, Refusal> {
    let program = reference.program();
    let domain_of = |register: usize| program.threads[thread.0].registers[register].domain;
    let mut registers = before.threads[thread.0].registers.clone();
    let mut written_here: BTreeMap<Value, Value> = BTreeMap::new();
    let mut touches = Vec::new();
    for part in body {
        match part {
            Instruction::Assign { reg, value } => {
                registers[reg.0] = admit(domain_of(reg.0), eval(&registers, value)?)?;
            }
            Instruction::Load { reg, address, .. } => {
                let address = eval(&registers, &address.expr)?;
                let found = written_here.get(&address).copied();
                let found = found.unwrap_or_else(|| before.visible(thread, address));
                registers[reg.0] = admit(domain_of(reg.0), found)?;
                touches.push(CellAccess { address, read: Some(found), written: None, buffered: false });
            }
            Instruction::Store { address, value, .. } => {
                let address = eval(&registers, &address.expr)?;
                let value = eval(&registers, value)?;
                let value = admit(program.memory.domain_at(address)?, value)?;
                written_here.insert(address, value);
                touches.push(CellAccess { address, read: None, written: Some(value), buffered: false });
            }
            // The step was taken, so its assumptions hold; nothing else may occur in a block.
            _ => {}
        }
    }
    Ok(touches)
}

fn eval(registers: &[Value], expr: &Expr) -> Result<Value, Refusal> {
    Ok(expr.eval(&mut |register| registers[register.0])?)
}

fn admit(domain: Domain, value: Value) -> Result<Value, Refusal> {
    match domain.admit(value)? {
        Admission::Value(value) => Ok(value),
        Admission::Blocked => Err(Refusal::Blocked { value }),
    }
}
