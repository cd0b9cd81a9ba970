//! What a tree does: a plain walk over names and exact integers.

use super::generate::{Arithmetic, Call, Escape, Expr, Place, Statement, Text, Type};
use std::collections::BTreeMap;

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    End,
    Fault,
    Blocked,
}

/// How the run of a text ends, and what each cell holds then.
pub fn walk(text: &Text) -> (Outcome, BTreeMap<String, i64>) {
    let frame = Frame {
        registers: vec![0; text.registers.len()],
        types: text.registers.clone(),
        kinds: text.registers.iter().map(|&ty| kind(ty)).collect(),
        counters: Vec::new(),
    };
    let arithmetic = match (text.arithmetic, text.max_value) {
        (Some((lo, hi)), _) => Some(Arithmetic::Wrapping(lo, hi)),
        (None, Some((most, Escape::Wrap))) => Some(Arithmetic::Wrapping(0, most)),
        _ => None,
    };
    let mut walk = Walk { text, cells: BTreeMap::new(), frame, arithmetic };
    for variable in &text.variables {
        match variable.cells {
            None => _ = walk.cells.insert(variable.name.clone(), 0),
            Some(cells) => {
                (0..cells).for_each(|cell| _ = walk.cells.insert(format!("{}[{cell}]", variable.name), 0));
            }
        }
    }
    let outcome = match walk.block(&text.body) {
        Ok(()) => Outcome::End,
        Err(Leave::Run(outcome)) => outcome,
        Err(Leave::Function(_)) => unreachable!("a thread returns nothing"),
    };
    (outcome, walk.cells)
}

/// An integer type: its values, and whether they have no sign.
type Kind = Option<(i64, i64, bool)>;

fn kind(ty: Type) -> Kind {
    match ty? {
        (lo, hi, Escape::Integer) => Some((lo, hi, false)),
        (lo, hi, Escape::Unsigned) => Some((lo, hi, true)),
        _ => None,
    }
}

fn joined(left: Kind, right: Kind) -> Kind {
    match (left, right) {
        (Some(left), Some(right)) => Some(left).filter(|_| left == right),
        (kind, None) | (None, kind) => kind,
    }
}

/// What belongs to the thread, or to one call of a function.
struct Frame {
    registers: Vec<i64>,
    types: Vec<Type>,
    kinds: Vec<Kind>,
    counters: Vec<i64>,
}

/// Why a block is left.
enum Leave {
    Run(Outcome),
    Function(i64),
}

impl From<Outcome> for Leave {
    fn from(outcome: Outcome) -> Leave {
        Leave::Run(outcome)
    }
}

struct Walk<'a> {
    text: &'a Text,
    cells: BTreeMap<String, i64>,
    frame: Frame,
    /// What the file says.
    arithmetic: Option<Arithmetic>,
}

impl Walk<'_> {
    fn block(&mut self, block: &[Statement]) -> Result<(), Leave> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Leave> {
        match statement {
            Statement::Assign(register, value) => {
                let value = self.eval(value, self.arithmetic)?;
                self.set(*register, value)?;
            }
            Statement::Add(register, value) => {
                let right = self.eval(value, self.arithmetic)?;
                let arithmetic = self.how(joined(self.frame.kinds[*register], self.kind(value)), self.arithmetic);
                let sum = settle(arithmetic, i128::from(self.frame.registers[*register]) + i128::from(right))?;
                self.set(*register, sum)?;
            }
            Statement::Load(register, place) => {
                let (name, _) = self.place(place, self.arithmetic)?;
                self.set(*register, self.cells[&name])?;
            }
            Statement::Store(place, value) => {
                let (name, ty) = self.place(place, self.arithmetic)?;
                let value = self.eval(value, self.arithmetic)?;
                let value = self.admit(ty, value)?;
                self.cells.insert(name, value);
            }
            Statement::Fetch(method, target, place, operand, inside) => {
                let around = inside.or(self.arithmetic);
                let (name, ty) = self.place(place, around)?;
                let operand = self.eval(operand, around)?;
                let arithmetic = self.how(kind(ty), around);
                let old = self.cells[&name];
                let new = match *method {
                    "fetch_add" => settle(arithmetic, i128::from(old) + i128::from(operand))?,
                    "fetch_sub" => settle(arithmetic, i128::from(old) - i128::from(operand))?,
                    "fetch_and" => settle(arithmetic, i128::from(old & operand))?,
                    "fetch_xor" => settle(arithmetic, i128::from(old ^ operand))?,
                    "fetch_max" if kind(ty).is_some_and(|(.., unsigned)| unsigned) => {
                        (old as u64).max(operand as u64) as i64
                    }
                    "fetch_max" => old.max(operand),
                    _ => operand,
                };
                let new = self.admit(ty, new)?;
                // One step: if the register does not take the old value, nothing happens.
                if let Some(register) = target {
                    self.set(*register, old)?;
                }
                self.cells.insert(name, new);
            }
            Statement::If(condition, yes, no) => {
                let holds = self.eval(condition, self.arithmetic)? != 0;
                self.block(if holds { yes } else { no })?;
            }
            Statement::Match(value, arms, otherwise) => {
                let value = self.eval(value, self.arithmetic)?;
                let arm = arms.iter().find(|((lo, hi), _)| (*lo..=*hi).contains(&value));
                self.block(arm.map_or(otherwise, |(_, body)| body))?;
            }
            Statement::Call(target, call) => {
                let value = self.call(call)?;
                if let Some(register) = target {
                    self.set(*register, value)?;
                }
            }
            Statement::Return(value) => return Err(Leave::Function(self.eval(value, self.arithmetic)?)),
            Statement::For(_, lo, end, body) => {
                for counter in *lo..*end {
                    self.frame.counters.push(counter);
                    self.block(body)?;
                    self.frame.counters.pop();
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<i64, Leave> {
        let function = &self.text.functions[call.0];
        let mut arguments = Vec::new();
        if let Some(first) = &call.2 {
            arguments.push((self.call(first)?, kind(self.text.functions[first.0].result)));
        }
        for argument in &call.1 {
            arguments.push((self.eval(argument, self.arithmetic)?, self.kind(argument)));
        }
        let mut frame = Frame { registers: Vec::new(), types: Vec::new(), kinds: Vec::new(), counters: Vec::new() };
        for (parameter, (value, known)) in function.parameters.iter().zip(arguments) {
            frame.registers.push(self.admit(parameter.ty, value)?);
            frame.types.push(parameter.ty);
            frame.kinds.push(parameter.ty.map_or(known, |ty| kind(Some(ty))));
        }
        let outside = std::mem::replace(&mut self.frame, frame);
        let (ty, first) = (function.local.0, &function.local.1);
        let value = self.eval(first, self.arithmetic)?;
        let known = ty.map_or_else(|| self.kind(first), |ty| kind(Some(ty)));
        self.frame.registers.push(self.admit(ty, value)?);
        self.frame.types.push(ty);
        self.frame.kinds.push(known);
        let value = match self.block(&function.body) {
            Ok(()) => self.eval(&function.value, self.arithmetic)?,
            Err(Leave::Function(value)) => value,
            Err(other) => return Err(other),
        };
        self.frame = outside;
        Ok(self.admit(function.result, value)?)
    }

    /// The name of a cell and its type.
    fn place(&self, place: &Place, arithmetic: Option<Arithmetic>) -> Result<(String, Type), Outcome> {
        let variable = &self.text.variables[place.0];
        let name = match (&place.1, variable.cells) {
            (Some(index), Some(cells)) => {
                let index = self.eval(index, arithmetic)?;
                if !(0..cells as i64).contains(&index) {
                    return Err(Outcome::Fault);
                }
                format!("{}[{index}]", variable.name)
            }
            _ => variable.name.clone(),
        };
        Ok((name, variable.ty))
    }

    fn set(&mut self, register: usize, value: i64) -> Result<(), Outcome> {
        self.frame.registers[register] = self.admit(self.frame.types[register], value)?;
        Ok(())
    }

    fn admit(&self, ty: Type, value: i64) -> Result<i64, Outcome> {
        let default = self.text.max_value.map(|(most, escape)| (0, most, escape));
        let Some((lo, hi, escape)) = ty.or(default) else { return Ok(value) };
        match escape {
            _ if (lo..=hi).contains(&value) => Ok(value),
            Escape::Error | Escape::Integer | Escape::Unsigned => Err(Outcome::Fault),
            Escape::Block => Err(Outcome::Blocked),
            Escape::Wrap => settle(Arithmetic::Wrapping(lo, hi), value.into()),
        }
    }

    /// How an operator computes on values of a kind.
    fn how(&self, kind: Kind, around: Option<Arithmetic>) -> Arithmetic {
        let own = kind.map(|(lo, hi, _)| Arithmetic::Wrapping(lo, hi));
        around.or(own).unwrap_or(Arithmetic::Checked)
    }

    /// The kind of an expression, which does not depend on values.
    fn kind(&self, expr: &Expr) -> Kind {
        match expr {
            Expr::Number(_) | Expr::Counter(_) => None,
            Expr::Register(register) => self.frame.kinds[*register],
            Expr::Negative(operand) => self.kind(operand),
            Expr::In(_, inner) => self.kind(inner),
            Expr::Binary("&&" | "||" | "==" | "!=" | "<" | "<=", ..) => None,
            Expr::Binary(_, left, right) => joined(self.kind(left), self.kind(right)),
            Expr::If(_, yes, no) => joined(self.kind(yes), self.kind(no)),
            Expr::Match(_, arms, otherwise) => {
                let arms = arms.iter().map(|(_, arm)| self.kind(arm)).chain([self.kind(otherwise)]);
                arms.reduce(joined).flatten()
            }
        }
    }

    fn eval(&self, expr: &Expr, around: Option<Arithmetic>) -> Result<i64, Outcome> {
        match expr {
            Expr::Number(number) if *number < 0 => settle(self.how(None, around), i128::from(*number)),
            Expr::Number(number) => Ok(*number),
            Expr::Register(register) => Ok(self.frame.registers[*register]),
            Expr::Counter(level) => Ok(self.frame.counters[*level]),
            Expr::Negative(operand) => {
                let value = self.eval(operand, around)?;
                settle(self.how(self.kind(operand), around), -i128::from(value))
            }
            Expr::In(inside, inner) => self.eval(inner, Some(*inside)),
            Expr::If(condition, yes, no) => {
                let holds = self.eval(condition, around)? != 0;
                self.eval(if holds { yes } else { no }, around)
            }
            Expr::Match(value, arms, otherwise) => {
                let value = self.eval(value, around)?;
                let arm = arms.iter().find(|((lo, hi), _)| (*lo..=*hi).contains(&value));
                self.eval(arm.map_or(otherwise, |(_, arm)| arm), around)
            }
            Expr::Binary(operator, one, other) => {
                let left = self.eval(one, around)?;
                match *operator {
                    "&&" if left == 0 => return Ok(0),
                    "||" if left != 0 => return Ok(1),
                    _ => {}
                }
                let right = self.eval(other, around)?;
                let kind = joined(self.kind(one), self.kind(other));
                let arithmetic = self.how(kind, around);
                let unsigned = kind.is_some_and(|(.., unsigned)| unsigned);
                let truth = |holds: bool| Ok(i64::from(holds));
                let (wide_left, wide_right) = (i128::from(left), i128::from(right));
                match *operator {
                    "&&" | "||" => truth(right != 0),
                    "==" => truth(left == right),
                    "!=" => truth(left != right),
                    "<" if unsigned => truth((left as u64) < right as u64),
                    "<=" if unsigned => truth(left as u64 <= right as u64),
                    "<" => truth(left < right),
                    "<=" => truth(left <= right),
                    "/" | "%" if right == 0 => Err(Outcome::Fault),
                    // The 64 bits of the result are a value, which the operator brings into its type.
                    "/" if unsigned => settle(arithmetic, i128::from((left as u64 / right as u64) as i64)),
                    "%" if unsigned => settle(arithmetic, i128::from((left as u64 % right as u64) as i64)),
                    "/" => settle(arithmetic, wide_left / wide_right),
                    "%" => settle(arithmetic, wide_left % wide_right),
                    "+" => settle(arithmetic, wide_left + wide_right),
                    "-" => settle(arithmetic, wide_left - wide_right),
                    "*" => settle(arithmetic, wide_left * wide_right),
                    "&" => settle(arithmetic, wide_left & wide_right),
                    "|" => settle(arithmetic, wide_left | wide_right),
                    _ => settle(arithmetic, wide_left ^ wide_right),
                }
            }
        }
    }
}

fn settle(arithmetic: Arithmetic, exact: i128) -> Result<i64, Outcome> {
    match arithmetic {
        Arithmetic::Checked => i64::try_from(exact).map_err(|_| Outcome::Fault),
        Arithmetic::Wrapping(lo, hi) => {
            let size = i128::from(hi) - i128::from(lo) + 1;
            Ok((i128::from(lo) + (exact - i128::from(lo)).rem_euclid(size)) as i64)
        }
    }
}
