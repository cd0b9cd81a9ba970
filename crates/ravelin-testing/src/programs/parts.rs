//! The parts of an instruction, which the shrinker changes in place.

use ravelin_program::{Expr, Instruction, Order, RegId, WaitAtom};

/// The expressions of an instruction, in the order of [`Instruction::expressions`].
pub(super) fn expressions_mut(instruction: &mut Instruction) -> Vec<&mut Expr> {
    match instruction {
        Instruction::Assign { value, .. } => vec![value],
        Instruction::Assume(condition) | Instruction::Assert(condition) => vec![condition],
        Instruction::Load { address, .. } | Instruction::Lock(address) | Instruction::Unlock(address) => {
            vec![&mut address.expr]
        }
        Instruction::Wait { address, .. } => vec![&mut address.expr],
        Instruction::Store { address, value, .. } => vec![&mut address.expr, value],
        Instruction::Rmw { address, operand, .. } => vec![&mut address.expr, operand],
        Instruction::CompareExchange { address, expected, new, .. }
        | Instruction::BlockingCas { address, expected, new, .. } => vec![&mut address.expr, expected, new],
        Instruction::Locked { body, .. } => body.iter_mut().flat_map(expressions_mut).collect(),
        Instruction::Nop
        | Instruction::Havoc { .. }
        | Instruction::Fence(_)
        | Instruction::BusLock
        | Instruction::BusUnlock => Vec::new(),
    }
}

/// The orders of an instruction; for a compare-exchange that of success first.
pub(super) fn orders_mut(instruction: &mut Instruction) -> Vec<&mut Order> {
    match instruction {
        Instruction::Load { order, .. }
        | Instruction::Store { order, .. }
        | Instruction::Rmw { order, .. }
        | Instruction::Wait { order, .. }
        | Instruction::BlockingCas { order, .. }
        | Instruction::Fence(order) => vec![order],
        Instruction::CompareExchange { success, failure, .. } => vec![success, failure],
        Instruction::Locked { body, .. } => body.iter_mut().flat_map(orders_mut).collect(),
        _ => Vec::new(),
    }
}

/// Visits every register an instruction reads or writes.
pub(super) fn registers_mut(instruction: &mut Instruction, visit: &mut impl FnMut(&mut RegId)) {
    match instruction {
        Instruction::Assign { reg, .. } | Instruction::Havoc { reg, .. } | Instruction::Load { reg, .. } => visit(reg),
        Instruction::Rmw { old, .. } => old.iter_mut().for_each(&mut *visit),
        Instruction::Wait { old, condition, .. } => {
            old.iter_mut().for_each(&mut *visit);
            atoms_mut(&mut condition.expr, &mut |atom| {
                if let WaitAtom::Register(register) = atom {
                    visit(register);
                }
            });
        }
        Instruction::CompareExchange { old, ok, .. } => old.iter_mut().chain(ok).for_each(&mut *visit),
        Instruction::Locked { body, .. } => {
            // The expressions of the parts are visited with their parts.
            return body.iter_mut().for_each(|part| registers_mut(part, visit));
        }
        _ => {}
    }
    for expr in expressions_mut(instruction) {
        atoms_mut(expr, visit);
    }
}

fn atoms_mut<A>(expr: &mut Expr<A>, visit: &mut impl FnMut(&mut A)) {
    match expr {
        Expr::Const(_) => {}
        Expr::Atom(atom) => visit(atom),
        Expr::Unary(_, _, operand) => atoms_mut(operand, visit),
        Expr::Binary(_, _, left, right) => {
            atoms_mut(left, visit);
            atoms_mut(right, visit);
        }
    }
}
