//! Shrinks a failing program: greedy delta debugging.
//!
//! Every edit of `edit.rs` is tried, the coarse ones first. An edit is kept if the program stays valid, still fails and
//! weighs less. The process ends because weights are natural numbers, at a program that no single edit makes lighter.

use super::edit::{apply, edits};
use ravelin_program::{
    Arithmetic, Domain, Escape, Expr, InitialValue, Instruction, Order, Program, RmwOp, Unnamed, Value, validate,
};

/// A program at most as large as `program` on which `fails` still returns true, provided it does on `program`.
///
/// `fails` is called with valid programs only and should be deterministic.
pub fn shrink(program: &Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    loop {
        let before = weight(&best);
        let mut position = 0;
        // Edits after the one just kept are tried on the new program before the earlier ones are tried again.
        while let Some(edit) = edits(&best).get(position) {
            let lighter = apply(&best, edit)
                .filter(|edited| weight(edited) < weight(&best) && validate(edited).is_empty() && fails(edited));
            match lighter {
                Some(edited) => best = edited,
                None => position += 1,
            }
        }
        if weight(&best) == before {
            return best;
        }
    }
}

/// A measure of the size of a program.
fn weight(program: &Program) -> usize {
    let memory = &program.memory;
    let mut sum = match memory.unnamed {
        Unnamed::Cells(domain) => domain_weight(domain),
        Unnamed::Nothing => 6,
    };
    for variable in &memory.variables {
        let starts = variable.initial.iter().map(|initial| match initial {
            InitialValue::Value(value) => value_weight(*value),
            InitialValue::Any => 8,
        });
        sum += 10 + domain_weight(variable.domain) + starts.sum::<usize>();
    }
    for thread in &program.threads {
        sum += 100 + 5 * thread.locations.len();
        sum += thread.registers.iter().map(|register| 5 + domain_weight(register.domain)).sum::<usize>();
        sum +=
            thread.transitions.iter().map(|transition| 20 + instruction_weight(&transition.instruction)).sum::<usize>();
    }
    sum + program.goals.iter().map(|goal| 20 + expr_weight(&goal.condition)).sum::<usize>()
}

fn instruction_weight(instruction: &Instruction) -> usize {
    let condition = match instruction {
        Instruction::Wait { condition, .. } => expr_weight(&condition.expr),
        _ => 0,
    };
    let expressions = condition + instruction.expressions().into_iter().map(expr_weight).sum::<usize>();
    let targets = instruction.written_registers().len();
    let mut wrapping = 0;
    instruction.for_each_arithmetic(&mut |arithmetic| wrapping += usize::from(arithmetic != Arithmetic::Checked));
    let own = match instruction {
        Instruction::Nop => 0,
        Instruction::Assign { .. } | Instruction::Assume(_) | Instruction::Assert(_) => 4,
        Instruction::Havoc { lo, hi, .. } => 8 + 2 * hi.abs_diff(*lo).min(1000) as usize + value_weight(*lo),
        Instruction::Load { order, .. } | Instruction::Store { order, .. } => 6 + order_weight(*order),
        Instruction::Fence(order) => 6 + order_weight(*order),
        Instruction::Wait { order, .. } | Instruction::BlockingCas { order, .. } => 20 + order_weight(*order),
        Instruction::Rmw { op, order, .. } => 25 + order_weight(*order) + if *op == RmwOp::Exchange { 0 } else { 2 },
        Instruction::CompareExchange { success, failure, weak, .. } => {
            30 + order_weight(*success) + order_weight(*failure) + 2 * usize::from(*weak)
        }
        Instruction::Lock(_) | Instruction::Unlock(_) => 15,
        Instruction::BusLock | Instruction::BusUnlock => 15,
        Instruction::Locked { body, .. } => 30 + body.iter().map(instruction_weight).sum::<usize>(),
    };
    own + expressions + targets + wrapping
}

fn order_weight(order: Order) -> usize {
    match order {
        Order::Relaxed => 0,
        Order::NonAtomic | Order::Acquire | Order::Release => 1,
        Order::AcqRel => 2,
        Order::SeqCst => 3,
    }
}

fn expr_weight<A>(expr: &Expr<A>) -> usize {
    match expr {
        Expr::Const(value) => 1 + value_weight(*value),
        Expr::Atom(_) => 4,
        Expr::Unary(_, _, operand) => 2 + expr_weight(operand),
        Expr::Binary(_, _, left, right) => 2 + expr_weight(left) + expr_weight(right),
    }
}

fn value_weight(value: Value) -> usize {
    value.unsigned_abs().min(2) as usize
}

fn domain_weight(domain: Domain) -> usize {
    let escape = if domain.escape == Escape::Error { 0 } else { 1 };
    if domain.is_full() { escape } else { 3 + escape }
}
