//! One step of a run for people: who, where, what was read and written, what is pending now.

use ravelin_answer::{
    AccessStorage, BufferEntry, CellValue, RegisterValue, RunStep, RunStepKind, StepAccess, StepCall,
};
use ravelin_program::{Call, Instruction, Order, Program, Register, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{PendingEntry, Reference, State};

/// Tells the step from one state to the next.
pub fn narrate(reference: &Reference, before: &State, action: Action, after: &State) -> RunStep {
    let program = reference.program();
    let cell = |address: Value, value: Value| cell_value(program, address, value);
    let thread_id = action.thread();
    let thread = &program.threads[thread_id.0];
    let registers = |state: &'_ State| state.threads[thread_id.0].registers.clone();
    let mut told = RunStep {
        memory: changed_cells(reference, before, after),
        buffers: buffers(reference, after),
        ..without_accesses(program, action, &registers(before), &registers(after))
    };
    match action {
        Action::Flush { address, .. } => {
            let written = cell(address, after.cell(address));
            told.text = format!("{} = {} reaches memory", written.cell, written.shown());
            told.kind = RunStepKind::Flush;
            told.writes.push(accessed(written, AccessStorage::Memory));
        }
        Action::Step { transition, .. } => {
            let transition = &thread.transitions[transition.0];
            for access in transition.instruction.accesses() {
                let local = &before.threads[thread_id.0];
                let mut read_register = |register: &ravelin_program::RegId| local.registers[register.0];
                // Inside a locked block an address may depend on a load of the same block; it is then left out.
                let Ok(address) = access.address.expr.eval(&mut read_register) else { continue };
                if access.reads {
                    let source = match local.buffer.newest(address) {
                        Some(_) => AccessStorage::Buffer,
                        None => AccessStorage::Memory,
                    };
                    told.reads.push(accessed(cell(address, before.visible(thread_id, address)), source));
                }
                if access.writes {
                    let pending = after.threads[thread_id.0].buffer.pending() > local.buffer.pending();
                    if pending {
                        told.writes
                            .push(accessed(cell(address, after.visible(thread_id, address)), AccessStorage::Buffer));
                    } else if !access.reads || before.cell(address) != after.cell(address) {
                        told.writes.push(accessed(cell(address, after.cell(address)), AccessStorage::Memory));
                    }
                }
            }
        }
    }
    told
}

/// A step without what it did in memory: who, where, the instruction, the registers that changed.
pub(crate) fn without_accesses(program: &Program, action: Action, before: &[Value], after: &[Value]) -> RunStep {
    let thread = &program.threads[action.thread().0];
    let changed = thread.registers.iter().zip(before.iter().zip(after));
    let changed = changed.filter(|(register, (old, new))| !register.hidden && old != new);
    let mut told = RunStep {
        thread: thread.name.clone(),
        position: None,
        text: String::new(),
        kind: RunStepKind::Step,
        calls: Vec::new(),
        internal: false,
        drains: false,
        reads: Vec::new(),
        writes: Vec::new(),
        memory: Vec::new(),
        registers: changed.map(|(register, (_, new))| register_value(register, *new)).collect(),
        buffers: vec![Vec::new(); program.threads.len()],
        part: None,
    };
    if let Action::Step { transition, choice, .. } = action {
        let transition = &thread.transitions[transition.0];
        told.position = program.source.position(transition.span);
        let call =
            |call: &Call| StepCall { function: call.function.clone(), position: program.source.position(call.span) };
        told.calls = thread.calls_of(transition).map(call).collect();
        told.text = program.tell_step(thread, transition, before);
        told.internal = program.is_internal(thread, transition);
        told.drains = drains(&transition.instruction);
        if matches!(transition.instruction, Instruction::CompareExchange { .. }) && choice == 1 {
            told.text.push_str(" fails spuriously");
        }
    }
    told
}

/// Whether an instruction waits for the thread's own stores.
fn drains(instruction: &Instruction) -> bool {
    instruction.is_locked()
        || matches!(instruction, Instruction::Fence(Order::SeqCst) | Instruction::BusLock | Instruction::BusUnlock)
}

pub(crate) fn accessed(of: CellValue, place: AccessStorage) -> StepAccess {
    StepAccess { cell: of.cell, value: of.value, name: of.name, place }
}

/// A cell and its value.
pub(crate) fn cell_value(program: &Program, address: Value, value: Value) -> CellValue {
    let memory = &program.memory;
    CellValue { cell: memory.name_of(address), value, name: memory.notation_at(address).special(value) }
}

/// A register and its value.
pub(crate) fn register_value(register: &Register, value: Value) -> RegisterValue {
    RegisterValue { register: register.name.clone(), value, name: register.notation.special(value) }
}

fn changed_cells(reference: &Reference, before: &State, after: &State) -> Vec<CellValue> {
    let changed = after.memory.keys().filter(|&&address| before.cell(address) != after.cell(address));
    // An unnamed cell that holds 0 again is no longer there.
    let gone = before.memory.keys().filter(|address| !after.memory.contains_key(address));
    let cell = |&address: &Value| cell_value(reference.program(), address, after.cell(address));
    changed.chain(gone).map(cell).collect()
}

fn buffers(reference: &Reference, state: &State) -> Vec<Vec<BufferEntry>> {
    let entry = |entry: &PendingEntry| match *entry {
        PendingEntry::Store { address, value } => BufferEntry::Store(cell_value(reference.program(), address, value)),
        PendingEntry::Marker => BufferEntry::Marker,
    };
    state.threads.iter().map(|thread| thread.buffer.entries().iter().map(entry).collect()).collect()
}
