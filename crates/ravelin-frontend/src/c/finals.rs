//! What `main` checks once all other threads have ended is a condition on final states.
//!
//! A `main` that waits for all threads and then only reads memory and asserts sees what every thread has left behind: the
//! waits order all other accesses before its own. So its checks are `finally` goals of the model, and neither they nor the
//! waiting need steps. Where it does more, such as writing or following pointers, it stays a thread.

use ravelin_program::{
    Expr, Goal, GoalKind, Instruction, LocId, Observable, RegId, Thread, ThreadId, Transition, Value, is_total,
};
use std::collections::HashMap;

/// Paths through the checks.
const MOST_PATHS: usize = 256;

type Condition = Expr<Observable>;

/// The goals that replace what the thread does after it has waited, and where it then ends.
pub(super) struct FinalChecks {
    pub goals: Vec<Goal>,
    /// The location at which it waited.
    pub ends_at: LocId,
}

/// Takes the checks out of a thread that waits at the cell with the address `waits_at` for all others. `None`: it does
/// more than checking, and stays as it is.
pub(super) fn take_final_checks(id: ThreadId, thread: &Thread, waits_at: Value) -> Option<FinalChecks> {
    let is_wait = |transition: &&Transition| match &transition.instruction {
        Instruction::Wait { address, .. } => address.constant() == Some(waits_at),
        _ => false,
    };
    let mut waits = thread.transitions.iter().filter(is_wait);
    let wait = waits.next()?;
    if waits.next().is_some() || thread.outgoing(wait.from).count() != 1 {
        return None;
    }
    let mut walk = Walk { id, thread, goals: Vec::new(), paths: 0 };
    walk.follow(wait.to, &mut HashMap::new(), &Expr::Const(1), 0)?;
    let ends_elsewhere = ends_before(thread, wait.from);
    let mut goals = walk.goals;
    if ends_elsewhere {
        for goal in &mut goals {
            let elsewhere = Expr::Atom(Observable::At(id, wait.from)).not();
            goal.condition = elsewhere.or(goal.condition.clone());
        }
    }
    Some(FinalChecks { goals, ends_at: wait.from })
}

/// The thread can end without having come to a location.
fn ends_before(thread: &Thread, location: LocId) -> bool {
    let mut seen = vec![false; thread.locations.len()];
    let mut open = vec![thread.initial];
    while let Some(at) = open.pop() {
        if at == location || std::mem::replace(&mut seen[at.0], true) {
            continue;
        }
        let before = open.len();
        open.extend(thread.outgoing(at).map(|(_, transition)| transition.to));
        if open.len() == before {
            return true;
        }
    }
    false
}

struct Walk<'t> {
    id: ThreadId,
    thread: &'t Thread,
    goals: Vec<Goal>,
    paths: usize,
}

impl Walk<'_> {
    /// Follows all paths from a location. `None` if there is something that is no check.
    fn follow(
        &mut self,
        at: LocId,
        values: &mut HashMap<RegId, Condition>,
        path: &Condition,
        depth: usize,
    ) -> Option<()> {
        // A loop would come by too often, too.
        if depth > self.thread.locations.len() || self.paths > MOST_PATHS {
            return None;
        }
        let next: Vec<&Transition> = self.thread.outgoing(at).map(|(_, transition)| transition).collect();
        if next.is_empty() {
            self.paths += 1;
        }
        let branches = next.len() > 1;
        for transition in next {
            let mut own = values.clone();
            let mut path = path.clone();
            match &transition.instruction {
                Instruction::Nop => {}
                Instruction::Assign { reg, value } => {
                    let value = self.value(value, &own);
                    own.insert(*reg, value);
                }
                Instruction::Load { reg, address, .. } => {
                    own.insert(*reg, Expr::Atom(Observable::Memory(address.constant()?)));
                }
                Instruction::Assume(condition) => {
                    let condition = self.value(condition, &own);
                    path = conjunction(path, condition);
                }
                Instruction::Assert(condition) => {
                    let holds = self.value(condition, &own);
                    let condition = match &path {
                        Expr::Const(1) => holds,
                        path => path.opposite().unwrap_or_else(|| path.clone().not()).or(holds),
                    };
                    if !is_total(&condition) {
                        return None;
                    }
                    self.goals.push(Goal { kind: GoalKind::Finally, condition, span: transition.span });
                }
                _ => return None,
            }
            if branches && !is_total(&path) {
                return None;
            }
            self.follow(transition.to, &mut own, &path, depth + 1)?;
        }
        Some(())
    }

    fn value(&self, expr: &Expr, values: &HashMap<RegId, Condition>) -> Condition {
        expr.map_atoms(&mut |register| match values.get(register) {
            Some(value) => value.clone(),
            None => Expr::Atom(Observable::Register(self.id, *register)),
        })
    }
}

fn conjunction(left: Condition, right: Condition) -> Condition {
    match left {
        Expr::Const(1) => right,
        left => left.and(right),
    }
}
