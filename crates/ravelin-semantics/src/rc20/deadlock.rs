//! Deadlocks of execution graphs: some thread is not at its end, and every such thread stands at instructions that wait, none of which the
//! mo-latest value lets pass. That an older write would let it pass does not help: in the end each load reads the latest.
//!
//! What waiting is, and what is not, is as in `operational/deadlock.rs`.

use super::GraphThread;
use crate::operational::WaitingThread;
use ravelin_program::{Address, Expr, Instruction, Program, ThreadId, Value};

/// The threads that wait in a deadlock, in their order; `None` if the state is none. `latest` is the mo-latest value of a cell.
pub fn deadlock(
    program: &Program,
    threads: &[GraphThread],
    latest: &dyn Fn(Value) -> Value,
) -> Option<Vec<WaitingThread>> {
    let mut waiting = Vec::new();
    for (number, (code, state)) in program.threads.iter().zip(threads).enumerate() {
        if state.failure.is_some() {
            return None;
        }
        let eval = |expr: &Expr| expr.eval(&mut |register| state.registers[register.0]).ok();
        for (transition, step) in code.outgoing(state.location) {
            let address = step.instruction.accesses().first()?.address;
            let address = inside(program, address, eval(&address.expr)?)?;
            let found = latest(address);
            let passes = match &step.instruction {
                Instruction::Wait { condition, .. } => {
                    condition.holds(found, &mut |register| state.registers[register.0]).ok()?
                }
                Instruction::BlockingCas { expected, new, .. } => {
                    eval(new)?;
                    eval(expected)? == found
                }
                Instruction::Lock(_) => found == 0,
                _ => return None,
            };
            if passes {
                return None;
            }
            waiting.push(WaitingThread { thread: ThreadId(number), transition, address, found });
        }
    }
    (!waiting.is_empty()).then_some(waiting)
}

/// The address, unless it is a fault.
fn inside(program: &Program, address: &Address, value: Value) -> Option<Value> {
    program.memory.resolve(address, value).ok()
}
