//! Registers that will not be read again. Forgetting their values makes states equal that differ only in irrelevant
//! values.

use crate::observe::GoalFootprint;
use ravelin_program::Thread;

/// By location: which registers are live, that is, read on some path before they are written, or observed.
pub(crate) fn live_registers(thread: &Thread, number: usize, observed: &GoalFootprint) -> Vec<Vec<bool>> {
    let always = &observed.registers[number];
    let mut live = vec![always.clone(); thread.locations.len()];
    loop {
        let mut changed = false;
        for transition in thread.transitions.iter().rev() {
            let mut before = live[transition.to.0].clone();
            // A step that may not write a register (a blocked part, a dropped value) still reads only its operands.
            for register in transition.instruction.written_registers() {
                before[register.0] = always[register.0];
            }
            for register in transition.instruction.read_registers() {
                before[register.0] = true;
            }
            for (known, now) in live[transition.from.0].iter_mut().zip(before) {
                changed |= now && !*known;
                *known |= now;
            }
        }
        if !changed {
            return live;
        }
    }
}
