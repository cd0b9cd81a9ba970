//! Expressions and cells in C.

use super::{CSetting, variable_of};
use ravelin_program::{Address, Arithmetic, BinaryOp, Expr, RegId, UnaryOp, Value};

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
        match expr {
            Expr::Const(value) => constant(*value),
            Expr::Atom(RegId(register)) => self.setting.registers[self.thread][*register].clone(),
            Expr::Unary(UnaryOp::Not, _, operand) => format!("!{}", self.operand(operand)),
            Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
                settle(*arithmetic, format!("0 - {}", self.operand(operand)))
            }
            Expr::Binary(op, arithmetic, left, right) => self.binary(*op, *arithmetic, left, right),
        }
    }

    fn binary(&self, op: BinaryOp, arithmetic: Arithmetic, left: &Expr, right: &Expr) -> String {
        let call = match op {
            BinaryOp::Div => "divide",
            BinaryOp::Rem => "modulo",
            BinaryOp::Shl => "shift_left",
            BinaryOp::Shr => "shift_right",
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                // Where the result is wrapped, the exact one must exist first.
                let wide = if arithmetic == Arithmetic::Checked { "" } else { "(__int128)" };
                let exact = format!("{wide}{} {} {}", self.operand(left), op.symbol(), self.operand(right));
                return settle(arithmetic, exact);
            }
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                let exact = format!("{} {} {}", self.operand(left), op.symbol(), self.operand(right));
                return settle(arithmetic, exact);
            }
            _ => return format!("{} {} {}", self.operand(left), op.symbol(), self.operand(right)),
        };
        settle(arithmetic, format!("{call}({}, {})", self.expr(left), self.expr(right)))
    }

    /// In parentheses where it is more than a name or a number.
    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(_) | Expr::Atom(_) => self.expr(expr),
            _ => format!("({})", self.expr(expr)),
        }
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
                CellTerm { text: format!("mem[{place}]"), outside: Some(format!("{place} < 0 || {place} >= {cells}")) }
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
