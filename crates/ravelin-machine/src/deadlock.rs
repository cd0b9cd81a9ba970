//! Deadlocks: states in which some thread is not at its end, and every such thread waits.
//!
//! A thread *waits* if all its next steps are `wait`, `lock` or `bcas`, and the value in memory lets none of them pass. A false `assume`, a
//! failed assertion, a fault, and a value that its cell or register does not admit are no waiting. A deadlock also needs empty
//! buffers and a free bus lock. Then nothing can move under SC, TSO and PSO. Under ra and rc20 memory holds the mo-latest values: a
//! thread that may still read an older one reads the latest in the end, so it is in the deadlock too.
//!
//! The reductions preserve deadlocks:
//!
//! - Persistent sets preserve every state in which nothing can move (Godefroid, *Partial-Order Methods for the Verification of Concurrent
//!   Systems*, LNCS 1032, chapter 4). A step of the set stays possible whatever other threads do, so it is part of every run to such a
//!   state, and may come first.
//! - A fusible location has local steps only, so no thread of a deadlock is at one. Every fused step on the way commutes with the
//!   steps of other threads before it, so the run that takes it at once ends in the same state.
//! - Registers that are forgotten are not read again, also not by a step that waits.
//! - A permutation of identical threads makes a deadlock of a deadlock.

use crate::compile::{Machine, StepOp};
use crate::step::Attempt;
use ravelin_program::Instruction;

/// Some thread has a step that waits for a value. Without one there is no deadlock.
pub fn may_wait(program: &ravelin_program::Program) -> bool {
    program.threads.iter().flat_map(|thread| &thread.transitions).any(|transition| {
        matches!(
            transition.instruction,
            Instruction::Wait { .. } | Instruction::BlockingCas { .. } | Instruction::Lock(_)
        )
    })
}

impl Machine {
    /// Some thread is not at its end, and every such thread waits.
    pub(crate) fn is_deadlock(&self, state: &[u64]) -> bool {
        let mut any = false;
        let all = (0..self.threads.len()).all(|thread| {
            let code = &self.threads[thread];
            let location = self.layout.locations[thread].get(state) as usize;
            let steps = &code.steps[code.starts[location]..code.starts[location + 1]];
            any |= !steps.is_empty();
            steps.iter().all(|step| self.waits(&step.op, state) == Ok(true))
        });
        any && all && self.is_quiet(state)
    }

    /// The step waits for another value than the one in memory. Buffers are empty.
    fn waits(&self, op: &StepOp, state: &[u64]) -> Attempt<bool> {
        let found = |place| -> Attempt<_> { Ok(self.layout.cells[self.slot(place, state)?].get(state)) };
        match op {
            StepOp::Wait { place, condition, .. } => Ok(!condition.holds(found(place)?, state)?),
            // A value to write that cannot be computed is a fault, whatever is in memory.
            StepOp::BlockingCas { place, expected, new } => {
                new.eval(state)?;
                Ok(found(place)? != expected.eval(state)?)
            }
            _ => Ok(false),
        }
    }
}
