//! Deadlocks: states in which some thread is not at its end, and every such thread waits for a value that is not there.
//!
//! A thread waits if every one of its transitions is a `wait`, `lock` or `bcas` that the value in memory does not let pass. A false `assume`
//! is no waiting: it says which runs are of interest. Nor is a fault, a failed assertion, or a value outside a blocking domain. Stores
//! that are still pending may change everything, so a deadlock has none.

use super::{Reference, Refusal, State};
use crate::Action;
use ravelin_program::{ThreadId, TransitionId, Value};

/// A thread of a deadlock, at one of the transitions that it cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingThread {
    pub thread: ThreadId,
    pub transition: TransitionId,
    /// The cell that it reads, and the value there, which does not let it pass.
    pub address: Value,
    pub found: Value,
}

impl Reference {
    /// The threads that wait in a deadlock, in their order; `None` if the state is none.
    pub fn deadlock(&self, state: &State) -> Option<Vec<WaitingThread>> {
        if !state.is_settled() {
            return None;
        }
        let mut waiting = Vec::new();
        for (number, code) in self.program.threads.iter().enumerate() {
            let thread = ThreadId(number);
            let registers = &state.threads[number].registers;
            for (transition, step) in code.outgoing(state.threads[number].location) {
                let Err(Refusal::Waits { found }) = self.apply(state, Action::Step { thread, transition, choice: 0 })
                else {
                    return None;
                };
                // An instruction that waits reads one cell, and its address has a value.
                let address =
                    step.instruction.accesses().first()?.address.expr.eval(&mut |reg| registers[reg.0]).ok()?;
                waiting.push(WaitingThread { thread, transition, address, found });
            }
        }
        (!waiting.is_empty()).then_some(waiting)
    }
}
