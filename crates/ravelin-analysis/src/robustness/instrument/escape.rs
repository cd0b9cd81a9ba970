//! Values that leave their domain: in an instrumented program they stop the step instead of being reported.
//!
//! A domain whose values cannot leave it, as far as can be seen from single instructions, stays as it is, so that
//! the printed program looks like the original.

use ravelin_program::{
    Address, Domain, Escape, Expr, Instruction, Program, RegId, RmwOp, Thread, UnaryOp, Unnamed, Value,
};

/// The program with blocking domains in place of those that could be left by an error.
pub(super) fn blocking(program: &Program) -> Program {
    let mut result = program.clone();
    let mut left = EscapableDomains {
        program,
        cells: vec![false; program.memory.variables.len()],
        registers: program.threads.iter().map(|thread| vec![false; thread.registers.len()]).collect(),
    };
    for (index, thread) in program.threads.iter().enumerate() {
        for transition in &thread.transitions {
            left.instruction(index, thread, &transition.instruction);
        }
    }
    let block = |domain: &mut Domain, left: bool| {
        if left && domain.escape == Escape::Error && !domain.is_full() {
            domain.escape = Escape::Block;
        }
    };
    for (variable, left) in result.memory.variables.iter_mut().zip(&left.cells) {
        block(&mut variable.domain, *left);
    }
    if let Unnamed::Cells(domain) = &mut result.memory.unnamed {
        block(domain, true);
    }
    for (thread, left) in result.threads.iter_mut().zip(&left.registers) {
        for (register, left) in thread.registers.iter_mut().zip(left) {
            block(&mut register.domain, *left);
        }
    }
    result
}

/// Which domains some instruction might leave.
struct EscapableDomains<'a> {
    program: &'a Program,
    cells: Vec<bool>,
    registers: Vec<Vec<bool>>,
}

/// Values that something may have.
type ValueRange = (Value, Value);

const BOOL: ValueRange = (0, 1);
const ANY: ValueRange = (Value::MIN, Value::MAX);

impl EscapableDomains<'_> {
    fn instruction(&mut self, index: usize, thread: &Thread, instruction: &Instruction) {
        let value = |expr: &Expr| range(thread, expr);
        let set = |left: &mut Self, register: &Option<RegId>, range: ValueRange| {
            if let Some(register) = register {
                left.registers[index][register.0] |= !holds(thread.registers[register.0].domain, range);
            }
        };
        match instruction {
            Instruction::Assign { reg, value: expr } => set(self, &Some(*reg), value(expr)),
            Instruction::Havoc { reg, lo, hi } => set(self, &Some(*reg), (*lo, *hi)),
            Instruction::Load { reg, address, .. } => {
                let read = self.read(address);
                set(self, &Some(*reg), read);
            }
            Instruction::Wait { address, old, .. } => {
                let read = self.read(address);
                set(self, old, read);
            }
            Instruction::Store { address, value: expr, .. } => self.write(address, value(expr)),
            Instruction::Rmw { op, address, operand, old, .. } => {
                let written = if *op == RmwOp::Exchange { value(operand) } else { ANY };
                self.write(address, written);
                let read = self.read(address);
                set(self, old, read);
            }
            Instruction::CompareExchange { address, new, old, ok, .. } => {
                self.write(address, value(new));
                let read = self.read(address);
                set(self, old, read);
                set(self, ok, BOOL);
            }
            Instruction::BlockingCas { address, new, .. } => self.write(address, value(new)),
            Instruction::Lock(address) => self.write(address, (1, 1)),
            Instruction::Unlock(address) => self.write(address, (0, 0)),
            Instruction::Locked { body, .. } => body.iter().for_each(|part| self.instruction(index, thread, part)),
            Instruction::Nop
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
    }

    /// The variable that an address must lie in, if it can be told.
    fn variable(&self, address: &Address) -> Option<usize> {
        address.within.map(|variable| variable.0).or_else(|| {
            let constant = address.constant()?;
            self.program.memory.variables.iter().position(|variable| variable.contains(constant))
        })
    }

    fn read(&self, address: &Address) -> ValueRange {
        self.variable(address).map_or(ANY, |variable| {
            let domain = self.program.memory.variables[variable].domain;
            (domain.lo, domain.hi)
        })
    }

    fn write(&mut self, address: &Address, range: ValueRange) {
        let variables = &self.program.memory.variables;
        match self.variable(address) {
            Some(variable) => self.cells[variable] |= !holds(variables[variable].domain, range),
            None => {
                for (left, variable) in self.cells.iter_mut().zip(variables) {
                    *left |= !holds(variable.domain, range);
                }
            }
        }
    }
}

fn holds(domain: Domain, (lo, hi): ValueRange) -> bool {
    domain.contains(lo) && domain.contains(hi)
}

fn range(thread: &Thread, expr: &Expr) -> ValueRange {
    match expr {
        Expr::Const(value) => (*value, *value),
        Expr::Atom(register) => {
            let domain = thread.registers[register.0].domain;
            (domain.lo, domain.hi)
        }
        Expr::Unary(UnaryOp::Not, _, _) => BOOL,
        Expr::Binary(op, ..) if op.is_truth() => BOOL,
        _ => ANY,
    }
}
