//! Expressions and cells in C.

use super::{CSetting, variable_of};
use ravelin_program::{Address, Arithmetic, BinaryOp, Expr, RegId, UnaryOp, Unnamed, Value, WaitAtom, WaitCondition};

/// Writes the expressions of one thread.
pub(super) struct TermWriter<'a> {
    setting: &'a CSetting<'a>,
    thread: usize,
}

/// A cell of memory, and the condition under which there is no such cell.
pub(super) struct CellTerm {
    pub text: String,
    pub outside: Option<String>,
}

impl<'a> TermWriter<'a> {
    pub fn of(setting: &'a CSetting<'a>, thread: usize) -> TermWriter<'a> {
        TermWriter { setting, thread }
    }

    pub fn expr(&self, expr: &Expr) -> String {
        write_expr(expr, &|register| self.register(*register))
    }

    /// The condition of a wait, with a name for the value read.
    pub fn condition(&self, condition: &WaitCondition, read: &str) -> String {
        write_expr(&condition.expr, &|atom| match atom {
            WaitAtom::Read => read.to_owned(),
            WaitAtom::Register(register) => self.register(*register),
        })
    }

    fn register(&self, register: RegId) -> String {
        self.setting.registers[self.thread][register.0].clone()
    }

    fn operand(&self, expr: &Expr) -> String {
        write_operand(expr, &|register| self.register(*register))
    }

    pub fn cell(&self, address: &Address) -> CellTerm {
        let variable = variable_of(self.setting.program, address);
        match (variable, address.constant(), self.setting.flat) {
            (Some(index), Some(constant), _) => {
                let variable = &self.setting.program.memory.variables[index];
                let name = &self.setting.variables[index];
                let text = match variable.len {
                    Some(_) => format!("{name}[{}]", i128::from(constant) - i128::from(variable.base)),
                    None => name.clone(),
                };
                // An index that is known to be wrong is still written; nothing gets there.
                let outside = (!variable.contains(constant)).then(|| "1".to_owned());
                CellTerm { text: if outside.is_some() { format!("{name}[0]") } else { text }, outside }
            }
            (Some(index), None, _) => {
                let variable = &self.setting.program.memory.variables[index];
                let place = self.offset(&address.expr, variable.base);
                let outside = format!("{place} < 0 || {place} >= {}", variable.cells());
                let name = &self.setting.variables[index];
                let text = if variable.len.is_some() { format!("{name}[{place}]") } else { name.clone() };
                CellTerm { text, outside: Some(outside) }
            }
            (None, _, flat) => {
                let (lo, cells) = flat.unwrap_or((0, 1));
                let place = self.offset(&address.expr, lo);
                let outside = match self.setting.program.memory.unnamed {
                    Unnamed::Cells(_) => format!("{place} < 0 || {place} >= {cells}"),
                    Unnamed::Nothing => {
                        let runs = self.setting.program.memory.named_runs();
                        let other = |(first, last)| format!("({place} < {} || {place} > {})", first - lo, last - lo);
                        let others: Vec<String> = runs.into_iter().map(other).collect();
                        if others.is_empty() { "1".to_owned() } else { others.join(" && ") }
                    }
                };
                CellTerm { text: format!("mem[{place}]"), outside: Some(outside) }
            }
        }
    }

    /// An address relative to another; front ends write indices as base + index.
    fn offset(&self, expr: &Expr, base: Value) -> String {
        match expr {
            Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, right) if **left == Expr::Const(base) => {
                self.operand(right)
            }
            Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, right) if **right == Expr::Const(base) => {
                self.operand(left)
            }
            _ if base == 0 => self.operand(expr),
            _ => format!("({} - {})", self.operand(expr), constant(base)),
        }
    }
}

fn write_expr<A>(expr: &Expr<A>, atom: &impl Fn(&A) -> String) -> String {
    match expr {
        Expr::Const(value) => constant(*value),
        Expr::Atom(of) => atom(of),
        Expr::Unary(UnaryOp::Not, _, operand) => format!("!{}", write_operand(operand, atom)),
        Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
            settle(*arithmetic, format!("0 - {}", write_operand(operand, atom)))
        }
        Expr::Binary(op, arithmetic, left, right) => {
            let call = match op {
                BinaryOp::Div => "divide",
                BinaryOp::Rem => "modulo",
                BinaryOp::Shl => "shift_left",
                BinaryOp::Shr => "shift_right",
                BinaryOp::UnsignedDiv => "unsigned_divide",
                BinaryOp::UnsignedRem => "unsigned_modulo",
                BinaryOp::LogicalShr => "shift_in_zeros",
                BinaryOp::Nand => "not_and",
                BinaryOp::Max => "larger",
                BinaryOp::Min => "smaller",
                BinaryOp::UnsignedMax => "unsigned_larger",
                BinaryOp::UnsignedMin => "unsigned_smaller",
                BinaryOp::UnsignedLt | BinaryOp::UnsignedLe | BinaryOp::UnsignedGt | BinaryOp::UnsignedGe => {
                    let sign = match op {
                        BinaryOp::UnsignedLt => "<",
                        BinaryOp::UnsignedLe => "<=",
                        BinaryOp::UnsignedGt => ">",
                        _ => ">=",
                    };
                    let unsigned = |expr| format!("(unsigned long long){}", write_operand(expr, atom));
                    return format!("{} {sign} {}", unsigned(left), unsigned(right));
                }
                _ => {
                    let (left, right) = (write_operand(left, atom), write_operand(right, atom));
                    // Where the result is wrapped, the exact one must exist first.
                    let wraps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
                    let wide = if wraps && *arithmetic != Arithmetic::Checked { "(__int128)" } else { "" };
                    let exact = format!("{wide}{left} {} {right}", op.symbol());
                    return if op.computes() { settle(*arithmetic, exact) } else { exact };
                }
            };
            let exact = format!("{call}({}, {})", write_expr(left, atom), write_expr(right, atom));
            if op.computes() { settle(*arithmetic, exact) } else { exact }
        }
    }
}

/// In parentheses where it is more than a name or a number.
fn write_operand<A>(expr: &Expr<A>, atom: &impl Fn(&A) -> String) -> String {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => write_expr(expr, atom),
        _ => format!("({})", write_expr(expr, atom)),
    }
}

/// Brings an exact result back to a value.
fn settle(arithmetic: Arithmetic, exact: String) -> String {
    match arithmetic {
        Arithmetic::Checked => exact,
        Arithmetic::Wrapping(domain) => format!("wrap({exact}, {}, {})", constant(domain.lo), constant(domain.hi)),
    }
}

/// A number as C reads it.
pub(super) fn constant(value: Value) -> String {
    if value == Value::MIN {
        "(-9223372036854775807 - 1)".to_owned()
    } else if value < 0 {
        format!("({value})")
    } else {
        value.to_string()
    }
}
