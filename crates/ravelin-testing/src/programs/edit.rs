//! The ways to make a program smaller, one at a time. An edit may give an invalid program; the shrinker checks that.

use super::parts::{expressions_mut, orders_mut, registers_mut};
use ravelin_program::{
    Arithmetic, Condition, Domain, Expr, InitialValue, Instruction, LocId, Observable, Order, Program, RegId, RmwOp,
    Thread, ThreadId, Unnamed, Value, VarId,
};

#[derive(Clone, Copy, Debug)]
pub(super) enum Edit {
    DropThread(usize),
    DropGoal(usize),
    DropTransition(usize, usize),
    /// Replaces an instruction by a nop, by thread and transition.
    Nop(usize, usize),
    /// A nop that is the only transition out of its location: the two locations become one.
    MergeNop(usize, usize),
    /// A simpler instruction, by a number.
    Instruction(usize, usize, usize),
    /// An expression of an instruction, by a number, and its replacement.
    Expression(usize, usize, usize, Simpler),
    /// The condition of a wait.
    Awaited(usize, usize, Simpler),
    /// The condition of a goal.
    Condition(usize, Simpler),
    DropRegister(usize, usize),
    PlainRegister(usize, usize),
    DropVariable(usize),
    PlainDomain(usize),
    PlainInitial(usize, Value),
    PlainMemory,
    /// Of one transition.
    PlainArithmetic(usize, usize),
}

/// The replacement of a part of an expression; parts are numbered from the root, which is 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Simpler {
    Constant(usize, Value),
    Left(usize),
    Right(usize),
}

/// Every edit that may apply, the coarse ones first.
pub(super) fn edits(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    edits.extend((0..program.threads.len()).map(Edit::DropThread));
    edits.extend((0..program.goals.len()).map(Edit::DropGoal));
    let transitions: Vec<(usize, usize)> = (0..program.threads.len())
        .flat_map(|thread| (0..program.threads[thread].transitions.len()).map(move |transition| (thread, transition)))
        .collect();
    edits.extend(transitions.iter().map(|&(thread, transition)| Edit::DropTransition(thread, transition)));
    edits.extend(transitions.iter().map(|&(thread, transition)| Edit::Nop(thread, transition)));
    edits.extend(transitions.iter().map(|&(thread, transition)| Edit::MergeNop(thread, transition)));
    for &(thread, transition) in &transitions {
        let instruction = &program.threads[thread].transitions[transition].instruction;
        edits.extend((0..simpler(instruction).len()).map(|number| Edit::Instruction(thread, transition, number)));
        for (number, expr) in instruction.expressions().into_iter().enumerate() {
            edits.extend(simplifications(expr).map(|how| Edit::Expression(thread, transition, number, how)));
        }
        if let Instruction::Wait { condition, .. } = instruction {
            edits.extend(simplifications(&condition.expr).map(|how| Edit::Awaited(thread, transition, how)));
        }
    }
    for (goal, judged) in program.goals.iter().enumerate() {
        edits.extend(simplifications(&judged.condition).map(|how| Edit::Condition(goal, how)));
    }
    for (thread, code) in program.threads.iter().enumerate() {
        edits.extend((0..code.registers.len()).map(|register| Edit::DropRegister(thread, register)));
        edits.extend((0..code.registers.len()).map(|register| Edit::PlainRegister(thread, register)));
        edits.extend((0..code.transitions.len()).map(|transition| Edit::PlainArithmetic(thread, transition)));
    }
    for (variable, place) in program.memory.variables.iter().enumerate() {
        edits.push(Edit::DropVariable(variable));
        edits.push(Edit::PlainDomain(variable));
        edits.extend([0, 1, place.domain.lo].map(|value| Edit::PlainInitial(variable, value)));
    }
    edits.push(Edit::PlainMemory);
    edits
}

/// The program after an edit, or `None` if the edit does not apply.
pub(super) fn apply(program: &Program, edit: &Edit) -> Option<Program> {
    let mut edited = program.clone();
    match *edit {
        Edit::DropThread(thread) => {
            edited.threads.remove(thread);
            observe(&mut edited, |atom| match atom {
                Observable::At(ThreadId(other), _) | Observable::Register(ThreadId(other), _) if *other == thread => {
                    None
                }
                Observable::At(other, location) => Some(Observable::At(shifted(*other, thread), *location)),
                Observable::Register(other, register) => Some(Observable::Register(shifted(*other, thread), *register)),
                Observable::Memory(_) => Some(atom.clone()),
            });
        }
        Edit::DropGoal(goal) => {
            edited.goals.remove(goal);
        }
        Edit::DropTransition(thread, transition) => {
            edited.threads[thread].transitions.remove(transition);
            drop_unreachable(&mut edited, thread);
        }
        Edit::Nop(thread, transition) => {
            edited.threads[thread].transitions[transition].instruction = Instruction::Nop;
        }
        Edit::MergeNop(thread, transition) => merge_nop(&mut edited, thread, transition)?,
        Edit::Instruction(thread, transition, number) => {
            let instruction = &mut edited.threads[thread].transitions[transition].instruction;
            *instruction = simpler(instruction).into_iter().nth(number)?;
        }
        Edit::Expression(thread, transition, number, how) => {
            let instruction = &mut edited.threads[thread].transitions[transition].instruction;
            let expr = expressions_mut(instruction).into_iter().nth(number)?;
            simplify(expr, how)?;
        }
        Edit::Awaited(thread, transition, how) => {
            let Instruction::Wait { condition, .. } = &mut edited.threads[thread].transitions[transition].instruction
            else {
                return None;
            };
            simplify(&mut condition.expr, how)?;
            if !condition.mentions_read() {
                return None;
            }
        }
        Edit::Condition(goal, how) => simplify(&mut edited.goals[goal].condition, how)?,
        Edit::DropRegister(thread, register) => drop_register(&mut edited, thread, register)?,
        Edit::PlainRegister(thread, register) => edited.threads[thread].registers[register].domain = Domain::FULL,
        Edit::DropVariable(variable) => drop_variable(&mut edited, variable)?,
        Edit::PlainDomain(variable) => {
            let variable = &mut edited.memory.variables[variable];
            // "Any value" of the full domain would be harder to explore, not simpler.
            if variable.initial.contains(&InitialValue::Any) {
                return None;
            }
            variable.domain = Domain::FULL;
        }
        Edit::PlainInitial(variable, value) => {
            edited.memory.variables[variable].initial.fill(InitialValue::Value(value))
        }
        Edit::PlainMemory => edited.memory.unnamed = Unnamed::Cells(Domain::FULL),
        Edit::PlainArithmetic(thread, transition) => {
            edited.threads[thread].transitions[transition].instruction.compute_in(Arithmetic::Checked);
        }
    }
    Some(edited)
}

fn shifted(thread: ThreadId, removed: usize) -> ThreadId {
    ThreadId(thread.0 - usize::from(thread.0 > removed))
}

/// Replaces the atoms of every goal; a removed one counts as 0.
fn observe(program: &mut Program, mut replace: impl FnMut(&Observable) -> Option<Observable>) {
    for goal in &mut program.goals {
        let condition: Condition =
            goal.condition.map_atoms(&mut |atom| replace(atom).map_or(Expr::Const(0), Expr::Atom));
        goal.condition = condition;
    }
}

/// Renumbers the locations of a thread; a location without a new number must not be used by a transition.
fn relocate(program: &mut Program, thread: usize, new: &[Option<LocId>]) {
    let code = &mut program.threads[thread];
    let count = new.iter().flatten().map(|location| location.0 + 1).max().unwrap_or(0);
    let mut locations = vec![ravelin_program::Location::default(); count];
    for (old, location) in code.locations.iter().zip(new) {
        if let Some(location) = location {
            locations[location.0].labels.extend(old.labels.iter().cloned());
        }
    }
    code.locations = locations;
    code.transitions.retain(|transition| new[transition.from.0].is_some() && new[transition.to.0].is_some());
    for transition in &mut code.transitions {
        transition.from = new[transition.from.0].unwrap_or(transition.from);
        transition.to = new[transition.to.0].unwrap_or(transition.to);
    }
    code.transitions.sort_by_key(|transition| transition.from);
    code.initial = new[code.initial.0].unwrap_or(code.initial);
    observe(program, |atom| match atom {
        Observable::At(ThreadId(other), location) if *other == thread => {
            new[location.0].map(|location| Observable::At(ThreadId(thread), location))
        }
        _ => Some(atom.clone()),
    });
}

fn drop_unreachable(program: &mut Program, thread: usize) {
    let reachable = reachable(&program.threads[thread]);
    let mut next = 0;
    let new: Vec<Option<LocId>> = reachable
        .into_iter()
        .map(|reachable| {
            reachable.then(|| {
                next += 1;
                LocId(next - 1)
            })
        })
        .collect();
    relocate(program, thread, &new);
}

fn reachable(thread: &Thread) -> Vec<bool> {
    let mut reached = vec![false; thread.locations.len()];
    let mut waiting = vec![thread.initial];
    while let Some(location) = waiting.pop() {
        if !std::mem::replace(&mut reached[location.0], true) {
            waiting.extend(thread.outgoing(location).map(|(_, transition)| transition.to));
        }
    }
    reached
}

fn merge_nop(program: &mut Program, thread: usize, transition: usize) -> Option<()> {
    let code = &mut program.threads[thread];
    let nop = &code.transitions[transition];
    let (from, to) = (nop.from, nop.to);
    let only_way_out = code.outgoing(from).count() == 1;
    if nop.instruction != Instruction::Nop || from == to || !only_way_out {
        return None;
    }
    code.transitions.remove(transition);
    let kept = |location: usize| LocId(location - usize::from(location > from.0));
    let new: Vec<Option<LocId>> = (0..code.locations.len())
        .map(|location| Some(if location == from.0 { kept(to.0) } else { kept(location) }))
        .collect();
    relocate(program, thread, &new);
    Some(())
}

fn drop_register(program: &mut Program, thread: usize, register: usize) -> Option<()> {
    let code = &mut program.threads[thread];
    let used = |instruction: &Instruction| {
        instruction.read_registers().into_iter().chain(instruction.written_registers()).any(|other| other.0 == register)
    };
    if code.transitions.iter().any(|transition| used(&transition.instruction)) {
        return None;
    }
    code.registers.remove(register);
    for transition in &mut code.transitions {
        registers_mut(&mut transition.instruction, &mut |other| other.0 -= usize::from(other.0 > register));
    }
    observe(program, |atom| match atom {
        Observable::Register(ThreadId(other), RegId(named)) if *other == thread => (*named != register)
            .then(|| Observable::Register(ThreadId(thread), RegId(named - usize::from(*named > register)))),
        _ => Some(atom.clone()),
    });
    Some(())
}

/// Removes a variable that no access is bound to. Addresses are not moved.
fn drop_variable(program: &mut Program, variable: usize) -> Option<()> {
    let mut used = false;
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        let within = transition.instruction.addresses_mut().into_iter().filter_map(|address| address.within.as_mut());
        for VarId(other) in within {
            used |= *other == variable;
            *other -= usize::from(*other > variable);
        }
    }
    program.memory.variables.remove(variable);
    (!used).then_some(())
}

/// Simpler instructions that may replace one.
fn simpler(instruction: &Instruction) -> Vec<Instruction> {
    let mut found = Vec::new();
    let weaker = [Order::Relaxed, Order::Acquire, Order::Release];
    let mut with = |change: &dyn Fn(&mut Instruction)| {
        let mut changed = instruction.clone();
        change(&mut changed);
        if changed != *instruction {
            found.push(changed);
        }
    };
    match instruction {
        Instruction::Havoc { reg, lo, hi } => {
            for value in [*lo, *hi] {
                with(&|changed| *changed = Instruction::Assign { reg: *reg, value: Expr::Const(value) });
            }
            with(&|changed| {
                if let Instruction::Havoc { lo, hi, .. } = changed {
                    *hi = hi.saturating_sub(1).max(*lo);
                }
            });
        }
        Instruction::Rmw { address, operand, old, .. } => {
            with(&|changed| {
                *changed =
                    Instruction::Store { address: address.clone(), value: operand.clone(), order: Order::Relaxed }
            });
            if let Some(reg) = *old {
                with(&|changed| {
                    *changed = Instruction::Load { reg, address: address.clone(), order: Order::Relaxed };
                });
            }
            with(&|changed| {
                if let Instruction::Rmw { old, .. } = changed {
                    *old = None;
                }
            });
            with(&|changed| {
                if let Instruction::Rmw { op, .. } = changed {
                    *op = RmwOp::Exchange;
                }
            });
        }
        Instruction::CompareExchange { .. } => {
            for part in 0..3 {
                with(&|changed| {
                    if let Instruction::CompareExchange { old, ok, weak, .. } = changed {
                        match part {
                            0 => *old = None,
                            1 => *ok = None,
                            _ => *weak = false,
                        }
                    }
                });
            }
        }
        Instruction::Wait { .. } => {
            with(&|changed| {
                if let Instruction::Wait { old, .. } = changed {
                    *old = None;
                }
            });
        }
        Instruction::Unlock(address) => with(&|changed| {
            *changed = Instruction::Store { address: address.clone(), value: Expr::Const(0), order: Order::Relaxed };
        }),
        Instruction::Locked { body, .. } => {
            if let [part] = &body[..] {
                with(&|changed| *changed = part.clone());
            }
            for dropped in 0..body.len() {
                with(&|changed| {
                    if let Instruction::Locked { body, .. } = changed {
                        body.remove(dropped);
                    }
                });
            }
        }
        _ => {}
    }
    for order in weaker {
        for number in 0..2 {
            with(&|changed| {
                if let Some(old) = orders_mut(changed).into_iter().nth(number) {
                    *old = order;
                }
            });
        }
    }
    found
}

/// Every way to simplify one part of an expression.
fn simplifications<A>(expr: &Expr<A>) -> impl Iterator<Item = Simpler> + use<A> {
    (0..size(expr)).flat_map(|part| {
        [Simpler::Constant(part, 0), Simpler::Constant(part, 1), Simpler::Left(part), Simpler::Right(part)]
    })
}

fn size<A>(expr: &Expr<A>) -> usize {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, _, operand) => 1 + size(operand),
        Expr::Binary(_, _, left, right) => 1 + size(left) + size(right),
    }
}

fn simplify<A: Clone>(expr: &mut Expr<A>, how: Simpler) -> Option<()> {
    let (Simpler::Constant(part, _) | Simpler::Left(part) | Simpler::Right(part)) = how;
    let target = part_mut(expr, part)?;
    *target = match (how, &*target) {
        (Simpler::Constant(_, value), _) => Expr::Const(value),
        (Simpler::Left(_), Expr::Unary(_, _, left) | Expr::Binary(_, _, left, _)) => (**left).clone(),
        (Simpler::Right(_), Expr::Binary(_, _, _, right)) => (**right).clone(),
        _ => return None,
    };
    Some(())
}

fn part_mut<A>(expr: &mut Expr<A>, part: usize) -> Option<&mut Expr<A>> {
    if part == 0 {
        return Some(expr);
    }
    match expr {
        Expr::Const(_) | Expr::Atom(_) => None,
        Expr::Unary(_, _, operand) => part_mut(operand, part - 1),
        Expr::Binary(_, _, left, right) => match (part - 1).checked_sub(size(left)) {
            None => part_mut(left, part - 1),
            Some(part) => part_mut(right, part),
        },
    }
}
