//! How instructions, expressions and conditions are printed for users, in the syntax of `.rav`.
//!
//! These are for one line of a witness or a node of a graph; the printers of ravelin-frontend write whole files.

use crate::{
    Address, Arithmetic, BinaryOp, Condition, Domain, Escape, Expr, Instruction, Memory, Notation, Observable, Order,
    Program, RegId, RmwOp, Thread, UnaryOp, Value, WaitAtom,
};
use std::fmt::Write;

impl Program {
    /// One instruction of a thread, as a statement without its semicolon.
    pub fn show_instruction(&self, thread: &Thread, instruction: &Instruction) -> String {
        Show::bare(self, thread).instruction(instruction)
    }

    /// How the values of what is observed are written.
    pub fn notation(&self, atom: &Observable) -> &Notation {
        match atom {
            Observable::At(..) => &Notation::Signed,
            Observable::Register(thread, register) => &self.threads[thread.0].registers[register.0].notation,
            Observable::Memory(address) => self.memory.notation_at(*address),
        }
    }

    pub fn show_condition(&self, condition: &Condition) -> String {
        let notation = |atom: &Observable| self.notation(atom);
        show_named(condition, Some(Arithmetic::Checked), &notation, &mut |atom| match atom {
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

/// An operand: an atom, or a number that has a name.
#[derive(Clone)]
enum ShownOperand<A> {
    Atom(A),
    Name(String),
}

/// An expression in which a number that is compared with something is written as the values of that are.
fn show_named<'n, A: Clone>(
    expr: &Expr<A>,
    around: Option<Arithmetic>,
    notation: &impl Fn(&A) -> &'n Notation,
    show_atom: &mut impl FnMut(&A) -> String,
) -> String {
    let mut plain = true;
    expr.for_each_atom(&mut |atom| plain &= *notation(atom) == Notation::Signed);
    if plain {
        return show_expr(expr, 0, around, show_atom);
    }
    show_expr(&named(expr, notation), 0, around, &mut |operand| match operand {
        ShownOperand::Atom(atom) => show_atom(atom),
        ShownOperand::Name(name) => name.clone(),
    })
}

fn named<'n, A: Clone>(expr: &Expr<A>, notation: &impl Fn(&A) -> &'n Notation) -> Expr<ShownOperand<A>> {
    let like = |side: &Expr<A>, other: &Expr<A>| match (side, other) {
        (Expr::Const(value), Expr::Atom(atom)) => notation(atom).constant(*value),
        _ => None,
    };
    let side = |side: &Expr<A>, other: &Expr<A>| match like(side, other) {
        Some(name) => Expr::Atom(ShownOperand::Name(name)),
        None => named(side, notation),
    };
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Atom(atom) => Expr::Atom(ShownOperand::Atom(atom.clone())),
        Expr::Unary(op, arithmetic, operand) => Expr::Unary(*op, *arithmetic, Box::new(named(operand, notation))),
        Expr::Binary(op, arithmetic, left, right) if op.is_comparison() || op.selects() => {
            Expr::Binary(*op, *arithmetic, Box::new(side(left, right)), Box::new(side(right, left)))
        }
        Expr::Binary(op, arithmetic, left, right) => {
            let (left, right) = (named(left, notation), named(right, notation));
            Expr::Binary(*op, *arithmetic, Box::new(left), Box::new(right))
        }
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
        let notation = |register: &RegId| &self.thread.registers[register.0].notation;
        show_named(expr, self.arithmetic, &notation, &mut |register| self.register(*register))
    }

    /// A value that goes to a cell or a register: a number is written as the values there are.
    fn value(&self, expr: &Expr, notation: &Notation) -> String {
        let constant = match expr {
            Expr::Const(value) => notation.constant(*value),
            _ => None,
        };
        constant.unwrap_or_else(|| self.expr(expr))
    }

    /// How the values of the cell at an address are written.
    fn notation(&self, address: &Address) -> &Notation {
        match (address.within, address.constant()) {
            (Some(variable), _) => &self.memory.variables[variable.0].notation,
            (None, Some(constant)) => self.memory.notation_at(constant),
            (None, None) => &Notation::Signed,
        }
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
            Instruction::Assign { reg, value } => {
                let notation = &self.thread.registers[reg.0].notation;
                format!("{} = {}", self.register(*reg), self.value(value, notation))
            }
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
                format!("{}.write({})", self.address(address), self.value(value, self.notation(address)))
            }
            Instruction::Store { address, value, order } => {
                let value = self.value(value, self.notation(address));
                format!("{}.store({})", self.address(address), orders(&[value], *order))
            }
            Instruction::Rmw { op, arithmetic, address, operand, order, old } => {
                let own = if op.computes() { self.arithmetic.map(|_| *arithmetic) } else { self.arithmetic };
                let inner = Show { arithmetic: own, ..*self };
                let operand = match op {
                    RmwOp::Exchange => inner.value(operand, self.notation(address)),
                    _ => inner.expr(operand),
                };
                let arguments = orders(&[operand], *order);
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
                let notation = self.notation(address);
                let mut arguments = orders(&[self.value(expected, notation), self.value(new, notation)], *success);
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
                let notation = |atom: &WaitAtom| match atom {
                    WaitAtom::Read => self.notation(address),
                    WaitAtom::Register(register) => &self.thread.registers[register.0].notation,
                };
                let condition = show_named(&condition.expr, self.arithmetic, &notation, &mut |atom| match atom {
                    WaitAtom::Read => place.clone(),
                    WaitAtom::Register(register) => self.register(*register),
                });
                let order = if *order == Order::Relaxed { String::new() } else { format!(", {}", order.name()) };
                format!("{}wait({condition}{order})", self.target(*old))
            }
            Instruction::BlockingCas { address, expected, new, order } => {
                let notation = self.notation(address);
                let values = [self.value(expected, notation), self.value(new, notation)];
                format!("{}.bcas({})", self.address(address), orders(&values, *order))
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
