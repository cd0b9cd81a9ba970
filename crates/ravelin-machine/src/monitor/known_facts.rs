//! Accesses that need not ask, because what they would ask for is always known: fewer facts to keep, and often none.
//!
//! **Locks.** A cell is a lock if it is only written in these ways: from 0 to another constant by a step that takes it (`lock`, a
//! `bcas` or compare-exchange that expects 0, an exchange that finds 0), from another value by an exchange with a constant that is not 0,
//! and to 0 by a store of a thread that has taken it and not stored to it since. Under SC the cell holds another value than 0 as long as
//! a thread has it, so no other thread takes it or stores to it meanwhile. Whether a thread has it is read off the thread's own
//! control flow.
//!
//! - The store that gives a lock back comes behind the thread's own step that took it, and that one behind every plain write
//!   before. So it cannot be placed before one of these.
//! - A `bcas` that expects 0 could only miss a plain write that overwrites 0. There is none.
//!
//! Both hold under every model: a thread never loses sight of its own latest write.
//!
//! **Guarded cells.** A cell is guarded by a lock if every access to it is made by a thread that has the lock, each step that takes
//! the lock acquires, and each that gives it back releases. The step that takes it finds 0, so it reads the store that gave it back,
//! and knows all that its thread knew. So a thread that accesses the cell knows its latest write, and nothing races. As long as a thread
//! has the lock, no other can access the cell: its step may be taken alone (`alone.rs`).
//!
//! **Fences.** Under TSO and PSO, if no path of a thread leads from a plain store to an access that could overtake it, each thread's accesses
//! are ordered as in its code, except that a load may read a store of its own thread early. Then what is SC-before an access is *ghb*-before
//! it, or the thread's own, and no access can miss anything.

use super::effect::{C11Settings, MonitorEffect};
use crate::access::slots;
use crate::compile::Machine;
use crate::ranges::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Expr, Instruction, LocId, Model, Order, Program, RegId, RmwOp, Thread, Transition, Value,
};

/// A register with more possible values than this says nothing about a lock.
const MOST_VALUES: i128 = 64;

/// What is known at accesses whenever they are made.
pub(super) struct KnownFacts {
    /// By thread and step: it need not ask.
    steps: Vec<Vec<bool>>,
    /// By thread and step: it only accesses cells that are guarded.
    pub guarded: Vec<Vec<bool>>,
    /// Slots that are guarded.
    cells: Vec<usize>,
}

impl KnownFacts {
    /// `tracked`: by slot, whether several threads use the cell and one writes it.
    pub fn find(
        machine: &Machine,
        settings: C11Settings,
        ranges: &Ranges,
        tracked: impl Fn(usize) -> bool,
        effects: &[Vec<MonitorEffect>],
        watch: &Watch,
    ) -> Result<KnownFacts, Limit> {
        let program = &machine.program;
        let threads = &program.threads;
        let none: Vec<Vec<bool>> = threads.iter().map(|thread| vec![false; thread.transitions.len()]).collect();
        let mut known = KnownFacts { steps: none.clone(), guarded: none, cells: Vec::new() };
        if !settings.reductions.known_facts {
            return Ok(known);
        }
        let is_shared = |thread: usize, address: &Address| {
            let slots = slots(program, thread, address, ranges, &machine.layout);
            slots.leads_elsewhere() || slots.iter().any(&tracked)
        };
        if settings.model.is_hardware() {
            let mut ordered = true;
            for (number, thread) in threads.iter().enumerate() {
                ordered &= !overtakes(thread, settings.model, |address| is_shared(number, address), watch)?;
            }
            if ordered {
                known.steps.iter_mut().for_each(|steps| steps.fill(true));
                return Ok(known);
            }
        }
        let tracked: Vec<usize> = (0..machine.layout.addresses.len()).filter(|&slot| tracked(slot)).collect();
        let mut locks = Vec::new();
        for &slot in &tracked {
            let lock = LockCell { program, machine, ranges, slot, address: machine.layout.addresses[slot] };
            let Some(found) = lock.steps(effects, watch)? else { continue };
            found.steps.iter().for_each(|&(thread, step)| known.steps[thread][step] = true);
            if lock.synchronises(effects, settings.model) {
                locks.push((slot, found.holding));
            }
        }
        if !locks.is_empty() {
            known.guard(machine, ranges, &tracked, &locks, watch)?;
        }
        Ok(known)
    }

    pub fn is_known(&self, thread: usize, step: usize) -> bool {
        self.steps[thread][step]
    }

    /// Nothing races there.
    pub fn is_guarded(&self, slot: usize) -> bool {
        self.cells.contains(&slot)
    }

    /// Finds the cells that some lock guards.
    fn guard(
        &mut self,
        machine: &Machine,
        ranges: &Ranges,
        tracked: &[usize],
        locks: &[(usize, HoldingByThread)],
        watch: &Watch,
    ) -> Result<(), Limit> {
        let program = &machine.program;
        // By tracked cell: the locks that every access was made with so far.
        let mut guards: Vec<Vec<usize>> =
            tracked.iter().map(|slot| (0..locks.len()).filter(|&lock| locks[lock].0 != *slot).collect()).collect();
        let mut accesses = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            for (step, transition) in thread.transitions.iter().enumerate() {
                let held = |lock: usize| {
                    locks[lock].1[number][transition.from.0].is_none_or(|holding| holding == Holding::Held)
                };
                for access in transition.instruction.accesses() {
                    watch.steps(1 + tracked.len() / 8)?;
                    let slots = slots(program, number, access.address, ranges, &machine.layout);
                    for (guards, _) in guards.iter_mut().zip(tracked).filter(|(_, slot)| slots.contains(**slot)) {
                        guards.retain(|&lock| held(lock));
                    }
                    accesses.push((number, step, slots));
                }
            }
        }
        let guarded = tracked.iter().zip(&guards).filter(|(_, guards)| !guards.is_empty());
        self.cells = guarded.map(|(&slot, _)| slot).collect();
        for (thread, step, slots) in accesses {
            let open = |slot: &&usize| slots.contains(**slot) && !self.cells.contains(*slot);
            let touches = tracked.iter().any(|&slot| slots.contains(slot));
            if touches && !slots.leads_elsewhere() && tracked.iter().find(open).is_none() {
                self.guarded[thread][step] = true;
                self.steps[thread][step] = true;
            }
        }
        Ok(())
    }
}

/// Whether some path of a thread leads from a plain store to a shared cell to an access of one that may overtake it.
fn overtakes(
    thread: &Thread,
    model: Model,
    is_shared: impl Fn(&Address) -> bool,
    watch: &Watch,
) -> Result<bool, Limit> {
    let touches = |instruction: &Instruction| instruction.accesses().iter().any(|access| is_shared(access.address));
    for store in thread.transitions.iter().filter(|transition| is_plain_store(&transition.instruction)) {
        if !touches(&store.instruction) {
            continue;
        }
        // By location: whether it was looked at, with later stores ordered and without.
        let mut seen = vec![[false; 2]; thread.locations.len()];
        let mut waiting = vec![(store.to, false)];
        while let Some((location, ordered)) = waiting.pop() {
            watch.step()?;
            if std::mem::replace(&mut seen[location.0][usize::from(ordered)], true) {
                continue;
            }
            for (_, next) in thread.outgoing(location) {
                let instruction = &next.instruction;
                let (mut ordered, mut passes) = (ordered, true);
                match instruction {
                    Instruction::Fence(Order::SeqCst) => passes = false,
                    Instruction::Fence(order) => ordered |= order.is_release(),
                    Instruction::Load { .. } | Instruction::Wait { .. } if touches(instruction) => return Ok(true),
                    Instruction::Store { order, .. } => ordered |= order.is_release(),
                    Instruction::Unlock(_) => ordered = true,
                    other if other.is_locked() => passes = false,
                    _ => {}
                }
                if model == Model::Pso && is_plain_store(instruction) && !ordered && touches(instruction) {
                    return Ok(true);
                }
                if passes {
                    waiting.push((next.to, ordered));
                }
            }
        }
    }
    Ok(false)
}

fn is_plain_store(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Store { .. } | Instruction::Unlock(_))
}

/// A cell that may be a lock.
struct LockCell<'a> {
    program: &'a Program,
    machine: &'a Machine,
    ranges: &'a Ranges,
    slot: usize,
    address: Value,
}

/// What a thread knows about a lock where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    /// It may not have it.
    Open,
    /// It has it exactly if the register has this value.
    If(RegId, Value),
    Held,
}

/// By thread and location; `None` where the thread does not come.
type HoldingByThread = Vec<Vec<Option<Holding>>>;

/// What is known of a cell that is a lock.
struct FoundLock {
    /// Steps that need not ask about it.
    steps: Vec<(usize, usize)>,
    holding: HoldingByThread,
}

impl LockCell<'_> {
    /// What is known of the cell, if it is a lock.
    fn steps(&self, effects: &[Vec<MonitorEffect>], watch: &Watch) -> Result<Option<FoundLock>, Limit> {
        let mut found = FoundLock { steps: Vec::new(), holding: Vec::new() };
        for (number, thread) in self.program.threads.iter().enumerate() {
            if !self.is_used_as_lock(number, thread, &effects[number], watch)? {
                return Ok(None);
            }
            let holding = self.follow(number, thread, watch)?;
            for (step, transition) in thread.transitions.iter().enumerate() {
                let Some(holding) = holding[transition.from.0] else { continue };
                match &transition.instruction {
                    Instruction::Store { address, .. } | Instruction::Unlock(address) if self.is_at(address) => {
                        if holding != Holding::Held {
                            return Ok(None);
                        }
                        found.steps.push((number, step));
                    }
                    Instruction::BlockingCas { address, .. } | Instruction::Lock(address) if self.is_at(address) => {
                        found.steps.push((number, step));
                    }
                    _ => {}
                }
            }
            found.holding.push(holding);
        }
        Ok(Some(found))
    }

    /// A thread that takes it knows what the thread knew that gave it back.
    fn synchronises(&self, effects: &[Vec<MonitorEffect>], model: Model) -> bool {
        let threads = self.program.threads.iter().zip(effects);
        let mut steps = threads.flat_map(|(thread, effects)| thread.transitions.iter().zip(effects));
        steps.all(|(transition, effect)| {
            let accesses = transition.instruction.accesses();
            if !accesses.iter().any(|access| self.is_at(access.address)) {
                return true;
            }
            match *effect {
                // Under TSO stores stay in order, and locked instructions wait for all of them.
                MonitorEffect::Write(mode) => mode.release || model == Model::Tso,
                MonitorEffect::Update(mode) | MonitorEffect::Compare(mode, _) => mode.acquire || model.is_hardware(),
                _ => true,
            }
        })
    }

    /// Every access of a thread to the cell is one of those listed above, or a load, and none may lead to it that has a computed address.
    fn is_used_as_lock(
        &self,
        number: usize,
        thread: &Thread,
        effects: &[MonitorEffect],
        watch: &Watch,
    ) -> Result<bool, Limit> {
        for (transition, effect) in thread.transitions.iter().zip(effects) {
            watch.step()?;
            for access in transition.instruction.accesses() {
                let slots = slots(self.program, number, access.address, self.ranges, &self.machine.layout);
                if !slots.contains(self.slot) {
                    continue;
                }
                let is_atomic = effect.accesses().all(|(mode, ..)| mode.atomic);
                if !self.is_at(access.address) || !is_atomic || !self.is_lock_step(&transition.instruction) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn is_lock_step(&self, instruction: &Instruction) -> bool {
        let is_zero = |value: &Expr| *value == Expr::Const(0);
        match instruction {
            Instruction::Load { .. } | Instruction::Wait { .. } | Instruction::Unlock(_) => true,
            Instruction::Lock(_) => self.takes(&Expr::Const(1)),
            Instruction::Store { value, .. } => is_zero(value),
            Instruction::Rmw { op: RmwOp::Exchange, operand, .. } => self.takes(operand),
            Instruction::CompareExchange { expected, new, .. } | Instruction::BlockingCas { expected, new, .. } => {
                is_zero(expected) && self.takes(new)
            }
            _ => false,
        }
    }

    /// A constant that the cell keeps and that is not 0.
    fn takes(&self, value: &Expr) -> bool {
        matches!(value, Expr::Const(value) if *value != 0 && self.program.memory.domain_at(self.address).is_ok_and(|domain| domain.contains(*value)))
    }

    fn is_at(&self, address: &Address) -> bool {
        address.constant() == Some(self.address)
    }

    /// By location: what the thread knows there; `None` where it does not come.
    fn follow(&self, number: usize, thread: &Thread, watch: &Watch) -> Result<Vec<Option<Holding>>, Limit> {
        let mut holding: Vec<Option<Holding>> = vec![None; thread.locations.len()];
        holding[thread.initial.0] = Some(Holding::Open);
        let mut waiting: Vec<LocId> = vec![thread.initial];
        while let Some(location) = waiting.pop() {
            let Some(before) = holding[location.0] else { continue };
            for (_, transition) in thread.outgoing(location) {
                watch.step()?;
                let Some(after) = self.after(number, transition, before) else { continue };
                let known = &mut holding[transition.to.0];
                let joined = match *known {
                    None => after,
                    Some(other) if other == after => other,
                    Some(_) => Holding::Open,
                };
                if *known != Some(joined) {
                    *known = Some(joined);
                    waiting.push(transition.to);
                }
            }
        }
        Ok(holding)
    }

    /// What is known behind a step; `None` if it cannot be taken.
    fn after(&self, thread: usize, transition: &Transition, before: Holding) -> Option<Holding> {
        let instruction = &transition.instruction;
        let written = instruction.written_registers();
        let kept = match before {
            Holding::If(register, _) if written.contains(&register) => Holding::Open,
            other => other,
        };
        Some(match instruction {
            Instruction::Store { address, .. } | Instruction::Unlock(address) if self.is_at(address) => Holding::Open,
            Instruction::BlockingCas { address, .. } | Instruction::Lock(address) if self.is_at(address) => {
                Holding::Held
            }
            Instruction::Rmw { address, old, .. } if self.is_at(address) && before != Holding::Held => {
                old.map_or(Holding::Open, |old| self.found(thread, old))
            }
            Instruction::CompareExchange { address, old, ok, weak, .. }
                if self.is_at(address) && before != Holding::Held =>
            {
                match (old, ok) {
                    (_, Some(ok))
                        if self.domain(thread, *ok).is_some_and(|domain| domain.lo <= 0 && domain.hi >= 1) =>
                    {
                        Holding::If(*ok, 1)
                    }
                    (Some(old), None) if !weak => self.found(thread, *old),
                    _ => Holding::Open,
                }
            }
            Instruction::Assign { reg, value: Expr::Atom(from) } => match before {
                Holding::If(register, value) if register == *from && self.fits(thread, register, *reg) => {
                    Holding::If(*reg, value)
                }
                _ => kept,
            },
            Instruction::Assume(condition) => match before {
                Holding::If(register, value) => return self.decided(thread, condition, register, value),
                other => other,
            },
            _ => kept,
        })
    }

    /// The register has what the cell held: 0 if the thread has taken it.
    fn found(&self, thread: usize, register: RegId) -> Holding {
        let cell = self.ranges.cells.get(&self.address).copied().unwrap_or(self.ranges.others);
        match self.domain(thread, register) {
            Some(domain) if domain.lo <= cell.lo && cell.hi <= domain.hi => Holding::If(register, 0),
            _ => Holding::Open,
        }
    }

    /// The values that a register keeps as they are.
    fn domain(&self, thread: usize, register: RegId) -> Option<Interval> {
        let domain = self.program.threads.get(thread)?.registers.get(register.0)?.domain;
        Some(Interval { lo: domain.lo, hi: domain.hi })
    }

    /// A register keeps every value that another can have.
    fn fits(&self, thread: usize, from: RegId, to: RegId) -> bool {
        let values = self.ranges.registers[thread][from.0];
        self.domain(thread, to).is_some_and(|domain| domain.lo <= values.lo && values.hi <= domain.hi)
    }

    /// What a condition about the register says.
    fn decided(&self, thread: usize, condition: &Expr, register: RegId, value: Value) -> Option<Holding> {
        let mut is_about = true;
        condition.for_each_atom(&mut |atom| is_about &= *atom == register);
        let values = self.ranges.registers[thread][register.0];
        if !is_about || i128::from(values.hi) - i128::from(values.lo) > MOST_VALUES {
            return Some(Holding::If(register, value));
        }
        let passes = |value: &Value| condition.eval(&mut |_| *value).is_ok_and(|holds| holds != 0);
        let passing: Vec<Value> = (values.lo..=values.hi).filter(passes).collect();
        match passing.contains(&value) {
            _ if passing.is_empty() => None,
            false => Some(Holding::Open),
            true if passing.len() == 1 => Some(Holding::Held),
            true => Some(Holding::If(register, value)),
        }
    }
}
