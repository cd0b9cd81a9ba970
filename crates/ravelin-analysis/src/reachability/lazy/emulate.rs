//! How a thread runs while stores are held back in registers: rules LB, LM and ST of the paper's figure 2, as instructions.
//!
//! The store in slot i has its value in a register of its own; its address too, unless it is a constant. A store is offered to the
//! domain of its cell when it is issued, so a value that does not fit is a fault, wraps or blocks there, as in the reference. A
//! load reads the newest store with its address; which one that is, is known beforehand for constant addresses and else asked by
//! assumptions, one for each possibility.
//!
//! In programs that use the bus lock each emulated load is a locked step, because it waits while somebody else holds the bus, also if
//! it then reads its own store.

use super::extend::{InstructionChain, OriginalEffect};
use ravelin_program::{
    Address, BinaryOp, Domain, Escape, Expr, Instruction, Memory, Notation, Order, Program, RegId, Register, Span,
    Thread, TransitionId, Value, WaitCondition,
};

/// The registers in which a thread holds stores back.
pub(super) struct Auxiliary<'a> {
    program: &'a Program,
    thread: &'a Thread,
    /// Those of the thread, and the new ones behind them.
    pub registers: Vec<Register>,
    addresses: Vec<RegId>,
    values: Vec<RegId>,
    /// Registers through which a value passes to be offered to a domain.
    checks: Vec<(Domain, RegId)>,
    bus: bool,
}

/// Where a load gets its value from.
#[derive(Clone, Copy)]
enum LoadSource {
    Slot(usize),
    Memory,
}

impl<'a> Auxiliary<'a> {
    pub fn new(program: &'a Program, thread: &'a Thread, slots: usize, bus: bool) -> Auxiliary<'a> {
        let mut auxiliary = Auxiliary {
            program,
            thread,
            registers: thread.registers.clone(),
            addresses: Vec::new(),
            values: Vec::new(),
            checks: Vec::new(),
            bus,
        };
        for slot in 0..slots {
            let address = auxiliary.register(format!("address of held store {slot}"), Domain::FULL);
            let value = auxiliary.register(format!("value of held store {slot}"), Domain::FULL);
            auxiliary.addresses.push(address);
            auxiliary.values.push(value);
        }
        auxiliary
    }

    /// A register that tells whether anything is held back.
    pub fn flag(&mut self) -> RegId {
        self.register("holds stores back".to_owned(), Domain::BOOL)
    }

    fn register(&mut self, name: String, domain: Domain) -> RegId {
        let initial = if domain.contains(0) { 0 } else { domain.lo };
        self.registers.push(Register {
            name,
            domain,
            initial,
            hidden: true,
            notation: Notation::Signed,
            span: Span::NOWHERE,
        });
        RegId(self.registers.len() - 1)
    }

    fn check(&mut self, domain: Domain) -> RegId {
        if let Some((_, register)) = self.checks.iter().find(|(known, _)| *known == domain) {
            return *register;
        }
        let register = self.register(format!("check {}", self.checks.len()), domain);
        self.checks.push((domain, register));
        register
    }

    /// Rule ST: a store goes to a slot. One chain for each domain that its cell may have.
    pub fn hold_back(&mut self, slot: usize, instruction: &Instruction) -> Vec<InstructionChain> {
        let zero = Expr::Const(0);
        let (address, value) = match instruction {
            Instruction::Store { address, value, .. } => (address, value),
            Instruction::Unlock(address) => (address, &zero),
            _ => unreachable!("only stores are held back"),
        };
        let memory = &self.program.memory;
        if let Some(constant) = self.constant(address) {
            if !in_bounds(memory, address, constant) {
                // It faults, and so does this.
                return vec![vec![(instruction.clone(), OriginalEffect::Takes)]];
            }
            let Ok(domain) = memory.domain_at(constant) else {
                return vec![vec![(instruction.clone(), OriginalEffect::Takes)]];
            };
            return vec![self.keep_value(slot, domain, value)];
        }
        let mut start = InstructionChain::new();
        let target = self.addresses[slot];
        let nowhere = match address.within {
            Some(_) => None,
            None => memory.cell_condition(&Expr::Atom(target)).map(Expr::not),
        };
        let cases = match address.within {
            Some(variable) => {
                let variable = &memory.variables[variable.0];
                let last = variable.base + (variable.cells() as Value - 1);
                let domain = variable.domain;
                let check = self.check(Domain::new(variable.base, last, Escape::Error));
                start.push((assign(check, address.expr.clone()), OriginalEffect::Nothing));
                start.push((assign(target, Expr::Atom(check)), OriginalEffect::Nothing));
                vec![(None, domain)]
            }
            None => {
                start.push((assign(target, address.expr.clone()), OriginalEffect::Nothing));
                domains_at(memory, target)
            }
        };
        let mut chains: Vec<InstructionChain> = cases
            .into_iter()
            .map(|(condition, domain)| {
                let mut chain = start.clone();
                chain.extend(condition.map(|condition| (Instruction::Assume(condition), OriginalEffect::Nothing)));
                chain.extend(self.keep_value(slot, domain, value));
                chain
            })
            .collect();
        if let Some(nowhere) = nowhere {
            // It faults, and so does this.
            start.push((Instruction::Assume(nowhere), OriginalEffect::Nothing));
            start.push((instruction.clone(), OriginalEffect::Takes));
            chains.push(start);
        }
        chains
    }

    fn keep_value(&mut self, slot: usize, domain: Domain, value: &Expr) -> InstructionChain {
        let target = self.values[slot];
        let fits = value.constant().is_some_and(|constant| domain.contains(constant));
        if domain.is_full() || fits {
            return vec![(assign(target, value.clone()), OriginalEffect::Takes)];
        }
        let check = self.check(domain);
        vec![
            (assign(check, value.clone()), OriginalEffect::Nothing),
            (assign(target, Expr::Atom(check)), OriginalEffect::Takes),
        ]
    }

    /// The plain store of what is in a slot.
    pub fn store(&self, id: TransitionId, slot: usize) -> Instruction {
        let address = Address::computed(self.held_address(id, slot));
        Instruction::Store { address, value: Expr::Atom(self.values[slot]), order: Order::Relaxed }
    }

    /// Assignments that move stores `by` slots down.
    pub fn moves(&self, pending: &[TransitionId], by: usize) -> Vec<Instruction> {
        let mut moves = Vec::new();
        for (slot, &id) in pending.iter().enumerate() {
            if let Expr::Atom(from) = self.held_address(id, slot + by) {
                moves.push(assign(self.addresses[slot], Expr::Atom(from)));
            }
            moves.push(assign(self.values[slot], Expr::Atom(self.values[slot + by])));
        }
        moves
    }

    /// An instruction that is not a store, with these stores held back; one chain for each place that it may read from.
    pub fn emulate(&mut self, pending: &[TransitionId], instruction: &Instruction) -> Vec<InstructionChain> {
        match instruction {
            Instruction::Load { reg, address, .. } => {
                let places = self.places(pending, address);
                places.into_iter().map(|(guard, place)| self.load(guard, place, *reg, instruction)).collect()
            }
            Instruction::Wait { address, condition, old, .. } => {
                let places = self.places(pending, address);
                places
                    .into_iter()
                    .map(|(guard, place)| self.wait(guard, place, address, condition, *old, instruction))
                    .collect()
            }
            Instruction::Locked { body, drains: false } => {
                let mut bodies = vec![Vec::new()];
                for part in body {
                    bodies = self.locked_part(pending, part, bodies);
                }
                bodies
                    .into_iter()
                    .map(|body| vec![(Instruction::Locked { body, drains: false }, OriginalEffect::Takes)])
                    .collect()
            }
            Instruction::Fence(_) => vec![vec![(Instruction::Nop, OriginalEffect::Takes)]],
            _ => vec![vec![(instruction.clone(), OriginalEffect::Takes)]],
        }
    }

    fn load(&self, guard: Option<Expr>, place: LoadSource, reg: RegId, instruction: &Instruction) -> InstructionChain {
        let does = match place {
            LoadSource::Slot(slot) => assign(reg, Expr::Atom(self.values[slot])),
            LoadSource::Memory => instruction.clone(),
        };
        let locked = self.bus && (guard.is_some() || matches!(place, LoadSource::Slot(_)));
        let mut steps: Vec<Instruction> = guard.map(Instruction::Assume).into_iter().collect();
        steps.push(does);
        if locked {
            vec![(Instruction::Locked { body: steps, drains: false }, OriginalEffect::Takes)]
        } else {
            in_turn(steps)
        }
    }

    fn wait(
        &mut self,
        guard: Option<Expr>,
        place: LoadSource,
        address: &Address,
        condition: &WaitCondition,
        old: Option<RegId>,
        instruction: &Instruction,
    ) -> InstructionChain {
        let locked = self.bus && (guard.is_some() || matches!(place, LoadSource::Slot(_)));
        let mut steps: Vec<Instruction> = guard.map(Instruction::Assume).into_iter().collect();
        let found = match place {
            LoadSource::Memory if !locked => {
                steps.push(instruction.clone());
                return in_turn(steps);
            }
            LoadSource::Memory => {
                let reg = self.check(Domain::FULL);
                steps.push(Instruction::Load { reg, address: address.clone(), order: Order::Relaxed });
                reg
            }
            LoadSource::Slot(slot) => self.values[slot],
        };
        steps.push(Instruction::Assume(condition.with_read(&Expr::Atom(found))));
        steps.extend(old.map(|old| assign(old, Expr::Atom(found))));
        if locked {
            vec![(Instruction::Locked { body: steps, drains: false }, OriginalEffect::Takes)]
        } else {
            in_turn(steps)
        }
    }

    fn locked_part(
        &self,
        pending: &[TransitionId],
        part: &Instruction,
        bodies: Vec<Vec<Instruction>>,
    ) -> Vec<Vec<Instruction>> {
        let ways: Vec<Vec<Instruction>> = match part {
            Instruction::Load { reg, address, .. } => self
                .places(pending, address)
                .into_iter()
                .map(|(guard, place)| {
                    let does = match place {
                        LoadSource::Slot(slot) => assign(*reg, Expr::Atom(self.values[slot])),
                        LoadSource::Memory => part.clone(),
                    };
                    guard.map(Instruction::Assume).into_iter().chain([does]).collect()
                })
                .collect(),
            _ => vec![vec![part.clone()]],
        };
        let longer = |body: &Vec<Instruction>, way: &Vec<Instruction>| body.iter().chain(way).cloned().collect();
        bodies.iter().flat_map(|body| ways.iter().map(move |way| longer(body, way))).collect()
    }

    /// Rules LB and LM: where a load may find its value, each with the condition under which it does.
    fn places(&self, pending: &[TransitionId], address: &Address) -> Vec<(Option<Expr>, LoadSource)> {
        let mut places = Vec::new();
        let mut not_newer: Option<Expr> = None;
        let and = |guard: &Option<Expr>, more: Expr| match guard {
            Some(guard) => guard.clone().and(more),
            None => more,
        };
        let constant = self.constant(address);
        for (slot, &id) in pending.iter().enumerate().rev() {
            let held = self.held_address(id, slot);
            match (&held, constant) {
                (Expr::Const(held), Some(loaded)) => {
                    if *held == loaded && in_bounds(&self.program.memory, address, loaded) {
                        places.push((not_newer.clone(), LoadSource::Slot(slot)));
                        return places;
                    }
                }
                _ => {
                    let same = self.within_bounds(address, held.eq(address.expr.clone()));
                    places.push((Some(and(&not_newer, same.clone())), LoadSource::Slot(slot)));
                    not_newer = Some(and(&not_newer, same.not()));
                }
            }
        }
        places.push((not_newer, LoadSource::Memory));
        places
    }

    /// An address outside its array is a fault, whatever is held back: it is left to the load from memory.
    fn within_bounds(&self, address: &Address, condition: Expr) -> Expr {
        match address.within {
            None => condition,
            Some(variable) => {
                let variable = &self.program.memory.variables[variable.0];
                let last = variable.base + (variable.cells() as Value - 1);
                between(&address.expr, variable.base, last).and(condition)
            }
        }
    }

    fn held_address(&self, id: TransitionId, slot: usize) -> Expr {
        let instruction = &self.thread.transitions[id.0].instruction;
        let address = match instruction {
            Instruction::Store { address, .. } | Instruction::Unlock(address) => address,
            _ => unreachable!("only stores are held back"),
        };
        self.constant(address).map_or(Expr::Atom(self.addresses[slot]), Expr::Const)
    }

    fn constant(&self, address: &Address) -> Option<Value> {
        address.expr.constant()
    }
}

fn assign(reg: RegId, value: Expr) -> Instruction {
    Instruction::Assign { reg, value }
}

/// One transition after the other; the last one takes the original's.
fn in_turn(steps: Vec<Instruction>) -> InstructionChain {
    let last = steps.len() - 1;
    let effect = |number: usize| if number == last { OriginalEffect::Takes } else { OriginalEffect::Nothing };
    steps.into_iter().enumerate().map(|(number, step)| (step, effect(number))).collect()
}

fn in_bounds(memory: &Memory, address: &Address, constant: Value) -> bool {
    address.within.is_none_or(|variable| memory.variables[variable.0].contains(constant))
}

fn between(expr: &Expr, lo: Value, hi: Value) -> Expr {
    let above = Expr::binary(BinaryOp::Ge, expr.clone(), Expr::Const(lo));
    above.and(Expr::binary(BinaryOp::Le, expr.clone(), Expr::Const(hi)))
}

/// The domains that the cell at a computed address may have, each with the condition for it. Together they hold wherever there is a
/// cell.
fn domains_at(memory: &Memory, address: RegId) -> Vec<(Option<Expr>, Domain)> {
    let mut cases: Vec<(Expr, Domain)> = Vec::new();
    for variable in memory.variables.iter().filter(|variable| Some(variable.domain) != memory.unnamed.domain()) {
        let last = variable.base + (variable.cells() as Value - 1);
        let inside = between(&Expr::Atom(address), variable.base, last);
        match cases.iter_mut().find(|(_, domain)| *domain == variable.domain) {
            Some((condition, _)) => *condition = condition.clone().or(inside),
            None => cases.push((inside, variable.domain)),
        }
    }
    let elsewhere = cases.iter().map(|(condition, _)| condition.clone().not()).reduce(Expr::and);
    let named = cases.into_iter().map(|(condition, domain)| (Some(condition), domain));
    named.chain(memory.unnamed.domain().map(|domain| (elsewhere, domain))).collect()
}
