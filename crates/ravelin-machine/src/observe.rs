//! What the goals read. A step that changes none of it is invisible, and may be fused or postponed.

use crate::settings::Purpose;
use ravelin_program::{
    BinaryOp, Condition, Expr, Goal, GoalKind, LocId, Observable, Program, RegId, is_count, is_total,
};

#[derive(Clone, Debug)]
pub(crate) struct GoalFootprint {
    /// By thread: locations that a `never` names.
    pub locations: Vec<Vec<bool>>,
    /// By thread: registers that any goal names.
    pub registers: Vec<Vec<bool>>,
    /// By thread: registers that a `never` names, so that writing them is visible.
    pub watched: Vec<Vec<bool>>,
    /// Addresses that a `never` names, sorted.
    pub addresses: Vec<i64>,
    /// Being at more observed locations never makes a `never` less violated. Arriving at one therefore counts as
    /// invisible: what held before the arrival still holds after it.
    pub arrival_is_harmless: bool,
}

impl GoalFootprint {
    pub fn new(program: &Program, purpose: Purpose) -> GoalFootprint {
        let by_register = |value| program.threads.iter().map(|thread| vec![value; thread.registers.len()]).collect();
        let mut observed = GoalFootprint {
            locations: program.threads.iter().map(|thread| vec![false; thread.locations.len()]).collect(),
            registers: by_register(false),
            watched: by_register(false),
            addresses: Vec::new(),
            arrival_is_harmless: true,
        };
        if purpose == Purpose::Finals {
            for (thread, code) in program.threads.iter().enumerate() {
                for (register, declared) in code.registers.iter().enumerate() {
                    observed.registers[thread][register] = !declared.hidden;
                }
            }
            return observed;
        }
        for goal in &program.goals {
            observed.add(goal);
        }
        observed.addresses.sort_unstable();
        observed.addresses.dedup();
        observed
    }

    fn add(&mut self, goal: &Goal) {
        let anywhere = goal.kind == GoalKind::Never;
        goal.condition.for_each_atom(&mut |atom| match atom {
            Observable::At(thread, LocId(location)) if anywhere => self.locations[thread.0][*location] = true,
            Observable::Register(thread, RegId(register)) => {
                self.registers[thread.0][*register] = true;
                self.watched[thread.0][*register] |= anywhere;
            }
            Observable::Memory(address) if anywhere => self.addresses.push(*address),
            _ => {}
        });
        if anywhere {
            self.arrival_is_harmless &= grows_with_arrivals(&goal.condition);
        }
    }

    /// Some `never` reads memory, and so depends on empty buffers.
    pub fn memory(&self) -> bool {
        !self.addresses.is_empty()
    }
}

/// If the condition holds, it still holds after a thread came to one more of the locations it names. A condition that
/// may have no value (it divides) is never trusted: an arrival could cause a part to be evaluated that was not before.
fn grows_with_arrivals(condition: &Condition) -> bool {
    is_total(condition) && grows(condition)
}

fn grows(condition: &Condition) -> bool {
    if !names_locations(condition) {
        return true;
    }
    match condition {
        Expr::Atom(_) => true,
        Expr::Binary(BinaryOp::And | BinaryOp::Or, _, left, right) => grows(left) && grows(right),
        Expr::Binary(BinaryOp::Ge | BinaryOp::Gt, _, left, right) => is_count(left) && !names_locations(right),
        _ => false,
    }
}

/// A violation needs some thread to be at a location that the goal names.
pub(crate) fn needs_location(goal: &Goal) -> bool {
    fn needs(condition: &Condition) -> bool {
        match condition {
            Expr::Atom(Observable::At(..)) => true,
            Expr::Binary(BinaryOp::And, _, left, right) => needs(left) || needs(right),
            Expr::Binary(BinaryOp::Or, _, left, right) => needs(left) && needs(right),
            Expr::Binary(BinaryOp::Ge, _, left, right) => counts_only(left) && matches!(**right, Expr::Const(1..)),
            _ => false,
        }
    }
    fn counts_only(condition: &Condition) -> bool {
        match condition {
            Expr::Atom(Observable::At(..)) => true,
            Expr::Binary(BinaryOp::Add, _, left, right) => counts_only(left) && counts_only(right),
            _ => false,
        }
    }
    goal.kind == GoalKind::Never && is_total(&goal.condition) && needs(&goal.condition)
}

fn names_locations(condition: &Condition) -> bool {
    let mut found = false;
    condition.for_each_atom(&mut |atom| found |= matches!(atom, Observable::At(..)));
    found
}
