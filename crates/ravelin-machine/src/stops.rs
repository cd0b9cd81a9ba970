//! Whether a thread can stop before its end, at a fault or at an assertion, according to the ranges of values.
//!
//! This is an over-approximation for every memory model, independent of the order of steps: "no" is certain and avoids
//! a search, "yes" means that a search is needed.

use crate::ranges::{Interval, Ranges, interval_of};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Escape, Expr, Instruction, Program, RegId, Thread, UnaryOp, Unnamed, Value,
    WaitAtom,
};

/// Some step of the program may fault, or an assertion may fail.
pub fn may_stop(program: &Program, watch: &Watch) -> Result<bool, Limit> {
    let ranges = Ranges::infer(program, watch)?;
    for (number, thread) in program.threads.iter().enumerate() {
        let look = StopScan { program, ranges: &ranges, thread: number };
        if releases_a_bus_it_may_not_hold(thread) {
            return Ok(true);
        }
        for transition in &thread.transitions {
            watch.step()?;
            if look.instruction(&transition.instruction) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

struct StopScan<'a> {
    program: &'a Program,
    ranges: &'a Ranges,
    thread: usize,
}

impl StopScan<'_> {
    fn instruction(&self, instruction: &Instruction) -> bool {
        let computes = |exprs: &[&Expr]| exprs.iter().any(|expr| self.faults(expr));
        let target = |reg: Option<RegId>, value: Interval| reg.is_some_and(|reg| self.refuses(reg, value));
        match instruction {
            Instruction::Nop | Instruction::Fence(_) | Instruction::BusLock | Instruction::BusUnlock => false,
            Instruction::Assign { reg, value } => computes(&[value]) || self.refuses(*reg, self.eval(value)),
            Instruction::Havoc { reg, lo, hi } => self.refuses(*reg, Interval { lo: *lo, hi: *hi }),
            Instruction::Assume(condition) => computes(&[condition]),
            Instruction::Assert(condition) => condition.constant().is_none_or(|value| value == 0),
            Instruction::Load { reg, address, .. } => {
                self.leaves(address) || self.refuses(*reg, self.ranges.load(self.program, self.thread, address))
            }
            Instruction::Store { address, value, .. } => {
                self.leaves(address) || computes(&[value]) || self.overflows(address, self.eval(value))
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                let read = self.ranges.load(self.program, self.thread, address);
                let operand_range = self.eval(operand);
                let written = match op.binary() {
                    Some(op) if operator_faults(op, *arithmetic, read, operand_range) => return true,
                    Some(op) => crate::ranges::binary(*arithmetic, op, read, operand_range),
                    None => operand_range,
                };
                self.leaves(address) || computes(&[operand]) || self.overflows(address, written) || target(*old, read)
            }
            Instruction::CompareExchange { address, expected, new, old, ok, .. } => {
                let read = self.ranges.load(self.program, self.thread, address);
                self.leaves(address)
                    || computes(&[expected, new])
                    || self.overflows(address, self.eval(new))
                    || target(*old, read)
                    || target(*ok, Interval { lo: 0, hi: 1 })
            }
            Instruction::Wait { address, condition, old, .. } => {
                let read = self.ranges.load(self.program, self.thread, address);
                let atom = |atom: &WaitAtom| match atom {
                    WaitAtom::Read => read,
                    WaitAtom::Register(register) => self.ranges.registers[self.thread][register.0],
                };
                self.leaves(address) || may_fault(&condition.expr, &atom) || target(*old, read)
            }
            Instruction::BlockingCas { address, expected, new, .. } => {
                self.leaves(address) || computes(&[expected, new]) || self.overflows(address, self.eval(new))
            }
            Instruction::Lock(address) => self.leaves(address) || self.overflows(address, Interval::point(1)),
            Instruction::Unlock(address) => self.leaves(address) || self.overflows(address, Interval::point(0)),
            Instruction::Locked { body, .. } => body.iter().any(|part| self.instruction(part)),
        }
    }

    fn eval(&self, expr: &Expr) -> Interval {
        self.ranges.eval(self.thread, expr)
    }

    /// A register's type makes leaving it an error, and the value may be outside.
    fn refuses(&self, reg: RegId, value: Interval) -> bool {
        faulty(self.program.threads[self.thread].registers[reg.0].domain, value)
    }

    /// A cell that the address may lead to does not admit the value.
    fn overflows(&self, address: &Address, value: Interval) -> bool {
        let memory = &self.program.memory;
        if let Some(variable) = address.within {
            return faulty(memory.variables[variable.0].domain, value);
        }
        let addresses = self.ranges.addresses(self.program, self.thread, address);
        memory.unnamed.domain().is_some_and(|domain| faulty(domain, value))
            || memory.variables.iter().any(|variable| {
                let last = variable.base + variable.cells() as Value - 1;
                addresses.lo <= last && variable.base <= addresses.hi && faulty(variable.domain, value)
            })
    }

    /// The address may be outside its array or of every object, or have no value.
    fn leaves(&self, address: &Address) -> bool {
        let outside = address.within.is_some_and(|variable| {
            let variable = &self.program.memory.variables[variable.0];
            let last = variable.base + variable.cells() as Value - 1;
            let addresses = self.eval(&address.expr);
            addresses.lo < variable.base || addresses.hi > last
        });
        outside || self.has_no_cell(address) || self.faults(&address.expr)
    }

    /// The address may lead to where nothing is. One inside its array leads to a cell.
    fn has_no_cell(&self, address: &Address) -> bool {
        let memory = &self.program.memory;
        if memory.unnamed != Unnamed::Nothing || address.within.is_some() {
            return false;
        }
        let addresses = self.eval(&address.expr);
        !memory.named_runs().iter().any(|&(first, last)| first <= addresses.lo && addresses.hi <= last)
    }

    /// The expression may have no value.
    fn faults(&self, expr: &Expr) -> bool {
        may_fault(expr, &|register| self.ranges.registers[self.thread][register.0])
    }
}

/// An expression whose atoms have these values may have none.
pub(crate) fn may_fault<A>(expr: &Expr<A>, atom: &impl Fn(&A) -> Interval) -> bool {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(op, arithmetic, operand) => {
            let least = *op == UnaryOp::Neg && *arithmetic == Arithmetic::Checked;
            (least && interval_of(operand, atom).lo == Value::MIN) || may_fault(operand, atom)
        }
        Expr::Binary(op, arithmetic, left, right) => {
            operator_faults(*op, *arithmetic, interval_of(left, atom), interval_of(right, atom))
                || may_fault(left, atom)
                || may_fault(right, atom)
        }
    }
}

fn faulty(domain: Domain, value: Interval) -> bool {
    domain.escape == Escape::Error && (value.lo < domain.lo || value.hi > domain.hi)
}

fn operator_faults(op: BinaryOp, arithmetic: Arithmetic, left: Interval, right: Interval) -> bool {
    let (a, b) = (i128::from(left.lo), i128::from(left.hi));
    let (c, d) = (i128::from(right.lo), i128::from(right.hi));
    let wide = |values: &[i128]| {
        arithmetic == Arithmetic::Checked && values.iter().any(|value| Value::try_from(*value).is_err())
    };
    match op {
        BinaryOp::Add => wide(&[a + c, b + d]),
        BinaryOp::Sub => wide(&[a - d, b - c]),
        BinaryOp::Mul => wide(&[a * c, a * d, b * c, b * d]),
        BinaryOp::Div => (c <= 0 && 0 <= d) || (left.lo == Value::MIN && c <= -1 && -1 <= d),
        BinaryOp::Rem | BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem => c <= 0 && 0 <= d,
        BinaryOp::Shl => c < 0 || d > 63 || wide(&[a << d.clamp(0, 63), b << d.clamp(0, 63)]),
        BinaryOp::Shr | BinaryOp::LogicalShr => c < 0 || d > 63,
        _ => false,
    }
}

/// Some path through the thread comes to `bus_unlock` without the lock.
fn releases_a_bus_it_may_not_hold(thread: &Thread) -> bool {
    let mut without = vec![false; thread.locations.len()];
    let mut open = vec![thread.initial];
    while let Some(location) = open.pop() {
        if std::mem::replace(&mut without[location.0], true) {
            continue;
        }
        for (_, transition) in thread.outgoing(location) {
            match transition.instruction {
                Instruction::BusUnlock => return true,
                Instruction::BusLock => {
                    // The following code holds the lock until it releases it.
                    open.extend(after_unlocking(thread, transition.to));
                }
                _ => open.push(transition.to),
            }
        }
    }
    false
}

/// The locations right after the first `bus_unlock`s from here.
fn after_unlocking(thread: &Thread, from: ravelin_program::LocId) -> Vec<ravelin_program::LocId> {
    let mut seen = vec![false; thread.locations.len()];
    let (mut open, mut found) = (vec![from], Vec::new());
    while let Some(location) = open.pop() {
        if std::mem::replace(&mut seen[location.0], true) {
            continue;
        }
        for (_, transition) in thread.outgoing(location) {
            match transition.instruction {
                Instruction::BusUnlock => found.push(transition.to),
                _ => open.push(transition.to),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_frontend::Language;
    use ravelin_program::Source;

    fn stops(text: &str) -> bool {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
        may_stop(&program, &Watch::unlimited()).expect("no limit")
    }

    #[test]
    fn what_cannot_stop_is_known_without_a_search() {
        for text in [
            "static x; thread t { x.store(1); let r = x.load(); }",
            "static x: bool; thread t { x.store(1); let r: bool = x.load(); }",
            "static x: u8; thread t { loop { x.fetch_add(1); } }",
            "static x: 0..=255; thread t { x.fetch_add(1); }",
            "arithmetic wrapping 0..4; static a: [_; 4]; thread t { let i; loop { i = i + 1; a[i].store(1); } }",
            "static x; thread t { bus_lock; x.store(1); bus_unlock; }",
            "static x; thread t { let r = x.load(); assert(true); }",
            "strict mem; static x; thread t { mem[1].store(1); }",
            "static x: 1..3 = 1; thread t { wait(8 / x == 4); } thread u { x.store(2); }",
        ] {
            assert!(!stops(text), "{text}");
        }
    }

    #[test]
    fn what_may_stop_is_found() {
        for text in [
            "static x: bool; thread t { x.store(2); }",
            "static x: 0..=255; thread t { loop { x.fetch_add(1); } }",
            "static x: 0..=255 = 254; thread t[2] { x.fetch_add(1); }",
            "static x; thread t { let r: bool = 1; r = r + 1; }",
            "static x; thread t { let r; loop { r = r + 1; } }",
            "static a: [_; 2]; static x = 2; thread t { let i = x.load(); a[i].store(1); }",
            "static x; thread t { let r = x.load(); r = 1 / r; }",
            "static x; thread t { let r = x.load(); r = 1 << (r - 1); }",
            "static x; thread t { let r = x.load(); assert(r == 1); }",
            "static x; thread t { bus_unlock; }",
            "static x; thread t { bus_lock; bus_unlock; bus_unlock; }",
            "static x: blocking u8; thread t { let r: bool = x.load(); wait(x == 1 / r); }",
            "static x: bool; thread t { wait(8 / x == 8); } thread u { x.store(1); }",
            "strict mem; static x = 2; static y; thread t { let p = x.load(); mem[p + 1].store(0); }",
            "strict mem; static x = 1; gap 1; static y = 3; thread t { let p = y.load(); mem[p - 1].store(0); }",
            "strict mem; static x; thread t { mem[0].store(1); }",
        ] {
            assert!(stops(text), "{text}");
        }
    }
}
