//! The helpers (section 5.2, Figure 7): their own code, which stops at memory once the attacked load has happened (7),
//! and a copy for those that have joined the happens-before path.
//!
//! A step joins if one of its accesses is happens-before-after the attacked load by Lemma 3: a load of what was stored
//! (8), a store to what was loaded or stored (9). All accesses of the step then raise levels, as they do in the copy
//! (11, 12), and one to the attacked store's address closes the cycle (13). Levels are read before any is raised, so a
//! step does not join by itself.

use super::attacker::original;
use super::layout::{CompanionKind, CompanionLayout, Hit, ResolvedAddress};
use super::scratch::{RegisterRole, ScratchRegisters};
use super::step::{StepBuilder, ways};
use super::{CodeCopy, TwinThread};
use ravelin_program::{BinaryOp, Expr, Instruction, RegId, Thread, ThreadId, Value};

pub(super) fn helper(layout: &CompanionLayout, thread: &Thread, id: ThreadId) -> Thread {
    let promise = layout.promise(id);
    let mut scratch = ScratchRegisters::new(thread);
    let mut twins = TwinThread::new(thread);
    while let Some((location, copy)) = twins.next() {
        let from = twins.twin(location, copy);
        for (_, transition) in thread.outgoing(location) {
            let instruction = &transition.instruction;
            let mut goto = |to: CodeCopy, steps: Vec<Instruction>| {
                for instruction in steps {
                    let to = twins.twin(transition.to, to);
                    twins.edge(from, to, instruction, transition.span);
                }
            };
            if instruction.accesses().is_empty() {
                let step = || vec![instruction.clone()];
                match (instruction, copy, promise) {
                    (Instruction::BusLock, CodeCopy::Original, Some(_)) => {
                        goto(CodeCopy::Original, step());
                        goto(CodeCopy::Promised, step());
                    }
                    // The lock is held already; and it is not given back before the promise is kept.
                    (Instruction::BusLock | Instruction::BusUnlock, CodeCopy::Promised, _) => {}
                    _ => goto(copy, original(layout, &mut scratch, instruction)),
                }
                continue;
            }
            let ways = ways(instruction, &mut scratch);
            let mut steps = |kind: HelperAction| -> Vec<Instruction> {
                ways.iter().filter_map(|way| translated(layout, &mut scratch, way, kind)).collect()
            };
            match (copy, promise) {
                (CodeCopy::Promised, Some(promise)) => {
                    goto(CodeCopy::Promised, steps(HelperAction::Promises(promise)));
                    goto(CodeCopy::Joined, steps(HelperAction::Joins { keeping: Some(promise) }));
                }
                (CodeCopy::Joined, _) => goto(CodeCopy::Joined, steps(HelperAction::HasJoined)),
                _ => {
                    goto(CodeCopy::Original, steps(HelperAction::Apart));
                    goto(CodeCopy::Joined, steps(HelperAction::Joins { keeping: None }));
                }
            }
        }
    }
    twins.finish(scratch.into_registers())
}

/// What an action of a helper is to the happens-before path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HelperAction {
    /// It happens before the attacked load (H0).
    Apart,
    /// It is the first of its thread that belongs to the path (H1), and may thereby keep a promise.
    Joins { keeping: Option<usize> },
    /// Its thread belongs to the path (H2).
    HasJoined,
    /// It does not join, but a later one of its block will.
    Promises(usize),
}

impl HelperAction {
    /// Whether the attacked load has happened, where that must be looked up.
    fn after_the_load(self) -> Option<bool> {
        match self {
            HelperAction::Apart => Some(false),
            HelperAction::Promises(_) => Some(true),
            // Levels tell.
            HelperAction::Joins { .. } | HelperAction::HasJoined => None,
        }
    }
}

/// An access to one place.
struct HelperAccess {
    place: ResolvedAddress,
    writes: bool,
    /// Holds the level before the step, if it is needed.
    level: Option<RegId>,
}

fn translated(
    layout: &CompanionLayout,
    scratch: &mut ScratchRegisters,
    way: &[Instruction],
    kind: HelperAction,
) -> Option<Instruction> {
    let mut touches: Vec<HelperAccess> = Vec::new();
    let mut step = StepBuilder::new(layout, scratch, way);
    if let Some(happened) = kind.after_the_load() {
        let flag = step.fresh(RegisterRole::Flag);
        step.load(flag, layout.hb_flag());
        step.assume(Expr::Atom(flag).eq(Expr::Const(happened.into())));
    }
    let mut ahead = way.iter().flat_map(Instruction::accesses).count();
    let mut possible = true;
    step.follow(way, &mut |step, access, place| {
        if kind != HelperAction::Apart {
            touch(step, &mut touches, way, kind, access, place);
        }
        ahead -= 1;
        if ahead == 0 {
            possible = decide(step, &touches, kind);
        }
        step.perform(access, place, CompanionKind::Cell);
    });
    if !possible {
        return None;
    }
    // A single load joins at the highest level there is.
    if let (HelperAction::Joins { .. }, [HelperAccess { writes: false, level, .. }]) = (kind, touches.as_mut_slice()) {
        *level = None;
    }
    raise(&mut step, &touches, kind);
    succeed(&mut step, &touches);
    step.finish()
}

/// Lets the step pass if it joins, or if it does not, as its kind wants it. Gives false if that can never be.
fn decide(step: &mut StepBuilder, touches: &[HelperAccess], kind: HelperAction) -> bool {
    let joins = touches.iter().filter_map(|touch| qualifies(step.layout, touch, kind)).reduce(Expr::or);
    match (kind, joins) {
        (HelperAction::Joins { .. }, None) => return false,
        (HelperAction::Joins { .. }, Some(joins)) => step.assume(joins),
        (HelperAction::Promises(_), Some(joins)) => step.assume(joins.not()),
        _ => {}
    }
    true
}

/// Notes an access, and reads the level of its place where that will be needed.
fn touch(
    step: &mut StepBuilder,
    touches: &mut Vec<HelperAccess>,
    way: &[Instruction],
    kind: HelperAction,
    access: &Instruction,
    place: ResolvedAddress,
) {
    let writes = matches!(access, Instruction::Store { .. });
    if let Some(touch) = touches.iter_mut().find(|touch| touch.place == place) {
        touch.writes |= writes;
        return;
    }
    let stored_later = match access {
        Instruction::Load { address, .. } => {
            let stores = |part: &Instruction| matches!(part, Instruction::Store { address: to, .. } if to == address);
            address.constant().is_some() && way.iter().any(stores)
        }
        _ => true,
    };
    // Where the level becomes 2 whatever it was, it need not be read.
    let needed = kind != HelperAction::HasJoined || !stored_later;
    let level = step.layout.part(place, CompanionKind::Level).filter(|_| needed).map(|level| {
        let register = step.fresh(RegisterRole::Level);
        step.load(register, level);
        register
    });
    touches.push(HelperAccess { place, writes, level });
}

/// Lemma 3, (ii) and (iii), for an action of a thread that has not joined. What a promising thread has marked itself
/// does not count.
fn qualifies(layout: &CompanionLayout, touch: &HelperAccess, kind: HelperAction) -> Option<Expr> {
    let level = Expr::Atom(touch.level?);
    let own = match kind {
        HelperAction::Joins { keeping } => keeping,
        HelperAction::Promises(promise) => Some(promise),
        HelperAction::Apart | HelperAction::HasJoined => None,
    };
    let is = |value: Value| level.clone().eq(Expr::Const(value));
    if touch.writes {
        let differs = |value: Value| Expr::binary(BinaryOp::Ne, level.clone(), Expr::Const(value));
        let marks = own.map(|own| differs(loaded(own)).and(differs(stored(own))));
        return Some(marks.into_iter().fold(differs(0), Expr::and));
    }
    let others = (0..layout.promises()).filter(|other| Some(*other) != own);
    Some(others.fold(is(2), |condition, other| condition.or(is(stored(other)))))
}

/// The marks of a promising thread.
fn loaded(promise: usize) -> Value {
    3 + 2 * promise as Value
}

fn stored(promise: usize) -> Value {
    4 + 2 * promise as Value
}

/// Levels after the step. Two places may turn out to be one cell, so stores come last.
fn raise(step: &mut StepBuilder, touches: &[HelperAccess], kind: HelperAction) {
    let (load, store) = match kind {
        HelperAction::Promises(promise) => (loaded(promise), stored(promise)),
        _ => (1, 2),
    };
    for touch in touches.iter().filter(|touch| !touch.writes) {
        if let (Some(level), Some(register)) = (step.layout.part(touch.place, CompanionKind::Level), touch.level) {
            let level_before = Expr::Atom(register);
            let untouched = level_before.clone().eq(Expr::Const(0));
            let first = match load {
                1 => untouched,
                load => Expr::binary(BinaryOp::Mul, Expr::Const(load), untouched),
            };
            step.store(level, Expr::binary(BinaryOp::Add, level_before, first));
        }
    }
    for touch in touches.iter().filter(|touch| touch.writes) {
        if let Some(level) = step.layout.part(touch.place, CompanionKind::Level) {
            step.store(level, Expr::Const(store));
        }
    }
}

/// The cycle is closed if the attacked store's address was among those accessed.
fn succeed(step: &mut StepBuilder, touches: &[HelperAccess]) {
    let mut conditions = Vec::new();
    let mut kept = None;
    for touch in touches {
        match step.layout.hit(touch.place) {
            Hit::Never => {}
            Hit::Always => return step.store(step.layout.success_flag(), Expr::Const(1)),
            Hit::Holds(register, value) => conditions.push(Expr::Atom(register).eq(Expr::Const(value))),
            Hit::Kept(value) => {
                let kept = *kept.get_or_insert_with(|| step.fresh(RegisterRole::Flag));
                conditions.push(Expr::Atom(kept).eq(value));
            }
        }
    }
    let Some(hit) = conditions.into_iter().reduce(Expr::or) else { return };
    if let (Some(kept), Some(cell)) = (kept, step.layout.attacked_cell()) {
        step.load(kept, cell);
    }
    let before = step.fresh(RegisterRole::Flag);
    step.load(before, step.layout.success_flag());
    step.store(step.layout.success_flag(), Expr::Atom(before).or(hit));
}
