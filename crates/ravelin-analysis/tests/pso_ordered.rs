//! The backward search for PSO on random programs whose stores are ordered by release stores and store-store fences.
//!
//! Three judges: the reference semantics enumerates all outcomes of programs without loops; where every store is a release store PSO
//! is TSO, which the load-buffer engine decides, loops or not; and the bounded engine must find no violation that the
//! search does not find, and a run for each that it finds.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{assert_mixed, check_all, decided};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachabilityQuestion, dual, pso, reach};
use ravelin_explore::Budget;
use ravelin_program::{
    BinaryOp, Condition, Domain, Expr, Goal, GoalKind, InitialValue, Instruction, Model, Observable, Order, Program,
    RegId, Span, ThreadId, Value,
};
use ravelin_semantics::operational::Reference;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use std::collections::{BTreeMap, BTreeSet};

/// The registers of all threads, and memory.
type Outcome = (Vec<Vec<Value>>, BTreeMap<Value, Value>);

fn question(buffer: usize) -> ReachabilityQuestion<'static> {
    let budget = Budget::unlimited().states(40_000);
    ReachabilityQuestion { buffer, budget, ..ReachabilityQuestion::new(Model::Pso) }
}

fn by_pso(program: &Program) -> Result<Option<Verdict>, String> {
    decided(|| Ok(pso(program, &question(6))?.reachability))
}

/// Release stores and store-store fences among loads and stores; a few RMWs, compare-exchanges, waits and full fences.
fn ordered(loops: bool) -> Config {
    use InstructionKind::{Assume, BlockingCas, CompareExchange, Fence, Load, Lock, Locked, Rmw, Store, Wait};
    Config {
        threads: 2..=3,
        instructions: 2..=6,
        total_instructions: 11,
        arrays: false,
        computed_addresses: false,
        domains: false,
        loops,
        branches: loops,
        orders: vec![Order::Relaxed, Order::Acquire, Order::Release, Order::Release, Order::AcqRel, Order::SeqCst],
        kinds: vec![
            (Load, 20),
            (Store, 26),
            (Fence, 5),
            (Rmw, 1),
            (CompareExchange, 2),
            (Wait, 1),
            (BlockingCas, 1),
            (Lock, 1),
            (Locked, 1),
            (Assume, 1),
        ],
        goals: 1..=1,
        ..Config::all()
    }
}

/// Two threads that load and store a lot, with fences: what a thread reads of itself matters most here.
fn dense() -> Generator {
    let mut config = Config { threads: 2..=2, instructions: 3..=6, total_instructions: 12, ..ordered(false) };
    config.kinds = vec![(InstructionKind::Load, 8), (InstructionKind::Store, 8), (InstructionKind::Fence, 2)];
    config.orders.retain(|order| *order != Order::AcqRel);
    Generator::new(Config { non_atomic: false, goals: 0..=0, ..config })
}

/// Three threads, with loads of several cells at one moment and steps that read and write.
fn crowded() -> Generator {
    use InstructionKind::{Fence, Load, Locked, Rmw, Store};
    let mut config = Config { threads: 3..=3, instructions: 2..=5, total_instructions: 12, ..ordered(false) };
    config.kinds = vec![(Load, 6), (Store, 10), (Locked, 3), (Rmw, 2), (Fence, 1)];
    Generator::new(Config { non_atomic: false, variables: 2..=2, goals: 0..=0, ..config })
}

/// Nothing orders stores but full fences and RMWs.
fn without_order(mut program: Program) -> Program {
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        match &mut transition.instruction {
            Instruction::Store { order, .. } if *order != Order::SeqCst => *order = Order::Relaxed,
            Instruction::Fence(order) if *order != Order::SeqCst => *order = Order::Acquire,
            _ => {}
        }
    }
    program
}

/// Every store comes after all stores before it, as under TSO.
fn with_release_stores(mut program: Program) -> Program {
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        if let Instruction::Store { order, .. } = &mut transition.instruction
            && *order != Order::SeqCst
        {
            *order = Order::Release;
        }
    }
    program
}

/// Every store, except those of locks, stores a value of its own, so that an outcome says which load read what.
fn with_telling_values(mut program: Program) -> Program {
    let mut next = 0;
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        if let Instruction::Store { value, .. } = &mut transition.instruction {
            next += 1;
            *value = Expr::Const(next);
        }
    }
    for variable in &mut program.memory.variables {
        variable.domain = Domain::FULL;
        variable.initial.fill(InitialValue::Value(0));
    }
    program
        .threads
        .iter_mut()
        .flat_map(|thread| &mut thread.registers)
        .for_each(|register| register.domain = Domain::FULL);
    program
}

/// All outcomes under PSO with so many pending stores, by the reference semantics, and whether these are all; `None` if there are too
/// many states, or a fault, which is a violation itself.
fn outcomes(program: &Program, bound: Option<usize>) -> Option<(BTreeSet<Outcome>, bool)> {
    let found = Reference::new(program, Model::Pso, bound).ok()?.explore(20_000).ok()?;
    let outcome = |state: ravelin_semantics::operational::State| {
        (state.threads.into_iter().map(|thread| thread.registers).collect(), state.memory)
    };
    let usable = found.complete && found.faults.is_empty();
    usable.then(|| (found.finals.into_iter().map(outcome).collect(), !found.cut_off))
}

fn ending_in((registers, memory): &Outcome) -> Goal {
    let equal = |atom, value| Expr::binary(BinaryOp::Eq, Expr::Atom(atom), Expr::Const(value));
    let mut parts: Vec<Condition> = Vec::new();
    for (thread, registers) in registers.iter().enumerate() {
        let atom = |register| Observable::Register(ThreadId(thread), RegId(register));
        parts.extend(registers.iter().enumerate().map(|(register, value)| equal(atom(register), *value)));
    }
    parts.extend(memory.iter().map(|(address, value)| equal(Observable::Memory(*address), *value)));
    let all = parts.into_iter().reduce(|one, other| Expr::binary(BinaryOp::And, one, other));
    Goal { kind: GoalKind::NeverFinally, condition: all.unwrap_or(Expr::Const(1)), span: Span::NOWHERE }
}

/// Asks for outcomes of the program without order: up to so many that `possible` contains, and as many others. What the engine says
/// must be whether `possible` contains them.
fn wrong_outcome(
    program: &Program,
    all: BTreeSet<Outcome>,
    most: usize,
    possible: impl Fn(&Program, &Outcome) -> Option<bool>,
) -> Option<String> {
    let (mut yes, mut no) = (0, 0);
    // Neighbours in the set are alike.
    let stride = all.len() / (4 * most) + 1;
    for outcome in all.iter().step_by(stride) {
        let program = Program { goals: vec![ending_in(outcome)], ..program.clone() };
        let possible = possible(&program, outcome)?;
        let asked = if possible { &mut yes } else { &mut no };
        if *asked == most {
            continue;
        }
        *asked += 1;
        let verdict = match by_pso(&program) {
            Ok(verdict) => verdict?,
            Err(what) => return Some(what),
        };
        if (verdict == Verdict::Violated) != possible {
            return Some(format!("{outcome:?} is possible: {possible}, pso says {verdict:?}"));
        }
    }
    None
}

fn is_unlike_the_reference(program: &Program) -> Option<String> {
    let (possible, _) = outcomes(program, None)?;
    let (all, _) = outcomes(&without_order(program.clone()), None)?;
    wrong_outcome(program, all, 12, |_, outcome| Some(possible.contains(outcome)))
}

fn is_unlike_the_reference_with_telling_values(program: &Program) -> Option<String> {
    is_unlike_the_reference(&with_telling_values(program.clone()))
}

#[test]
fn outcomes_are_those_of_the_reference_semantics() {
    let generator = Generator::new(Config { goals: 0..=0, ..ordered(false) });
    check_all(&dense(), 600, is_unlike_the_reference_with_telling_values);
    check_all(&generator, 300, is_unlike_the_reference_with_telling_values);
    check_all(&generator, 300, is_unlike_the_reference);
}

#[test]
fn outcomes_of_three_threads_are_those_of_the_reference_semantics() {
    check_all(&crowded(), 200, is_unlike_the_reference_with_telling_values);
    check_all(&crowded(), 200, is_unlike_the_reference);
}

#[test]
fn with_release_stores_only_outcomes_are_those_of_tso() {
    let wrong = |program: &Program| {
        let program = &with_release_stores(program.clone());
        let (all, _) = outcomes(&without_order(program.clone()), Some(2))?;
        wrong_outcome(program, all, 4, |program, _| {
            let tso = decided(|| Ok(dual(program, &question(6))?.reachability));
            Some(tso.ok()?? == Verdict::Violated)
        })
    };
    let generator = Generator::new(Config { goals: 0..=0, ..ordered(true) });
    check_all(&dense(), 300, |program| wrong(&with_telling_values(program.clone())));
    check_all(&generator, 300, |program| wrong(&with_telling_values(program.clone())));
    check_all(&generator, 300, wrong);
}

#[test]
fn no_shorter_buffer_finds_more() {
    let generator = Generator::new(ordered(true));
    let wrong = |program: &Program| {
        let verdict = match by_pso(program) {
            Ok(verdict) => verdict?,
            Err(what) => return Some(what),
        };
        let other = reach(program, &question(4)).ok()?.verdict;
        let differs = other != Verdict::Unknown && other != verdict;
        differs.then(|| format!("pso says {verdict:?}, bounded {other:?}"))
    };
    check_all(&generator, 400, wrong);
    assert_mixed(&generator, by_pso);
}

fn parsed(text: &str) -> Program {
    let source = ravelin_program::Source::new("claim", text.to_owned());
    let parsed = ravelin_frontend::parse(source, ravelin_frontend::Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

/// Stores without end: no bound on buffers settles these.
#[test]
fn loops_that_never_wait() {
    let claims = [
        ("x.store(1); loop { y.store(1, release); }", "assert(y.load() == 0 || x.load() == 1);", Verdict::Holds),
        ("x.store(1); loop { y.store(1); }", "assert(y.load() == 0 || x.load() == 1);", Verdict::Violated),
        (
            "loop { x.store(1); fence(release); y.store(1); fence(release); y.store(0); fence(release); x.store(0); }",
            "if y.load() == 1 { if x.load() == 0 { if y.load() == 1 { assert(x.load() == 1); } } }",
            Verdict::Violated,
        ),
        (
            "loop { x.store(1); y.store(1, release); y.store(2, release); }",
            "assert(y.load() == 0 || x.load() == 1);",
            Verdict::Holds,
        ),
        // A load after the fence may come before the stores that the fence orders.
        (
            "x.store(1); loop { y.store(1, release); if z.load() == 0 { y.store(2, release); } }",
            "z.store(1); fence(seq_cst); if x.load() == 0 { if y.load() == 0 { wait(y == 2); assert(0 == 1); } }",
            Verdict::Violated,
        ),
        (
            "x.store(1); loop { y.store(1, release); fence(seq_cst); if z.load() == 0 { y.store(2, release); } }",
            "z.store(1); fence(seq_cst); if x.load() == 0 { if y.load() == 0 { wait(y == 2); assert(0 == 1); } }",
            Verdict::Holds,
        ),
    ];
    for (worker, watcher, expected) in claims {
        let cells = "static x: 0..3;\nstatic y: 0..3;\nstatic z: 0..3;";
        let program = parsed(&format!("{cells}\nthread worker {{ {worker} }}\nthread watcher {{ {watcher} }}\n"));
        assert_eq!(by_pso(&program), Ok(Some(expected)), "{worker} ∥ {watcher}");
    }
}

/// A bus lock that is never given back keeps stores from memory for ever, so a store-store fence must not wait for them.
#[test]
fn a_thread_passes_a_store_store_fence_while_others_hold_the_bus() {
    let program = parsed(
        "static x: bool;\nstatic y: bool;\nthread worker { x.store(1); y.store(1, release); @end; }\n\
         thread holder { bus_lock; @held; wait(y == 1); bus_unlock; }\nnever worker@end && holder@held;\n",
    );
    assert_eq!(by_pso(&program), Ok(Some(Verdict::Violated)));
}
