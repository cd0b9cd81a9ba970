//! The condition of a `wait`: an expression over the value read and the thread's registers.
//!
//! A wait loads a cell and can be taken only if its condition holds for the value that it read. Many waits are for one of a few values,
//! `x == a || x == b`, and some analyses do better if they know them: [`WaitCondition::values`] recognises this form.

use crate::{Arithmetic, BinaryOp, Expr, Fault, RegId, UnaryOp, Value};

/// What a wait waits for: it passes if the expression is not 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaitCondition {
    pub expr: Expr<WaitAtom>,
}

/// An operand of the condition of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitAtom {
    /// The value that the wait reads.
    Read,
    Register(RegId),
}

impl WaitCondition {
    pub fn new(expr: Expr<WaitAtom>) -> WaitCondition {
        WaitCondition { expr }
    }

    /// That the value read is this one.
    pub fn equals(value: Expr) -> WaitCondition {
        WaitCondition::one_of([value])
    }

    /// That the value read is one of these, tried in this order. Without any it never holds.
    pub fn one_of(values: impl IntoIterator<Item = Expr>) -> WaitCondition {
        let equal = values.into_iter().map(|value| Expr::Atom(WaitAtom::Read).eq(over_registers(&value)));
        WaitCondition { expr: any_of(equal.collect()) }
    }

    /// A condition on registers, one of which stands for the value read.
    pub fn on_register(condition: &Expr, read: RegId) -> WaitCondition {
        let atom = |register: &RegId| if *register == read { WaitAtom::Read } else { WaitAtom::Register(*register) };
        WaitCondition { expr: condition.map_atoms(&mut |register| Expr::Atom(atom(register))) }
    }

    /// The values that are waited for, if the condition lists them: `read == a`, `a == read`, and alternatives of these, where `a` does not
    /// mention the value read. They are compared in this order, and the later ones are not evaluated once one is equal.
    pub fn values(&self) -> Option<Vec<Expr>> {
        let mut values = Vec::new();
        list_values(&self.expr, &mut values)?;
        Some(values)
    }

    /// Whether a wait that read this value passes.
    pub fn holds(&self, read: Value, register: &mut impl FnMut(RegId) -> Value) -> Result<bool, Fault> {
        let held = self.expr.eval(&mut |atom| match atom {
            WaitAtom::Read => read,
            WaitAtom::Register(id) => register(*id),
        })?;
        Ok(held != 0)
    }

    /// The condition with an expression for the value read.
    pub fn with_read(&self, read: &Expr) -> Expr {
        self.expr.map_atoms(&mut |atom| match atom {
            WaitAtom::Read => read.clone(),
            WaitAtom::Register(register) => Expr::Atom(*register),
        })
    }

    pub fn mentions_read(&self) -> bool {
        mentions_read(&self.expr)
    }

    /// The registers that it mentions, in the order of their first mention.
    pub fn registers(&self) -> Vec<RegId> {
        let mut registers = Vec::new();
        self.expr.for_each_atom(&mut |atom| {
            if let WaitAtom::Register(register) = atom
                && !registers.contains(register)
            {
                registers.push(*register);
            }
        });
        registers
    }

    pub(crate) fn compute_in(&mut self, arithmetic: Arithmetic) {
        self.expr.compute_in(arithmetic);
    }
}

/// Alternatives in their order. Many of them are nested evenly, since expressions are followed by recursion.
fn any_of(mut alternatives: Vec<Expr<WaitAtom>>) -> Expr<WaitAtom> {
    const MOST_IN_A_ROW: usize = 32;
    if alternatives.len() > MOST_IN_A_ROW {
        let second = alternatives.split_off(alternatives.len() / 2);
        return any_of(alternatives).or(any_of(second));
    }
    alternatives.into_iter().reduce(Expr::or).unwrap_or(Expr::Const(0))
}

/// The same expression as an operand of a condition that does not mention the value read.
fn over_registers(expr: &Expr) -> Expr<WaitAtom> {
    expr.map_atoms(&mut |register| Expr::Atom(WaitAtom::Register(*register)))
}

fn list_values(condition: &Expr<WaitAtom>, values: &mut Vec<Expr>) -> Option<()> {
    match condition {
        Expr::Binary(BinaryOp::Eq, _, left, right) => {
            let value = match (&**left, &**right) {
                (Expr::Atom(WaitAtom::Read), value) | (value, Expr::Atom(WaitAtom::Read)) => value,
                _ => return None,
            };
            if mentions_read(value) {
                return None;
            }
            values.push(value.map_atoms(&mut |atom| match atom {
                WaitAtom::Register(register) => Expr::Atom(*register),
                WaitAtom::Read => Expr::Const(0),
            }));
            Some(())
        }
        Expr::Binary(BinaryOp::Or, _, left, right) => {
            list_values(left, values)?;
            list_values(right, values)
        }
        Expr::Unary(UnaryOp::Not, _, inner) => match &**inner {
            Expr::Unary(UnaryOp::Not, _, inner) => list_values(inner, values),
            Expr::Binary(BinaryOp::Ne, ..) => list_values(&inner.opposite()?, values),
            _ => None,
        },
        _ => None,
    }
}

fn mentions_read(expr: &Expr<WaitAtom>) -> bool {
    let mut found = false;
    expr.for_each_atom(&mut |atom| found |= *atom == WaitAtom::Read);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Expr<WaitAtom> = Expr::Atom(WaitAtom::Read);

    #[test]
    fn listed_values_are_recognised_however_they_are_written() {
        let listed = |expr| WaitCondition::new(expr).values();
        let (r, one) = (Expr::Atom(RegId(3)), Expr::<RegId>::Const(1));
        assert_eq!(WaitCondition::one_of([one.clone(), r.clone()]).values(), Some(vec![one.clone(), r]));
        assert_eq!(listed(Expr::Const(1).eq(READ)), Some(vec![one.clone()]));
        assert_eq!(listed(Expr::binary(BinaryOp::Ne, READ, 1.into()).not()), Some(vec![one.clone()]));
        assert_eq!(listed(READ.eq(1.into()).not().not()), Some(vec![one]));
        for other in [READ.eq(READ), Expr::binary(BinaryOp::Ne, READ, 1.into()), READ.eq(1.into()).and(READ), READ] {
            assert_eq!(listed(other.clone()), None, "{other:?}");
        }
    }

    #[test]
    fn a_condition_is_evaluated_on_the_value_read() {
        let even = Expr::binary(BinaryOp::Rem, READ, Expr::Atom(WaitAtom::Register(RegId(0)))).eq(0.into());
        let even = WaitCondition::new(even);
        assert_eq!(even.holds(4, &mut |_| 2), Ok(true));
        assert_eq!(even.holds(5, &mut |_| 2), Ok(false));
        assert_eq!(even.holds(5, &mut |_| 0), Err(Fault::DivisionByZero));
        assert_eq!(even.registers(), [RegId(0)]);
        assert_eq!(even.values(), None);
        assert!(!WaitCondition::one_of([]).mentions_read());
    }

    #[test]
    fn many_values_keep_their_order() {
        let values: Vec<Expr> = (0..1000).map(Expr::Const).collect();
        assert_eq!(WaitCondition::one_of(values.clone()).values(), Some(values));
    }

    #[test]
    fn a_register_may_stand_for_the_value_read() {
        let condition = Expr::binary(BinaryOp::Lt, Expr::Atom(RegId(0)), Expr::Atom(RegId(1)));
        let wait = WaitCondition::on_register(&condition, RegId(0));
        assert_eq!(wait.registers(), [RegId(1)]);
        assert_eq!(wait.with_read(&Expr::Atom(RegId(0))), condition);
    }
}
