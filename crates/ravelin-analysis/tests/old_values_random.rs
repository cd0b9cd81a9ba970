//! Old values of cells that only grow are not distinguished: with and without this reduction, alone and with the others,
//! random programs have the same verdicts, and every violation has a graph.
//!
//! The programs have a counter that grows by read-modify-writes, registers that hold old values of it, comparisons with other cells,
//! and loops. Half of the counters wrap around, so that the guesses of the search are wrong in some of them.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::check_one;
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::{Budget, Options};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, monitor};
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Escape, Expr, InitialValue, Instruction, LocId, Model, Order, Program,
    ProgramBuilder, RegId, RmwOp, SeqCstReading, Value, VarId, Variable, WaitAtom, WaitCondition,
};
use ravelin_testing::Random;
use ravelin_testing::{is_default_run, seeds};
use std::panic::{AssertUnwindSafe, catch_unwind};

const MOST_STATES: u64 = 30_000;

const WITHOUT: Reductions = Reductions { old_values: false, ..Reductions::ALL };
const ALONE: Reductions = Reductions { old_values: true, ..Reductions::NONE };

/// The verdict and the number of states; `None` if there are too many of them.
type Answer = Option<(Verdict, u64)>;

/// Under ra and rc20, where a violation comes with a graph that the axioms accept.
fn c11(program: &Program, model: Model, reductions: Reductions) -> Result<Answer, String> {
    let budget = Budget::unlimited().states(MOST_STATES);
    let question = C11Question { reductions, budget, ..C11Question::new(model) };
    match c11_robustness(program, &question) {
        Ok(answer) if answer.verdict == Verdict::Unknown => Ok(None),
        Ok(answer) => Ok(Some((answer.verdict, answer.statistics.states))),
        Err(AnalysisError::NotC11(_)) => Ok(None),
        Err(error) => Err(format!("{model}: {error}")),
    }
}

/// Under tso and pso, where a violation comes with a run.
fn hardware(program: &Program, model: Model, reductions: Reductions) -> Result<Answer, String> {
    let seq_cst = SeqCstReading::RelAcq;
    let settings = C11Settings { model, seq_cst, chains: false, observational: false, races: false, reductions };
    let options = Options { budget: Budget::unlimited().states(MOST_STATES), ..Options::default() };
    match monitor(program, settings, &options) {
        Ok(search) if search.limit.is_some() => Ok(None),
        Ok(search) => {
            let verdict = if search.found.is_some() { Verdict::Violated } else { Verdict::Holds };
            Ok(Some((verdict, search.statistics.states)))
        }
        Err(MonitorError::Refused(_)) => Ok(None),
        Err(error) => Err(format!("{model}: {error}")),
    }
}

fn ask(program: &Program, model: Model, reductions: Reductions) -> Result<Answer, String> {
    let ask = if model.is_c11() { c11 } else { hardware };
    catch_unwind(AssertUnwindSafe(|| ask(program, model, reductions))).unwrap_or_else(|_| Err("a panic".to_owned()))
}

fn compare(program: &Program) -> Result<(), String> {
    for model in [Model::Ra, Model::Rc20, Model::Tso, Model::Pso] {
        let Some((expected, _)) = ask(program, model, WITHOUT)? else { continue };
        for reductions in [Reductions::ALL, ALONE, Reductions::NONE] {
            if let Some((said, _)) = ask(program, model, reductions)?
                && said != expected
            {
                return Err(format!("{model}, {reductions:?}: {said:?}, without: {expected:?}"));
            }
        }
    }
    Ok(())
}

/// What a thread's code is made of.
struct Parts {
    counter: VarId,
    bound: VarId,
    data: VarId,
    /// Registers: `t` holds values of the counter, `b` of the bound.
    t: RegId,
    b: RegId,
    arithmetic: Arithmetic,
    /// So many of four accesses have a fence behind them.
    fenced: usize,
}

fn order(random: &mut Random, of: [Order; 2]) -> Order {
    random.pick(&of)
}

impl Parts {
    fn either(&self, random: &mut Random) -> RegId {
        if random.once_in(4) { self.b } else { self.t }
    }

    fn value(&self, random: &mut Random) -> Expr {
        match random.below(4) {
            0 => Expr::Const(random.below(3) as Value),
            1 => Expr::Atom(self.b),
            2 => Expr::Atom(self.t),
            _ => self.more(Expr::Atom(self.either(random)), 1),
        }
    }

    fn more(&self, expr: Expr, by: Value) -> Expr {
        Expr::binary_in(self.arithmetic, BinaryOp::Add, expr, Expr::Const(by))
    }

    /// What a compare-exchange of the counter expects, and what it writes; once in a while not more.
    fn exchange(&self, random: &mut Random) -> (Expr, Expr) {
        let expected = match random.below(5) {
            0 => Expr::Const(random.below(3) as Value),
            1 => Expr::Atom(self.b),
            _ => Expr::Atom(self.t),
        };
        let by = if random.once_in(12) { -1 } else { random.within(1..=2) as Value };
        let new = self.more(expected.clone(), by);
        (expected, new)
    }

    fn comparison(&self, random: &mut Random) -> Expr {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let op = random.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
        let (one, other) = if random.once_in(2) { (self.t, self.b) } else { (self.b, self.t) };
        let compared = Expr::binary(op, Expr::Atom(one), Expr::Atom(other));
        if random.once_in(10) {
            return Expr::binary(op, Expr::Atom(one), Expr::Const(random.below(3) as Value));
        }
        compared
    }
}

fn address(program: &Program, variable: VarId) -> Address {
    Address { expr: Expr::Const(program.memory.variables[variable.0].base), within: Some(variable) }
}

fn instruction(random: &mut Random, parts: &Parts, program: &Program) -> Instruction {
    let at = |variable: VarId| address(program, variable);
    let (read, write) =
        (order(random, [Order::Acquire, Order::Relaxed]), order(random, [Order::Release, Order::Relaxed]));
    let update = order(random, [Order::AcqRel, Order::Relaxed]);
    match random.below(16) {
        0 | 1 => Instruction::Load { reg: parts.t, address: at(parts.counter), order: read },
        2 | 3 => Instruction::Load { reg: parts.b, address: at(parts.bound), order: read },
        4 => Instruction::Load { reg: parts.b, address: at(random.pick(&[parts.counter, parts.data])), order: read },
        5 | 6 => {
            let (expected, new) = parts.exchange(random);
            Instruction::BlockingCas { address: at(parts.counter), expected, new, order: update }
        }
        7 => Instruction::Rmw {
            op: RmwOp::Add,
            arithmetic: parts.arithmetic,
            address: at(parts.counter),
            operand: Expr::Const(1),
            order: update,
            old: random.once_in(2).then_some(parts.t),
        },
        8 => {
            let (expected, new) = parts.exchange(random);
            let (success, failure, weak) = (update, read, random.once_in(4));
            let old = random.once_in(2).then_some(parts.b);
            let address = at(parts.counter);
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok: None }
        }
        9 => {
            let variable = random.pick(&[parts.counter, parts.bound, parts.data]);
            let value = Expr::Atom(WaitAtom::Register(parts.either(random)));
            let condition = WaitCondition::new(Expr::binary(BinaryOp::Eq, Expr::Atom(WaitAtom::Read), value));
            Instruction::Wait { address: at(variable), condition, order: read, old: None }
        }
        10 => Instruction::Store { address: at(parts.bound), value: parts.value(random), order: write },
        11 | 12 => Instruction::Store { address: at(parts.data), value: Expr::Const(1), order: write },
        13 | 14 => Instruction::Load { reg: parts.b, address: at(parts.data), order: read },
        _ => Instruction::Assign { reg: parts.b, value: parts.value(random) },
    }
}

/// A store to one cell and then a load of the other, which may overtake it.
fn pair(random: &mut Random, parts: &Parts, program: &Program) -> [Instruction; 2] {
    let at = |variable: VarId| address(program, variable);
    let (first, second) = random.pick(&[(parts.data, parts.bound), (parts.bound, parts.data)]);
    let value = parts.value(random);
    [
        Instruction::Store { address: at(first), value, order: Order::Release },
        Instruction::Load { reg: parts.b, address: at(second), order: Order::Acquire },
    ]
}

fn domain(random: &mut Random) -> Domain {
    let escape = random.pick(&[Escape::Wrap, Escape::Block]);
    Domain::new(-(random.below(2) as Value), random.within(2..=6) as Value, escape)
}

fn initial(random: &mut Random) -> InitialValue {
    if random.once_in(10) { InitialValue::Any } else { InitialValue::Value(random.below(3) as Value) }
}

fn generate(seed: u64) -> Program {
    let random = &mut Random::new(seed);
    let mut builder = ProgramBuilder::new("counter");
    let mut variable = |name: &str, random: &mut Random| {
        builder.variable(Variable::scalar(name).with_domain(domain(random)).with_initial(initial(random)))
    };
    let (counter, bound, data) = (variable("c", random), variable("d", random), variable("x", random));
    let (fenced, threads) = (random.pick(&[0, 2, 3, 4, 4]), random.within(1..=2));
    for number in 0..threads {
        let memory = Program { memory: builder.program.memory.clone(), ..Program::default() };
        let mut thread = builder.thread(format!("p{number}"));
        let mut register = |name: &str, random: &mut Random| {
            let any = Domain::new(-1, 6, Escape::Wrap);
            let of = if random.once_in(4) { domain(random) } else { any };
            thread.register_with(name, of)
        };
        let (t, b) = (register("t", random), register("b", random));
        let arithmetic = Arithmetic::Wrapping(Domain::new(-1, 6, Escape::Wrap));
        let parts = Parts { counter, bound, data, t, b, arithmetic, fenced };
        for _ in 0..random.within(1..=4) {
            if random.once_in(2) {
                // Looks at the counter and at the bound, and then takes one, or not.
                let read = order(random, [Order::Acquire, Order::Relaxed]);
                thread.load(t, counter, read);
                if random.below(4) < parts.fenced {
                    thread.fence(Order::SeqCst);
                }
                if random.once_in(3) {
                    thread.push(instruction(random, &parts, &memory));
                }
                thread.load(b, bound, read);
                let condition = parts.comparison(random);
                let (from, end) = (thread.here(), thread.fresh());
                let otherwise =
                    Expr::Unary(ravelin_program::UnaryOp::Not, Arithmetic::Checked, Box::new(condition.clone()));
                thread.edge(from, Instruction::Assume(otherwise), end);
                thread.push(Instruction::Assume(condition));
                match random.below(3) {
                    0 => pair(random, &parts, &memory).into_iter().for_each(|access| {
                        thread.push(access);
                    }),
                    1 => {
                        thread.push(instruction(random, &parts, &memory));
                    }
                    _ => {}
                }
                let (expected, new) = parts.exchange(random);
                let exchange = Instruction::BlockingCas {
                    address: address(&memory, counter),
                    expected,
                    new,
                    order: Order::AcqRel,
                };
                let here = thread.here();
                thread.edge(here, exchange, end);
                thread.resume(end);
            } else if random.once_in(3) {
                pair(random, &parts, &memory).into_iter().for_each(|access| {
                    thread.push(access);
                });
            } else {
                thread.push(instruction(random, &parts, &memory));
            }
            if random.below(4) < parts.fenced {
                thread.fence(Order::SeqCst);
            }
        }
        if !random.once_in(4) {
            let here = thread.here();
            thread.edge(here, Instruction::Nop, LocId(0));
        }
        thread.finish();
    }
    // The last thread once more: identical threads are exchanged.
    if threads == 1 || random.once_in(3) {
        let mut twin = builder.program.threads[threads - 1].clone();
        twin.name = "twin".to_owned();
        builder.program.threads.push(twin);
    }
    builder.finish().expect("the generator makes valid programs")
}

#[test]
fn verdicts_do_not_depend_on_old_values() {
    for seed in seeds(1_500) {
        check_one(seed, &generate(seed), |program| compare(program).err());
    }
}

/// Comparing shows little if there is nothing to reduce, or if all verdicts are alike.
#[test]
fn the_programs_have_old_values_to_forget() {
    if !is_default_run() {
        return;
    }
    let answers = |seed: u64, reductions| ask(&generate(seed), Model::Ra, reductions).ok().flatten();
    let both: Vec<_> = (0..400).filter_map(|seed| answers(seed, Reductions::ALL).zip(answers(seed, WITHOUT))).collect();
    let reduced = both.iter().filter(|((_, with), (_, without))| with < without).count();
    let robust = both.iter().filter(|((verdict, _), _)| *verdict == Verdict::Holds).count();
    let total = both.len();
    assert!(total > 300 && reduced > 40, "{reduced} of {total} are reduced");
    assert!((80..320).contains(&robust), "{robust} of {total} are robust");
}
