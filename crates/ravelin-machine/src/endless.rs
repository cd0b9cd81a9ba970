//! Cells and registers that grow without bound, to name them when a search ends at a limit.
//!
//! A hint, not a verdict: intervals do not know how often a loop goes round, so a counter that a condition stops can be
//! named too.

use crate::ranges::{Interval, Ranges, taken_once};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{BinaryOp, Expr, Instruction, Program, RegId, Span};

/// Fewer values than this make a space large, not endless.
const MANY: u64 = 1 << 16;

/// A cell or a register to which a loop adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The variable, or the register as `thread.register`.
    pub name: String,
    /// The step that adds to it.
    pub by: Span,
}

/// What grows, each once, in the order of the threads' steps.
pub fn endless(program: &Program, watch: &Watch) -> Result<Vec<Endless>, Limit> {
    let ranges = Ranges::infer(program, watch)?;
    let mut found: Vec<Endless> = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let once = taken_once(thread, watch)?;
        for (transition, once) in thread.transitions.iter().zip(once) {
            watch.step()?;
            if once || !adds(&transition.instruction) {
                continue;
            }
            let mut names = Vec::new();
            for access in transition.instruction.accesses().into_iter().filter(|access| access.writes) {
                if has_many(ranges.load(program, number, access.address)) {
                    let Interval { lo, hi } = ranges.addresses(program, number, access.address);
                    let reached =
                        program.memory.variables.iter().filter(|variable| {
                            variable.base <= hi && variable.base + (variable.cells() as i64 - 1) >= lo
                        });
                    names.extend(reached.map(|variable| variable.name.clone()));
                }
            }
            for register in transition.instruction.written_registers() {
                let declared = &thread.registers[register.0];
                if !declared.hidden && has_many(ranges.registers[number][register.0]) {
                    names.push(format!("{}.{}", thread.name, declared.name));
                }
            }
            for name in names {
                if found.iter().all(|known| known.name != name) {
                    found.push(Endless { name, by: transition.span });
                }
            }
        }
    }
    Ok(found)
}

fn has_many(values: Interval) -> bool {
    values.hi.abs_diff(values.lo) >= MANY
}

/// Whether what an instruction writes is a sum.
fn adds(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Rmw { op, .. } => op.binary().is_some_and(is_sum),
        Instruction::Assign { reg, value } => has_sum(value, &|atom| atom == reg),
        Instruction::Store { value, .. } => has_sum(value, &|_| true),
        Instruction::CompareExchange { new, .. } | Instruction::BlockingCas { new, .. } => has_sum(new, &|_| true),
        Instruction::Locked { body, .. } => body.iter().any(adds),
        _ => false,
    }
}

fn is_sum(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
}

/// Whether there is a sum in an expression that mentions one of these registers.
fn has_sum(value: &Expr, of: &impl Fn(&RegId) -> bool) -> bool {
    match value {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, _, operand) => has_sum(operand, of),
        Expr::Binary(op, _, left, right) => {
            let mut mentioned = false;
            value.for_each_atom(&mut |atom| mentioned |= of(atom));
            is_sum(*op) && mentioned || has_sum(left, of) || has_sum(right, of)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_program::{Arithmetic, Domain, Escape, Order, ProgramBuilder, RmwOp, Variable};

    /// A thread that adds to a cell, in a loop or not, and the names that grow.
    fn counted(domain: Domain, repeated: bool) -> Vec<String> {
        let mut program = ProgramBuilder::new("counter");
        let x = program.variable(Variable { domain, ..Variable::scalar("x") });
        let mut thread = program.thread("t");
        let start = thread.here();
        let add =
            Instruction::rmw(RmwOp::Add, Arithmetic::Checked, thread.address(x), Expr::Const(1), Order::Relaxed, None);
        let to = if repeated { start } else { thread.fresh() };
        thread.edge(start, add, to);
        thread.finish();
        let program = program.finish().expect("a program");
        let found = endless(&program, &Watch::unlimited()).expect("no limit");
        found.into_iter().map(|endless| endless.name).collect()
    }

    #[test]
    fn only_a_loop_adds_for_ever_and_only_to_a_large_cell() {
        assert_eq!(counted(Domain::FULL, true), ["x"]);
        assert_eq!(counted(Domain::FULL, false), [""; 0]);
        assert_eq!(counted(Domain::new(0, 7, Escape::Wrap), true), [""; 0]);
    }
}
