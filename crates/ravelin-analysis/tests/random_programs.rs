//! What tests on random programs share: which programs, what an engine says of one, and what is shown of one that fails.

use ravelin_analysis::reachability::ReachabilityAnswer;
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_frontend::print;
use ravelin_program::{Arithmetic, BinaryOp, Domain, Escape, Expr, Instruction, Order, Program, Value, WaitAtom};
use ravelin_testing::programs::{self, Config, Generator, InstructionKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `wrong` must have nothing to say of any program.
pub fn check_all(generator: &Generator, programs: u64, wrong: impl Fn(&Program) -> Option<String>) {
    programs::check_all(generator, programs, print::rav, wrong);
}

/// Fails with a smaller program if `wrong` has something to say of this one.
pub fn check_one(seed: u64, program: &Program, wrong: impl Fn(&Program) -> Option<String>) {
    programs::check_one(seed, program, print::rav, wrong);
}

/// The verdict of an engine for programs with finite domains, which shows a run exactly if a goal is reached; `None` if it
/// refuses the program or gives up.
pub fn decided(engine: impl FnOnce() -> Result<ReachabilityAnswer, AnalysisError>) -> Result<Option<Verdict>, String> {
    match catch_unwind(AssertUnwindSafe(engine)) {
        Err(_) => Err("a panic".to_owned()),
        Ok(Err(AnalysisError::NotFinite(_))) => Ok(None),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(answer)) => {
            let (verdict, shown) = (answer.verdict, answer.witness.is_some());
            if shown != (verdict == Verdict::Violated) {
                return Err(format!("{verdict:?}, and a run: {shown}"));
            }
            Ok((verdict != Verdict::Unknown).then_some(verdict))
        }
    }
}

/// Most of 200 programs must be decided, and not all alike, or comparing verdicts shows little.
pub fn assert_mixed(generator: &Generator, decided: impl Fn(&Program) -> Result<Option<Verdict>, String>) {
    let verdicts: Vec<Verdict> =
        (0..200).filter_map(|seed| decided(&generator.program(seed)).unwrap_or_default()).collect();
    let violated = verdicts.iter().filter(|verdict| **verdict == Verdict::Violated).count();
    assert!(verdicts.len() > 150, "only {} of 200 programs were decided", verdicts.len());
    assert!((20..180).contains(&violated), "{violated} of {} are violated: too few of a kind", verdicts.len());
}

/// Without faults, which are found early in most programs that have any.
pub fn without_faults() -> Generator {
    let mut config = Config { domains: false, arrays: false, computed_addresses: false, goals: 1..=1, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::Assert));
    Generator::new(config)
}

/// Every access that is seq_cst becomes a release/acquire one; fences stay.
pub fn without_seq_cst_accesses(mut program: Program) -> Program {
    let weaken = |order: &mut Order, weaker: Order| {
        if *order == Order::SeqCst {
            *order = weaker;
        }
    };
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        match &mut transition.instruction {
            Instruction::Load { order, .. } | Instruction::Wait { order, .. } => weaken(order, Order::Acquire),
            Instruction::Store { order, .. } => weaken(order, Order::Release),
            Instruction::Rmw { order, .. } | Instruction::BlockingCas { order, .. } => weaken(order, Order::AcqRel),
            Instruction::CompareExchange { success, failure, .. } => {
                weaken(success, Order::AcqRel);
                weaken(failure, Order::Acquire);
            }
            _ => {}
        }
    }
    program
}

/// A stale read that faults is a violation, but no event of a graph: where values wrap instead there is no difference.
pub fn without_faulting_domains(mut program: Program) -> Program {
    let domains = program.threads.iter_mut().flat_map(|thread| &mut thread.registers).map(|r| &mut r.domain);
    for domain in domains.chain(program.memory.variables.iter_mut().map(|variable| &mut variable.domain)) {
        if domain.escape == Escape::Error && !domain.is_full() {
            domain.escape = Escape::Wrap;
        }
    }
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        if let Instruction::Wait { condition, .. } = &mut transition.instruction {
            make_total(&mut condition.expr);
        }
    }
    program
}

/// Operators that have no value for some operands become one that always has, and sums and products wrap.
fn make_total(expr: &mut Expr<WaitAtom>) {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => {}
        Expr::Unary(_, _, operand) => make_total(operand),
        Expr::Binary(op, _, left, right) => {
            make_total(left);
            make_total(right);
            let fits = matches!((&op, &**right), (BinaryOp::Rem, Expr::Const(1..)));
            if matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr) && !fits {
                *op = BinaryOp::BitXor;
            }
        }
    }
    expr.compute_in(Arithmetic::Wrapping(Domain::new(Value::MIN, Value::MAX, Escape::Wrap)));
}
