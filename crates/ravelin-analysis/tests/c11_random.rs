//! Robustness against release/acquire and RC20 on random loop-free programs: the verdict is what the enumeration of all execution
//! graphs says.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_one, without_faulting_domains, without_seq_cst_accesses};
use ravelin_analysis::c11::{C11Answer, C11Question, c11_robustness};
use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_machine::Reductions;
use ravelin_program::{
    Address, BinaryOp, Expr, Instruction, Model, Order, Program, ProgramBuilder, SeqCstReading, Value, VarId, Variable,
    WaitAtom, WaitCondition,
};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, robust};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::seeds;

const LIMITS: GraphLimits = GraphLimits { executions: 20_000, states: 20_000, values: 100 };

fn ask(program: &Program, model: Model, seq_cst: SeqCstReading, races: bool) -> Result<Option<Verdict>, String> {
    let question = C11Question { seq_cst, races, ..C11Question::new(model) };
    match c11_robustness(program, &question) {
        Ok(answer) => {
            if model == Model::Rc20 && seq_cst == SeqCstReading::Both {
                store_buffers_agree(program, &answer)?;
            }
            let plain = c11_robustness(program, &C11Question { reductions: Reductions::NONE, ..question });
            match plain {
                Ok(plain) if plain.verdict == answer.verdict => Ok(Some(answer.verdict)),
                other => Err(format!("{:?} with reductions, without: {other:?}", answer.verdict)),
            }
        }
        Err(AnalysisError::NotC11(_)) => Ok(None),
        Err(error) => Err(format!("{model:?} {seq_cst:?} races {races}: {error}")),
    }
}

/// If x86 has the graph of the witness, which sequential consistency has not, the program is not robust against TSO.
fn store_buffers_agree(program: &Program, answer: &C11Answer) -> Result<(), String> {
    if !answer.witness().is_some_and(|witness| witness.machines.x86) {
        return Ok(());
    }
    match robustness(program, &RobustnessQuestion::new(Model::Tso)) {
        Ok(answer) if answer.verdict == Verdict::Holds => Err("x86 has a graph, but TSO is robust".to_owned()),
        _ => Ok(()),
    }
}

fn exact(program: &Program, model: Model, seq_cst: SeqCstReading, reading: OrderReading) -> Result<(), String> {
    let (Ok(robustness), Ok(executions)) = (robust(program, reading, LIMITS), enumerate(program, reading, LIMITS))
    else {
        return Ok(());
    };
    let races = executions.has_race(reading);
    let expected = if robustness.is_robust() && !races { Verdict::Holds } else { Verdict::Violated };
    let Some(said) = ask(program, model, seq_cst, true)? else { return Ok(()) };
    if said != expected {
        let robust = robustness.is_robust();
        return Err(format!("{reading:?}: {said:?}, but by enumeration: robust {robust}, races {races}"));
    }
    if !races && ask(program, model, seq_cst, false)? != Some(expected) {
        return Err(format!("{reading:?}: asking for races makes a difference although there are none"));
    }
    // With races the answer says little, but it must not be an internal error.
    ask(program, model, seq_cst, false).map(|_| ())
}

/// What is wrong, if anything.
fn disagreement(program: &Program) -> Option<String> {
    let all = || {
        exact(&without_seq_cst_accesses(program.clone()), Model::Rc20, SeqCstReading::Both, OrderReading::Written)?;
        exact(program, Model::Ra, SeqCstReading::Both, OrderReading::ReleaseAcquire)?;
        exact(program, Model::Rc20, SeqCstReading::RelAcq, OrderReading::SeqCstAsReleaseAcquire)?;
        // Incomplete, but never a false alarm: a violation comes with a graph of RC11.
        for seq_cst in [SeqCstReading::After, SeqCstReading::Before] {
            ask(program, Model::Rc20, seq_cst, true)?;
        }
        Ok(())
    };
    match std::panic::catch_unwind(all) {
        Ok(Ok(())) => None,
        Ok(Err(what)) => Some(what),
        Err(_) => Some("a panic".to_owned()),
    }
}

fn compare(config: Config, programs: std::ops::Range<u64>, change: impl Fn(&mut Program)) {
    let generator = Generator::new(config);
    for seed in programs {
        let mut program = without_faulting_domains(generator.program(seed));
        change(&mut program);
        check_one(seed, &program, disagreement);
    }
}

#[test]
fn verdicts_are_those_of_all_graphs() {
    compare(Config::c11(), seeds(400), |_| {});
}

/// Atomic accesses and fences alone, more of them.
#[test]
fn verdicts_are_those_of_all_graphs_of_more_events() {
    let config = Config { max_events: 8, non_atomic: false, arrays: false, domains: false, ..Config::c11() };
    compare(config, seeds(400), |_| {});
}

/// Cells that are counted up and down in wide types, of which the monitor lists the values that can occur.
#[test]
fn verdicts_are_those_of_all_graphs_of_programs_that_count() {
    let config = Config { counters: true, domains: false, ..Config::c11() };
    compare(Config { non_atomic: false, max_events: 8, ..config.clone() }, seeds(300), |_| {});
    compare(config, seeds(200), |_| {});
}

/// Whether one fails with a stale value depends on the value that it expects, which is a constant or in a register.
#[test]
fn compare_exchanges_that_expect_constants_and_registers() {
    use InstructionKind::{Assign, CompareExchange, Load, Store};
    let mut config =
        Config { threads: 2..=2, max_events: 9, non_atomic: false, arrays: false, domains: false, ..Config::c11() };
    config.kinds.retain(|(kind, _)| matches!(kind, Assign | CompareExchange | Load | Store));
    for (kind, weight) in &mut config.kinds {
        if *kind == CompareExchange {
            *weight *= 4;
        }
    }
    // All of a thread on one cell, and in turns with a value of each kind, so that both kinds meet.
    compare(config, seeds(300), |program| {
        for thread in &mut program.threads {
            let loaded = thread.transitions.iter().find_map(|transition| match &transition.instruction {
                Instruction::Load { reg, .. } => Some(*reg),
                _ => None,
            });
            let mut cell = None;
            for (number, transition) in thread.transitions.iter_mut().enumerate() {
                if let Instruction::CompareExchange { address, expected, .. } = &mut transition.instruction {
                    *address = cell.get_or_insert_with(|| address.clone()).clone();
                    *expected = match loaded {
                        Some(register) if number % 2 == 1 => Expr::Atom(register),
                        _ => Expr::Const((number % 3) as Value),
                    };
                }
            }
        }
    });
}

/// The first thread twice.
#[test]
fn identical_threads_need_not_be_told_apart() {
    let config = Config { threads: 1..=2, total_instructions: 6, max_events: 5, non_atomic: false, ..Config::c11() };
    compare(config, seeds(400), |program| {
        let mut twin = program.threads[0].clone();
        twin.name = "twin".to_owned();
        program.threads.push(twin);
    });
}

/// Waits for cells that are written without atomicity too: half of the stores are, and most loads wait for a value.
#[test]
fn waits_for_cells_that_are_written_non_atomically() {
    let config = Config { any_initial: true, ..Config::c11() };
    compare(config, seeds(300), |program| {
        let transitions = program.threads.iter_mut().flat_map(|thread| &mut thread.transitions);
        for (number, transition) in transitions.enumerate() {
            match &mut transition.instruction {
                Instruction::Store { order, .. } if number % 2 == 0 => *order = Order::NonAtomic,
                Instruction::Load { reg, address, order } if number % 4 != 0 => {
                    let value = (number / 4 % 3) as Value;
                    let op = if number % 3 == 0 { BinaryOp::Ne } else { BinaryOp::Eq };
                    let condition = WaitCondition::new(Expr::binary(op, Expr::Atom(WaitAtom::Read), value.into()));
                    let order = if number % 8 == 1 { Order::NonAtomic } else { *order };
                    let (address, old) = (address.clone(), Some(*reg));
                    transition.instruction = Instruction::Wait { address, condition, order, old };
                }
                _ => {}
            }
        }
    });
}

/// Two threads that never start need more facts than the usual sets hold, and come first, so that all others are in the words behind.
#[test]
fn verdicts_do_not_depend_on_how_wide_the_sets_are() {
    const CELLS: usize = 140;
    let config = Config { goals: 0..=0, ..Config::c11() };
    compare(config, seeds(8), |program| {
        let end = |variable: &Variable| variable.base + variable.cells() as Value;
        let base = program.memory.variables.iter().map(end).max().unwrap_or(1) + 100;
        let mut cells = Variable::array("unused", CELLS);
        cells.base = base;
        program.memory.variables.push(cells);
        let within = Some(VarId(program.memory.variables.len() - 1));
        for name in ["first_unused", "second_unused"] {
            let mut builder = ProgramBuilder::new("");
            let mut thread = builder.thread(name);
            let reg = thread.register("r");
            thread.push(Instruction::Assume(Expr::Atom(reg)));
            for cell in 0..CELLS {
                let address = Address { expr: Expr::Const(base + cell as Value), within };
                let order = Order::Relaxed;
                thread.push(Instruction::Store { address: address.clone(), value: Expr::Const(1), order });
                thread.push(Instruction::Load { reg, address, order });
            }
            thread.finish();
            program.threads.insert(0, builder.program.threads.remove(0));
        }
    });
}
