//! One instruction as lines of C.
//!
//! A variable that wraps and is changed by `fetch_add` or `fetch_sub` holds a number that is congruent to its value. It is
//! wrapped where it is read.

use super::expression::{CellTerm, TermWriter, constant};
use super::{AccessForm, CSetting, NotInC};
use ravelin_program::{
    Access, Address, BinaryOp, Domain, Escape, Expr, Instruction, Order, RegId, RmwOp, Value, WaitCondition,
};

/// Writes the instructions of one thread.
pub(super) struct StepWriter<'a> {
    pub setting: &'a CSetting<'a>,
    pub thread: usize,
}

/// The lines of one instruction while they are written.
struct Lines<'a> {
    steps: &'a StepWriter<'a>,
    terms: TermWriter<'a>,
    lines: Vec<String>,
    blocked: &'a str,
}

impl StepWriter<'_> {
    /// `blocked` is what to do where the instruction cannot be taken.
    pub fn lines(&self, instruction: &Instruction, blocked: &str) -> Result<Vec<String>, NotInC> {
        let terms = TermWriter::of(self.setting, self.thread);
        let mut lines = Lines { steps: self, terms, lines: Vec::new(), blocked };
        lines.instruction(instruction)?;
        Ok(lines.lines)
    }
}

impl Lines<'_> {
    fn instruction(&mut self, instruction: &Instruction) -> Result<(), NotInC> {
        let counted = |access: &Access| self.counted(access.address).is_some();
        if needs_the_value(instruction) && instruction.accesses().iter().any(counted) {
            return Err(NotInC::WrapsWhenCounted(self.shown(instruction)));
        }
        match instruction {
            Instruction::Nop => {}
            Instruction::Assign { reg, value } => {
                let value = self.terms.expr(value);
                self.set(*reg, &value);
            }
            Instruction::Havoc { reg, lo, hi } => {
                self.set(*reg, &format!("any(seed, {}, {})", constant(*lo), constant(*hi)));
            }
            Instruction::Assume(condition) => {
                let condition = self.terms.expr(condition);
                self.line(format!("if (!({condition})) {}", self.blocked));
            }
            Instruction::Assert(condition) => {
                let condition = self.terms.expr(condition);
                let name = self.steps.setting.threads[self.steps.thread].clone();
                self.line(format!("if (!({condition})) FAIL(\"{name}\");"));
            }
            Instruction::Load { reg, address, order } => {
                let cell = self.cell(address);
                let value = match (*order, self.storage(address)) {
                    (Order::NonAtomic, _) => cell,
                    (order, AccessForm::Atomic) => format!("atomic_load_explicit(&{cell}, {})", memory_order(order)),
                    (order, _) => format!("__atomic_load_n(&{cell}, {})", builtin_order(order)),
                };
                let value = self.value_read(address, value);
                self.set(*reg, &value);
            }
            Instruction::Store { address, value, order } => self.store(address, value, *order),
            Instruction::Unlock(address) => self.store(address, &Expr::Const(0), Order::Release),
            Instruction::Rmw { op, .. } if op.binary().is_some_and(BinaryOp::selects) => {
                return Err(NotInC::NoFunction(self.shown(instruction)));
            }
            Instruction::Rmw { op, address, operand, order, old, .. } => self.rmw(*op, address, operand, *order, *old),
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
                let cell = self.cell(address);
                let (expected, new) = (self.terms.expr(expected), self.terms.expr(new));
                let marker = if *weak { "RAVELIN_CAS_WEAK" } else { "RAVELIN_CAS_STRONG" };
                let orders = format!("{}, {}", memory_order(*success), memory_order(*failure));
                self.line("{".to_owned());
                self.line(format!("  long long expected_ = {expected};"));
                self.line(format!("  int ok_ = {marker}(&{cell}, &expected_, {new}, {orders});"));
                self.line("  (void)ok_;".to_owned());
                if let Some(old) = old {
                    self.set(*old, "expected_");
                }
                if let Some(ok) = ok {
                    self.set(*ok, "ok_");
                }
                self.line("}".to_owned());
            }
            Instruction::Fence(order) => self.line(format!("atomic_thread_fence({});", memory_order(*order))),
            Instruction::Wait { address, condition, order, old } => self.wait(address, condition, *order, *old),
            Instruction::BlockingCas { address, expected, new, order } => {
                let cell = self.cell(address);
                let (expected, new) = (self.terms.expr(expected), self.terms.expr(new));
                self.line(format!("RAVELIN_BCAS(&{cell}, {expected}, {new}, {});", memory_order(*order)));
            }
            Instruction::Lock(address) => {
                let cell = self.cell(address);
                self.line(format!("RAVELIN_BCAS(&{cell}, 0, 1, memory_order_acquire);"));
            }
            Instruction::BusLock | Instruction::BusUnlock | Instruction::Locked { .. } => {
                return Err(NotInC::SeveralAccesses(self.shown(instruction)));
            }
        }
        Ok(())
    }

    fn store(&mut self, address: &Address, value: &Expr, order: Order) {
        let cell = self.cell(address);
        let text = match (self.domain(address), value) {
            (Some(domain), Expr::Const(known)) if domain.contains(*known) => constant(*known),
            (Some(domain), value) if !domain.is_full() => {
                let value = self.terms.expr(value);
                self.admitted(domain, &value)
            }
            (_, value) => self.terms.expr(value),
        };
        let line = match (order, self.storage(address)) {
            (Order::NonAtomic, _) => format!("{cell} = {text};"),
            (order, AccessForm::Atomic) => format!("atomic_store_explicit(&{cell}, {text}, {});", memory_order(order)),
            (order, _) => format!("__atomic_store_n(&{cell}, {text}, {});", builtin_order(order)),
        };
        self.line(line);
    }

    fn rmw(&mut self, op: RmwOp, address: &Address, operand: &Expr, order: Order, old: Option<RegId>) {
        let cell = self.cell(address);
        let operand = self.terms.expr(operand);
        let name = match op {
            RmwOp::Exchange => "exchange",
            op => op.method(),
        };
        let call = match self.storage(address) {
            AccessForm::Atomic => format!("atomic_{name}_explicit(&{cell}, {operand}, {})", memory_order(order)),
            _ if op == RmwOp::Exchange => format!("__atomic_exchange_n(&{cell}, {operand}, {})", builtin_order(order)),
            _ => format!("__atomic_{name}(&{cell}, {operand}, {})", builtin_order(order)),
        };
        match old {
            Some(old) => {
                let value = self.value_read(address, call);
                self.set(old, &value);
            }
            None => self.line(format!("(void){call};")),
        }
    }

    fn wait(&mut self, address: &Address, condition: &WaitCondition, order: Order, old: Option<RegId>) {
        let cell = self.cell(address);
        let values = condition.values();
        if let Some([only]) = values.as_deref()
            && self.counted(address).is_none()
        {
            let only = self.terms.expr(only);
            self.line(format!("RAVELIN_WAIT(&{cell}, {only}, {});", memory_order(order)));
            if let Some(old) = old {
                self.set(old, &only);
            }
            return;
        }
        let load = match self.storage(address) {
            AccessForm::Atomic => format!("atomic_load_explicit(&{cell}, {})", memory_order(order)),
            _ => format!("__atomic_load_n(&{cell}, {})", builtin_order(order)),
        };
        let load = self.value_read(address, load);
        let others = match values {
            Some(values) => {
                let others: Vec<String> =
                    values.iter().map(|value| format!("found_ != {}", self.terms.expr(value))).collect();
                others.join(" && ")
            }
            None => format!("!({})", self.terms.condition(condition, "found_")),
        };
        self.line("{".to_owned());
        self.line("  long long found_;".to_owned());
        self.line(format!("  while (found_ = {load}, {others}) sched_yield();"));
        if let Some(old) = old {
            self.set(old, "found_");
        }
        self.line("}".to_owned());
    }

    /// The cell at an address; the thread ends where there is none.
    fn cell(&mut self, address: &Address) -> String {
        let CellTerm { text, outside } = self.terms.cell(address);
        if let Some(outside) = outside {
            self.line(format!("if ({outside}) FAULT();"));
        }
        text
    }

    fn storage(&self, address: &Address) -> AccessForm {
        self.steps.setting.storage_at(address)
    }

    /// The type of the cell, where the address says which it is.
    fn domain(&self, address: &Address) -> Option<Domain> {
        let program = self.steps.setting.program;
        super::variable_of(program, address).map(|variable| program.memory.variables[variable].domain)
    }

    /// The type of the cell if it wraps and may hold another number that is congruent to its value.
    fn counted(&self, address: &Address) -> Option<Domain> {
        let domain = self.domain(address).filter(|domain| domain.escape == Escape::Wrap && !domain.is_full())?;
        let program = self.steps.setting.program;
        let variable = super::variable_of(program, address);
        let mut instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|t| &t.instruction);
        let counts = |instruction: &Instruction| match instruction {
            Instruction::Rmw { op: RmwOp::Add | RmwOp::Sub | RmwOp::Nand, address, .. } => {
                super::variable_of(program, address) == variable
            }
            _ => false,
        };
        instructions.any(counts).then_some(domain)
    }

    /// The value of a cell in which this was read.
    fn value_read(&self, address: &Address, read: String) -> String {
        self.counted(address).map_or(read.clone(), |domain| wrapped(domain, &read))
    }

    fn shown(&self, instruction: &Instruction) -> String {
        let program = self.steps.setting.program;
        program.show_instruction(&program.threads[self.steps.thread], instruction)
    }

    fn set(&mut self, register: RegId, value: &str) {
        let domain = self.steps.setting.program.threads[self.steps.thread].registers[register.0].domain;
        let name = self.steps.setting.registers[self.steps.thread][register.0].clone();
        match domain.escape {
            _ if domain.is_full() => self.line(format!("{name} = {value};")),
            Escape::Wrap => self.line(format!("{name} = {};", wrapped(domain, value))),
            Escape::Error | Escape::Block => {
                self.line(format!("{name} = {value};"));
                self.line(format!("if ({}) {}", outside(domain, &name), escaped(domain)));
            }
        }
    }

    /// A value that fits a domain.
    fn admitted(&mut self, domain: Domain, value: &str) -> String {
        if domain.escape == Escape::Wrap {
            return wrapped(domain, value);
        }
        self.line(format!("if ({}) {}", outside(domain, &format!("({value})")), escaped(domain)));
        value.to_owned()
    }

    fn line(&mut self, line: String) {
        self.lines.push(line);
    }
}

/// Whether an instruction needs the value of a cell in the cell itself.
fn needs_the_value(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Rmw { op, .. } => matches!(op, RmwOp::And | RmwOp::Or | RmwOp::Xor | RmwOp::Nand),
        Instruction::CompareExchange { .. } | Instruction::BlockingCas { .. } | Instruction::Lock(_) => true,
        _ => false,
    }
}

/// What to do with a value that is outside of its type and does not wrap.
fn escaped(domain: Domain) -> &'static str {
    if domain.escape == Escape::Block { "STOP();" } else { "FAULT();" }
}

fn wrapped(domain: Domain, value: &str) -> String {
    format!("wrap({value}, {}, {})", constant(domain.lo), constant(domain.hi))
}

/// Written such that no comparison is always false, which compilers would point out.
fn outside(domain: Domain, value: &str) -> String {
    let below = (domain.lo != Value::MIN).then(|| format!("{value} < {}", constant(domain.lo)));
    let above = (domain.hi != Value::MAX).then(|| format!("{value} > {}", constant(domain.hi)));
    let parts: Vec<String> = below.into_iter().chain(above).collect();
    if parts.is_empty() { "0".to_owned() } else { parts.join(" || ") }
}

fn memory_order(order: Order) -> String {
    format!("memory_order_{}", if order == Order::NonAtomic { "relaxed" } else { order.name() })
}

fn builtin_order(order: Order) -> String {
    format!("__ATOMIC_{}", if order == Order::NonAtomic { "RELAXED".to_owned() } else { order.name().to_uppercase() })
}
