//! Reachability for any number of threads against instances: random small programs with goals that count copies, under SC by nets and under
//! TSO by load buffers, compared with explicit searches of instances with one to five copies.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::any_number;

use any_number::MOST_COPIES;
use ravelin_analysis::Verdict;
use ravelin_analysis::parameterised::reach_by_proof;
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_explore::Budget;
use ravelin_program::{
    BinaryOp, Condition, Copies, Expr, Goal, GoalKind, LocId, Model, Observable, Program, Span, ThreadId,
};
use ravelin_testing::programs::{Config, Generator, InstructionKind};

fn config(locks: bool) -> Config {
    const PLAIN: &[InstructionKind] = &[
        InstructionKind::Load,
        InstructionKind::Store,
        InstructionKind::Assign,
        InstructionKind::Assume,
        InstructionKind::Wait,
        InstructionKind::Fence,
        InstructionKind::Assert,
    ];
    any_number::config(&[InstructionKind::BusLock], (!locks).then_some(PLAIN))
}

/// A random program with templates and a goal: so many copies somewhere, and perhaps the other thread somewhere, or a cell with a value.
fn template(generator: &Generator, seed: u64) -> Program {
    let mut program = generator.program(seed);
    let last = program.threads.len() - 1;
    program.threads[0].copies = Copies::Any;
    if seed.is_multiple_of(4) {
        program.threads[last].copies = Copies::Any;
    }
    let at = |thread: usize, salt: u64, least: i64| -> Condition {
        let location = LocId(((seed / 5 + salt) % program.threads[thread].locations.len() as u64) as usize);
        Expr::binary(BinaryOp::Ge, Expr::Atom(Observable::At(ThreadId(thread), location)), Expr::Const(least))
    };
    let mut condition = at(0, 1, 1 + (seed % 3) as i64);
    if last > 0 && seed.is_multiple_of(2) {
        condition = condition.and(at(last, 2, 1));
    }
    if seed.is_multiple_of(5) {
        let cell = program.memory.variables[0].base;
        condition = condition.and(Expr::Atom(Observable::Memory(cell)).eq((1 + (seed % 2) as i64).into()));
    }
    program.goals = vec![Goal { kind: GoalKind::Never, condition, span: Span::NOWHERE }];
    program
}

fn question(model: Model) -> ReachabilityQuestion<'static> {
    ReachabilityQuestion { budget: Budget::seconds(20).states(100_000), ..ReachabilityQuestion::new(model) }
}

#[derive(Default, Debug)]
struct Tally {
    holds: usize,
    violated: usize,
    refused: usize,
    open: usize,
    needs_three: usize,
}

fn compare(generator: &Generator, seed: u64, model: Model, tally: &mut Tally) {
    let program = template(generator, seed);
    let found = match reach_by_proof(&program, &question(model)) {
        Ok(found) => found,
        Err(error) if error.is_refusal() => {
            tally.refused += 1;
            return;
        }
        Err(error) => panic!("seed {seed}: under {model}: {error}\n{}", ravelin_frontend::print::rav(&program)),
    };
    let of_instance =
        |copies: usize| answer(&program.instance(copies), &question(model), ReachEngine::Auto).expect("an answer");
    match found.reachability.verdict {
        Verdict::Holds => {
            tally.holds += 1;
            for copies in 0..=MOST_COPIES {
                let verdict = of_instance(copies).reachability.verdict;
                assert_ne!(verdict, Verdict::Violated, "seed {seed}: under {model}: {copies} copies");
                if verdict == Verdict::Unknown {
                    break;
                }
            }
        }
        Verdict::Violated => {
            tally.violated += 1;
            let instance = found.any_number.expect("about any number").instance.expect("an instance");
            assert!(instance.smallest, "seed {seed}: under {model}");
            let total: usize = instance.copies.iter().map(|(_, copies)| copies).sum();
            tally.needs_three += usize::from(total >= 3);
        }
        Verdict::Unknown => tally.open += 1,
    }
}

fn soak(model: Model, locks: bool) {
    let generator = Generator::new(config(locks));
    let mut tally = Tally::default();
    let seeds = ravelin_testing::seeds(250);
    let asked = (seeds.end - seeds.start) as usize;
    seeds.for_each(|seed| compare(&generator, seed, model, &mut tally));
    assert!(tally.open <= 1 + asked / 20, "{tally:?}");
    if asked >= 200 {
        assert!(tally.holds > asked / 20 && tally.violated > asked / 20 && tally.needs_three > 0, "{tally:?}");
    }
}

#[test]
fn sc_with_loads_and_stores_only() {
    soak(Model::Sc, false);
}

#[test]
fn sc_with_updates_and_locks() {
    soak(Model::Sc, true);
}

#[test]
fn tso_with_loads_and_stores_only() {
    soak(Model::Tso, false);
}

#[test]
fn tso_with_updates_and_locks() {
    soak(Model::Tso, true);
}
