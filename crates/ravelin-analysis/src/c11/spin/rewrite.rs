//! Puts the steps of a plan in the place of a loop.
//!
//! The steps start where the loop starts: at its header, and at each location with a copy of the header's first step into the loop's middle
//! (`r = x.load(); while r != 1 { r = x.load(); }`), or at the loads that a loop of compare-exchanges starts with. Locations keep their
//! numbers, and those inside the loop are not reached any more.

use super::plan::{LoopPlan, mentions};
use super::regions::Region;
use ravelin_program::{
    Domain, Expr, Instruction, LocId, Location, Notation, Program, RegId, Register, Span, Thread, Transition, WaitAtom,
    WaitCondition,
};
use std::collections::BTreeSet;

/// Where the steps of a plan start instead of the loop.
#[derive(Debug)]
pub(super) struct LoopStarts {
    /// The header, unless only other locations lead into the loop.
    pub header: Option<LocId>,
    /// Transitions that are replaced.
    pub entries: Vec<usize>,
}

/// Rewrites one loop of a thread and gives back what it became, in words.
pub(super) fn apply(
    program: &mut Program,
    number: usize,
    region: &Region,
    starts: &LoopStarts,
    mut plan: LoopPlan,
) -> String {
    let thread = &mut program.threads[number];
    let names = thread.registers.len();
    for way in &mut plan.ways {
        way.steps = merge_targets(std::mem::take(&mut way.steps), names);
    }
    give_registers(thread, names, &mut plan);
    let mut roots: Vec<LocId> = starts.entries.iter().map(|&entry| thread.transitions[entry].from).collect();
    roots.extend(starts.header);
    roots.dedup();
    // The first steps, which every root has, and all others.
    let mut heads: Vec<(Instruction, LocId, Span)> = Vec::new();
    let mut added: Vec<Transition> = Vec::new();
    let mut told: Vec<Vec<Transition>> = Vec::new();
    let fresh = |thread: &mut Thread| {
        thread.locations.push(Location::default());
        LocId(thread.locations.len() - 1)
    };
    let mut waiting = None;
    for (instruction, span) in plan.first {
        let to = fresh(thread);
        match waiting {
            None => heads.push((instruction, to, span)),
            Some(from) => added.push(Transition { from, to, instruction, span, call: None }),
        }
        waiting = Some(to);
    }
    for way in plan.ways {
        let mut from = waiting;
        let last = way.steps.len() - 1;
        let mut row = Vec::new();
        for (at, (instruction, span)) in way.steps.into_iter().enumerate() {
            let to = if at == last { way.to } else { fresh(thread) };
            if !instruction.accesses().is_empty() {
                let from = from.unwrap_or(roots[0]);
                row.push(Transition { from, to, instruction: instruction.clone(), span, call: None });
            }
            match from {
                None => heads.push((instruction, to, span)),
                Some(from) => added.push(Transition { from, to, instruction, span, call: None }),
            }
            from = Some(to);
        }
        told.push(row);
    }
    let removed: BTreeSet<usize> = starts.entries.iter().copied().collect();
    let mut kept: Vec<Transition> = (thread.transitions.iter().enumerate())
        .filter(|(id, transition)| !removed.contains(id) && Some(transition.from) != starts.header)
        .map(|(_, transition)| transition.clone())
        .collect();
    for &from in &roots {
        let copies = heads.iter().map(|(instruction, to, span)| Transition {
            from,
            to: *to,
            instruction: instruction.clone(),
            span: *span,
            call: None,
        });
        kept.extend(copies);
    }
    kept.extend(added);
    kept.sort_by_key(|transition| transition.from);
    thread.transitions = kept;
    drop_unreachable(thread, region);
    let thread = &program.threads[number];
    let rows = told.iter().filter(|row| !row.is_empty()).map(|row| {
        let steps: Vec<String> = row.iter().map(|transition| program.tell_transition(thread, transition)).collect();
        steps.join("; ")
    });
    let mut rows: Vec<String> = rows.collect();
    rows.dedup();
    rows.join(" or ")
}

/// Removes the transitions of locations of the loop that nothing leads to any more.
fn drop_unreachable(thread: &mut Thread, region: &Region) {
    let mut reached = vec![false; thread.locations.len()];
    let mut open = vec![thread.initial];
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut reached[location.0], true) {
            open.extend(thread.outgoing(location).map(|(_, transition)| transition.to));
        }
    }
    thread.transitions.retain(|transition| reached[transition.from.0] || !region.contains(&transition.from));
}

/// A value that is only assigned to a register is read into it.
fn merge_targets(mut steps: Vec<(Instruction, Span)>, names: usize) -> Vec<(Instruction, Span)> {
    let read: Vec<RegId> =
        steps.iter().flat_map(|(step, _)| step.written_registers()).filter(|register| register.0 >= names).collect();
    for name in read {
        let assigned = steps
            .iter()
            .position(|(step, _)| matches!(step, Instruction::Assign { value, .. } if *value == Expr::Atom(name)));
        if let Some(at) = assigned
            && let Instruction::Assign { reg, .. } = steps[at].0
        {
            steps.remove(at);
            steps.iter_mut().for_each(|(step, _)| rename(step, name, reg));
            continue;
        }
        let used = steps.iter().any(|(step, _)| match step {
            Instruction::Assign { value, .. } => mentions(value, name),
            other => other.read_registers().contains(&name),
        });
        if !used {
            steps.iter_mut().for_each(|(step, _)| discard(step, name));
        }
    }
    steps
}

/// Gives every name that is left a hidden register of its own.
fn give_registers(thread: &mut Thread, names: usize, plan: &mut LoopPlan) {
    let mut used: Vec<RegId> = Vec::new();
    let steps = plan.first.iter().chain(plan.ways.iter().flat_map(|way| &way.steps));
    for (step, _) in steps {
        for register in step.written_registers().into_iter().chain(step.read_registers()) {
            if register.0 >= names && !used.contains(&register) {
                used.push(register);
            }
        }
    }
    // The new names are behind all old ones, so that none is taken twice.
    let behind = used.iter().map(|register| register.0 + 1).max().unwrap_or(names);
    let steps = plan.first.iter_mut().chain(plan.ways.iter_mut().flat_map(|way| &mut way.steps));
    let mut steps: Vec<&mut Instruction> = steps.map(|(step, _)| step).collect();
    for (number, name) in used.iter().enumerate() {
        steps.iter_mut().for_each(|step| rename(step, *name, RegId(behind + number)));
    }
    for number in 0..used.len() {
        let register = RegId(thread.registers.len());
        let name = format!("$w{}", register.0);
        thread.registers.push(Register {
            name,
            domain: Domain::FULL,
            initial: 0,
            hidden: true,
            notation: Notation::Signed,
            span: Span::NOWHERE,
        });
        steps.iter_mut().for_each(|step| rename(step, RegId(behind + number), register));
    }
}

/// Drops the value that a step reads, if it can be dropped.
fn discard(step: &mut Instruction, name: RegId) {
    match step {
        Instruction::Wait { old, .. } | Instruction::Rmw { old, .. } if *old == Some(name) => *old = None,
        _ => {}
    }
}

/// The same step with another register for one of its.
fn rename(step: &mut Instruction, from: RegId, to: RegId) {
    let set = |expr: &mut Expr| {
        *expr = expr.map_atoms(&mut |register| Expr::Atom(if *register == from { to } else { *register }));
    };
    let target = |register: &mut RegId| {
        if *register == from {
            *register = to;
        }
    };
    match step {
        Instruction::Assign { reg, value } => {
            target(reg);
            set(value);
        }
        Instruction::Assume(condition) => set(condition),
        Instruction::Load { reg, address, .. } => {
            target(reg);
            set(&mut address.expr);
        }
        Instruction::Wait { address, condition, old, .. } => {
            set(&mut address.expr);
            *condition = WaitCondition::new(condition.expr.map_atoms(&mut |atom| {
                Expr::Atom(if *atom == WaitAtom::Register(from) { WaitAtom::Register(to) } else { *atom })
            }));
            old.iter_mut().for_each(target);
        }
        Instruction::Rmw { address, operand, old, .. } => {
            set(&mut address.expr);
            set(operand);
            old.iter_mut().for_each(target);
        }
        Instruction::BlockingCas { address, expected, new, .. } => {
            set(&mut address.expr);
            set(expected);
            set(new);
        }
        _ => {}
    }
}
