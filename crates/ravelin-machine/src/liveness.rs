//! Registers that will not be read again. Forgetting their values makes states equal that differ only in irrelevant
//! values.
//!
//! A set of registers is a row of bits, because a thread may have as many registers as locations.

use crate::observe::GoalFootprint;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{RegId, Thread};

/// By location: which registers are live, that is, read on some path before they are written, or observed.
pub(crate) struct LiveRegisters {
    words: usize,
    bits: Vec<u64>,
}

impl LiveRegisters {
    pub fn new(
        thread: &Thread,
        number: usize,
        observed: &GoalFootprint,
        watch: &Watch,
    ) -> Result<LiveRegisters, Limit> {
        let words = thread.registers.len().div_ceil(64);
        watch.hold(8 * words * thread.locations.len())?;
        let mut always = vec![0; words];
        let observed = observed.registers[number].iter().enumerate().filter(|(_, observed)| **observed);
        observed.for_each(|(register, _)| set(&mut always, RegId(register)));
        let mut live = LiveRegisters { words, bits: always.repeat(thread.locations.len()) };
        let mut before = vec![0; words];
        loop {
            let mut changed = false;
            for transition in thread.transitions.iter().rev() {
                watch.steps(1 + words / 64)?;
                before.copy_from_slice(live.at(transition.to.0));
                // A step that may not write a register (a blocked part, a dropped value) still reads only its operands.
                for RegId(register) in transition.instruction.written_registers() {
                    let bit = 1 << (register % 64);
                    before[register / 64] = before[register / 64] & !bit | always[register / 64] & bit;
                }
                transition.instruction.read_registers().into_iter().for_each(|register| set(&mut before, register));
                let from = transition.from.0 * words;
                for (known, now) in live.bits[from..from + words].iter_mut().zip(&before) {
                    changed |= now & !*known != 0;
                    *known |= now;
                }
            }
            if !changed {
                return Ok(live);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        8 * self.bits.len()
    }

    /// The registers that are live at a location, as bits.
    pub fn at(&self, location: usize) -> &[u64] {
        &self.bits[location * self.words..(location + 1) * self.words]
    }
}

fn set(bits: &mut [u64], RegId(register): RegId) {
    bits[register / 64] |= 1 << (register % 64);
}
