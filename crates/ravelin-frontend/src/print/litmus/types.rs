//! Whether a value can leave the type of its cell or register, or what an `int` holds.
//!
//! The first is an error which ends the run of a program. A litmus test has no types, so it would go on with the value. The second is no
//! error where the type is larger, but a litmus test computes with `int`s. So a program becomes a litmus test only if neither happens, to
//! parts of an expression either. This is decided by the sets of values that each register can hold at each location, and
//! each cell at any time, which is right for every memory model without values out of thin air: a load gives any value that some step
//! stores there. Guards narrow the sets, and sets that grow large are taken to hold everything. Where that shows too little, runs are
//! searched (`runs.rs`). A program may be refused although nothing goes wrong, but none is let through that can.

use super::runs::{RunSearch, search};
use super::{Inexpressible, fixed, is_machine};
use ravelin_program::{
    Address, Admission, Arithmetic, BinaryOp, Domain, Escape, Expr, Fault, InitialValue, Instruction, Program, RegId,
    Thread, UnaryOp, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Sets with more values than this are taken to hold all.
const MOST_VALUES: usize = 256;
/// More combinations of the registers of one expression are not tried.
const MOST_COMBINATIONS: usize = 4096;

/// What a register or cell may hold; `None` stands for any number.
type TypeValues = Option<BTreeSet<Value>>;

/// A cell or register that may leave its type or an `int`.
pub(super) fn left(program: &Program) -> Option<Inexpressible> {
    let reason = by_sets(program)?;
    match search(program) {
        RunSearch::Nothing => None,
        RunSearch::Leaves(reason) => Some(reason),
        RunSearch::TooMany => Some(reason),
    }
}

/// What a value does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    Type,
    Int,
}

impl Misfit {
    pub fn of(self, name: String) -> Inexpressible {
        match self {
            Misfit::Type => Inexpressible::LeavesType(name),
            Misfit::Int => Inexpressible::LeavesInt(name),
        }
    }
}

/// What becomes of a value that is offered to a type, if a litmus test can say it.
pub(super) fn misfit(domain: Domain, value: Value) -> Result<Value, Misfit> {
    match domain.admit(value) {
        Err(_) => Err(Misfit::Type),
        Ok(Admission::Value(value)) if is_int(value) => Ok(value),
        // A type that blocks was refused before, unless it holds all values.
        Ok(_) => Err(Misfit::Int),
    }
}

/// Whether a part of an expression leaves what an `int` holds. A part that goes wrong otherwise ends the thread.
pub(super) fn is_wide(expr: &Expr, held: &impl Fn(&RegId) -> Value) -> bool {
    let parts_are = match expr {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, _, operand) => is_wide(operand, held),
        Expr::Binary(op, _, left, right) => {
            let known = matches!(op, BinaryOp::And | BinaryOp::Or)
                .then(|| left.eval(&mut |register| held(register)).ok())
                .flatten();
            // `&&` and `||` look at the right side only if it matters.
            let is_settled = known.is_some_and(|left| (left != 0) == (*op == BinaryOp::Or));
            is_wide(left, held) || !is_settled && is_wide(right, held)
        }
    };
    parts_are
        || match expr.eval(&mut |register| held(register)) {
            Ok(value) => !is_int(value),
            Err(fault) => fault == Fault::Overflow,
        }
}

fn is_int(value: Value) -> bool {
    i32::try_from(value).is_ok()
}

fn by_sets(program: &Program) -> Option<Inexpressible> {
    let mut search = TypeSearch { program, cells: BTreeMap::new(), left: None, changed: false };
    let mut at: Vec<Vec<Option<Vec<TypeValues>>>> = program.threads.iter().map(start).collect();
    loop {
        search.changed = false;
        for (thread, at) in program.threads.iter().zip(&mut at) {
            for transition in &thread.transitions {
                let Some(mut registers) = at[transition.from.0].clone() else { continue };
                if search.step(thread, &transition.instruction, &mut registers) {
                    search.changed |= join(&mut at[transition.to.0], registers);
                }
            }
        }
        if search.left.is_some() || !search.changed {
            return search.left;
        }
    }
}

fn start(thread: &Thread) -> Vec<Option<Vec<TypeValues>>> {
    let mut at = vec![None; thread.locations.len()];
    at[thread.initial.0] = Some(thread.registers.iter().map(|register| one(register.initial)).collect());
    at
}

struct TypeSearch<'a> {
    program: &'a Program,
    /// By address; what is not there holds its initial value only.
    cells: BTreeMap<Value, TypeValues>,
    left: Option<Inexpressible>,
    changed: bool,
}

impl TypeSearch<'_> {
    /// From the registers before a step to those after it; whether it can be taken.
    fn step(&mut self, thread: &Thread, instruction: &Instruction, registers: &mut [TypeValues]) -> bool {
        let eval = |expr: &Expr, registers: &[TypeValues]| values(expr, registers);
        if self.left.is_none() && expressions(instruction).into_iter().any(|expr| may_be_wide(expr, registers)) {
            let what = self.program.show_instruction(thread, instruction);
            self.left = Some(Misfit::Int.of(format!("a part of `{what}` in thread `{}`", thread.name)));
        }
        if self.left.is_none() {
            self.left = expressions(instruction).into_iter().find_map(|expr| may_wrap(expr, registers));
        }
        match instruction {
            Instruction::Assign { reg, value } => {
                let value = eval(value, registers);
                self.set(thread, Some(*reg), value, registers);
            }
            Instruction::Havoc { reg, lo, hi } => {
                let few = hi.abs_diff(*lo) < MOST_VALUES as u64;
                self.set(thread, Some(*reg), few.then(|| (*lo..=*hi).collect()), registers);
            }
            Instruction::Assume(condition) | Instruction::Assert(condition) => {
                return narrow(condition, registers);
            }
            Instruction::Load { reg, address, .. } => {
                let value = self.cell(address);
                self.set(thread, Some(*reg), value, registers);
            }
            Instruction::Store { address, value, .. } => {
                let value = eval(value, registers);
                self.store(address, value);
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                let (read, operand) = (self.cell(address), eval(operand, registers));
                let written = match op.binary() {
                    Some(op) => {
                        let pair = Expr::binary_in(*arithmetic, op, Expr::Atom(RegId(0)), Expr::Atom(RegId(1)));
                        let sides = [read.clone(), operand];
                        self.left = self.left.take().or_else(|| may_wrap(&pair, &sides));
                        values(&pair, &sides)
                    }
                    None => operand,
                };
                self.store(address, written);
                self.set(thread, *old, read, registers);
            }
            Instruction::CompareExchange { address, new, old, ok, .. } => {
                let (read, new) = (self.cell(address), eval(new, registers));
                self.store(address, new);
                self.set(thread, *old, read, registers);
                self.set(thread, *ok, Some(BTreeSet::from([0, 1])), registers);
            }
            // Everything else stays within its type, or has no counterpart in a litmus test.
            _ => {}
        }
        true
    }

    fn set(&mut self, thread: &Thread, register: Option<RegId>, values: TypeValues, registers: &mut [TypeValues]) {
        let Some(register) = register else { return };
        let declared = &thread.registers[register.0];
        let name = || format!("`{}` of thread `{}`", declared.name, thread.name);
        registers[register.0] = self.admit(declared.domain, values, name);
    }

    fn cell(&self, address: &Address) -> TypeValues {
        let address = fixed(self.program, address)?;
        match (self.cells.get(&address), self.program.memory.initial_at(address)) {
            (Some(values), _) => values.clone(),
            (None, InitialValue::Value(value)) => one(value),
            (None, InitialValue::Any) => None,
        }
    }

    fn store(&mut self, address: &Address, values: TypeValues) {
        let Some(cell) = fixed(self.program, address) else { return };
        let memory = &self.program.memory;
        let Ok(domain) = memory.domain_at(cell) else { return };
        let values = self.admit(domain, values, || format!("`{}`", memory.name_of(cell)));
        let before = self.cell(address);
        let after = union(before.clone(), values);
        self.changed |= before != after;
        self.cells.insert(cell, after);
    }

    /// The values that stay within a type and an `int`. Those that do not are noted.
    fn admit(&mut self, domain: Domain, values: TypeValues, name: impl Fn() -> String) -> TypeValues {
        let holds_ints_only = is_int(domain.lo) && is_int(domain.hi);
        let mut left = None;
        let stay = match values {
            None if holds_ints_only && domain.escape == Escape::Wrap => None,
            None => {
                left = Some(if holds_ints_only { Misfit::Type } else { Misfit::Int });
                None
            }
            Some(values) => {
                let admitted = values.into_iter().map(|value| misfit(domain, value));
                Some(admitted.filter_map(|value| value.map_err(|misfit| _ = left.get_or_insert(misfit)).ok()).collect())
            }
        };
        if let (None, Some(misfit)) = (&self.left, left) {
            self.left = Some(misfit.of(name()));
        }
        stay
    }
}

/// What an instruction computes.
fn expressions(instruction: &Instruction) -> Vec<&Expr> {
    match instruction {
        Instruction::Assign { value, .. } | Instruction::Store { value, .. } => vec![value],
        Instruction::Assume(condition) | Instruction::Assert(condition) => vec![condition],
        Instruction::Rmw { operand, .. } => vec![operand],
        Instruction::CompareExchange { expected, new, .. } => vec![expected, new],
        _ => Vec::new(),
    }
}

/// Whether a part of an expression may leave what an `int` holds.
fn may_be_wide(expr: &Expr, registers: &[TypeValues]) -> bool {
    let mut wide = false;
    let tried = combinations(expr, registers, |held| wide |= is_wide(expr, &|register| held[register]));
    wide || !tried && computes(expr)
}

/// An operator that may wrap where an `int` does not.
fn may_wrap(expr: &Expr, registers: &[TypeValues]) -> Option<Inexpressible> {
    let mut small = None;
    expr.for_each_arithmetic(&mut |arithmetic| match arithmetic {
        Arithmetic::Wrapping(domain) if !is_machine(domain) => small = Some(domain),
        _ => {}
    });
    let Domain { lo, hi, .. } = small?;
    let mut found = None;
    let tried = combinations(expr, registers, |held| {
        found = found.take().or_else(|| wraps(expr, &|register| held[register]));
    });
    if tried { found } else { Some(Inexpressible::Arithmetic { lo, hi }) }
}

/// An operator that gives less or more than what it wraps in.
pub(super) fn wraps(expr: &Expr, read: &impl Fn(&RegId) -> Value) -> Option<Inexpressible> {
    let value = |expr: &Expr| expr.eval(&mut |register| read(register));
    let outside = |arithmetic: &Arithmetic, exact: Result<Value, Fault>| match (arithmetic, exact) {
        (Arithmetic::Wrapping(domain), Ok(exact)) if !is_machine(*domain) && !domain.contains(exact) => {
            Some(Inexpressible::Arithmetic { lo: domain.lo, hi: domain.hi })
        }
        _ => None,
    };
    match expr {
        Expr::Const(_) | Expr::Atom(_) => None,
        Expr::Unary(op, arithmetic, operand) => wraps(operand, read).or_else(|| {
            let exact = value(operand).and_then(|operand| op.apply(Arithmetic::Checked, operand));
            outside(arithmetic, exact).filter(|_| op.computes())
        }),
        Expr::Binary(op, arithmetic, left, right) => wraps(left, read).or_else(|| wraps(right, read)).or_else(|| {
            let exact = value(left).and_then(|left| op.apply(Arithmetic::Checked, left, value(right)?));
            outside(arithmetic, exact).filter(|_| op.computes())
        }),
    }
}

/// Whether an expression does more than compare.
fn computes(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(op, _, operand) => op.computes() || computes(operand),
        Expr::Binary(op, _, left, right) => !op.is_truth() || computes(left) || computes(right),
    }
}

fn one(value: Value) -> TypeValues {
    Some(BTreeSet::from([value]))
}

fn union(left: TypeValues, right: TypeValues) -> TypeValues {
    let (mut all, more) = (left?, right?);
    all.extend(more);
    (all.len() <= MOST_VALUES).then_some(all)
}

/// Adds what a step leads to; whether that is new.
fn join(at: &mut Option<Vec<TypeValues>>, registers: Vec<TypeValues>) -> bool {
    let Some(known) = at else {
        *at = Some(registers);
        return true;
    };
    let mut changed = false;
    for (known, new) in known.iter_mut().zip(registers) {
        let all = union(known.clone(), new);
        changed |= *known != all;
        *known = all;
    }
    changed
}

fn values(expr: &Expr, registers: &[TypeValues]) -> TypeValues {
    let mut results = BTreeSet::new();
    let tried = combinations(expr, registers, |held| {
        results.extend(expr.eval(&mut |register| held[register]));
    });
    let truth = match expr {
        Expr::Unary(UnaryOp::Not, ..) => true,
        Expr::Binary(op, ..) => op.is_truth(),
        _ => false,
    };
    match tried {
        true => (results.len() <= MOST_VALUES).then_some(results),
        false => truth.then(|| BTreeSet::from([0, 1])),
    }
}

/// Keeps the values with which a condition can hold; whether there are any.
fn narrow(condition: &Expr, registers: &mut [TypeValues]) -> bool {
    let mut kept: BTreeMap<RegId, BTreeSet<Value>> = BTreeMap::new();
    let mut holds = false;
    let tried = combinations(condition, registers, |held| {
        if condition.eval(&mut |register| held[register]).is_ok_and(|value| value != 0) {
            holds = true;
            held.iter().for_each(|(register, value)| _ = kept.entry(*register).or_default().insert(*value));
        }
    });
    if tried {
        kept.into_iter().for_each(|(register, values)| registers[register.0] = Some(values));
    }
    holds || !tried
}

/// Visits all combinations of what the registers of an expression hold; whether there are few enough.
fn combinations(expr: &Expr, registers: &[TypeValues], mut visit: impl FnMut(&BTreeMap<RegId, Value>)) -> bool {
    let mut names = BTreeSet::new();
    expr.for_each_atom(&mut |register| _ = names.insert(*register));
    let sets: Option<Vec<(RegId, Vec<Value>)>> = (names.into_iter())
        .map(|register| Some((register, registers[register.0].as_ref()?.iter().copied().collect())))
        .collect();
    let Some(sets) = sets else { return false };
    let count = sets.iter().try_fold(1usize, |count, (_, values)| count.checked_mul(values.len()));
    let Some(count) = count.filter(|&count| count <= MOST_COMBINATIONS) else { return false };
    for number in 0..count {
        let mut rest = number;
        let held = sets.iter().map(|(register, values)| {
            let value = values[rest % values.len()];
            rest /= values.len();
            (*register, value)
        });
        visit(&held.collect());
    }
    true
}
