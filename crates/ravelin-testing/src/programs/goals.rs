//! Random goals: conjunctions over locations, registers and memory.

use super::body::VariableChoice;
use ravelin_numbers::Random;
use ravelin_program::{
    BinaryOp, Condition, Expr, Goal, GoalKind, LocId, Observable, Program, RegId, Span, ThreadId, Value,
};

/// Adds a goal. The locations it names get labels, so that the program can be printed.
pub(super) fn add(random: &mut Random, program: &mut Program, places: &[VariableChoice]) {
    let kind = random.pick(&[
        GoalKind::Never,
        GoalKind::Never,
        GoalKind::Exists,
        GoalKind::Exists,
        GoalKind::NeverFinally,
        GoalKind::Finally,
    ]);
    let mut condition = literal(random, program, places);
    for _ in 0..random.below(3) {
        let op = random.pick(&[BinaryOp::And, BinaryOp::And, BinaryOp::And, BinaryOp::Or]);
        condition = Expr::binary(op, condition, literal(random, program, places));
    }
    program.goals.push(Goal { kind, condition, span: Span::NOWHERE });
}

fn literal(random: &mut Random, program: &mut Program, places: &[VariableChoice]) -> Condition {
    let thread = ThreadId(random.below(program.threads.len()));
    let code = &mut program.threads[thread.0];
    let op = random.pick(&[BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt]);
    let value = Expr::Const(random.below(3) as Value);
    match random.below(3) {
        0 => {
            let location = LocId(random.below(code.locations.len()));
            let labels = &mut code.locations[location.0].labels;
            if labels.is_empty() {
                labels.push(format!("l{}", location.0));
            }
            Expr::Atom(Observable::At(thread, location))
        }
        1 => {
            let register = RegId(random.below(code.registers.len()));
            Expr::binary(op, Expr::Atom(Observable::Register(thread, register)), value)
        }
        _ => {
            let place = random.pick(places);
            let address = place.base + random.below(place.cells) as Value;
            Expr::binary(op, Expr::Atom(Observable::Memory(address)), value)
        }
    }
}
