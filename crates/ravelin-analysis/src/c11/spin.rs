//! Loops that only wait, rewritten to instructions that wait (section 4.3 of the paper).
//!
//! A thread that spins until it reads a value may read a stale one a few times more than under SC. Nothing depends on that, but every
//! such read is an event, so the program is not robust. As `wait` or `bcas` only the attempt that passes is an event. Rewriting takes
//! nothing away but attempts that change nothing: the loop must have no effect besides the register it reads into.
//!
//! Two shapes are found, in a program's automata rather than in its text, so every language has them:
//!
//! - a guard that is reached by loads of one cell into one register only, and leads back to such a load or out:
//!   `while x.load() != v {}`, or `r = x.load(); while r != v { r = x.load(); }`. The values that lead out must be finitely many and
//!   known: `r == e`, alternatives of these, or any condition on the register alone if the cell's type is small;
//! - the same with a compare-exchange that is tried until it succeeds.

use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, BinaryOp, Expr, Instruction, LocId, Location, Position, Program, RegId, Span, Thread, ThreadId,
    Transition, UnaryOp, Value, WaitCondition,
};

/// Cells with at most so many values have their conditions tried out.
const SMALL_TYPE: u64 = 16;

/// A loop that was rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinLoop {
    pub thread: ThreadId,
    pub shape: SpinShape,
    /// Where its access stands.
    pub position: Option<Position>,
    /// The instruction that it became: `wait(x == 1)`.
    pub became: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpinShape {
    /// Loads until it reads a value.
    Wait,
    /// Tries a compare-exchange until it succeeds.
    CompareExchange,
}

/// The program with every spin loop that is recognised rewritten, and what was done.
///
/// Locations keep their numbers (some are never reached any more), transitions do not.
pub fn with_waits(program: &Program, watch: &Watch) -> Result<(Program, Vec<SpinLoop>), Limit> {
    let mut rewritten = program.clone();
    let mut loops = Vec::new();
    for number in 0..program.threads.len() {
        while let Some(found) = find(&rewritten, number, watch)? {
            loops.push(apply(&mut rewritten, number, found));
        }
    }
    Ok((rewritten, loops))
}

/// What to do with one loop.
struct LoopRewrite {
    shape: SpinShape,
    /// The transitions into the guard.
    attempts: Vec<usize>,
    becomes: Instruction,
    /// What registers hold afterwards that the new instruction does not write.
    assigned: Vec<(RegId, Expr)>,
    out: LocId,
}

fn find(program: &Program, number: usize, watch: &Watch) -> Result<Option<LoopRewrite>, Limit> {
    let thread = &program.threads[number];
    // By location, the transitions that lead there.
    let mut incoming = vec![Vec::new(); thread.locations.len()];
    for (id, transition) in thread.transitions.iter().enumerate() {
        incoming[transition.to.0].push(id);
    }
    for (guard, attempts) in incoming.iter().enumerate() {
        watch.step()?;
        if let Some(found) = at_guard(program, thread, LocId(guard), attempts) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether a location is the guard of a spin loop.
fn at_guard(program: &Program, thread: &Thread, guard: LocId, attempts: &[usize]) -> Option<LoopRewrite> {
    if !thread.locations[guard.0].labels.is_empty() || guard == thread.initial {
        return None;
    }
    let mut branches = thread.outgoing(guard);
    let (Some((_, first)), Some((_, second)), None) = (branches.next(), branches.next(), branches.next()) else {
        return None;
    };
    let attempt = &thread.transitions[*attempts.first()?].instruction;
    if attempts.iter().any(|&other| thread.transitions[other].instruction != *attempt) {
        return None;
    }
    [(first, second), (second, first)].into_iter().find_map(|(stay, leave)| {
        let (Instruction::Assume(again), Instruction::Assume(done)) = (&stay.instruction, &leave.instruction) else {
            return None;
        };
        if !are_opposite(again, done) || !leads_to_attempt(thread, stay.to, guard, attempt) || leave.to == guard {
            return None;
        }
        rewriting(program, thread, attempt, done).map(|(shape, becomes, assigned)| LoopRewrite {
            shape,
            attempts: attempts.to_vec(),
            becomes,
            assigned,
            out: leave.to,
        })
    })
}

/// From here the only way is, perhaps after steps that do nothing, the attempt into the guard.
fn leads_to_attempt(thread: &Thread, from: LocId, guard: LocId, attempt: &Instruction) -> bool {
    let mut at = from;
    for _ in 0..thread.locations.len() {
        let mut ways = thread.outgoing(at);
        let (Some((_, only)), None) = (ways.next(), ways.next()) else { return false };
        match &only.instruction {
            Instruction::Nop => at = only.to,
            instruction => return instruction == attempt && only.to == guard,
        }
    }
    false
}

type Rewrite = (SpinShape, Instruction, Vec<(RegId, Expr)>);

fn rewriting(program: &Program, thread: &Thread, attempt: &Instruction, done: &Expr) -> Option<Rewrite> {
    match attempt {
        Instruction::Load { reg, address, order } if !mentions(&address.expr, *reg) => {
            let values = values_for(program, address, *reg, done)?;
            let condition = WaitCondition::one_of(values);
            let becomes = Instruction::Wait { address: address.clone(), condition, order: *order, old: Some(*reg) };
            Some((SpinShape::Wait, becomes, Vec::new()))
        }
        Instruction::CompareExchange { address, expected, new, success, old, ok, .. } => {
            let written: Vec<RegId> = old.iter().chain(ok).copied().collect();
            let stable = |expr: &Expr| !written.iter().any(|&register| mentions(expr, register));
            if !stable(&address.expr) || !stable(expected) || !stable(new) || old == ok {
                return None;
            }
            if !succeeds(done, *old, *ok, expected) {
                return None;
            }
            // A register that would not take the value could stop the thread, which is an effect.
            let takes_all = |register: &RegId| thread.registers[register.0].domain.is_full();
            if !written.iter().all(|register| takes_all(register) || Some(*register) == *ok) {
                return None;
            }
            let becomes = Instruction::BlockingCas {
                address: address.clone(),
                expected: expected.clone(),
                new: new.clone(),
                order: *success,
            };
            let assigned = old.map(|old| (old, expected.clone())).into_iter();
            let assigned = assigned.chain(ok.map(|ok| (ok, Expr::Const(1)))).collect();
            Some((SpinShape::CompareExchange, becomes, assigned))
        }
        _ => None,
    }
}

/// The values of a register with which a condition holds.
fn values_for(program: &Program, address: &Address, reg: RegId, done: &Expr) -> Option<Vec<Expr>> {
    if let Some(values) = equalities(done, reg) {
        return Some(values);
    }
    let mut alone = true;
    done.for_each_atom(&mut |register| alone &= *register == reg);
    let variable = &program.memory.variables[address.within?.0];
    let domain = variable.domain;
    if !alone || domain.size().is_none_or(|size| size > SMALL_TYPE) {
        return None;
    }
    let holds = |value: &Value| done.eval(&mut |_| *value).map(|held| held != 0);
    let values: Result<Vec<(Value, bool)>, _> =
        (domain.lo..=domain.hi).map(|value| holds(&value).map(|holds| (value, holds))).collect();
    let values: Vec<Expr> = values.ok()?.into_iter().filter(|(_, holds)| *holds).map(|(v, _)| Expr::Const(v)).collect();
    (!values.is_empty()).then_some(values)
}

/// `r == e`, `e == r`, `!(r != e)`, and alternatives of these.
fn equalities(condition: &Expr, reg: RegId) -> Option<Vec<Expr>> {
    match condition {
        Expr::Binary(BinaryOp::Eq, _, left, right) => {
            let other = match (&**left, &**right) {
                (Expr::Atom(register), other) | (other, Expr::Atom(register)) if *register == reg => other,
                _ => return None,
            };
            (!mentions(other, reg)).then(|| vec![other.clone()])
        }
        Expr::Binary(BinaryOp::Or, _, left, right) => {
            let mut values = equalities(left, reg)?;
            values.extend(equalities(right, reg)?);
            Some(values)
        }
        Expr::Unary(UnaryOp::Not, _, inner) => match &**inner {
            Expr::Binary(BinaryOp::Ne, ..) => equalities(&inner.opposite()?, reg),
            Expr::Unary(UnaryOp::Not, _, inner) => equalities(inner, reg),
            _ => None,
        },
        _ => None,
    }
}

/// A condition says that a compare-exchange succeeded.
fn succeeds(condition: &Expr, old: Option<RegId>, ok: Option<RegId>, expected: &Expr) -> bool {
    let is_ok = |register: &RegId| Some(*register) == ok;
    match condition {
        Expr::Atom(register) => is_ok(register),
        Expr::Unary(UnaryOp::Not, _, inner) => match &**inner {
            Expr::Unary(UnaryOp::Not, _, inner) => succeeds(inner, old, ok, expected),
            Expr::Binary(BinaryOp::Eq, _, left, right) => {
                matches!((&**left, &**right), (Expr::Atom(register), Expr::Const(0)) if is_ok(register))
            }
            Expr::Binary(BinaryOp::Ne, ..) => inner.opposite().is_some_and(|equal| succeeds(&equal, old, ok, expected)),
            _ => false,
        },
        Expr::Binary(BinaryOp::Eq, _, left, right) => {
            let pair = |register: &RegId, other: &Expr| {
                is_ok(register) && *other == Expr::Const(1) || Some(*register) == old && other == expected
            };
            match (&**left, &**right) {
                (Expr::Atom(register), other) if pair(register, other) => true,
                (other, Expr::Atom(register)) => pair(register, other),
                _ => false,
            }
        }
        Expr::Binary(BinaryOp::Ne, _, left, right) => {
            matches!((&**left, &**right), (Expr::Atom(register), Expr::Const(0)) if is_ok(register))
        }
        _ => false,
    }
}

/// One holds exactly where the other does not, as front ends write it.
fn are_opposite(one: &Expr, other: &Expr) -> bool {
    let negates = |one: &Expr, other: &Expr| match one {
        Expr::Unary(UnaryOp::Not, _, inner) => **inner == *other,
        _ => one.opposite().is_some_and(|opposite| opposite == *other),
    };
    // Both would also be constant for constants, which no loop depends on.
    let constant = |expr: &Expr| expr.constant().is_some();
    !constant(one) && (negates(one, other) || negates(other, one))
}

fn mentions(expr: &Expr, register: RegId) -> bool {
    let mut found = false;
    expr.for_each_atom(&mut |atom| found |= *atom == register);
    found
}

fn apply(program: &mut Program, number: usize, found: LoopRewrite) -> SpinLoop {
    let thread = &program.threads[number];
    let told = Transition {
        from: thread.initial,
        to: thread.initial,
        instruction: found.becomes.clone(),
        span: Span::NOWHERE,
    };
    let became = program.tell_transition(thread, &told);
    let thread = &mut program.threads[number];
    let span = thread.transitions[found.attempts[0]].span;
    // The registers are assigned from the end backwards, each step leading to the one behind it.
    let mut out = found.out;
    for (reg, value) in found.assigned.into_iter().rev() {
        let before = LocId(thread.locations.len());
        thread.locations.push(Location { labels: Vec::new(), span });
        let instruction = Instruction::Assign { reg, value };
        thread.transitions.push(Transition { from: before, to: out, instruction, span });
        out = before;
    }
    for &attempt in &found.attempts {
        let transition = &mut thread.transitions[attempt];
        transition.instruction = found.becomes.clone();
        transition.to = out;
    }
    thread.transitions.sort_by_key(|transition| transition.from);
    let position = program.source.position(span);
    SpinLoop { thread: ThreadId(number), shape: found.shape, position, became }
}
