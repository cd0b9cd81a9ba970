//! How a run begins: who takes part, and what memory and registers hold. With the changes that each step tells, everything that
//! memory holds later follows from it.

use super::narrate::{cell_value, register_value};
use ravelin_answer::{CellValue, InitialState, InitialThread, RunStep};
use ravelin_semantics::operational::{Reference, State};
use std::collections::BTreeSet;

/// Memories of at most so many cells are told as they are; of larger ones only the cells that the run touches.
const MOST_CELLS: usize = 64;

/// Tells the state from which a run with these steps starts.
pub fn initial<'a>(reference: &Reference, start: &State, steps: impl IntoIterator<Item = &'a RunStep>) -> InitialState {
    let program = reference.program();
    let threads = program.threads.iter().zip(&start.threads).map(|(thread, state)| {
        let registers = thread.registers.iter().zip(&state.registers).filter(|(register, _)| !register.hidden);
        let registers = registers.map(|(register, value)| register_value(register, *value));
        InitialThread { thread: thread.name.clone(), registers: registers.collect() }
    });
    let threads = threads.collect();
    let cell = |(address, value): (&_, &_)| cell_value(program, *address, *value);
    let mut memory: Vec<CellValue> = start.memory.iter().map(cell).collect();
    if memory.len() > MOST_CELLS {
        let touched = |step: &'a RunStep| {
            let accessed = step.reads.iter().chain(&step.writes).map(|access| access.cell.as_str());
            accessed.chain(step.memory.iter().map(|cell| cell.cell.as_str()))
        };
        let touched: BTreeSet<&str> = steps.into_iter().flat_map(touched).collect();
        memory.retain(|cell| touched.contains(cell.cell.as_str()));
    }
    InitialState { threads, memory }
}
