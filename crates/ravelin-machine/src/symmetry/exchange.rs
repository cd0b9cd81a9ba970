//! How two threads are exchanged without changing the program: with them cells that belong to them, and perhaps values that
//! are their numbers.

use super::numbers::{NumberPlace, NumberPlaces, NumberScope, RegisterWebs, ValueFlow, webs_of};
use crate::access::slots;
use crate::layout::Layout;
use crate::ranges::Ranges;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Condition, Domain, Expr, Instruction, LocId, Observable, Program, RegId, RmwOp,
    ThreadId, Transition, Value, WaitAtom, WaitCondition, is_total,
};
use std::collections::BTreeMap;

/// What is exchanged with two threads.
pub(crate) struct ThreadExchange {
    /// Pairs of cells (slots).
    pub pairs: Vec<(usize, usize)>,
    /// Pairs of values, and the places that can hold them.
    pub numbers: Vec<(Value, Value)>,
    pub places: NumberPlaces,
}

/// A program whose threads are compared.
pub(crate) struct Exchanges<'a> {
    scope: NumberScope<'a>,
    /// Of all threads, if threads may differ by numbers. Then initial values may differ, too: to exchange threads turns runs
    /// into runs wherever they start. Stored initial states have to be those that the program has, in that case.
    flows: Option<Vec<ValueFlow>>,
    watch: &'a Watch<'a>,
}

impl<'a> Exchanges<'a> {
    /// `numbers`: whether threads may differ by values.
    pub fn new(
        program: &'a Program,
        layout: &'a Layout,
        ranges: &'a Ranges,
        numbers: bool,
        watch: &'a Watch<'a>,
    ) -> Result<Exchanges<'a>, Limit> {
        let webs = if numbers { webs_of(program, watch)? } else { None };
        let mut flows = webs.is_some().then(Vec::new);
        let scope = NumberScope { program, layout, ranges, webs };
        if let Some(flows) = &mut flows {
            for (number, thread) in program.threads.iter().enumerate() {
                for transition in &thread.transitions {
                    watch.step()?;
                    let found = scope.flows(number, transition);
                    watch.hold(found.len() * size_of::<ValueFlow>())?;
                    flows.extend(found);
                }
            }
        }
        Ok(Exchanges { scope, flows, watch })
    }

    /// What registers hold where.
    pub fn webs(&self) -> &[RegisterWebs] {
        self.scope.webs.as_deref().unwrap_or_default()
    }

    /// The exchange of two threads, if there is one.
    pub fn find(&self, first: usize, second: usize) -> Result<Option<ThreadExchange>, Limit> {
        let NumberScope { program, layout, .. } = self.scope;
        self.watch.step()?;
        let (a, b) = (&program.threads[first], &program.threads[second]);
        if a.transitions.len() != b.transitions.len() {
            return Ok(None);
        }
        // An exchange is compared with the code of all.
        self.watch.steps(program.threads.iter().map(|thread| 1 + thread.transitions.len()).sum())?;
        let same_shape = a.initial == b.initial
            && a.locations.len() == b.locations.len()
            && a.registers.len() == b.registers.len()
            && a.registers.iter().zip(&b.registers).all(|(a, b)| a.domain == b.domain && a.initial == b.initial)
            && a.transitions.iter().zip(&b.transitions).all(|(a, b)| (a.from, a.to) == (b.from, b.to));
        if !same_shape {
            return Ok(None);
        }
        let (numbers, places) = match &self.flows {
            None => (Vec::new(), NumberPlaces::default()),
            Some(flows) => match NumberPlaces::find(&self.scope, self.webs(), flows, (first, second), self.watch)? {
                None => return Ok(None),
                Some(found) => found,
            },
        };
        let renaming =
            Renaming { scope: &self.scope, addresses: Exchanged::default(), numbers: Exchanged::default(), places };
        Ok(renaming.complete(&numbers, first, second, self.flows.is_some()).and_then(|renaming| {
            let slot = |address: Value| layout.slot_of(address);
            let pairs = renaming.addresses.pairs.iter().map(|&(a, b)| Some((slot(a)?, slot(b)?)));
            let pairs = pairs.collect::<Option<Vec<_>>>()?;
            Some(ThreadExchange { pairs, numbers: renaming.numbers.pairs, places: renaming.places })
        }))
    }
}

/// What a thread, a cell or a value is exchanged for, if it is.
pub(crate) fn exchanged<T: Copy + PartialEq>(pairs: &[(T, T)], value: T) -> T {
    let pair = pairs.iter().find(|(a, b)| *a == value || *b == value);
    pair.map_or(value, |&(a, b)| if a == value { b } else { a })
}

/// An exchange of values or addresses that is being found: its own inverse.
#[derive(Default)]
struct Exchanged {
    map: BTreeMap<Value, Value>,
    pairs: Vec<(Value, Value)>,
}

impl Exchanged {
    fn of(&self, value: Value) -> Value {
        self.map.get(&value).copied().unwrap_or(value)
    }

    fn learn(&mut self, a: Value, b: Value) -> Option<()> {
        if a != b && self.of(a) != b {
            if self.map.contains_key(&a) || self.map.contains_key(&b) {
                return None;
            }
            self.map.insert(a, b);
            self.map.insert(b, a);
            self.pairs.push((a, b));
        }
        Some(())
    }
}

/// An exchange of addresses, and of numbers in the places that hold them.
struct Renaming<'a> {
    scope: &'a NumberScope<'a>,
    addresses: Exchanged,
    numbers: Exchanged,
    places: NumberPlaces,
}

impl Renaming<'_> {
    /// Finds what has to be exchanged, and looks whether that leaves the program as it is.
    fn complete(mut self, numbers: &[(Value, Value)], first: usize, second: usize, any_initial: bool) -> Option<Self> {
        let program = self.scope.program;
        let (a, b) = (&program.threads[first], &program.threads[second]);
        for &(a, b) in numbers {
            self.numbers.learn(a, b)?;
        }
        for (a, b) in a.transitions.iter().zip(&b.transitions) {
            self.learn(&a.instruction, &b.instruction)?;
        }
        self.learn_indices()?;
        let cells_alike = self.addresses.map.iter().all(|(&a, &b)| {
            program.memory.domain_at(a) == program.memory.domain_at(b)
                && (any_initial || program.memory.initial_at(a) == program.memory.initial_at(b))
        });
        let image = |thread: usize| exchanged(&[(first, second)], thread);
        let threads = 0..program.threads.len();
        let sound = cells_alike
            && threads.clone().all(|thread| self.fits(thread, image(thread)))
            && threads.clone().all(|thread| self.spares_computed(thread))
            && self.admits_both(image)
            && self.keeps_lists(image)
            && self.keeps_goals(program, first, second);
        sound.then_some(self)
    }

    /// Extends the renaming so that it maps the constant addresses of one instruction to those of the other.
    fn learn(&mut self, a: &Instruction, b: &Instruction) -> Option<()> {
        let (accesses_a, accesses_b) = (a.accesses(), b.accesses());
        if accesses_a.len() != accesses_b.len() {
            return None;
        }
        for (a, b) in accesses_a.iter().zip(&accesses_b) {
            if let (Some(a), Some(b)) = (a.address.constant(), b.address.constant()) {
                self.addresses.learn(a, b)?;
            }
        }
        Some(())
    }

    /// Extends it to cells that numbers are indices of.
    fn learn_indices(&mut self) -> Option<()> {
        let NumberScope { program, layout, .. } = *self.scope;
        for (number, thread) in program.threads.iter().enumerate() {
            let accesses = thread.transitions.iter().flat_map(|transition| {
                transition.instruction.accesses().into_iter().map(|access| (transition.from, access))
            });
            for (location, access) in accesses {
                let Some((base, register)) = self.index(number, location, access.address) else { continue };
                let array = access.address.within.map(|variable| &program.memory.variables[variable.0]);
                for (a, b) in self.numbers.pairs.clone() {
                    if !self.may_be(number, register, a) && !self.may_be(number, register, b) {
                        continue;
                    }
                    let (a, b) = (base.checked_add(a)?, base.checked_add(b)?);
                    if array.is_some_and(|array| array.contains(a) != array.contains(b)) {
                        return None;
                    }
                    match (layout.slot_of(a), layout.slot_of(b)) {
                        (Some(_), Some(_)) => self.addresses.learn(a, b)?,
                        (None, None) => {}
                        _ => return None,
                    }
                }
            }
        }
        Some(())
    }

    /// An address that is a constant and a register with a number: the two.
    fn index(&self, thread: usize, location: LocId, address: &Address) -> Option<(Value, RegId)> {
        let (base, register) = match &address.expr {
            Expr::Atom(register) => (0, *register),
            Expr::Binary(BinaryOp::Add, _, left, right) => match (&**left, &**right) {
                (Expr::Atom(register), Expr::Const(base)) | (Expr::Const(base), Expr::Atom(register)) => {
                    (*base, *register)
                }
                _ => return None,
            },
            _ => return None,
        };
        self.register_holds(thread, location, register).then_some((base, register))
    }

    fn holds(&self, place: NumberPlace) -> bool {
        !self.numbers.pairs.is_empty() && self.places.contains(place)
    }

    /// Whether a register holds a number at a location; not if it is dead there.
    fn register_holds(&self, thread: usize, location: LocId, register: RegId) -> bool {
        !self.numbers.pairs.is_empty()
            && self.scope.web(thread, location, register).is_some_and(|web| self.places.contains(web))
    }

    /// Whether the cells of an address hold numbers; `None` if some do.
    fn cells_hold(&self, thread: usize, address: &Address) -> Option<bool> {
        if self.numbers.pairs.is_empty() {
            return Some(false);
        }
        let cells = self.scope.cells(thread, address);
        let some = cells.iter().any(|&cell| self.holds(cell));
        (!some || cells.iter().all(|&cell| self.holds(cell))).then_some(some)
    }

    /// Renaming one thread gives the other.
    fn fits(&self, from: usize, to: usize) -> bool {
        let program = self.scope.program;
        program.threads[from].transitions.iter().zip(&program.threads[to].transitions).all(|(a, b)| {
            let image = without_bounds(program, &b.instruction);
            // It does not matter whether a value that will not be read is a number.
            [false, true]
                .into_iter()
                .any(|unread| self.renamed(from, a, unread).is_some_and(|renamed| renamed == image))
        })
    }

    /// A step of a thread with everything exchanged; `None` if it does more with a number than it may. `unread`: whether
    /// values that will not be read are numbers.
    fn renamed(&self, thread: usize, transition: &Transition, unread: bool) -> Option<Instruction> {
        let mut renamed = without_bounds(self.scope.program, &transition.instruction);
        if self.numbers.pairs.is_empty() {
            for address in renamed.addresses_mut() {
                *address = self.address(thread, transition.from, address)?;
            }
            return Some(renamed);
        }
        let reads = |register: RegId| self.register_holds(thread, transition.from, register);
        let value = |value: &Expr, number: bool| {
            if number { self.number(value, &|id| reads(*id)) } else { self.plain(value, &|id| reads(*id)) }
        };
        let cells = |address: &Address| self.cells_hold(thread, address);
        // A register gets a number, or is not read again.
        let gets = |register: RegId, number: bool| match self.scope.web(thread, transition.to, register) {
            Some(web) => (self.holds(web) == number).then_some(()),
            None => Some(()),
        };
        match &mut renamed {
            Instruction::Assign { reg, value: of } => {
                let number = self.scope.web(thread, transition.to, *reg).map_or(unread, |web| self.holds(web));
                *of = value(of, number)?;
            }
            Instruction::Havoc { reg, .. } => gets(*reg, false)?,
            Instruction::Assume(condition) | Instruction::Assert(condition) => *condition = value(condition, false)?,
            Instruction::Load { reg, address, .. } => gets(*reg, cells(address)?)?,
            Instruction::Store { address, value: of, .. } => *of = value(of, cells(address)?)?,
            Instruction::Rmw { op, address, operand, old, .. } => {
                let number = cells(address)?;
                if number && *op != RmwOp::Exchange {
                    return None;
                }
                *operand = value(operand, number)?;
                old.map_or(Some(()), |old| gets(old, number))?;
            }
            Instruction::CompareExchange { address, expected, new, old, ok, .. } => {
                let number = cells(address)?;
                (*expected, *new) = (value(expected, number)?, value(new, number)?);
                old.map_or(Some(()), |old| gets(old, number))?;
                ok.map_or(Some(()), |ok| gets(ok, false))?;
            }
            Instruction::BlockingCas { address, expected, new, .. } => {
                let number = cells(address)?;
                (*expected, *new) = (value(expected, number)?, value(new, number)?);
            }
            Instruction::Wait { address, condition, old, .. } => {
                let number = cells(address)?;
                let holds = |atom: &WaitAtom| match atom {
                    WaitAtom::Read => number,
                    WaitAtom::Register(id) => reads(*id),
                };
                *condition = WaitCondition::new(self.plain(&condition.expr, &holds)?);
                old.map_or(Some(()), |old| gets(old, number))?;
            }
            Instruction::Lock(address) | Instruction::Unlock(address) => (!cells(address)?).then_some(())?,
            Instruction::Locked { .. } => return None,
            Instruction::Nop | Instruction::Fence(_) | Instruction::BusLock | Instruction::BusUnlock => {}
        }
        for address in renamed.addresses_mut() {
            *address = self.address(thread, transition.from, address)?;
        }
        Some(renamed)
    }

    /// A value that is a number, or may be one.
    fn number<A: Clone>(&self, value: &Expr<A>, holds: &impl Fn(&A) -> bool) -> Option<Expr<A>> {
        match value {
            Expr::Const(constant) => Some(Expr::Const(self.numbers.of(*constant))),
            Expr::Atom(atom) => holds(atom).then(|| value.clone()),
            Expr::Unary(..) | Expr::Binary(..) => None,
        }
    }

    /// A value that is none.
    fn plain<A: Clone>(&self, value: &Expr<A>, holds: &impl Fn(&A) -> bool) -> Option<Expr<A>> {
        let is_number = |side: &Expr<A>| matches!(side, Expr::Atom(atom) if holds(atom));
        Some(match value {
            Expr::Const(_) => value.clone(),
            Expr::Atom(atom) => (!holds(atom)).then(|| value.clone())?,
            Expr::Unary(op, arithmetic, operand) => {
                Expr::Unary(*op, *arithmetic, Box::new(self.plain(operand, holds)?))
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), arithmetic, left, right)
                if is_number(left) || is_number(right) =>
            {
                let (left, right) = (self.number(left, holds)?, self.number(right, holds)?);
                Expr::Binary(*op, *arithmetic, Box::new(left), Box::new(right))
            }
            Expr::Binary(op, arithmetic, left, right) => {
                let (left, right) = (self.plain(left, holds)?, self.plain(right, holds)?);
                Expr::Binary(*op, *arithmetic, Box::new(left), Box::new(right))
            }
        })
    }

    fn address(&self, thread: usize, location: LocId, address: &Address) -> Option<Address> {
        let mut renamed = address.clone();
        if let Expr::Const(constant) = address.expr {
            renamed.expr = Expr::Const(self.addresses.of(constant));
            return Some(renamed);
        }
        if let Some((base, register)) = self.index(thread, location, address) {
            let leads = |at: Value| at.checked_sub(base).filter(|&value| self.may_be(thread, register, value));
            let exchanged = self.addresses.map.iter().all(|(&at, &image)| {
                leads(at).is_none_or(|value| base.checked_add(self.numbers.of(value)) == Some(image))
            });
            let indices = self.numbers.map.iter().all(|(&value, &image)| {
                let at = base.checked_add(value).zip(base.checked_add(image));
                at.is_some_and(|(at, image)| self.addresses.of(at) == image || leads(at).is_none())
                    || at.is_some_and(|(at, image)| self.is_nowhere(at) && self.is_nowhere(image))
            });
            return (exchanged && indices).then_some(renamed);
        }
        let mut has_number = false;
        address.expr.for_each_atom(&mut |atom| has_number |= self.register_holds(thread, location, *atom));
        (!has_number).then_some(renamed)
    }

    /// Whether a register can have a value somewhere.
    fn may_be(&self, thread: usize, register: RegId, value: Value) -> bool {
        let ranges = self.scope.ranges;
        match ranges.few.register(thread, register) {
            Some(values) => values.binary_search(&value).is_ok(),
            None => {
                let values = ranges.registers[thread][register.0];
                (values.lo..=values.hi).contains(&value)
            }
        }
    }

    /// Values that are listed: what a place can hold, renamed, the place that it is exchanged with can hold. So renamed
    /// states have no values but those that are listed, even if initial values are not alike.
    fn keeps_lists(&self, image: impl Fn(usize) -> usize) -> bool {
        let NumberScope { program, layout, ranges, .. } = *self.scope;
        if ranges.few.is_empty() {
            return true;
        }
        let contains = |list: &[Value], value: Value| list.binary_search(&value).is_ok();
        let registers = (0..program.threads.len()).all(|thread| {
            (0..program.threads[thread].registers.len()).all(|register| {
                let id = RegId(register);
                let (one, other) = (ranges.few.register(thread, id), ranges.few.register(image(thread), id));
                let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
                let (mut number, mut plain) = (false, self.scope.webs.is_none());
                for location in 0..program.threads[thread].locations.len() {
                    let holds = self.register_holds(thread, LocId(location), id);
                    number |= holds;
                    plain |= !holds && self.scope.web(thread, LocId(location), id).is_some();
                }
                one.iter().all(|&value| {
                    (!number || contains(other, self.numbers.of(value))) && (!plain || contains(other, value))
                })
            })
        });
        let cells = layout.addresses.iter().enumerate().all(|(slot, &address)| {
            let (one, other) = (ranges.few.cell(address), ranges.few.cell(self.addresses.of(address)));
            let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
            let number = self.holds(NumberPlace::Slot(slot));
            one.iter().all(|&value| contains(other, if number { self.numbers.of(value) } else { value }))
        });
        registers && cells
    }

    fn is_nowhere(&self, address: Value) -> bool {
        self.scope.layout.slot_of(address).is_none()
    }

    /// No computed address of a thread leads to a renamed cell, unless a number is the index.
    fn spares_computed(&self, thread: usize) -> bool {
        let NumberScope { program, layout, ranges, .. } = *self.scope;
        program.threads[thread].transitions.iter().all(|transition| {
            transition.instruction.accesses().into_iter().all(|access| {
                let is_index = || self.index(thread, transition.from, access.address).is_some();
                access.address.constant().is_some() || is_index() || {
                    let reach = slots(program, thread, access.address, ranges, layout);
                    let mut renamed = self.addresses.map.keys();
                    renamed.all(|&address| layout.slot_of(address).is_none_or(|slot| !reach.contains(slot)))
                }
            })
        })
    }

    /// A place that admits a number admits the one that it is exchanged with. It need not have room for it: it may be that
    /// the value never occurs there.
    fn admits_both(&self, image: impl Fn(usize) -> usize) -> bool {
        let NumberScope { program, layout, .. } = *self.scope;
        let alike = |one: Domain, other: Domain| {
            self.numbers.map.iter().all(|(&value, &image)| one.contains(value) == other.contains(image))
        };
        let registers = (0..program.threads.len()).all(|thread| {
            let (mine, theirs) = (&program.threads[thread], &program.threads[image(thread)]);
            let held = |register: usize| {
                let at = |location: usize| self.register_holds(thread, LocId(location), RegId(register));
                (0..mine.locations.len()).any(at)
            };
            let registers = mine.registers.iter().zip(&theirs.registers).enumerate();
            registers.filter(|(register, _)| held(*register)).all(|(_, (a, b))| alike(a.domain, b.domain))
        });
        let cells = self.places.slots.iter().enumerate().filter(|(_, held)| **held).all(|(slot, _)| {
            let Some(other) = layout.slot_of(self.addresses.of(layout.addresses[slot])) else { return false };
            let domain = |slot: usize| program.memory.domain_at(layout.addresses[slot]);
            let (Ok(one), Ok(two)) = (domain(slot), domain(other)) else { return false };
            self.places.slots[other] && alike(one, two)
        });
        registers && cells
    }

    /// The goals, with the two threads and the cells exchanged, are the same goals.
    fn keeps_goals(&self, program: &Program, first: usize, second: usize) -> bool {
        let swap = |thread: &ThreadId| ThreadId(exchanged(&[(first, second)], thread.0));
        let mut before = Vec::new();
        let mut after = Vec::new();
        for goal in &program.goals {
            let exchanged = goal.condition.map_atoms(&mut |atom| {
                Expr::Atom(match atom {
                    Observable::At(thread, location) => Observable::At(swap(thread), *location),
                    Observable::Register(thread, register) => Observable::Register(swap(thread), *register),
                    Observable::Memory(address) => Observable::Memory(self.addresses.of(*address)),
                })
            });
            before.push(format!("{:?} {}", goal.kind, normal(&goal.condition)));
            after.push(format!("{:?} {}", goal.kind, normal(&exchanged)));
        }
        before.sort();
        after.sort();
        before == after
    }
}

/// An instruction without the arrays that are known to contain its constant addresses.
fn without_bounds(program: &Program, instruction: &Instruction) -> Instruction {
    let mut plain = instruction.clone();
    for address in plain.addresses_mut() {
        if let (Some(constant), Some(variable)) = (address.constant(), address.within)
            && program.memory.variables[variable.0].contains(constant)
        {
            address.within = None;
        }
    }
    plain
}

/// A condition as text in which the order of operands of commutative operators does not show, if it has a value in
/// every state. Otherwise the order matters, because the right operand may not be evaluated.
fn normal(condition: &Condition) -> String {
    if is_total(condition) { sorted(condition) } else { format!("{condition:?}") }
}

fn sorted(condition: &Condition) -> String {
    match condition {
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Add | BinaryOp::Mul), arithmetic, ..) => {
            let mut operands = Vec::new();
            flatten(condition, *op, *arithmetic, &mut operands);
            operands.sort();
            format!("({})", operands.join(&symbol(*op, *arithmetic)))
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right) => {
            let mut operands = [sorted(left), sorted(right)];
            operands.sort();
            format!("({})", operands.join(op.symbol()))
        }
        Expr::Binary(op, arithmetic, left, right) => {
            format!("({}{}{})", sorted(left), symbol(*op, *arithmetic), sorted(right))
        }
        Expr::Unary(op, arithmetic, operand) => format!("{}{arithmetic:?}{}", op.symbol(), sorted(operand)),
        leaf => format!("{leaf:?}"),
    }
}

/// An operator and how it computes.
fn symbol(op: BinaryOp, arithmetic: Arithmetic) -> String {
    match arithmetic {
        Arithmetic::Checked => op.symbol().to_string(),
        wrapping => format!("{}{wrapping:?}", op.symbol()),
    }
}

/// The operands of an operator that is associative, in one arithmetic.
fn flatten(condition: &Condition, op: BinaryOp, arithmetic: Arithmetic, operands: &mut Vec<String>) {
    match condition {
        Expr::Binary(inner, computes, left, right) if (*inner, *computes) == (op, arithmetic) => {
            flatten(left, op, arithmetic, operands);
            flatten(right, op, arithmetic, operands);
        }
        other => operands.push(sorted(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Machine;
    use crate::layout::Growth;
    use crate::settings::{Purpose, Settings};
    use ravelin_frontend::Language;
    use ravelin_program::{Model, Source};

    /// Two threads with a node each, at 16 and 32, whose second cells are at 24 and 40. `NODE` is the address of one's own.
    fn can_be_exchanged(top: Value, body: &str) -> bool {
        let node = |number: Value| {
            let body = body.replace("NODE", &(16 + 16 * number).to_string()).replace("ME", &number.to_string());
            format!("thread t{number} {{ let r = 0; let s = 0; {body} }}\n")
        };
        let text = format!(
            "strict mem; gap 15; static next0; gap 7; static flag0; gap 7; static next1; gap 7; static flag1; gap 7;
             static top = {top}; {} {}",
            node(0),
            node(1)
        );
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
        let settings = Settings { purpose: Purpose::Monitor, ..Settings::new(Model::Sc) };
        let watch = Watch::unlimited();
        let machine = Machine::new(&program, settings, &Growth::default(), &watch).expect("a machine");
        let ranges = Ranges::infer(&machine.program, &watch).expect("no limit");
        let exchanges = Exchanges::new(&machine.program, &machine.layout, &ranges, true, &watch).expect("no limit");
        exchanges.find(0, 1).expect("no limit").is_some()
    }

    #[test]
    fn addresses_of_own_nodes_are_exchanged_where_they_are_copied_and_followed() {
        for (top, body, expected) in [
            (0, "top.store(NODE); r = top.load(); s = mem[r].load(); mem[r + 8].store(1); flagME.store(0);", true),
            (0, "nextME.store(0); r = top.swap(NODE); if r != 0 { mem[r].store(NODE); }", true),
            // The first cell behind a node is the other's flag or nothing.
            (0, "top.store(NODE); r = top.load(); mem[r - 8].store(1);", false),
            (0, "top.store(NODE); r = top.load(); r = r + 8; mem[r].store(1);", false),
            (0, "top.store(NODE); r = top.load(); if r < 20 { flagME.store(1); }", false),
            // Both mean the same cell of the first node.
            (
                0,
                "top.store(NODE); if s == 5 { top.store(24); } r = top.load(); mem[r].store(1); flagME.store(1);",
                false,
            ),
            // A pointer that only one of them has at the start.
            (16, "if s == 5 { r = NODE; } else { r = top.load(); } mem[r].store(s);", false),
            (0, "if s == 5 { r = NODE; } else { r = top.load(); } mem[r].store(s);", true),
        ] {
            assert_eq!(can_be_exchanged(top, body), expected, "{top}: {body}");
        }
    }
}
