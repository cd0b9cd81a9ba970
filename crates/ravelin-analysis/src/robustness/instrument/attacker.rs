//! The attacker (section 5.1, Figure 5): its own code, and a copy in which stores stay with it.
//!
//! The attacked store leads into the copy (1), the attacked load out of it, to a location without a way on (2). In
//! between stores are delayed (3), loads see them first (4), local steps are as they were (5), and what would need an
//! empty store buffer is missing (6). Delayed stores wait for the bus lock like all locked blocks; since nobody else
//! sees them they may as well happen once it is free.

use super::layout::{CompanionKind, CompanionLayout, ResolvedAddress};
use super::scratch::{RegisterRole, ScratchRegisters};
use super::step::{StepBuilder, relocated, ways};
use super::{CannotInstrument, CodeCopy, TwinThread};
use crate::robustness::attack::{Attack, ends_attack};
use ravelin_program::{Expr, Instruction, Program, Thread, TransitionId};

/// The most ways to read of one locked block.
const MOST_WAYS: usize = 1 << 10;

pub(super) fn attacker(
    program: &Program,
    layout: &CompanionLayout,
    attack: Attack,
) -> Result<Thread, CannotInstrument> {
    let thread = &program.threads[attack.thread.0];
    let copied = attack_copy(thread, attack);
    let mut scratch = ScratchRegisters::new(thread);
    let mut twins = TwinThread::new(thread);
    let mut end = None;
    while let Some((location, copy)) = twins.next() {
        let from = twins.twin(location, copy);
        for (id, transition) in thread.outgoing(location) {
            let (instruction, span) = (&transition.instruction, transition.span);
            if copy == CodeCopy::Original {
                let to = twins.twin(transition.to, CodeCopy::Original);
                for instruction in original(layout, &mut scratch, instruction) {
                    twins.edge(from, to, instruction, span);
                }
                if id == attack.store && copied.len() > 1 {
                    let to = twins.twin(transition.to, CodeCopy::Attack);
                    for instruction in delayed(layout, &mut scratch, instruction, true) {
                        twins.edge(from, to, instruction, span);
                    }
                }
                continue;
            }
            if id == attack.load {
                let end = *end.get_or_insert_with(|| twins.fresh(vec!["attacked".to_owned()], span));
                for instruction in reading(program, layout, thread, &mut scratch, instruction, true)? {
                    twins.edge(from, end, instruction, span);
                }
            }
            if !copied.contains(&id) || !goes_on(thread, attack, &copied, id) {
                continue;
            }
            let to = twins.twin(transition.to, CodeCopy::Attack);
            let steps = match instruction {
                Instruction::Store { .. } | Instruction::Unlock(_) => delayed(layout, &mut scratch, instruction, false),
                Instruction::Load { .. } | Instruction::Wait { .. } | Instruction::Locked { .. } => {
                    reading(program, layout, thread, &mut scratch, instruction, false)?
                }
                _ => original(layout, &mut scratch, instruction),
            };
            for instruction in steps {
                twins.edge(from, to, instruction, span);
            }
        }
    }
    Ok(twins.finish(scratch.into_registers()))
}

/// The transitions that can be taken between the attacked store and the attacked load, both included; the store alone
/// if there is no way from one to the other.
pub(super) fn attack_copy(thread: &Thread, attack: Attack) -> Vec<TransitionId> {
    let transitions = &thread.transitions;
    let passable = |id: usize| !ends_attack(&transitions[id].instruction);
    let spread = |start: usize, forward: bool| {
        let mut reached = vec![false; thread.locations.len()];
        reached[start] = true;
        let mut open = vec![start];
        while let Some(location) = open.pop() {
            for id in (0..transitions.len()).filter(|&id| passable(id)) {
                let (from, to) = (transitions[id].from.0, transitions[id].to.0);
                let (near, far) = if forward { (from, to) } else { (to, from) };
                if near == location && !reached[far] {
                    reached[far] = true;
                    open.push(far);
                }
            }
        }
        reached
    };
    let after = spread(transitions[attack.store.0].to.0, true);
    let before = spread(transitions[attack.load.0].from.0, false);
    let within = |id: usize| after[transitions[id].from.0] && before[transitions[id].to.0] && passable(id);
    let on_the_way = (0..transitions.len())
        .filter(|&id| id == attack.store.0 || within(id) || (id == attack.load.0 && after[transitions[id].from.0]));
    on_the_way.map(TransitionId).collect()
}

/// The attacked load may still be ahead after this transition.
fn goes_on(thread: &Thread, attack: Attack, copied: &[TransitionId], id: TransitionId) -> bool {
    let to = thread.transitions[id.0].to;
    to == thread.transitions[attack.load.0].from
        || thread.outgoing(to).any(|(next, _)| next != attack.load && copied.contains(&next))
}

/// A step outside any attack.
pub(super) fn original(
    layout: &CompanionLayout,
    scratch: &mut ScratchRegisters,
    instruction: &Instruction,
) -> Vec<Instruction> {
    if let Some(relocated) = relocated(layout, instruction) {
        return vec![relocated];
    }
    let ways = ways(instruction, scratch);
    let steps = ways.iter().filter_map(|way| {
        let mut step = StepBuilder::new(layout, scratch, way);
        step.follow(way, &mut |step, access, place| step.perform(access, place, CompanionKind::Cell));
        step.finish()
    });
    steps.collect()
}

/// A store that stays with the attacker (3); the first one is the attacked one, whose address is kept (1).
fn delayed(
    layout: &CompanionLayout,
    scratch: &mut ScratchRegisters,
    instruction: &Instruction,
    first: bool,
) -> Vec<Instruction> {
    let ways = ways(instruction, scratch);
    let steps = ways.iter().filter_map(|way| {
        let mut step = StepBuilder::new(layout, scratch, way);
        step.follow(way, &mut |step, access, place| {
            step.perform(access, place, CompanionKind::Delayed);
            if let Some(flag) = step.layout.part(place, CompanionKind::IsDelayed) {
                step.store(flag, Expr::Const(1));
            }
            if let (true, Some(cell)) = (first, step.layout.attacked_cell()) {
                match place {
                    ResolvedAddress::Index(_, register) | ResolvedAddress::Anywhere(register) => {
                        step.store(cell, Expr::Atom(register))
                    }
                    ResolvedAddress::Fixed(_) => {}
                }
            }
        });
        step.finish()
    });
    steps.collect()
}

/// A load, a wait or a block of loads, each of which reads a delayed store to its address or else memory (4). In the
/// attacked one at least one reads memory (W5), and what is read there becomes level 1 (2).
fn reading(
    program: &Program,
    layout: &CompanionLayout,
    thread: &Thread,
    scratch: &mut ScratchRegisters,
    instruction: &Instruction,
    attacked: bool,
) -> Result<Vec<Instruction>, CannotInstrument> {
    let mut steps = Vec::new();
    for way in ways(instruction, scratch) {
        let loads = way.iter().filter(|part| matches!(part, Instruction::Load { .. })).count();
        let choices = u32::try_from(loads).ok().and_then(|loads| 1usize.checked_shl(loads));
        let choices = choices.filter(|&choices| choices <= MOST_WAYS).ok_or_else(|| CannotInstrument::TooManyWays {
            instruction: program.show_instruction(thread, instruction),
            limit: MOST_WAYS,
        })?;
        // Bit n: the nth load reads a delayed store.
        for early in 0..choices {
            if attacked && early + 1 == choices && loads > 0 {
                continue;
            }
            steps.extend(reads(layout, scratch, &way, early, attacked));
        }
    }
    Ok(steps)
}

fn reads(
    layout: &CompanionLayout,
    scratch: &mut ScratchRegisters,
    way: &[Instruction],
    early: usize,
    attacked: bool,
) -> Option<Instruction> {
    let mut nth = 0;
    let mut possible = true;
    let mut loaded = Vec::new();
    let mut step = StepBuilder::new(layout, scratch, way);
    step.follow(way, &mut |step, access, place| {
        let early = early >> nth & 1 == 1;
        nth += 1;
        match step.layout.part(place, CompanionKind::IsDelayed) {
            Some(is_delayed) => {
                let flag = step.fresh(RegisterRole::Flag);
                step.load(flag, is_delayed);
                step.assume(Expr::Atom(flag).eq(Expr::Const(early.into())));
            }
            None => possible &= !early,
        }
        step.perform(access, place, if early { CompanionKind::Delayed } else { CompanionKind::Cell });
        if !early {
            loaded.push(place);
        }
    });
    if attacked {
        for place in loaded {
            if let Some(level) = layout.part(place, CompanionKind::Level) {
                step.store(level, Expr::Const(1));
            }
        }
        step.store(layout.hb_flag(), Expr::Const(1));
    }
    if possible { step.finish() } else { None }
}
