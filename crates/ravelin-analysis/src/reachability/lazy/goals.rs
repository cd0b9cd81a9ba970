//! What the goals of a program mean in an extension of it.
//!
//! A thread in a copy of a location has stores pending. Goals about final states need no change: only the original's locations
//! have no way out. A condition that mentions memory is judged only where nothing is held back, which a flag in each thread tells.
//! Other conditions may be judged anywhere; but since all pending stores can reach memory before anybody moves on, it is enough
//! to look at the locations of the original, unless being there makes a condition false.

use ravelin_program::{BinaryOp, Condition, Expr, Goal, LocId, Observable, RegId, ThreadId, is_count};

/// `homes`: by thread and location of the extension, the location in the original. `flags`: the register that is not 0 while a
/// thread holds stores back.
pub(super) fn lift(goal: &Goal, homes: &[Vec<LocId>], flags: &[Option<RegId>]) -> Goal {
    if goal.is_final() {
        return goal.clone();
    }
    let mut condition = goal.condition.clone();
    if !grows_with_arrivals(&condition) {
        condition = condition.map_atoms(&mut |atom| match *atom {
            Observable::At(thread, location) => at_any_copy(thread, location, &homes[thread.0]),
            _ => Expr::Atom(atom.clone()),
        });
    }
    if goal.mentions_memory() {
        for (thread, flag) in flags.iter().enumerate() {
            if let Some(flag) = flag {
                let nothing = Expr::Atom(Observable::Register(ThreadId(thread), *flag)).eq(Expr::Const(0));
                condition = nothing.and(condition);
            }
        }
    }
    Goal { condition, ..goal.clone() }
}

fn at_any_copy(thread: ThreadId, location: LocId, homes: &[LocId]) -> Condition {
    let copies = (0..homes.len()).filter(|&copy| homes[copy] == location);
    copies
        .map(|copy| Expr::Atom(Observable::At(thread, LocId(copy))))
        .reduce(|sum, term| Expr::binary(BinaryOp::Add, sum, term))
        .unwrap_or(Expr::Const(0))
}

/// Where it holds, it also holds if threads are at more of the locations it names.
fn grows_with_arrivals(condition: &Condition) -> bool {
    let mut names_locations = false;
    condition.for_each_atom(&mut |atom| names_locations |= matches!(atom, Observable::At(..)));
    match condition {
        _ if !names_locations => true,
        Expr::Atom(_) => true,
        Expr::Binary(BinaryOp::And | BinaryOp::Or, _, left, right) => {
            grows_with_arrivals(left) && grows_with_arrivals(right)
        }
        Expr::Binary(BinaryOp::Ge | BinaryOp::Gt, _, left, right) => is_count(left) && !right.has_atoms(),
        _ => false,
    }
}

/// Speaks of several threads, and not of memory: judged also while somebody holds the bus lock.
pub(super) fn looks_across_threads(goal: &Goal) -> bool {
    let mut threads = Vec::new();
    goal.condition.for_each_atom(&mut |atom| match atom {
        Observable::At(thread, _) | Observable::Register(thread, _) => threads.push(*thread),
        Observable::Memory(_) => {}
    });
    threads.dedup();
    !goal.is_final() && !goal.mentions_memory() && threads.len() > 1
}
