//! What a tree does: a plain walk over names and exact integers.

use super::generate::{Arithmetic, Escape, Expr, Place, Statement, Text, Type};
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
    let mut walk = Walk {
        text,
        cells: BTreeMap::new(),
        registers: vec![0; text.registers.len()],
        counters: Vec::new(),
        arithmetic: match (text.arithmetic, text.max_value) {
            (Some((lo, hi)), _) => Arithmetic::Wrapping(lo, hi),
            (None, Some((most, Escape::Wrap))) => Arithmetic::Wrapping(0, most),
            _ => Arithmetic::Checked,
        },
    };
    for variable in &text.variables {
        match variable.cells {
            None => _ = walk.cells.insert(variable.name.clone(), 0),
            Some(cells) => {
                (0..cells).for_each(|cell| _ = walk.cells.insert(format!("{}[{cell}]", variable.name), 0));
            }
        }
    }
    let outcome = walk.block(&text.body).err().unwrap_or(Outcome::End);
    (outcome, walk.cells)
}

struct Walk<'a> {
    text: &'a Text,
    cells: BTreeMap<String, i64>,
    registers: Vec<i64>,
    counters: Vec<i64>,
    arithmetic: Arithmetic,
}

impl Walk<'_> {
    fn block(&mut self, block: &[Statement]) -> Result<(), Outcome> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Outcome> {
        match statement {
            Statement::Assign(register, value) => {
                let value = self.eval(value, self.arithmetic)?;
                self.set(*register, value)
            }
            Statement::Add(register, value) => {
                let value = self.eval(value, self.arithmetic)?;
                let sum = settle(self.arithmetic, i128::from(self.registers[*register]) + i128::from(value))?;
                self.set(*register, sum)
            }
            Statement::Load(register, place) => {
                let (name, _) = self.place(place, self.arithmetic)?;
                self.set(*register, self.cells[&name])
            }
            Statement::Store(place, value) => {
                let (name, ty) = self.place(place, self.arithmetic)?;
                let value = self.eval(value, self.arithmetic)?;
                let value = self.admit(ty, value)?;
                self.cells.insert(name, value);
                Ok(())
            }
            Statement::Fetch(method, target, place, operand, inside) => {
                let arithmetic = inside.unwrap_or(self.arithmetic);
                let (name, ty) = self.place(place, arithmetic)?;
                let operand = self.eval(operand, arithmetic)?;
                let old = self.cells[&name];
                let new = match *method {
                    "fetch_add" => settle(arithmetic, i128::from(old) + i128::from(operand))?,
                    "fetch_sub" => settle(arithmetic, i128::from(old) - i128::from(operand))?,
                    "fetch_and" => settle(arithmetic, i128::from(old & operand))?,
                    "fetch_xor" => settle(arithmetic, i128::from(old ^ operand))?,
                    _ => operand,
                };
                let new = self.admit(ty, new)?;
                // One step: if the register does not take the old value, nothing happens.
                if let Some(register) = target {
                    self.set(*register, old)?;
                }
                self.cells.insert(name, new);
                Ok(())
            }
            Statement::If(condition, yes, no) => {
                let holds = self.eval(condition, self.arithmetic)? != 0;
                self.block(if holds { yes } else { no })
            }
            Statement::For(_, lo, end, body) => {
                for counter in *lo..*end {
                    self.counters.push(counter);
                    self.block(body)?;
                    self.counters.pop();
                }
                Ok(())
            }
        }
    }

    /// The name of a cell and its type.
    fn place(&self, place: &Place, arithmetic: Arithmetic) -> Result<(String, Type), Outcome> {
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
        self.registers[register] = self.admit(self.text.registers[register], value)?;
        Ok(())
    }

    fn admit(&self, ty: Type, value: i64) -> Result<i64, Outcome> {
        let default = self.text.max_value.map(|(most, escape)| (0, most, escape));
        let Some((lo, hi, escape)) = ty.or(default) else { return Ok(value) };
        match escape {
            _ if (lo..=hi).contains(&value) => Ok(value),
            Escape::Error => Err(Outcome::Fault),
            Escape::Block => Err(Outcome::Blocked),
            Escape::Wrap => settle(Arithmetic::Wrapping(lo, hi), value.into()),
        }
    }

    fn eval(&self, expr: &Expr, arithmetic: Arithmetic) -> Result<i64, Outcome> {
        match expr {
            Expr::Number(number) if *number < 0 => settle(arithmetic, i128::from(*number)),
            Expr::Number(number) => Ok(*number),
            Expr::Register(register) => Ok(self.registers[*register]),
            Expr::Counter(level) => Ok(self.counters[*level]),
            Expr::Negative(operand) => settle(arithmetic, -i128::from(self.eval(operand, arithmetic)?)),
            Expr::In(inside, inner) => self.eval(inner, *inside),
            Expr::Binary(operator, left, right) => {
                let left = i128::from(self.eval(left, arithmetic)?);
                match *operator {
                    "&&" if left == 0 => return Ok(0),
                    "||" if left != 0 => return Ok(1),
                    _ => {}
                }
                let right = i128::from(self.eval(right, arithmetic)?);
                let truth = |holds: bool| Ok(i64::from(holds));
                match *operator {
                    "&&" | "||" => truth(right != 0),
                    "==" => truth(left == right),
                    "!=" => truth(left != right),
                    "<" => truth(left < right),
                    "<=" => truth(left <= right),
                    "/" | "%" if right == 0 => Err(Outcome::Fault),
                    "/" => settle(arithmetic, left / right),
                    "%" => settle(arithmetic, left % right),
                    "+" => settle(arithmetic, left + right),
                    "-" => settle(arithmetic, left - right),
                    "*" => settle(arithmetic, left * right),
                    "&" => settle(arithmetic, left & right),
                    "|" => settle(arithmetic, left | right),
                    _ => settle(arithmetic, left ^ right),
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
