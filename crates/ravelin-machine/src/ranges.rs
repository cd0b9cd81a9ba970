//! Which values registers and cells can hold: intervals, as a fixpoint over all threads, blind to the order of steps.
//!
//! Used to choose how many bits a value gets, and which cells a computed address can lead to. An interval that keeps
//! growing is widened to its declared domain. The result is an over-approximation for every memory model, because a load
//! gets any value that was ever stored.

use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Expr, Initial, Instruction, Observable, Program, RmwOp, UnaryOp, Value,
};
use std::collections::BTreeMap;

/// Rounds of the fixpoint before growing intervals are widened. Long enough for the short chains of real programs (`x = y + 1`
/// through a few variables), short enough not to be noticed.
const ROUNDS_BEFORE_WIDENING: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub lo: Value,
    pub hi: Value,
}

impl Interval {
    pub const FULL: Interval = Interval { lo: Value::MIN, hi: Value::MAX };

    pub fn point(value: Value) -> Interval {
        Interval { lo: value, hi: value }
    }

    pub fn join(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    fn exact(lo: i128, hi: i128) -> Interval {
        match (Value::try_from(lo), Value::try_from(hi)) {
            (Ok(lo), Ok(hi)) => Interval { lo, hi },
            // Checked arithmetic faults outside; wrapping is treated by the caller.
            (lo, hi) => Interval { lo: lo.unwrap_or(Value::MIN), hi: hi.unwrap_or(Value::MAX) },
        }
    }
}

/// What is known of a program's values.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    /// By thread and register.
    pub registers: Vec<Vec<Interval>>,
    /// Cells that have a name or a constant access.
    pub cells: BTreeMap<Value, Interval>,
    /// All other cells together.
    pub others: Interval,
}

impl Ranges {
    pub fn infer(program: &Program) -> Ranges {
        let mut ranges = Ranges::initial(program);
        for round in 0.. {
            let before = ranges.clone();
            for (thread, code) in program.threads.iter().enumerate() {
                for transition in &code.transitions {
                    ranges.apply(program, thread, &transition.instruction);
                }
            }
            if !ranges.widen_from(&before, program, round >= ROUNDS_BEFORE_WIDENING) {
                break;
            }
        }
        ranges
    }

    fn initial(program: &Program) -> Ranges {
        let mut cells = BTreeMap::new();
        for variable in &program.memory.variables {
            for (cell, initial) in variable.initial.iter().enumerate() {
                let interval = match initial {
                    Initial::Value(value) => Interval::point(*value),
                    Initial::Any => Interval { lo: variable.domain.lo, hi: variable.domain.hi },
                };
                cells.insert(variable.base + cell as Value, interval);
            }
        }
        for thread in &program.threads {
            for transition in &thread.transitions {
                for access in transition.instruction.accesses() {
                    if let Some(address) = access.address.expr.constant() {
                        cells.entry(address).or_insert(Interval::point(0));
                    }
                }
            }
        }
        for goal in &program.goals {
            goal.condition.for_each_atom(&mut |atom| {
                if let Observable::Memory(address) = atom {
                    cells.entry(*address).or_insert(Interval::point(0));
                }
            });
        }
        let registers = program
            .threads
            .iter()
            .map(|thread| thread.registers.iter().map(|register| Interval::point(register.initial)).collect())
            .collect();
        Ranges { registers, cells, others: Interval::point(0) }
    }

    /// Whether anything changed since `before`; with `widen`, what grew goes to its domain at once.
    fn widen_from(&mut self, before: &Ranges, program: &Program, widen: bool) -> bool {
        let mut changed = false;
        let mut visit = |now: &mut Interval, then: Interval, domain: Domain| {
            if *now != then {
                changed = true;
                if widen {
                    let lo = if now.lo < then.lo { domain.lo } else { now.lo };
                    let hi = if now.hi > then.hi { domain.hi } else { now.hi };
                    *now = Interval { lo, hi };
                }
            }
        };
        for (thread, registers) in self.registers.iter_mut().enumerate() {
            for (register, now) in registers.iter_mut().enumerate() {
                let domain = program.threads[thread].registers[register].domain;
                visit(now, before.registers[thread][register], domain);
            }
        }
        for (address, now) in &mut self.cells {
            visit(now, before.cells[address], program.memory.domain_at(*address));
        }
        visit(&mut self.others, before.others, program.memory.unnamed);
        changed
    }

    fn apply(&mut self, program: &Program, thread: usize, instruction: &Instruction) {
        match instruction {
            Instruction::Assign { reg, value } => {
                let value = self.eval(thread, value);
                self.write_register(program, thread, *reg, value);
            }
            Instruction::Havoc { reg, lo, hi } => {
                self.write_register(program, thread, *reg, Interval { lo: *lo, hi: *hi });
            }
            Instruction::Load { reg, address, .. } => {
                let value = self.load(program, thread, address);
                self.write_register(program, thread, *reg, value);
            }
            Instruction::Store { address, value, .. } => {
                let value = self.eval(thread, value);
                self.store(program, thread, address, value);
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                let read = self.load(program, thread, address);
                let operand = self.eval(thread, operand);
                let written = match op {
                    RmwOp::Exchange => operand,
                    _ => binary(*arithmetic, op.binary().unwrap_or(BinaryOp::Add), read, operand),
                };
                self.store(program, thread, address, written);
                self.write_old(program, thread, *old, read);
            }
            Instruction::CompareExchange { address, new, old, ok, .. } => {
                let read = self.load(program, thread, address);
                let new = self.eval(thread, new);
                self.store(program, thread, address, new);
                self.write_old(program, thread, *old, read);
                self.write_old(program, thread, *ok, Interval { lo: 0, hi: 1 });
            }
            Instruction::Wait { address, old, .. } => {
                let read = self.load(program, thread, address);
                self.write_old(program, thread, *old, read);
            }
            Instruction::BlockingCas { address, new, .. } => {
                let new = self.eval(thread, new);
                self.store(program, thread, address, new);
            }
            Instruction::Lock(address) => self.store(program, thread, address, Interval::point(1)),
            Instruction::Unlock(address) => self.store(program, thread, address, Interval::point(0)),
            Instruction::Locked { body, .. } => {
                for part in body {
                    self.apply(program, thread, part);
                }
            }
            Instruction::Nop
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
    }

    fn write_old(&mut self, program: &Program, thread: usize, reg: Option<ravelin_program::RegId>, value: Interval) {
        if let Some(reg) = reg {
            self.write_register(program, thread, reg, value);
        }
    }

    fn write_register(&mut self, program: &Program, thread: usize, reg: ravelin_program::RegId, value: Interval) {
        let domain = program.threads[thread].registers[reg.0].domain;
        let slot = &mut self.registers[thread][reg.0];
        *slot = slot.join(fit(value, domain, *slot));
    }

    pub fn load(&self, program: &Program, thread: usize, address: &Address) -> Interval {
        let addresses = self.addresses(program, thread, address);
        let mut value: Option<Interval> = None;
        let mut named = 0i128;
        for (_, cell) in self.cells.range(addresses.lo..=addresses.hi) {
            value = Some(value.map_or(*cell, |value| value.join(*cell)));
            named += 1;
        }
        if named < i128::from(addresses.hi) - i128::from(addresses.lo) + 1 {
            value = Some(value.map_or(self.others, |value| value.join(self.others)));
        }
        value.unwrap_or(Interval::point(0))
    }

    fn store(&mut self, program: &Program, thread: usize, address: &Address, value: Interval) {
        let addresses = self.addresses(program, thread, address);
        let mut named = 0i128;
        for (address, cell) in self.cells.range_mut(addresses.lo..=addresses.hi) {
            *cell = cell.join(fit(value, program.memory.domain_at(*address), *cell));
            named += 1;
        }
        if named < i128::from(addresses.hi) - i128::from(addresses.lo) + 1 {
            self.others = self.others.join(fit(value, program.memory.unnamed, self.others));
        }
    }

    /// The addresses an access can lead to.
    pub fn addresses(&self, program: &Program, thread: usize, address: &Address) -> Interval {
        let mut interval = self.eval(thread, &address.expr);
        if let Some(variable) = address.within {
            let variable = &program.memory.variables[variable.0];
            let last = variable.base + variable.cells() as Value - 1;
            // Outside is a fault, so nothing outside is touched.
            interval =
                Interval { lo: interval.lo.clamp(variable.base, last), hi: interval.hi.clamp(variable.base, last) };
        }
        interval
    }

    pub fn eval(&self, thread: usize, expr: &Expr) -> Interval {
        match expr {
            Expr::Const(value) => Interval::point(*value),
            Expr::Atom(register) => self.registers[thread][register.0],
            Expr::Unary(UnaryOp::Not, _, _) => Interval { lo: 0, hi: 1 },
            Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
                let operand = self.eval(thread, operand);
                settle(*arithmetic, -i128::from(operand.hi), -i128::from(operand.lo))
            }
            Expr::Binary(op, arithmetic, left, right) => {
                let left = self.eval(thread, left);
                let right = self.eval(thread, right);
                binary(*arithmetic, *op, left, right)
            }
        }
    }
}

/// What of a value arrives in a domain.
fn fit(value: Interval, domain: Domain, otherwise: Interval) -> Interval {
    use ravelin_program::Escape;
    if domain.contains(value.lo) && domain.contains(value.hi) {
        return value;
    }
    if domain.escape == Escape::Wrap {
        return Interval { lo: domain.lo, hi: domain.hi };
    }
    let (lo, hi) = (value.lo.max(domain.lo), value.hi.min(domain.hi));
    if lo <= hi { Interval { lo, hi } } else { otherwise }
}

fn settle(arithmetic: Arithmetic, lo: i128, hi: i128) -> Interval {
    match arithmetic {
        Arithmetic::Checked => Interval::exact(lo, hi),
        Arithmetic::Wrapping(domain) => {
            if lo >= i128::from(domain.lo) && hi <= i128::from(domain.hi) {
                Interval::exact(lo, hi)
            } else {
                Interval { lo: domain.lo, hi: domain.hi }
            }
        }
    }
}

pub(crate) fn binary(arithmetic: Arithmetic, op: BinaryOp, left: Interval, right: Interval) -> Interval {
    let (a, b) = (i128::from(left.lo), i128::from(left.hi));
    let (c, d) = (i128::from(right.lo), i128::from(right.hi));
    let corners = |f: fn(i128, i128) -> i128| {
        let all = [f(a, c), f(a, d), f(b, c), f(b, d)];
        let lo = all.iter().copied().min().unwrap_or(0);
        let hi = all.iter().copied().max().unwrap_or(0);
        settle(arithmetic, lo, hi)
    };
    match op {
        BinaryOp::Add => settle(arithmetic, a + c, b + d),
        BinaryOp::Sub => settle(arithmetic, a - d, b - c),
        BinaryOp::Mul => corners(|x, y| x * y),
        BinaryOp::Div if c > 0 => corners(|x, y| x / y),
        BinaryOp::Rem if c > 0 => {
            let largest = d - 1;
            settle(arithmetic, if a < 0 { -largest } else { 0 }, if b > 0 { largest.min(b) } else { 0 })
        }
        BinaryOp::BitAnd if a >= 0 && c >= 0 => settle(arithmetic, 0, b.min(d)),
        BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 => {
            let bits = 128 - b.max(d).leading_zeros();
            settle(arithmetic, 0, (1i128 << bits) - 1)
        }
        BinaryOp::Shr if a >= 0 && c >= 0 => settle(arithmetic, 0, b),
        BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::And
        | BinaryOp::Or => Interval { lo: 0, hi: 1 },
        _ => match arithmetic {
            Arithmetic::Checked => Interval::FULL,
            Arithmetic::Wrapping(domain) => Interval { lo: domain.lo, hi: domain.hi },
        },
    }
}
