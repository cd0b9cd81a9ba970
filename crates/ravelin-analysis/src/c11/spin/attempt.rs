//! The attempts of a loop: every way from its header back, and every way out of it.
//!
//! A way is followed symbolically. What an access reads has a name of its own, a register behind those of the thread, and every register
//! that the way writes has an expression over these names and the registers as they are before the attempt. A compare-exchange that
//! fails is a load, one that succeeds is a read-modify-write.
//!
//! A load of a cell that no other thread writes always reads the thread's own last write, or the initial value: it is *stable*, and can
//! be done once before the attempts. Its edges in a graph lead along the program order of its thread, so where it stands does not matter.

use super::obstacle::{SpinObstacle, cell_name};
use super::regions::Region;
use super::shared_use::SharedUse;
use ravelin_machine::{PossibleValues, values_of};
use ravelin_program::{Address, BinaryOp, Expr, Instruction, LocId, Order, Program, RegId, Thread, UnaryOp, Value};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Loops with more ways are not looked at.
const MOST_WAYS: usize = 64;

/// The ways of a loop.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// Back to the header, without a trace but for the carried register.
    pub idle: Vec<Way>,
    pub exits: Vec<Way>,
    pub stable: Vec<StableLoad>,
    /// A register that a failed attempt leaves the value in that its compare-exchange has read.
    pub carried: Option<RegId>,
}

/// One way through the loop.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// To memory, except stable ones.
    pub accesses: Vec<WayAccess>,
    /// What must hold, with the number of accesses before it.
    pub conditions: Vec<(usize, Expr)>,
    /// Fences by transition, with the number of accesses before each.
    pub fences: Vec<(usize, usize)>,
    /// The registers that were written.
    pub values: BTreeMap<RegId, Expr>,
    pub to: LocId,
}

#[derive(Clone, Debug)]
pub(super) struct WayAccess {
    pub transition: usize,
    pub kind: AccessKind,
    pub address: Address,
    /// The name of the value read.
    pub read: RegId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    Load(Order),
    /// A load that waits.
    Wait(Order),
    Success {
        expected: Expr,
        new: Expr,
        order: Order,
    },
}

#[derive(Clone, Debug)]
pub(super) struct StableLoad {
    pub transition: usize,
    pub address: Address,
    pub order: Order,
    /// The name of the value read.
    pub read: RegId,
}

/// Follows the ways of one loop.
pub(super) struct AttemptSearch<'a> {
    pub program: &'a Program,
    pub number: usize,
    pub thread: &'a Thread,
    pub region: &'a Region,
    pub header: LocId,
    pub possible: &'a PossibleValues<'a>,
    pub shared: &'a SharedUse<'a>,
    /// By location and register, goals apart.
    pub live: &'a [Vec<bool>],
    /// By name of a value read: what it can be.
    pub reads: Vec<(usize, RangeInclusive<Value>)>,
    pub found: Attempts,
}

impl AttemptSearch<'_> {
    /// Follows every way. `start` is a load of the carried register that each way begins with.
    pub fn follow(&mut self, start: Option<(usize, RegId)>) -> Result<(), SpinObstacle> {
        let mut way = Way {
            accesses: Vec::new(),
            conditions: Vec::new(),
            fences: Vec::new(),
            values: BTreeMap::new(),
            to: self.header,
        };
        if let Some((transition, register)) = start
            && let Instruction::Load { address, order, .. } = &self.thread.transitions[transition].instruction
        {
            let read = self.access(&mut way, transition, address, AccessKind::Load(*order))?;
            way.values.insert(register, Expr::Atom(read));
        }
        self.walk(self.header, way, &mut vec![self.header])?;
        if self.found.exits.is_empty() {
            return Err(SpinObstacle::Endless);
        }
        Ok(())
    }

    fn walk(&mut self, at: LocId, way: Way, passed: &mut Vec<LocId>) -> Result<(), SpinObstacle> {
        let thread = self.thread;
        let steps: Vec<usize> = thread.outgoing(at).map(|(id, _)| id.0).collect();
        match steps.as_slice() {
            [] => return Err(SpinObstacle::Endless),
            [only] => {
                if matches!(thread.transitions[*only].instruction, Instruction::Assume(_)) {
                    return Err(SpinObstacle::Choice);
                }
            }
            [first, second] => {
                let condition = |step: usize| match &thread.transitions[step].instruction {
                    Instruction::Assume(condition) => Some(condition),
                    _ => None,
                };
                let (Some(first), Some(second)) = (condition(*first), condition(*second)) else {
                    return Err(SpinObstacle::Choice);
                };
                if !are_opposite(first, second) {
                    return Err(SpinObstacle::Choice);
                }
            }
            _ => return Err(SpinObstacle::Choice),
        }
        for step in steps {
            for next in self.step(step, &way)? {
                self.arrive(next, passed)?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, way: Way, passed: &mut Vec<LocId>) -> Result<(), SpinObstacle> {
        if self.found.idle.len() + self.found.exits.len() >= MOST_WAYS {
            return Err(SpinObstacle::Large);
        }
        let to = way.to;
        if to == self.header {
            self.check_idle(&way)?;
            self.found.idle.push(way);
            return Ok(());
        }
        if !self.region.contains(&to) {
            self.found.exits.push(way);
            return Ok(());
        }
        if passed.contains(&to) {
            return Err(SpinObstacle::Nested);
        }
        if let Some(label) = self.thread.locations[to.0].labels.first() {
            return Err(SpinObstacle::Label(label.clone()));
        }
        passed.push(to);
        self.walk(to, way, passed)?;
        passed.pop();
        Ok(())
    }

    /// A failed attempt leaves nothing behind that is used.
    fn check_idle(&mut self, way: &Way) -> Result<(), SpinObstacle> {
        let last = way.accesses.last();
        if let Some(write) = way.accesses.iter().find(|access| matches!(access.kind, AccessKind::Success { .. })) {
            return Err(SpinObstacle::Stores(cell_name(self.program, self.thread, &write.address)));
        }
        for (&register, value) in &way.values {
            if !self.live[self.header.0][register.0] {
                continue;
            }
            let reloaded = last.is_some_and(|last| {
                let exchange = &self.thread.transitions[last.transition].instruction;
                matches!(exchange, Instruction::CompareExchange { .. }) && *value == Expr::Atom(last.read)
            });
            let other = self.found.carried.is_some_and(|carried| carried != register);
            if !reloaded || other {
                return Err(SpinObstacle::Register(self.thread.registers[register.0].name.clone()));
            }
            self.found.carried = Some(register);
        }
        Ok(())
    }

    /// The ways after one more step; none if it cannot be taken.
    fn step(&mut self, step: usize, before: &Way) -> Result<Vec<Way>, SpinObstacle> {
        let transition = &self.thread.transitions[step];
        let mut way = Way { to: transition.to, ..before.clone() };
        let after = way.accesses.len();
        match &transition.instruction {
            Instruction::Nop => {}
            Instruction::Assign { reg, value } => {
                let value = way.replaced(value);
                // What counts attempts is told as that, not as a counter that may overflow.
                let counts = self.live[self.header.0][reg.0];
                let kept = || SpinObstacle::Register(self.thread.registers[reg.0].name.clone());
                self.must_fit(*reg, &value).map_err(|fault| if counts { kept() } else { fault })?;
                way.values.insert(*reg, value);
            }
            Instruction::Assume(condition) => {
                let condition = way.replaced(condition);
                if !way.assume(after, condition) {
                    return Ok(Vec::new());
                }
            }
            Instruction::Fence(_) => way.fences.push((after, step)),
            Instruction::Load { reg, address, order } => {
                let read = match self.stable(&way, step, address, *order) {
                    Some(read) => read,
                    None => self.access(&mut way, step, address, AccessKind::Load(*order))?,
                };
                self.must_fit(*reg, &Expr::Atom(read))?;
                way.values.insert(*reg, Expr::Atom(read));
            }
            Instruction::Wait { address, condition, order, old } => {
                let replaced = way.replaced_condition(condition);
                let read = self.access(&mut way, step, address, AccessKind::Wait(*order))?;
                if !way.assume(after + 1, replaced.with_read(&Expr::Atom(read))) {
                    return Ok(Vec::new());
                }
                if let Some(old) = old {
                    self.must_fit(*old, &Expr::Atom(read))?;
                    way.values.insert(*old, Expr::Atom(read));
                }
            }
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
                let (expected, new) = (way.replaced(expected), way.replaced(new));
                self.must_have_value(&expected)?;
                self.must_have_value(&new)?;
                let mut succeeds = way.clone();
                let kind = AccessKind::Success { expected: expected.clone(), new, order: *success };
                self.access(&mut succeeds, step, address, kind)?;
                let read = self.access(&mut way, step, address, AccessKind::Load(*failure))?;
                let equal = Expr::Atom(read).eq(expected.clone());
                let may_fail = *weak || way.assume(after + 1, equal.not());
                for (way, value, passed) in [(&mut succeeds, expected, 1), (&mut way, Expr::Atom(read), 0)] {
                    for (register, value) in [(old, value), (ok, Expr::Const(passed))] {
                        if let Some(register) = register {
                            self.must_fit(*register, &value)?;
                            way.values.insert(*register, value);
                        }
                    }
                }
                return Ok(if may_fail { vec![succeeds, way] } else { vec![succeeds] });
            }
            other => {
                let obstacle = SpinObstacle::of_step(self.program, self.thread, other);
                return Err(obstacle.unwrap_or(SpinObstacle::Choice));
            }
        }
        Ok(vec![way])
    }

    /// Adds an access that other threads matter to.
    fn access(
        &mut self,
        way: &mut Way,
        transition: usize,
        address: &Address,
        kind: AccessKind,
    ) -> Result<RegId, SpinObstacle> {
        let name = || cell_name(self.program, self.thread, address);
        if self.shared.is_accessed_non_atomically(address) {
            return Err(SpinObstacle::NonAtomic(name()));
        }
        let replaced = Address { expr: way.replaced(&address.expr), within: address.within };
        let mut depends = false;
        replaced.expr.for_each_atom(&mut |register| {
            depends |= way.accesses.iter().any(|access| access.read == *register);
        });
        if depends {
            return Err(SpinObstacle::Address(name()));
        }
        let read = self.read_name(transition, address);
        way.accesses.push(WayAccess { transition, kind, address: replaced, read });
        Ok(read)
    }

    /// The name of what a load reads from a cell that no other thread writes.
    fn stable(&mut self, way: &Way, transition: usize, address: &Address, order: Order) -> Option<RegId> {
        let wrote = way.accesses.iter().any(|access| matches!(access.kind, AccessKind::Success { .. }));
        if wrote || order == Order::SeqCst || self.shared.is_written_by_others(self.number, address) {
            return None;
        }
        let mut invariant = true;
        address.expr.for_each_atom(&mut |register| invariant &= !way.values.contains_key(register));
        if !invariant {
            return None;
        }
        let read = self.read_name(transition, address);
        if !self.found.stable.iter().any(|known| known.read == read) {
            self.found.stable.push(StableLoad { transition, address: address.clone(), order, read });
        }
        Some(read)
    }

    fn read_name(&mut self, transition: usize, address: &Address) -> RegId {
        let known = self.reads.iter().position(|(known, _)| *known == transition);
        let at = known.unwrap_or_else(|| {
            self.reads.push((transition, self.possible.cell(self.number, address)));
            self.reads.len() - 1
        });
        RegId(self.thread.registers.len() + at)
    }

    /// What a register or a value read can be.
    pub fn values(&self, register: RegId) -> RangeInclusive<Value> {
        match register.0.checked_sub(self.thread.registers.len()) {
            Some(read) => self.reads[read].1.clone(),
            // One that an earlier rewriting has added.
            None if register.0 >= self.possible.registers(self.number) => Value::MIN..=Value::MAX,
            None => self.possible.register(self.number, register),
        }
    }

    /// An expression that may have no value would be a fault of a failed attempt.
    pub fn must_have_value(&self, value: &Expr) -> Result<RangeInclusive<Value>, SpinObstacle> {
        values_of(value, &|register: &RegId| self.values(*register))
            .ok_or_else(|| SpinObstacle::Fault(self.shown(value)))
    }

    fn must_fit(&self, register: RegId, value: &Expr) -> Result<(), SpinObstacle> {
        let values = self.must_have_value(value)?;
        let domain = self.thread.registers[register.0].domain;
        if domain.contains(*values.start()) && domain.contains(*values.end()) {
            return Ok(());
        }
        Err(SpinObstacle::Fault(format!("{} = {}", self.thread.registers[register.0].name, self.shown(value))))
    }

    /// An expression with the cells for what was read.
    fn shown(&self, value: &Expr) -> String {
        ravelin_program::show_expr(value, 0, None, &mut |register: &RegId| match register
            .0
            .checked_sub(self.thread.registers.len())
        {
            Some(read) => {
                let instruction = &self.thread.transitions[self.reads[read].0].instruction;
                let accesses = instruction.accesses();
                accesses.first().map(|access| cell_name(self.program, self.thread, access.address)).unwrap_or_default()
            }
            None => self.thread.registers[register.0].name.clone(),
        })
    }
}

impl Way {
    /// An expression over registers, over what they held before the attempt.
    fn replaced(&self, expr: &Expr) -> Expr {
        expr.map_atoms(&mut |register| self.values.get(register).cloned().unwrap_or(Expr::Atom(*register)))
    }

    fn replaced_condition(&self, condition: &ravelin_program::WaitCondition) -> ravelin_program::WaitCondition {
        use ravelin_program::{WaitAtom, WaitCondition};
        WaitCondition::new(condition.expr.map_atoms(&mut |atom| {
            match atom {
                WaitAtom::Read => Expr::Atom(WaitAtom::Read),
                WaitAtom::Register(register) => self
                    .replaced(&Expr::Atom(*register))
                    .map_atoms(&mut |register| Expr::Atom(WaitAtom::Register(*register))),
            }
        }))
    }

    /// Adds a condition; says whether the way is still possible.
    fn assume(&mut self, after: usize, condition: Expr) -> bool {
        match truth(&condition) {
            Some(holds) => holds,
            None => {
                let condition = without_negation(condition);
                let known = |wanted: &Expr| self.conditions.iter().any(|(_, condition)| condition == wanted);
                if condition.opposite().is_some_and(|opposite| known(&opposite)) {
                    return false;
                }
                if !known(&condition) {
                    self.conditions.push((after, condition));
                }
                true
            }
        }
    }
}

/// The same condition as a comparison, where it is the negation of one.
fn without_negation(condition: Expr) -> Expr {
    match condition {
        Expr::Unary(UnaryOp::Not, arithmetic, inner) => match *inner {
            Expr::Unary(UnaryOp::Not, _, inner) => without_negation(*inner),
            inner => inner.opposite().unwrap_or_else(|| Expr::unary_in(arithmetic, UnaryOp::Not, inner)),
        },
        other => other,
    }
}

/// Whether a condition holds, if that does not depend on registers: `1 == 1`, `r == r`.
pub(super) fn truth(condition: &Expr) -> Option<bool> {
    if let Some(value) = condition.constant() {
        return Some(value != 0);
    }
    match condition {
        Expr::Unary(UnaryOp::Not, _, inner) => truth(inner).map(|holds| !holds),
        Expr::Binary(BinaryOp::Eq, _, left, right) if left == right => Some(true),
        Expr::Binary(BinaryOp::Ne, _, left, right) if left == right => Some(false),
        Expr::Binary(BinaryOp::And, _, left, right) => match (truth(left), truth(right)) {
            (Some(false), _) => Some(false),
            (Some(true), right) => right,
            _ => None,
        },
        Expr::Binary(BinaryOp::Or, _, left, right) => match (truth(left), truth(right)) {
            (Some(true), _) => Some(true),
            (Some(false), right) => right,
            _ => None,
        },
        _ => None,
    }
}

/// One holds exactly where the other does not, as front ends write it.
fn are_opposite(one: &Expr, other: &Expr) -> bool {
    let negates = |one: &Expr, other: &Expr| match one {
        Expr::Unary(UnaryOp::Not, _, inner) => **inner == *other,
        _ => one.opposite().is_some_and(|opposite| opposite == *other),
    };
    negates(one, other) || negates(other, one)
}
