//! The stale values that let a wait pass, for waits that do not list them: `x != 0`, `x < limit`, `x % 2 == 0`.
//!
//! They depend on the registers that the condition mentions, so there is a table with one row for each combination of values that these
//! can have where the wait stands. A row holds classes of values that together are the values that pass: `x != v` is one class with an
//! exception, `x < c` a range. They are found by trying every value that the cells can hold. Where those are too many, the classes are
//! derived from the comparisons of the condition.
//!
//! A value on which the condition has no value, such as `1 / x` on 0, counts as well: it is a fault that SC may not have. If there is no other
//! kind of value, the thread stops whatever it reads, and the wait is no access.

use super::plan::Class;
use super::questions::{FollowedRegisters, MOST_VALUES};
use crate::ranges::Interval;
use ravelin_explore::Limit;
use ravelin_program::{Address, BinaryOp, Expr, LocId, RegId, UnaryOp, Value, WaitAtom, WaitCondition};
use std::collections::{BTreeSet, HashMap};

/// The values that pass, by the values of the registers.
#[derive(Clone, Debug)]
pub(crate) struct PassingValues {
    pub registers: Vec<RegId>,
    rows: HashMap<Vec<Value>, Vec<Class>>,
}

impl PassingValues {
    /// `None` if there are too many values to find them.
    pub fn of(
        followed: &mut FollowedRegisters,
        thread: usize,
        location: LocId,
        address: &Address,
        condition: &WaitCondition,
        admitted: Class,
    ) -> Result<Option<PassingValues>, Limit> {
        let registers = condition.registers();
        let mut valuations = vec![Vec::new()];
        for &register in &registers {
            let Some(values) = followed.at(thread, register, location)? else { return Ok(None) };
            let size = valuations.len() as i128 * values.len() as i128;
            if size > MOST_VALUES {
                return Ok(None);
            }
            let longer = |known: &Vec<Value>, value: &Value| known.iter().chain([value]).copied().collect();
            valuations = valuations
                .iter()
                .flat_map(|known: &Vec<Value>| values.iter().map(move |value| longer(known, value)))
                .collect::<Vec<Vec<Value>>>();
        }
        let cells = followed.ranges.load(followed.program, thread, address);
        let mut rows = HashMap::new();
        for valuation in valuations {
            let row = Row { condition, registers: &registers, valuation: &valuation };
            let Some(intervals) = row.intervals(cells, admitted, followed)? else { return Ok(None) };
            let classes = classes(&intervals);
            followed.watch.hold(size_of::<Vec<Value>>() + size_of::<Class>() * (1 + classes.len()))?;
            rows.insert(valuation, classes);
        }
        Ok(Some(PassingValues { registers, rows }))
    }

    /// Every class of any row.
    pub fn classes(&self) -> impl Iterator<Item = Class> {
        self.rows.values().flatten().copied()
    }

    /// The classes with these values of the registers.
    pub fn row(&self, valuation: &[Value]) -> &[Class] {
        debug_assert!(self.rows.contains_key(valuation), "the registers can have these values");
        self.rows.get(valuation).map_or(&[], Vec::as_slice)
    }
}

/// The condition with values for its registers.
struct Row<'a> {
    condition: &'a WaitCondition,
    registers: &'a [RegId],
    valuation: &'a [Value],
}

impl Row<'_> {
    fn register(&self, register: RegId) -> Value {
        self.registers.iter().position(|known| *known == register).map_or(0, |at| self.valuation[at])
    }

    /// The values that pass, as disjoint intervals in ascending order.
    fn intervals(
        &self,
        cells: Interval,
        admitted: Class,
        followed: &FollowedRegisters,
    ) -> Result<Option<Vec<Interval>>, Limit> {
        let size = i128::from(cells.hi) - i128::from(cells.lo) + 1;
        if size > MOST_VALUES {
            let all = Interval { lo: admitted.lo, hi: admitted.hi };
            return Ok(self.derived(&self.condition.expr).map(|passing| intersection(&passing, &[all])));
        }
        followed.watch.steps(size as usize)?;
        let mut passing = BTreeSet::new();
        let mut faults_only = true;
        for value in cells.lo..=cells.hi {
            let holds = self.condition.holds(value, &mut |register| self.register(register));
            faults_only &= holds.is_err();
            if holds.unwrap_or(true) && admitted.contains(value) {
                passing.insert(value);
            }
        }
        if faults_only {
            return Ok(Some(Vec::new()));
        }
        let mut intervals: Vec<Interval> = Vec::new();
        for value in passing {
            match intervals.last_mut() {
                Some(last) if last.hi + 1 == value => last.hi = value,
                _ => intervals.push(Interval::point(value)),
            }
        }
        Ok(Some(intervals))
    }

    /// The values for which a condition holds, if it is made of comparisons of the value read with what does not depend on it.
    fn derived(&self, condition: &Expr<WaitAtom>) -> Option<Vec<Interval>> {
        const ALL: Interval = Interval { lo: Value::MIN, hi: Value::MAX };
        if let Some(value) = self.constant(condition) {
            let holds = value.ok()? != 0;
            return Some(if holds { vec![ALL] } else { Vec::new() });
        }
        match condition {
            Expr::Atom(WaitAtom::Read) => Some(complement(&[Interval::point(0)])),
            Expr::Unary(UnaryOp::Not, _, inner) => Some(complement(&self.derived(inner)?)),
            Expr::Binary(BinaryOp::And, _, left, right) => {
                Some(intersection(&self.derived(left)?, &self.derived(right)?))
            }
            Expr::Binary(BinaryOp::Or, _, left, right) => {
                let neither = intersection(&complement(&self.derived(left)?), &complement(&self.derived(right)?));
                Some(complement(&neither))
            }
            Expr::Binary(op, _, left, right) => {
                let (op, value) = match (&**left, &**right) {
                    (Expr::Atom(WaitAtom::Read), value) => (*op, value),
                    (value, Expr::Atom(WaitAtom::Read)) => (mirrored(*op)?, value),
                    _ => return None,
                };
                let value = self.constant(value)?.ok()?;
                let below = |end: Option<Value>| end.map(|hi| Interval { lo: Value::MIN, hi }).into_iter().collect();
                let above =
                    |start: Option<Value>| start.map(|lo| Interval { lo, hi: Value::MAX }).into_iter().collect();
                match op {
                    BinaryOp::Eq => Some(vec![Interval::point(value)]),
                    BinaryOp::Ne => Some(complement(&[Interval::point(value)])),
                    BinaryOp::Lt => Some(below(value.checked_sub(1))),
                    BinaryOp::Le => Some(below(Some(value))),
                    BinaryOp::Gt => Some(above(value.checked_add(1))),
                    BinaryOp::Ge => Some(above(Some(value))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value of an expression that does not mention the value read.
    fn constant(&self, expr: &Expr<WaitAtom>) -> Option<Result<Value, ravelin_program::Fault>> {
        let mut mentions = false;
        expr.for_each_atom(&mut |atom| mentions |= *atom == WaitAtom::Read);
        (!mentions).then(|| {
            expr.eval(&mut |atom| match atom {
                WaitAtom::Register(register) => self.register(*register),
                WaitAtom::Read => 0,
            })
        })
    }
}

/// The comparison with its sides exchanged.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Eq | BinaryOp::Ne => Some(op),
        BinaryOp::Lt => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Lt),
        BinaryOp::Le => Some(BinaryOp::Ge),
        BinaryOp::Ge => Some(BinaryOp::Le),
        _ => None,
    }
}

fn complement(intervals: &[Interval]) -> Vec<Interval> {
    let mut gaps = Vec::new();
    let mut next = Some(Value::MIN);
    for interval in intervals {
        if let Some(lo) = next.filter(|lo| *lo < interval.lo) {
            gaps.push(Interval { lo, hi: interval.lo - 1 });
        }
        next = interval.hi.checked_add(1);
    }
    gaps.extend(next.map(|lo| Interval { lo, hi: Value::MAX }));
    gaps
}

fn intersection(left: &[Interval], right: &[Interval]) -> Vec<Interval> {
    let mut both = Vec::new();
    for a in left {
        for b in right {
            let (lo, hi) = (a.lo.max(b.lo), a.hi.min(b.hi));
            if lo <= hi {
                both.push(Interval { lo, hi });
            }
        }
    }
    both
}

/// As few classes as their exceptions allow: two intervals with one value between them are one class.
fn classes(intervals: &[Interval]) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for interval in intervals {
        match classes.last_mut() {
            Some(Class { hi, except: except @ None, .. }) if i128::from(*hi) + 2 == i128::from(interval.lo) => {
                *except = Some(interval.lo - 1);
                *hi = interval.hi;
            }
            _ => classes.push(Class { lo: interval.lo, hi: interval.hi, except: None }),
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(lo: Value, hi: Value) -> Interval {
        Interval { lo, hi }
    }

    #[test]
    fn a_gap_of_one_value_is_an_exception() {
        let class = |lo, hi, except| Class { lo, hi, except };
        let all = [interval(Value::MIN, 4), interval(6, 7), interval(9, 9), interval(12, Value::MAX)];
        assert_eq!(classes(&all), [class(Value::MIN, 7, Some(5)), class(9, 9, None), class(12, Value::MAX, None)]);
        assert_eq!(complement(&all), [interval(5, 5), interval(8, 8), interval(10, 11)]);
        assert_eq!(complement(&[]), [interval(Value::MIN, Value::MAX)]);
    }

    #[test]
    fn what_is_derived_is_what_holds() {
        let read = || Expr::Atom(WaitAtom::Read);
        let register = || Expr::Atom(WaitAtom::Register(RegId(0)));
        let mut conditions: Vec<Expr<WaitAtom>> = vec![read(), read().not(), register(), 1.into()];
        for op in [BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge] {
            for value in [register(), 2.into(), Expr::binary(BinaryOp::Add, register(), 1.into())] {
                conditions.push(Expr::binary(op, read(), value.clone()));
                conditions.push(Expr::binary(op, value, read()).not());
            }
        }
        let simple = conditions.clone();
        for left in &simple {
            for right in &simple {
                conditions.push(left.clone().and(right.clone()));
                conditions.push(left.clone().or(right.clone()).not());
            }
        }
        for expr in conditions {
            let condition = WaitCondition::new(expr);
            for valuation in [-1, 0, 3] {
                let row = Row { condition: &condition, registers: &[RegId(0)], valuation: &[valuation] };
                let intervals = row.derived(&condition.expr).expect("made of comparisons");
                assert!(intervals.is_sorted_by(|a, b| a.hi < b.lo), "{condition:?}: {intervals:?}");
                let classes = classes(&intervals);
                for value in (-3..=6).chain([Value::MIN, Value::MAX]) {
                    let holds = condition.holds(value, &mut |_| valuation) == Ok(true);
                    let found = classes.iter().any(|class| class.contains(value));
                    assert_eq!(found, holds, "{condition:?} on {value} with {valuation}");
                }
            }
        }
    }
}
