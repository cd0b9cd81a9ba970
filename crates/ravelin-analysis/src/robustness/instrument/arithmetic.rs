//! Expressions made safe for an instrumented program: where one has a value, and wrapping written out.

use super::CannotInstrument;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Expr, Instruction, Order, Program, RegId, RmwOp, UnaryOp, Value,
};

/// Larger ones could overflow 64 bits when two values are multiplied.
const LARGEST_WRITTEN_OUT: u64 = 1 << 32;

/// The condition under which an expression divides by nothing but what it can divide by, and shifts by 0 to 63 bits;
/// `None` if that is always so.
pub(super) fn defined(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => None,
        Expr::Unary(_, operand) => defined(operand),
        // The right side counts only if it is looked at.
        Expr::Binary(BinaryOp::And, left, right) => {
            all(defined(left), defined(right).map(|right| (**left).clone().not().or(right)))
        }
        Expr::Binary(BinaryOp::Or, left, right) => {
            all(defined(left), defined(right).map(|right| (**left).clone().or(right)))
        }
        Expr::Binary(op, left, right) => {
            let divisor = || (**right).clone();
            let own = match (op, &**right) {
                (BinaryOp::Div | BinaryOp::Rem, Expr::Const(divisor)) if *divisor != 0 => None,
                (BinaryOp::Div | BinaryOp::Rem, _) => Some(Expr::binary(BinaryOp::Ne, divisor(), Expr::Const(0))),
                (BinaryOp::Shl | BinaryOp::Shr, Expr::Const(bits)) if (0..64).contains(bits) => None,
                (BinaryOp::Shl | BinaryOp::Shr, _) => Some(between(divisor(), 0, 63)),
                _ => None,
            };
            all(all(defined(left), defined(right)), own)
        }
    }
}

/// `lo <= expr && expr <= hi`.
pub(super) fn between(expr: Expr, lo: Value, hi: Value) -> Expr {
    Expr::binary(BinaryOp::Le, Expr::Const(lo), expr.clone()).and(Expr::binary(BinaryOp::Le, expr, Expr::Const(hi)))
}

pub(super) fn all(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.and(right)),
        (left, right) => left.or(right),
    }
}

/// A program that wraps its results itself and computes with 64 bits.
pub(super) fn written_out(program: &Program) -> Result<Program, CannotInstrument> {
    let Arithmetic::Wrapping(domain) = program.arithmetic else { return Ok(program.clone()) };
    let small = domain.size().is_some_and(|size| size <= LARGEST_WRITTEN_OUT);
    if !small || domain.lo.unsigned_abs() > LARGEST_WRITTEN_OUT || domain.hi.unsigned_abs() > LARGEST_WRITTEN_OUT {
        return Err(CannotInstrument::Arithmetic { lo: domain.lo, hi: domain.hi });
    }
    let mut program = Program { arithmetic: Arithmetic::Checked, ..program.clone() };
    for thread in &mut program.threads {
        // Fetch-and-op instructions compute too; their blocks need a register for what was read.
        let computes =
            |instruction: &Instruction| matches!(instruction, Instruction::Rmw { op, .. } if op.binary().is_some());
        let found = RegId(thread.registers.len());
        if thread.transitions.iter().any(|transition| computes(&transition.instruction)) {
            thread.registers.push(ravelin_program::Register {
                name: "read".to_owned(),
                domain: Domain::FULL,
                initial: 0,
                hidden: true,
                span: ravelin_program::Span::NOWHERE,
            });
        }
        for transition in &mut thread.transitions {
            transition.instruction = instruction(domain, &transition.instruction, found);
        }
    }
    Ok(program)
}

fn instruction(domain: Domain, instruction: &Instruction, found: RegId) -> Instruction {
    let expr = |expr: &Expr| wrapped(domain, expr);
    let at = |address: &Address| Address { expr: expr(&address.expr), within: address.within };
    match instruction {
        Instruction::Assign { reg, value } => Instruction::Assign { reg: *reg, value: expr(value) },
        Instruction::Assume(condition) => Instruction::Assume(expr(condition)),
        Instruction::Assert(condition) => Instruction::Assert(expr(condition)),
        Instruction::Load { reg, address, order } => {
            Instruction::Load { reg: *reg, address: at(address), order: *order }
        }
        Instruction::Store { address, value, order } => {
            Instruction::Store { address: at(address), value: expr(value), order: *order }
        }
        Instruction::Rmw { op, address, operand, order, old } => match op.binary() {
            Some(binary) => {
                let new = settled(domain, Expr::binary(binary, Expr::Atom(found), expr(operand)));
                let mut body = vec![
                    Instruction::Load { reg: found, address: at(address), order: Order::Relaxed },
                    Instruction::Store { address: at(address), value: new, order: Order::Relaxed },
                ];
                body.extend(old.map(|reg| Instruction::Assign { reg, value: Expr::Atom(found) }));
                body.push(Instruction::Assign { reg: found, value: Expr::Const(0) });
                Instruction::Locked { body, drains: true }
            }
            None => Instruction::Rmw {
                op: RmwOp::Exchange,
                address: at(address),
                operand: expr(operand),
                order: *order,
                old: *old,
            },
        },
        Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
            Instruction::CompareExchange {
                address: at(address),
                expected: expr(expected),
                new: expr(new),
                success: *success,
                failure: *failure,
                weak: *weak,
                old: *old,
                ok: *ok,
            }
        }
        Instruction::Wait { address, values, order, old } => Instruction::Wait {
            address: at(address),
            values: values.iter().map(expr).collect(),
            order: *order,
            old: *old,
        },
        Instruction::BlockingCas { address, expected, new, order } => {
            Instruction::BlockingCas { address: at(address), expected: expr(expected), new: expr(new), order: *order }
        }
        Instruction::Lock(address) => Instruction::Lock(at(address)),
        Instruction::Unlock(address) => Instruction::Unlock(at(address)),
        Instruction::Locked { body, drains } => {
            // Simple instructions do not nest and need no register, so this goes one level deep.
            let body = body.iter().map(|part| self::instruction(domain, part, found)).collect();
            Instruction::Locked { body, drains: *drains }
        }
        Instruction::Nop
        | Instruction::Havoc { .. }
        | Instruction::Fence(_)
        | Instruction::BusLock
        | Instruction::BusUnlock => instruction.clone(),
    }
}

/// The expression with every result brought into the domain.
fn wrapped(domain: Domain, expr: &Expr) -> Expr {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => expr.clone(),
        Expr::Unary(op, operand) => {
            let exact = Expr::unary(*op, wrapped(domain, operand));
            if *op == UnaryOp::Neg { settled(domain, exact) } else { exact }
        }
        Expr::Binary(op, left, right) => {
            let exact = Expr::binary(*op, wrapped(domain, left), wrapped(domain, right));
            if op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or) {
                exact
            } else {
                settled(domain, exact)
            }
        }
    }
}

/// An exact result taken modulo the size of the domain; a remainder has the sign of what is divided.
pub(super) fn settled(domain: Domain, exact: Expr) -> Expr {
    if let Some(value) = exact.constant(Arithmetic::Checked) {
        return Expr::Const(domain.wrap(i128::from(value)));
    }
    let add = |expr: Expr, value: Value| match value {
        0 => expr,
        value => Expr::binary(BinaryOp::Add, expr, Expr::Const(value)),
    };
    let size = domain.hi - domain.lo + 1;
    let rem = |expr: Expr| Expr::binary(BinaryOp::Rem, expr, Expr::Const(size));
    add(rem(add(rem(add(exact, -domain.lo)), size)), domain.lo)
}
