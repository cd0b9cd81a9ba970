//! The meaning of C11 orders under a hardware model: the standard x86 mapping.
//!
//! A seq_cst store is `MOV; MFENCE`. Everything else follows from an instruction's order when it is executed: any load
//! and any weaker store is a `MOV`, every RMW is locked, `fence(seq_cst)` is `MFENCE`, weaker fences do nothing under
//! TSO, and under PSO a release store or fence also orders stores.

use crate::{Instruction, LocId, Location, Order, Program, Transition};
use std::ops::Deref;

/// A program after the x86 mapping: every seq_cst store is followed by a fence. It is made once: mapped again, it would have two fences.
#[derive(Clone, Debug)]
pub struct HardwareProgram(Program);

impl HardwareProgram {
    /// Maps a program.
    pub fn new(program: &Program) -> HardwareProgram {
        HardwareProgram(lower(program))
    }

    /// Maps a program so that mapping it again changes nothing: what was a seq_cst store is a release store and a fence.
    pub fn stable(program: &Program) -> HardwareProgram {
        let mut lowered = lower(program);
        for transition in lowered.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
            if let Instruction::Store { order, .. } = &mut transition.instruction
                && *order == Order::SeqCst
            {
                *order = Order::Release;
            }
        }
        HardwareProgram(lowered)
    }

    /// As an ordinary program.
    pub fn into_inner(self) -> Program {
        self.0
    }
}

impl Deref for HardwareProgram {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.0
    }
}

/// The program with every seq_cst store followed by a fence of its own. Locations and transitions that were there keep
/// their numbers; new locations come after them. A transition's fence stands at the end of the list's part for its
/// location, so the order by `from` is kept.
fn lower(program: &Program) -> Program {
    let mut lowered = program.clone();
    for thread in &mut lowered.threads {
        let mut fences = Vec::new();
        for transition in &mut thread.transitions {
            if let Instruction::Store { order: Order::SeqCst, .. } = transition.instruction {
                let between = LocId(thread.locations.len());
                thread.locations.push(Location { labels: Vec::new(), span: transition.span });
                fences.push(Transition {
                    from: between,
                    to: transition.to,
                    instruction: Instruction::Fence(Order::SeqCst),
                    span: transition.span,
                    call: transition.call,
                });
                transition.to = between;
            }
        }
        thread.transitions.extend(fences);
    }
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, ProgramBuilder, Variable};

    #[test]
    fn a_seq_cst_store_gets_a_fence_and_nothing_moves() {
        let mut builder = ProgramBuilder::new("p");
        let x = builder.variable(Variable::scalar("x"));
        let mut thread = builder.thread("t");
        thread.store(x, Expr::Const(1), Order::SeqCst);
        thread.store(x, Expr::Const(2), Order::Release);
        thread.finish();
        let program = builder.finish().expect("valid");
        let lowered = lower(&program);
        let thread = &lowered.threads[0];
        assert_eq!(thread.transitions.len(), 3);
        assert_eq!(thread.transitions[1], program.threads[0].transitions[1]);
        assert_eq!(thread.transitions[0].to, thread.transitions[2].from);
        assert_eq!(thread.transitions[2].instruction, Instruction::Fence(Order::SeqCst));
        assert!(thread.transitions.is_sorted_by_key(|transition| transition.from));
    }
}
