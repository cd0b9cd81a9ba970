//! How instructions, expressions and conditions look to people, in the words of `.rav`.
//!
//! These are for one line of a witness or a node of a graph; the printers of ravelin-frontend make whole files.

use crate::{
    Address, BinaryOp, Condition, Domain, Escape, Expr, Instruction, Memory, Observable, Order, Program, Thread,
    UnaryOp,
};
use std::fmt::Write;

impl Program {
    /// One instruction of a thread, as a statement without its semicolon.
    pub fn show_instruction(&self, thread: &Thread, instruction: &Instruction) -> String {
        Show { memory: &self.memory, thread }.instruction(instruction)
    }

    pub fn show_condition(&self, condition: &Condition) -> String {
        show_expr(condition, 0, &mut |atom| match atom {
            Observable::At(thread, location) => {
                let thread = &self.threads[thread.0];
                format!("{}{}", thread.name, thread.location_name(*location))
            }
            Observable::Register(thread, register) => {
                let thread = &self.threads[thread.0];
                format!("{}.{}", thread.name, thread.registers[register.0].name)
            }
            Observable::Memory(address) => self.memory.name_of(*address),
        })
    }
}

/// An expression with as few parentheses as Rust's precedence allows. Comparisons do not chain.
pub fn show_expr<A>(expr: &Expr<A>, outer: u8, show_atom: &mut impl FnMut(&A) -> String) -> String {
    match expr {
        Expr::Const(value) if *value < 0 && outer > 9 => format!("({value})"),
        Expr::Const(value) => value.to_string(),
        Expr::Atom(atom) => show_atom(atom),
        Expr::Unary(op, operand) => {
            let inner = show_expr(operand, 10, show_atom);
            // Not `-5`: that would read back as a constant.
            let constant = matches!((op, &**operand), (UnaryOp::Neg, Expr::Const(_)));
            if constant { format!("{}({inner})", op.symbol()) } else { format!("{}{inner}", op.symbol()) }
        }
        Expr::Binary(op, left, right) => {
            let precedence = op.precedence();
            let left_outer = if op.is_comparison() { precedence + 1 } else { precedence };
            let left = show_expr(left, left_outer, show_atom);
            let right = show_expr(right, precedence + 1, show_atom);
            let text = format!("{left} {} {right}", op.symbol());
            if precedence < outer { format!("({text})") } else { text }
        }
    }
}

/// A domain as a type of `.rav`; `None` for the full one, which is written by writing nothing.
pub fn show_domain(domain: Domain) -> Option<String> {
    if domain.is_full() && domain.escape == Escape::Error {
        return None;
    }
    let prefix = match domain.escape {
        Escape::Error => "",
        Escape::Wrap => "wrapping ",
        Escape::Block => "blocking ",
    };
    let range = match (domain.lo, domain.hi) {
        (0, 1) => "bool".to_owned(),
        (0, 255) => "u8".to_owned(),
        (0, 65_535) => "u16".to_owned(),
        (0, 4_294_967_295) => "u32".to_owned(),
        (-128, 127) => "i8".to_owned(),
        (-32_768, 32_767) => "i16".to_owned(),
        (-2_147_483_648, 2_147_483_647) => "i32".to_owned(),
        (i64::MIN, i64::MAX) => "i64".to_owned(),
        (lo, hi) => format!("{lo}..={hi}"),
    };
    Some(format!("{prefix}{range}"))
}

/// Shows the instructions of one thread.
pub struct Show<'a> {
    pub memory: &'a Memory,
    pub thread: &'a Thread,
}

impl Show<'_> {
    pub fn expr(&self, expr: &Expr) -> String {
        self.expr_in(expr, 0)
    }

    fn expr_in(&self, expr: &Expr, outer: u8) -> String {
        show_expr(expr, outer, &mut |register| self.register(*register))
    }

    pub fn register(&self, register: crate::RegId) -> String {
        self.thread.registers[register.0].name.clone()
    }

    /// A place in memory: `x`, `flag[1 - r]`, `mem[p + 1]`.
    pub fn address(&self, address: &Address) -> String {
        match (address.constant(), address.within.map(|variable| &self.memory.variables[variable.0])) {
            (Some(constant), Some(variable)) if variable.contains(constant) => self.memory.name_of(constant),
            (_, Some(variable)) if variable.len.is_some() => {
                format!("{}[{}]", variable.name, self.index(&address.expr, variable.base))
            }
            _ => format!("mem[{}]", self.expr(&address.expr)),
        }
    }

    /// Front ends write `a[i]` as base + i; gives `i` back.
    fn index(&self, expr: &Expr, base: crate::Value) -> String {
        match expr {
            Expr::Binary(BinaryOp::Add, left, right) if **left == Expr::Const(base) => self.expr(right),
            Expr::Const(address) => (i128::from(*address) - i128::from(base)).to_string(),
            _ => format!("{} - {base}", self.expr_in(expr, 8)),
        }
    }

    pub fn instruction(&self, instruction: &Instruction) -> String {
        match instruction {
            Instruction::Nop => "nop".to_owned(),
            Instruction::Assign { reg, value } => format!("{} = {}", self.register(*reg), self.expr(value)),
            Instruction::Havoc { reg, lo, hi } => format!("havoc {} in {lo}..={hi}", self.register(*reg)),
            Instruction::Assume(condition) => format!("assume({})", self.expr(condition)),
            Instruction::Assert(condition) => format!("assert({})", self.expr(condition)),
            Instruction::Load { reg, address, order: Order::NonAtomic } => {
                format!("{} = {}.read()", self.register(*reg), self.address(address))
            }
            Instruction::Load { reg, address, order } => {
                format!("{} = {}.load({})", self.register(*reg), self.address(address), orders(&[], *order))
            }
            Instruction::Store { address, value, order: Order::NonAtomic } => {
                format!("{}.write({})", self.address(address), self.expr(value))
            }
            Instruction::Store { address, value, order } => {
                format!("{}.store({})", self.address(address), orders(&[self.expr(value)], *order))
            }
            Instruction::Rmw { op, address, operand, order, old } => {
                let arguments = orders(&[self.expr(operand)], *order);
                format!("{}{}.{}({arguments})", self.target(*old), self.address(address), op.method())
            }
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok } => {
                let target = match (old, ok) {
                    (Some(old), Some(ok)) => format!("({}, {}) = ", self.register(*old), self.register(*ok)),
                    (Some(old), None) => format!("{} = ", self.register(*old)),
                    (None, Some(ok)) => format!("(_, {}) = ", self.register(*ok)),
                    (None, None) => String::new(),
                };
                let mut arguments = orders(&[self.expr(expected), self.expr(new)], *success);
                if *failure != default_failure(*success) {
                    if *success == Order::Relaxed {
                        arguments.push_str(", relaxed");
                    }
                    write!(arguments, ", {}", failure.name()).expect("writing to a string");
                }
                let weak = if *weak { "_weak" } else { "" };
                format!("{target}{}.compare_exchange{weak}({arguments})", self.address(address))
            }
            Instruction::Fence(order) => format!("fence({})", order.name()),
            Instruction::Wait { address, values, order, old } => {
                let place = self.address(address);
                let alternatives: Vec<String> =
                    values.iter().map(|value| format!("{place} == {}", self.expr_in(value, 4))).collect();
                let order = if *order == Order::Relaxed { String::new() } else { format!(", {}", order.name()) };
                format!("{}wait({}{order})", self.target(*old), alternatives.join(" || "))
            }
            Instruction::BlockingCas { address, expected, new, order } => {
                format!("{}.bcas({})", self.address(address), orders(&[self.expr(expected), self.expr(new)], *order))
            }
            Instruction::Lock(address) => format!("lock({})", self.address(address)),
            Instruction::Unlock(address) => format!("unlock({})", self.address(address)),
            Instruction::BusLock => "bus_lock".to_owned(),
            Instruction::BusUnlock => "bus_unlock".to_owned(),
            Instruction::Locked { body, .. } => {
                let parts: Vec<String> = body.iter().map(|part| format!("{};", self.instruction(part))).collect();
                format!("locked {{ {} }}", parts.join(" "))
            }
        }
    }

    fn target(&self, register: Option<crate::RegId>) -> String {
        register.map(|register| format!("{} = ", self.register(register))).unwrap_or_default()
    }
}

/// The order a failing compare-exchange has if none is written: that of the success without its release part.
pub fn default_failure(success: Order) -> Order {
    match success {
        Order::Release => Order::Relaxed,
        Order::AcqRel => Order::Acquire,
        other => other,
    }
}

/// Arguments with the order last, left out if relaxed.
fn orders(arguments: &[String], order: Order) -> String {
    let mut all = arguments.to_vec();
    if order != Order::Relaxed {
        all.push(order.name().to_owned());
    }
    all.join(", ")
}
