//! How instructions, expressions and conditions are printed for users, in the syntax of `.rav`.
//!
//! These are for one line of a witness or a node of a graph; the printers of ravelin-frontend write whole files.

use crate::{
    Address, Arithmetic, BinaryOp, Condition, Domain, Escape, Expr, Instruction, Memory, Observable, Order, Program,
    RegId, Thread, UnaryOp, Value, WaitAtom,
};
use std::fmt::Write;

impl Program {
    /// One instruction of a thread, as a statement without its semicolon.
    pub fn show_instruction(&self, thread: &Thread, instruction: &Instruction) -> String {
        Show::bare(self, thread).instruction(instruction)
    }

    pub fn show_condition(&self, condition: &Condition) -> String {
        show_expr(condition, 0, Some(Arithmetic::Checked), &mut |atom| match atom {
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
///
/// `around` is the arithmetic of an operator without annotation. One that computes otherwise is written `checked(…)` or
/// `wrapping(T, …)`. In runs these annotations are omitted: there it is `None`.
pub fn show_expr<A>(
    expr: &Expr<A>,
    outer: u8,
    around: Option<Arithmetic>,
    show_atom: &mut impl FnMut(&A) -> String,
) -> String {
    let own = match expr {
        // `-1` is computed in place, like `-(1)`.
        Expr::Const(value) if *value < 0 => around.filter(|around| around.settle((*value).into()) == Ok(*value)),
        Expr::Unary(op, arithmetic, _) if op.computes() => Some(*arithmetic),
        Expr::Binary(op, arithmetic, ..) if op.computes() => Some(*arithmetic),
        _ => around,
    };
    if around.is_some() && own != around {
        let inside = Some(own.unwrap_or(Arithmetic::Checked));
        return in_arithmetic(inside, &show_expr(expr, 0, inside, show_atom));
    }
    match expr {
        Expr::Const(value) if *value < 0 && outer > 9 => format!("({value})"),
        Expr::Const(value) => value.to_string(),
        Expr::Atom(atom) => show_atom(atom),
        Expr::Unary(op, _, operand) => {
            let inner = show_expr(operand, 10, around, show_atom);
            // Not `-5`: that would be parsed as a constant.
            let constant = matches!((op, &**operand), (UnaryOp::Neg, Expr::Const(_)));
            if constant { format!("{}({inner})", op.symbol()) } else { format!("{}{inner}", op.symbol()) }
        }
        Expr::Binary(op, _, left, right) if op.is_call() => {
            let (left, right) = (show_expr(left, 0, around, show_atom), show_expr(right, 0, around, show_atom));
            format!("{}({left}, {right})", op.symbol())
        }
        Expr::Binary(op, _, left, right) => {
            let precedence = op.precedence();
            let left_outer = if op.is_comparison() { precedence + 1 } else { precedence };
            let left = show_expr(left, left_outer, around, show_atom);
            let right = show_expr(right, precedence + 1, around, show_atom);
            let text = format!("{left} {} {right}", op.symbol());
            if precedence < outer { format!("({text})") } else { text }
        }
    }
}

/// The text of an expression whose operators compute like this.
fn in_arithmetic(arithmetic: Option<Arithmetic>, text: &str) -> String {
    match arithmetic {
        Some(Arithmetic::Wrapping(domain)) => {
            let ty = show_domain(Domain { escape: Escape::Error, ..domain }).unwrap_or_else(|| "i64".to_owned());
            format!("wrapping({ty}, {text})")
        }
        Some(Arithmetic::Checked) | None => format!("checked({text})"),
    }
}

/// A domain as a type of `.rav`; `None` for the full one, which has no annotation.
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
    /// Names that replace those of registers, by register; shorter or empty is fine.
    pub aliases: &'a [Option<String>],
    /// The arithmetic of operators that need no annotation; `None` if no operator is annotated.
    pub arithmetic: Option<Arithmetic>,
    /// What the registers hold in a run, if computed places shall be named by the cell that they are there.
    pub values: Option<&'a [Value]>,
}

impl<'a> Show<'a> {
    /// Without names and values of a run, and without annotations.
    pub fn bare(program: &'a Program, thread: &'a Thread) -> Show<'a> {
        Show { memory: &program.memory, thread, aliases: &[], arithmetic: None, values: None }
    }

    pub fn expr(&self, expr: &Expr) -> String {
        show_expr(expr, 0, self.arithmetic, &mut |register| self.register(*register))
    }

    pub fn register(&self, register: RegId) -> String {
        match self.aliases.get(register.0) {
            Some(Some(alias)) => alias.clone(),
            _ => self.thread.registers[register.0].name.clone(),
        }
    }

    /// A place in memory: `x`, `flag[1 - r]`, `mem[p + 1]`.
    pub fn address(&self, address: &Address) -> String {
        match (address.constant(), address.within.map(|variable| &self.memory.variables[variable.0])) {
            (Some(constant), Some(variable)) if variable.contains(constant) => self.memory.name_of(constant),
            (_, Some(variable)) if variable.len.is_some() => {
                format!("{}[{}]", variable.name, self.index(&address.expr, variable.base))
            }
            _ => self.cell(address).unwrap_or_else(|| format!("mem[{}]", self.expr(&address.expr))),
        }
    }

    /// The name of the cell that a computed place is in the run.
    fn cell(&self, address: &Address) -> Option<String> {
        let values = self.values?;
        let cell = address.expr.eval(&mut |register: &RegId| values[register.0]).ok()?;
        self.memory.variable_at(cell).map(|_| self.memory.name_of(cell))
    }

    /// Front ends write `a[i]` as base + i; returns `i`.
    fn index(&self, expr: &Expr, base: Value) -> String {
        match expr {
            Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, right) if **left == Expr::Const(base) => {
                self.expr(right)
            }
            Expr::Const(address) => (i128::from(*address) - i128::from(base)).to_string(),
            _ => self.expr(&Expr::binary(BinaryOp::Sub, expr.clone(), Expr::Const(base))),
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
            Instruction::Rmw { op, arithmetic, address, operand, order, old } => {
                let own = if op.computes() { self.arithmetic.map(|_| *arithmetic) } else { self.arithmetic };
                let inner = Show { arithmetic: own, ..*self };
                let arguments = orders(&[inner.expr(operand)], *order);
                let access = format!("{}.{}({arguments})", inner.address(address), op.method());
                let access = if own == self.arithmetic { access } else { in_arithmetic(own, &access) };
                format!("{}{access}", self.target(*old))
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
            Instruction::Wait { address, condition, order, old } => {
                let place = self.address(address);
                let condition = show_expr(&condition.expr, 0, self.arithmetic, &mut |atom| match atom {
                    WaitAtom::Read => place.clone(),
                    WaitAtom::Register(register) => self.register(*register),
                });
                let order = if *order == Order::Relaxed { String::new() } else { format!(", {}", order.name()) };
                format!("{}wait({condition}{order})", self.target(*old))
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

    fn target(&self, register: Option<RegId>) -> String {
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

/// Arguments with the order last, omitted if relaxed.
fn orders(arguments: &[String], order: Order) -> String {
    let mut all = arguments.to_vec();
    if order != Order::Relaxed {
        all.push(order.name().to_owned());
    }
    all.join(", ")
}
