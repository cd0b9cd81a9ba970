//! The text of a function: parameters, declarations, statements.

use super::expression::{expression, literal};
use super::flow::LitmusStatement;
use super::{Identifiers, Inexpressible, fixed, int};
use ravelin_program::{Address, Expr, Instruction, Order, Program, RegId, RmwOp, Thread, Value};
use std::collections::BTreeSet;

pub(super) struct Writer<'a> {
    program: &'a Program,
    identifiers: &'a mut Identifiers,
    index: usize,
    thread: &'a Thread,
    /// The cells that the function takes pointers to.
    cells: BTreeSet<Value>,
    /// Cells for the expected values of compare-exchanges.
    expected: Vec<String>,
    /// Registers that are declared where they are first set, and have not been yet.
    undeclared: BTreeSet<RegId>,
    lines: Vec<String>,
}

impl<'a> Writer<'a> {
    pub fn new(program: &'a Program, identifiers: &'a mut Identifiers, index: usize) -> Writer<'a> {
        Writer {
            program,
            identifiers,
            index,
            thread: &program.threads[index],
            cells: BTreeSet::new(),
            expected: Vec::new(),
            undeclared: BTreeSet::new(),
            lines: Vec::new(),
        }
    }

    /// The whole function.
    pub fn function(mut self, statements: &[LitmusStatement]) -> Result<String, Inexpressible> {
        self.undeclared = set_before_use(statements);
        for (number, register) in self.thread.registers.iter().enumerate() {
            if !self.undeclared.contains(&RegId(number)) {
                let initial = literal(int(register.initial)?);
                self.line(1, &format!("int {} = {initial};", self.local(RegId(number))));
            }
        }
        self.block(statements, 1)?;
        let mut parameters = Vec::new();
        for address in &self.cells {
            let kind = if self.identifiers.plain[address] { "int" } else { "atomic_int" };
            parameters.push(format!("{kind}* {}", self.identifiers.cells[address]));
        }
        parameters.extend(self.expected.iter().map(|name| format!("int* {name}")));
        Ok(format!("P{} ({}) {{\n{}}}\n", self.index, parameters.join(", "), self.lines.concat()))
    }

    fn block(&mut self, statements: &[LitmusStatement], depth: usize) -> Result<(), Inexpressible> {
        for statement in statements {
            match statement {
                LitmusStatement::Do(instruction) => self.instruction(instruction, depth)?,
                LitmusStatement::If { condition, then, otherwise } => {
                    self.line(depth, &format!("if ({}) {{", self.expr(condition)?));
                    self.block(then, depth + 1)?;
                    if !otherwise.is_empty() {
                        self.line(depth, "} else {");
                        self.block(otherwise, depth + 1)?;
                    }
                    self.line(depth, "}");
                }
                LitmusStatement::While { condition, body } => {
                    self.line(depth, &format!("while ({}) {{", self.expr(condition)?));
                    self.block(body, depth + 1)?;
                    self.line(depth, "}");
                }
            }
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction, depth: usize) -> Result<(), Inexpressible> {
        let line = match instruction {
            Instruction::Assign { reg, value } => {
                let value = self.expr(value)?;
                format!("{}{value};", self.set(Some(*reg)))
            }
            Instruction::Load { reg, address, order } => {
                let cell = self.cell(instruction, address)?;
                let target = self.set(Some(*reg));
                match order {
                    Order::NonAtomic => format!("{target}*{cell};"),
                    order => format!("{target}atomic_load_explicit({cell}, {});", order_name(*order)),
                }
            }
            Instruction::Store { address, value, order } => {
                let (cell, value) = (self.cell(instruction, address)?, self.expr(value)?);
                match order {
                    Order::NonAtomic => format!("*{cell} = {value};"),
                    order => format!("atomic_store_explicit({cell}, {value}, {});", order_name(*order)),
                }
            }
            Instruction::Rmw { op, address, operand, order, old, .. } if is_in_c11(*op) => {
                let (cell, operand) = (self.cell(instruction, address)?, self.expr(operand)?);
                let method = if *op == RmwOp::Exchange { "exchange" } else { op.method() };
                format!("{}atomic_{method}_explicit({cell}, {operand}, {});", self.set(*old), order_name(*order))
            }
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
                let cell = self.cell(instruction, address)?;
                let (expected, new) = (self.expr(expected)?, self.expr(new)?);
                let pointer = self.identifiers.taken.choose(&format!("expected{}", self.index));
                self.expected.push(pointer.clone());
                self.line(depth, &format!("*{pointer} = {expected};"));
                let kind = if *weak { "weak" } else { "strong" };
                let call = format!(
                    "atomic_compare_exchange_{kind}_explicit({cell}, {pointer}, {new}, {}, {});",
                    order_name(*success),
                    order_name(*failure)
                );
                let target = self.set(*ok);
                self.line(depth, &format!("{target}{call}"));
                // Success leaves the expected value there, and that is the value read. One register for both results
                // ends up with the second.
                match old.filter(|old| Some(*old) != *ok) {
                    Some(old) => format!("{}*{pointer};", self.set(Some(old))),
                    None => return Ok(()),
                }
            }
            Instruction::Fence(order) => format!("atomic_thread_fence({});", order_name(*order)),
            Instruction::Nop
            | Instruction::Rmw { .. }
            | Instruction::Havoc { .. }
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Wait { .. }
            | Instruction::BlockingCas { .. }
            | Instruction::Lock(_)
            | Instruction::Unlock(_)
            | Instruction::BusLock
            | Instruction::BusUnlock
            | Instruction::Locked { .. } => {
                let (thread, what) = self.quote(instruction);
                return Err(Inexpressible::Instruction { thread, what });
            }
        };
        self.line(depth, &line);
        Ok(())
    }

    fn line(&mut self, depth: usize, line: &str) {
        self.lines.push(format!("{:1$}{line}\n", "", 2 * depth));
    }

    /// The left side of an assignment, which declares the register if this is its first.
    fn set(&mut self, register: Option<RegId>) -> String {
        let Some(register) = register else { return String::new() };
        let kind = if self.undeclared.remove(&register) { "int " } else { "" };
        format!("{kind}{} = ", self.local(register))
    }

    fn local(&self, register: RegId) -> &str {
        &self.identifiers.locals[self.index][register.0]
    }

    fn expr(&self, expr: &Expr) -> Result<String, Inexpressible> {
        expression(expr, &self.thread.name, &|register| self.local(register).to_owned())
    }

    fn cell(&mut self, instruction: &Instruction, address: &Address) -> Result<String, Inexpressible> {
        let known = fixed(self.program, address).and_then(|cell| Some((cell, self.identifiers.cells.get(&cell)?)));
        let Some((cell, name)) = known else {
            let (thread, what) = self.quote(instruction);
            return Err(Inexpressible::ComputedAddress { thread, what });
        };
        self.cells.insert(cell);
        Ok(name.clone())
    }

    fn quote(&self, instruction: &Instruction) -> (String, String) {
        (self.thread.name.clone(), self.program.show_instruction(self.thread, instruction))
    }
}

fn order_name(order: Order) -> String {
    format!("memory_order_{}", order.name())
}

/// The registers that a top-level statement sets before anything else speaks of them.
fn set_before_use(statements: &[LitmusStatement]) -> BTreeSet<RegId> {
    let (mut first_set, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for statement in statements {
        let mut used = BTreeSet::new();
        if let LitmusStatement::Do(instruction) = statement {
            used.extend(instruction.read_registers());
            for register in instruction.written_registers() {
                if !seen.contains(&register) && !used.contains(&register) {
                    first_set.insert(register);
                }
            }
        }
        mentioned(statement, &mut used);
        seen.extend(used);
    }
    first_set
}

fn mentioned(statement: &LitmusStatement, registers: &mut BTreeSet<RegId>) {
    let in_condition = |condition: &Expr, registers: &mut BTreeSet<RegId>| {
        condition.for_each_atom(&mut |register| _ = registers.insert(*register));
    };
    match statement {
        LitmusStatement::Do(instruction) => {
            registers.extend(instruction.read_registers());
            registers.extend(instruction.written_registers());
        }
        LitmusStatement::If { condition, then, otherwise } => {
            in_condition(condition, registers);
            then.iter().chain(otherwise).for_each(|inner| mentioned(inner, registers));
        }
        LitmusStatement::While { condition, body } => {
            in_condition(condition, registers);
            body.iter().for_each(|inner| mentioned(inner, registers));
        }
    }
}

/// C11 has a generic function for it.
fn is_in_c11(op: RmwOp) -> bool {
    matches!(op, RmwOp::Add | RmwOp::Sub | RmwOp::And | RmwOp::Or | RmwOp::Xor | RmwOp::Exchange)
}
