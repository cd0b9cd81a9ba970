//! Free choices of many values: those between which the thread makes no difference are one.
//!
//! `__VERIFIER_nondet_int()` may be any of 2^32 numbers, and is mostly compared with constants. These cut the numbers into
//! classes. For each class the thread is followed as far as its comparisons let it: where it never uses the number
//! otherwise, one number stands for all of the class. Where it does, all of the class are kept, if they are few.

use ravelin_program::{BinaryOp, Expr, Instruction, LocId, RegId, Span, Thread, Transition, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of one choice.
const MOST_VALUES: usize = 256;
/// Places at which a class is followed, with what is known there.
const MOST_STEPS: usize = 20_000;

/// Makes the choices of a thread small. An error is the place of one that is too large.
pub(super) fn narrow(thread: &mut Thread) -> Result<(), Span> {
    let mut more = Vec::new();
    for index in 0..thread.transitions.len() {
        let Transition { from, to, span, call, .. } = thread.transitions[index];
        let Instruction::Havoc { reg, lo, hi } = thread.transitions[index].instruction else { continue };
        if hi <= lo {
            continue;
        }
        let values = values(thread, to, reg, (lo, hi)).or_else(|| remainders(thread, reg, (lo, hi))).ok_or(span)?;
        let mut steps = runs(&values).into_iter().map(|(lo, hi)| match lo == hi {
            true => Instruction::Assign { reg, value: Expr::Const(lo) },
            false => Instruction::Havoc { reg, lo, hi },
        });
        if let Some(first) = steps.next() {
            thread.transitions[index].instruction = first;
        }
        more.extend(steps.map(|instruction| Transition { from, to, instruction, span, call }));
    }
    thread.transitions.extend(more);
    thread.transitions.sort_by_key(|transition| transition.from);
    Ok(())
}

/// The numbers that are needed. `None`: too many.
fn values(thread: &Thread, start: LocId, reg: RegId, (lo, hi): (Value, Value)) -> Option<BTreeSet<Value>> {
    let mut cuts = BTreeSet::from([lo]);
    if lo < 0 && hi >= 0 {
        // Where numbers without sign begin anew.
        cuts.insert(0);
    }
    for transition in &thread.transitions {
        for expr in transition.instruction.expressions() {
            for constant in compared(expr, reg) {
                cuts.extend([Some(constant), constant.checked_add(1)].into_iter().flatten());
            }
        }
    }
    let cuts: Vec<Value> = cuts.into_iter().filter(|cut| (lo..=hi).contains(cut)).collect();
    let mut values = BTreeSet::new();
    for (number, &first) in cuts.iter().enumerate() {
        let last = cuts.get(number + 1).map_or(hi, |next| next - 1);
        if is_used(thread, start, reg, first) {
            if i128::from(last) - i128::from(first) >= MOST_VALUES as i128 {
                return None;
            }
            values.extend(first..=last);
        } else {
            // The one that is easiest to read.
            values.insert(if last <= 0 { last } else { first });
        }
    }
    (values.len() <= MOST_VALUES).then_some(values)
}

/// The numbers that are needed if the thread only uses remainders of the number: those whose sizes are less than a multiple
/// of all divisors. Every other number has the remainders of one of them with its sign.
fn remainders(thread: &Thread, reg: RegId, (lo, hi): (Value, Value)) -> Option<BTreeSet<Value>> {
    let mut multiple: Value = 1;
    for transition in &thread.transitions {
        for expr in transition.instruction.expressions() {
            for divisor in divisors(expr, reg)? {
                multiple = (multiple / common_divisor(multiple, divisor)).checked_mul(divisor)?;
                if multiple > MOST_VALUES as Value / 2 {
                    return None;
                }
            }
        }
    }
    Some((lo.max(1 - multiple)..=hi.min(multiple - 1)).collect())
}

fn common_divisor(a: Value, b: Value) -> Value {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// What the register is divided by, if only remainders of it are used.
fn divisors(expr: &Expr, reg: RegId) -> Option<Vec<Value>> {
    // The lowest bits of the register, how many ever.
    let is_reg = |side: &Expr| match side {
        Expr::Atom(atom) => *atom == reg,
        Expr::Binary(BinaryOp::BitAnd, _, inner, mask) => {
            **inner == Expr::Atom(reg)
                && matches!(**mask, Expr::Const(mask @ 1..) if (mask as u64 + 1).is_power_of_two())
        }
        _ => false,
    };
    match expr {
        Expr::Const(_) => Some(Vec::new()),
        Expr::Atom(atom) => (*atom != reg).then(Vec::new),
        Expr::Unary(_, _, inner) => divisors(inner, reg),
        Expr::Binary(op, _, left, right) => match (op, &**right) {
            (BinaryOp::Rem | BinaryOp::UnsignedRem, Expr::Const(by @ 1..)) if is_reg(left) => Some(vec![*by]),
            (BinaryOp::BitAnd, Expr::Const(mask @ 1..)) if is_reg(expr) => mask.checked_add(1).map(|by| vec![by]),
            _ => Some([divisors(left, reg)?, divisors(right, reg)?].concat()),
        },
    }
}

/// The constants with which a register is compared.
fn compared(condition: &Expr, reg: RegId) -> Vec<Value> {
    match condition {
        Expr::Unary(_, _, inner) => compared(inner, reg),
        Expr::Binary(op, _, left, right) if op.is_comparison() => match (&**left, &**right) {
            (Expr::Atom(own), Expr::Const(constant)) | (Expr::Const(constant), Expr::Atom(own)) if *own == reg => {
                vec![*constant]
            }
            _ => [compared(left, reg), compared(right, reg)].concat(),
        },
        Expr::Binary(_, _, left, right) => [compared(left, reg), compared(right, reg)].concat(),
        _ => Vec::new(),
    }
}

/// Registers whose values are the same for a whole class.
type KnownRegisters = BTreeMap<RegId, Value>;

/// Whether the thread uses the register otherwise than in comparisons with constants, if it holds a number of the class
/// that begins with `value`.
fn is_used(thread: &Thread, start: LocId, reg: RegId, value: Value) -> bool {
    let first = (start, KnownRegisters::new());
    let mut seen = BTreeSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some((at, known)) = open.pop() {
        for (_, transition) in thread.outgoing(at) {
            let instruction = &transition.instruction;
            let mut next = known.clone();
            let is_plain = match instruction {
                Instruction::Assume(condition) | Instruction::Assert(condition) => {
                    if evaluated(condition, reg, value, &known) == Some(0) {
                        continue;
                    }
                    only_compares(condition, reg)
                }
                Instruction::Assign { reg: target, value: new } => {
                    match evaluated(new, reg, value, &known) {
                        Some(new) => next.insert(*target, new),
                        None => next.remove(target),
                    };
                    only_compares(new, reg)
                }
                instruction => {
                    next.retain(|own, _| !instruction.written_registers().contains(own));
                    !instruction.read_registers().contains(&reg)
                }
            };
            if !is_plain || seen.len() > MOST_STEPS {
                return true;
            }
            if instruction.written_registers().contains(&reg) {
                continue;
            }
            let next = (transition.to, next);
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    false
}

/// The register occurs only in comparisons with constants.
fn only_compares(expr: &Expr, reg: RegId) -> bool {
    match expr {
        Expr::Const(_) => true,
        Expr::Atom(atom) => *atom != reg,
        Expr::Unary(_, _, inner) => only_compares(inner, reg),
        Expr::Binary(_, _, left, right) => {
            is_comparison(expr, reg) || only_compares(left, reg) && only_compares(right, reg)
        }
    }
}

/// A comparison of the register with a constant, which is the same for the whole class.
fn is_comparison(expr: &Expr, reg: RegId) -> bool {
    let is_reg = |side: &Expr| *side == Expr::Atom(reg);
    let is_constant = |side: &Expr| matches!(side, Expr::Const(_));
    match expr {
        Expr::Binary(op, _, left, right) => {
            op.is_comparison() && (is_reg(left) && is_constant(right) || is_constant(left) && is_reg(right))
        }
        _ => false,
    }
}

/// The value of an expression, if it is the same for the whole class.
fn evaluated(expr: &Expr, reg: RegId, value: Value, known: &KnownRegisters) -> Option<Value> {
    match expr {
        Expr::Const(constant) => Some(*constant),
        Expr::Atom(atom) if *atom == reg => None,
        Expr::Atom(atom) => known.get(atom).copied(),
        Expr::Unary(op, arithmetic, inner) => op.apply(*arithmetic, evaluated(inner, reg, value, known)?).ok(),
        Expr::Binary(..) if is_comparison(expr, reg) => expr.eval(&mut |_| value).ok(),
        Expr::Binary(op, arithmetic, left, right) => {
            let (left, right) = (evaluated(left, reg, value, known), evaluated(right, reg, value, known));
            match (op, left, right) {
                (BinaryOp::And, Some(0), _) | (BinaryOp::And, _, Some(0)) => Some(0),
                (BinaryOp::Or, Some(side), _) | (BinaryOp::Or, _, Some(side)) if side != 0 => Some(1),
                (op, Some(left), Some(right)) => op.apply(*arithmetic, left, right).ok(),
                _ => None,
            }
        }
    }
}

/// Neighbours as ranges.
pub(super) fn runs(values: &BTreeSet<Value>) -> Vec<(Value, Value)> {
    let mut runs: Vec<(Value, Value)> = Vec::new();
    for &value in values {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(value) => *last = value,
            _ => runs.push((value, value)),
        }
    }
    runs
}
