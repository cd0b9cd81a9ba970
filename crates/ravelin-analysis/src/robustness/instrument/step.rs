//! One translated step: a straight line of simple instructions, in the new layout, that is executed as one.
//!
//! An instruction of the original is first taken apart into its *ways*: straight lines of loads, stores, assignments
//! and assumptions, one of which happens. A compare-exchange has two, most others one.

use super::arithmetic::{between, defined, wrapped};
use super::layout::{AddressTarget, CompanionKind, CompanionLayout, ResolvedAddress};
use super::scratch::{RegisterRole, ScratchRegisters};
use ravelin_program::{Address, BinaryOp, Escape, Expr, Instruction, Order, RegId};

/// The ways an instruction can go. What it does not do to memory and registers (control, the bus lock, fences) is not
/// in them.
pub(super) fn ways(instruction: &Instruction, scratch: &mut ScratchRegisters) -> Vec<Vec<Instruction>> {
    let load = |address: &Address, reg: RegId, order: Order| Instruction::Load { reg, address: address.clone(), order };
    let store =
        |address: &Address, value: Expr, order: Order| Instruction::Store { address: address.clone(), value, order };
    let set = |reg: &Option<RegId>, value: Expr| reg.map(|reg| Instruction::Assign { reg, value });
    let read = Expr::Atom;
    match instruction {
        Instruction::Unlock(address) => vec![vec![store(address, Expr::Const(0), Order::Release)]],
        Instruction::Wait { address, condition, order, old } => {
            let found = scratch.nth(RegisterRole::Found, 0);
            let mut way = vec![load(address, found, *order), Instruction::Assume(condition.with_read(&read(found)))];
            way.extend(set(old, read(found)));
            vec![way]
        }
        Instruction::Rmw { op, arithmetic, address, operand, order, old } => {
            let found = scratch.nth(RegisterRole::Found, 0);
            let new = match op.binary() {
                Some(op) => Expr::binary_in(*arithmetic, op, read(found), operand.clone()),
                None => operand.clone(),
            };
            let mut way = vec![load(address, found, reading(*order)), store(address, new, writing(*order))];
            way.extend(set(old, read(found)));
            vec![way]
        }
        Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
            let found = scratch.nth(RegisterRole::Found, 0);
            let equal = read(found).eq(expected.clone());
            let results = |ok_value| [set(old, read(found)), set(ok, Expr::Const(ok_value))].into_iter().flatten();
            let mut succeeds = vec![
                load(address, found, reading(*success)),
                Instruction::Assume(equal.clone()),
                store(address, new.clone(), writing(*success)),
            ];
            succeeds.extend(results(1));
            // The new value is computed in any case, and a failing one only reads. A weak one fails whatever it reads.
            let mut fails: Vec<Instruction> = defined(new).map(Instruction::Assume).into_iter().collect();
            fails.push(load(address, found, *failure));
            fails.extend((!weak).then(|| Instruction::Assume(equal.not())));
            fails.extend(results(0));
            vec![succeeds, fails]
        }
        Instruction::BlockingCas { address, expected, new, order } => {
            let found = scratch.nth(RegisterRole::Found, 0);
            vec![vec![
                load(address, found, reading(*order)),
                Instruction::Assume(read(found).eq(expected.clone())),
                store(address, new.clone(), writing(*order)),
            ]]
        }
        Instruction::Lock(address) => {
            let found = scratch.nth(RegisterRole::Found, 0);
            vec![vec![
                load(address, found, Order::Acquire),
                Instruction::Assume(read(found).eq(Expr::Const(0))),
                store(address, Expr::Const(1), Order::Relaxed),
            ]]
        }
        Instruction::Locked { body, .. } => vec![body.clone()],
        other => vec![vec![other.clone()]],
    }
}

/// The part of a read-modify-write's order that its load has.
fn reading(order: Order) -> Order {
    if order.is_acquire() { Order::Acquire } else { Order::Relaxed }
}

fn writing(order: Order) -> Order {
    if order.is_release() { Order::Release } else { Order::Relaxed }
}

/// The instruction itself in the new layout, without guards; `None` if it needs some and has to be taken apart.
pub(super) fn relocated(layout: &CompanionLayout, instruction: &Instruction) -> Option<Instruction> {
    if instruction.expressions().into_iter().any(|expr| defined(expr).is_some()) {
        return None;
    }
    if let Instruction::Wait { condition, .. } = instruction
        && defined(&condition.expr).is_some()
    {
        return None;
    }
    let at = |address: &Address| match layout.locate(address) {
        located if located.guard.is_some() => None,
        located => match located.target {
            AddressTarget::Fixed(address) => layout.part(ResolvedAddress::Fixed(address), CompanionKind::Cell),
            AddressTarget::Anywhere(expr) => layout.unnamed().is_none().then(|| Address::computed(expr)),
            AddressTarget::Nowhere | AddressTarget::Index(..) => None,
        },
    };
    let mut instruction = instruction.clone();
    match &mut instruction {
        Instruction::Assert(condition) => return Some(Instruction::Assume(condition.clone())),
        Instruction::Store { address, order, .. } => {
            *address = at(address)?;
            *order = unfenced(*order);
        }
        Instruction::Load { address, .. }
        | Instruction::Rmw { address, .. }
        | Instruction::CompareExchange { address, .. }
        | Instruction::Wait { address, .. }
        | Instruction::BlockingCas { address, .. }
        | Instruction::Lock(address)
        | Instruction::Unlock(address) => *address = at(address)?,
        Instruction::Locked { body, .. } => {
            *body = body.iter().map(|part| relocated(layout, part)).collect::<Option<_>>()?;
        }
        Instruction::Nop
        | Instruction::Assign { .. }
        | Instruction::Havoc { .. }
        | Instruction::Assume(_)
        | Instruction::Fence(_)
        | Instruction::BusLock
        | Instruction::BusUnlock => {}
    }
    Some(instruction)
}

/// The fence of a seq_cst store is an instruction of its own by now.
fn unfenced(order: Order) -> Order {
    if order == Order::SeqCst { Order::Release } else { order }
}

/// A step while it is made.
pub(super) struct StepBuilder<'a> {
    pub layout: &'a CompanionLayout,
    scratch: &'a mut ScratchRegisters,
    taken: Vec<RegisterRole>,
    used: Vec<RegId>,
    body: Vec<Instruction>,
    /// The registers that the way writes.
    written: Vec<RegId>,
    places: Vec<(Address, ResolvedAddress)>,
    possible: bool,
}

impl<'a> StepBuilder<'a> {
    /// A step that has done nothing yet and is about to follow this way.
    pub fn new(layout: &'a CompanionLayout, scratch: &'a mut ScratchRegisters, way: &[Instruction]) -> StepBuilder<'a> {
        let written: Vec<RegId> = way.iter().flat_map(Instruction::written_registers).collect();
        let used = scratch.found().into_iter().filter(|found| written.contains(found)).collect();
        let (taken, body, places) = (Vec::new(), Vec::new(), Vec::new());
        StepBuilder { layout, scratch, taken, used, body, written, places, possible: true }
    }

    /// Follows the way; `access` does its loads and stores.
    pub fn follow(
        &mut self,
        way: &[Instruction],
        access: &mut dyn FnMut(&mut StepBuilder<'a>, &Instruction, ResolvedAddress),
    ) {
        for part in way {
            let conditions: Vec<Expr> = part.expressions().into_iter().filter_map(defined).collect();
            conditions.into_iter().for_each(|condition| self.assume(condition));
            match part {
                Instruction::Load { address, .. } | Instruction::Store { address, .. } => {
                    let place = self.place(address);
                    access(self, part, place);
                }
                Instruction::Assert(condition) => self.assume(condition.clone()),
                other => self.body.push(other.clone()),
            }
            let changed = part.written_registers();
            self.places.retain(|(address, _)| !mentions(&address.expr, &changed));
        }
    }

    pub fn assume(&mut self, condition: Expr) {
        self.body.push(Instruction::Assume(condition));
    }

    pub fn load(&mut self, reg: RegId, address: Address) {
        self.body.push(Instruction::Load { reg, address, order: Order::Relaxed });
    }

    pub fn store(&mut self, address: Address, value: Expr) {
        self.body.push(Instruction::Store { address, value, order: Order::Relaxed });
    }

    /// A register that this step has not used yet.
    pub fn fresh(&mut self, role: RegisterRole) -> RegId {
        let nth = self.taken.iter().filter(|&&other| other == role).count();
        let register = self.scratch.nth(role, nth);
        self.taken.push(role);
        self.used.push(register);
        register
    }

    /// Does a load or store as it stands, but to this part of the place.
    pub fn perform(&mut self, access: &Instruction, place: ResolvedAddress, part: CompanionKind) {
        let Some(address) = self.layout.part(place, part) else {
            // Only a place that no access of the program has lacks a cell.
            self.possible = false;
            return;
        };
        let performed = match access {
            Instruction::Load { reg, order, .. } => Instruction::Load { reg: *reg, address, order: *order },
            Instruction::Store { value, order, .. } => {
                Instruction::Store { address, value: self.admitted(place, value), order: unfenced(*order) }
            }
            other => other.clone(),
        };
        self.body.push(performed);
    }

    /// A value as the domain of its cell lets it pass. Named cells see to that themselves.
    fn admitted(&mut self, place: ResolvedAddress, value: &Expr) -> Expr {
        let (Some(domain), ResolvedAddress::Anywhere(register)) = (self.layout.unnamed(), place) else {
            return value.clone();
        };
        let named = self.layout.is_named(register);
        if domain.escape != Escape::Wrap {
            self.assume(named.or(between(value.clone(), domain.lo, domain.hi)));
            return value.clone();
        }
        let times = |left, right| Expr::binary(BinaryOp::Mul, left, right);
        let wrapped = times(named.clone().not(), wrapped(domain, value.clone()));
        Expr::binary(BinaryOp::Add, times(named, value.clone()), wrapped)
    }

    /// The step as an instruction; `None` if it can never be taken.
    pub fn finish(mut self) -> Option<Instruction> {
        if !self.possible {
            return None;
        }
        let clear = |reg: RegId| Instruction::Assign { reg, value: Expr::Const(0) };
        self.body.extend(self.used.iter().copied().map(clear));
        Some(match self.body.len() {
            0 => Instruction::Nop,
            1 => self.body.remove(0),
            _ => {
                let drains = self.body.iter().any(|part| matches!(part, Instruction::Store { .. }));
                Instruction::Locked { body: self.body, drains }
            }
        })
    }

    /// Where an address leads now, which stays so when registers change.
    fn place(&mut self, address: &Address) -> ResolvedAddress {
        if let Some((_, place)) = self.places.iter().find(|(other, _)| other == address) {
            return *place;
        }
        let located = self.layout.locate(address);
        if let Some(guard) = located.guard {
            self.assume(guard);
        }
        let place = match located.target {
            AddressTarget::Fixed(address) => ResolvedAddress::Fixed(address),
            AddressTarget::Index(variable, index) => ResolvedAddress::Index(variable, self.kept(index)),
            AddressTarget::Anywhere(spread) => ResolvedAddress::Anywhere(self.kept(spread)),
            AddressTarget::Nowhere => {
                self.possible = false;
                ResolvedAddress::Fixed(0)
            }
        };
        self.places.push((address.clone(), place));
        place
    }

    /// A register that holds the value of an expression to the end of the step.
    fn kept(&mut self, expr: Expr) -> RegId {
        match expr {
            Expr::Atom(register) if !self.written.contains(&register) => register,
            value => {
                let reg = self.fresh(RegisterRole::Place);
                self.body.push(Instruction::Assign { reg, value });
                reg
            }
        }
    }
}

fn mentions(expr: &Expr, registers: &[RegId]) -> bool {
    let mut found = false;
    expr.for_each_atom(&mut |register| found |= registers.contains(register));
    found
}
