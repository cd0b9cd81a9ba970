//! seq_cst accesses under RC20: the verdict is what all execution graphs say, judged by RC11's psc axiom.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_one, without_faulting_domains};
use ravelin_analysis::AnalysisError;
use ravelin_analysis::Verdict::{self, Holds, Unknown, Violated};
use ravelin_analysis::c11::{C11Answer, C11Question, c11_robustness};
use ravelin_answer::SeqCstBasis;
use ravelin_frontend::{Language, parse};
use ravelin_machine::Reductions;
use ravelin_program::{Instruction, Model, Order, Program, SeqCstReading, Source};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, rc20_consistent, robust};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::seeds;

const LIMITS: GraphLimits = GraphLimits { executions: 20_000, states: 20_000, values: 100 };

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn ask(program: &Program, seq_cst: SeqCstReading) -> C11Answer {
    let question = C11Question { seq_cst, ..C11Question::new(Model::Rc20) };
    c11_robustness(program, &question).expect("an answer")
}

/// What the graphs of a loop-free program say; `None` if there are too many.
fn by_enumeration(program: &Program) -> Option<Verdict> {
    let reading = OrderReading::Written;
    let robust = robust(program, reading, LIMITS).ok()?.is_robust();
    let races = enumerate(program, reading, LIMITS).ok()?.has_race(reading);
    Some(if robust && !races { Holds } else { Violated })
}

const CELLS: &str = "static x; static y; static z; static w;\n";

/// Name, threads, verdict. `W_sc`, `R_acq` and the like in a name are accesses with their orders.
const CLAIMS: &[(&str, &str, Verdict)] = &[
    (
        "SB: what loom's issue 180 is about",
        "thread p { x.store(1, seq_cst); let a = y.load(seq_cst); } thread q { y.store(1, seq_cst); let b = x.load(seq_cst); }",
        Holds,
    ),
    (
        "SB, W_sc and R_acq",
        "thread p { x.store(1, seq_cst); let a = y.load(acquire); } thread q { y.store(1, seq_cst); let b = x.load(acquire); }",
        Violated,
    ),
    (
        "SB, W_rel and R_sc",
        "thread p { x.store(1, release); let a = y.load(seq_cst); } thread q { y.store(1, release); let b = x.load(seq_cst); }",
        Violated,
    ),
    (
        "SB, one thread without seq_cst",
        "thread p { x.store(1, seq_cst); let a = y.load(seq_cst); } thread q { y.store(1, release); let b = x.load(seq_cst); }",
        Violated,
    ),
    (
        "IRIW",
        "thread p { x.store(1, seq_cst); } thread q { y.store(1, seq_cst); }
         thread r { let a = x.load(seq_cst); let b = y.load(seq_cst); } thread s { let a = y.load(seq_cst); let b = x.load(seq_cst); }",
        Holds,
    ),
    (
        "IRIW, R_acq",
        "thread p { x.store(1, seq_cst); } thread q { y.store(1, seq_cst); }
         thread r { let a = x.load(acquire); let b = y.load(acquire); } thread s { let a = y.load(acquire); let b = x.load(acquire); }",
        Violated,
    ),
    (
        "IRIW, the second loads R_sc",
        "thread p { x.store(1, seq_cst); } thread q { y.store(1, seq_cst); }
         thread r { let a = x.load(acquire); let b = y.load(seq_cst); } thread s { let a = y.load(acquire); let b = x.load(seq_cst); }",
        Violated,
    ),
    (
        "RWC",
        "thread p { x.store(1, seq_cst); } thread q { let a = x.load(seq_cst); let b = y.load(seq_cst); }
         thread r { y.store(1, seq_cst); let c = x.load(seq_cst); }",
        Holds,
    ),
    (
        "RWC, W_rel x: what chains of seq_cst accesses leave open",
        "thread p { x.store(1, release); } thread q { let a = x.load(seq_cst); let b = y.load(seq_cst); }
         thread r { y.store(1, seq_cst); let c = x.load(seq_cst); }",
        Violated,
    ),
    (
        "W+RWC, R_acq in the middle",
        "thread p { x.store(1); y.store(1, release); } thread q { let a = y.load(acquire); let b = z.load(seq_cst); }
         thread r { z.store(1, seq_cst); let c = x.load(seq_cst); }",
        Violated,
    ),
    (
        "Z6.U: a release store between seq_cst accesses",
        "thread p { x.store(1, seq_cst); y.store(1, release); } thread q { y.fetch_add(1, seq_cst); let a = y.load(); }
         thread r { y.store(3, seq_cst); let b = x.load(seq_cst); }",
        Violated,
    ),
    (
        "2+2W",
        "thread p { x.store(1, seq_cst); y.store(2, seq_cst); } thread q { y.store(1, seq_cst); x.store(2, seq_cst); }",
        Holds,
    ),
    (
        "2+2W, one W_rel",
        "thread p { x.store(1, seq_cst); y.store(2, seq_cst); } thread q { y.store(1, seq_cst); x.store(2, release); }",
        Violated,
    ),
    (
        "which neither of the readings with fences finds",
        "thread p { y.fetch_add(1, seq_cst); x.store(1, seq_cst); } thread q { x.store(2, seq_cst); z.store(1, seq_cst); let r = y.load(acquire); }",
        Violated,
    ),
    (
        "fences after stores and before loads would forbid it",
        "thread p { x.store(1, seq_cst); } thread q { let a = x.load(seq_cst); y.store(1, seq_cst); }
         thread r { y.store(2, seq_cst); let b = x.load(seq_cst); }",
        Holds,
    ),
    (
        "a fence and an access",
        "thread p { x.store(1); fence(seq_cst); let a = y.load(); } thread q { y.store(1, seq_cst); let b = x.load(seq_cst); }",
        Holds,
    ),
    (
        "a compare-exchange that fails is a load with its own order",
        "thread p { x.store(1, seq_cst); let a = y.compare_exchange(5, 6, seq_cst, seq_cst); }
         thread q { y.store(1, seq_cst); let b = x.compare_exchange(5, 6, seq_cst, seq_cst); }",
        Holds,
    ),
    (
        "a compare-exchange that fails with acquire",
        "thread p { x.store(1, seq_cst); let a = y.compare_exchange(5, 6, seq_cst, acquire); }
         thread q { y.store(1, seq_cst); let b = x.compare_exchange(5, 6, seq_cst, acquire); }",
        Violated,
    ),
    (
        "what a seq_cst store misses through an RMW of another thread",
        "thread p { x.store(1, seq_cst); } thread q { x.fetch_add(1); } thread r { let a = x.load(seq_cst); let b = y.load(seq_cst); }
         thread s { y.store(1, seq_cst); let c = x.load(seq_cst); }",
        Violated,
    ),
];

#[test]
fn verdicts_are_exact() {
    for (name, threads, expected) in CLAIMS {
        let program = program(&format!("{CELLS}{threads}"));
        assert_eq!(by_enumeration(&program), Some(*expected), "{name}: all graphs");
        let answer = ask(&program, SeqCstReading::Exact);
        assert_eq!((answer.verdict, answer.limit), (*expected, None), "{name}");
        let basis = answer.basis.expect("seq_cst accesses matter");
        match expected {
            Violated => assert_eq!(basis, SeqCstBasis::Graph, "{name}"),
            _ => assert!(matches!(basis, SeqCstBasis::Search | SeqCstBasis::AllGraphs), "{name}: {basis:?}"),
        }
    }
}

/// What the readings with fences miss is not called robust.
#[test]
fn readings_that_miss_something_do_not_say_robust() {
    let (_, missed, _) = CLAIMS.iter().find(|(name, ..)| name.contains("neither")).expect("a claim");
    let program = program(&format!("{CELLS}{missed}"));
    for reading in [SeqCstReading::After, SeqCstReading::Before, SeqCstReading::Both] {
        let answer = ask(&program, reading);
        assert_eq!((answer.verdict, answer.basis), (Unknown, Some(SeqCstBasis::ReadingOnly)), "{}", reading.name());
        assert_eq!(answer.seq_cst, Some(reading));
    }
    assert_eq!(ask(&program, SeqCstReading::Exact).verdict, Violated);
}

/// Loops: the graphs are without number, and chains of seq_cst accesses decide.
#[test]
fn loops_with_seq_cst_accesses_alone_are_robust() {
    let dekker = program(
        "static x: bool; static y: bool; static turn: bool;
         thread p { loop { x.store(1, seq_cst); while y.load(seq_cst) == 1 { if turn.load(seq_cst) == 1 { x.store(0, seq_cst);
             while turn.load(seq_cst) == 1 {} x.store(1, seq_cst); } } turn.store(1, seq_cst); x.store(0, seq_cst); } }
         thread q { loop { y.store(1, seq_cst); while x.load(seq_cst) == 1 { if turn.load(seq_cst) == 0 { y.store(0, seq_cst);
             while turn.load(seq_cst) == 0 {} y.store(1, seq_cst); } } turn.store(0, seq_cst); y.store(0, seq_cst); } }",
    );
    let answer = ask(&dekker, SeqCstReading::Exact);
    assert_eq!((answer.verdict, answer.basis), (Holds, Some(SeqCstBasis::Search)));
    assert_eq!(ask(&dekker, SeqCstReading::RelAcq).verdict, Violated);
}

/// A program of which only graphs know that it is robust, and whose graphs are without number.
#[test]
fn what_only_graphs_decide_is_unknown_where_they_are_too_many() {
    let text = "thread p { x.store(1, seq_cst); y.store(1, release); } thread q { let a = y.load(acquire); let b = z.load(seq_cst); }
                thread r { z.store(1, seq_cst); let c = x.load(seq_cst); }";
    let small = program(&format!("{CELLS}{text}"));
    assert_eq!(by_enumeration(&small), Some(Holds));
    let answer = ask(&small, SeqCstReading::Exact);
    assert_eq!((answer.verdict, answer.basis), (Holds, Some(SeqCstBasis::AllGraphs)));
    let spinning =
        program(&format!("{CELLS}{text} thread s {{ loop {{ w.store(1); }} }} thread t {{ let d = w.load(); }}"));
    let answer = ask(&spinning, SeqCstReading::Exact);
    assert_eq!((answer.verdict, answer.basis, answer.limit), (Unknown, Some(SeqCstBasis::Open), None));
}

/// What is wrong, if anything.
fn disagreement(program: &Program) -> Option<String> {
    let all = || {
        let Some(expected) = by_enumeration(program) else { return Ok(()) };
        for reductions in [Reductions::ALL, Reductions::NONE] {
            let question = C11Question { reductions, ..C11Question::new(Model::Rc20) };
            let answer = match c11_robustness(program, &question) {
                Ok(answer) => answer,
                Err(AnalysisError::NotC11(_)) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            };
            if answer.verdict != expected {
                return Err(format!("{:?} ({:?}), but by enumeration {expected:?}", answer.verdict, answer.basis));
            }
            if let Some(witness) = answer.witness()
                && !rc20_consistent(&witness.graph, OrderReading::Written)
            {
                return Err("a witness that RC11 forbids".to_owned());
            }
        }
        for seq_cst in [SeqCstReading::After, SeqCstReading::Before, SeqCstReading::Both] {
            let question = C11Question { seq_cst, ..C11Question::new(Model::Rc20) };
            let answer = c11_robustness(program, &question).map_err(|error| error.to_string())?;
            if ![expected, Unknown].contains(&answer.verdict) {
                return Err(format!("{}: {:?}, but {expected:?}", seq_cst.name(), answer.verdict));
            }
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

/// Half of the accesses are seq_cst.
fn mixed() -> Vec<Order> {
    let all = Order::ATOMIC;
    all.into_iter().chain(std::iter::repeat_n(Order::SeqCst, all.len())).collect()
}

#[test]
fn verdicts_are_those_of_all_graphs() {
    compare(Config { orders: mixed(), ..Config::c11() }, seeds(1000), |_| {});
}

/// Atomic accesses and fences alone, more of them, in three threads.
#[test]
fn verdicts_are_those_of_all_graphs_of_more_events() {
    let config = Config {
        threads: 2..=3,
        total_instructions: 12,
        max_events: 8,
        orders: mixed(),
        non_atomic: false,
        domains: false,
        ..Config::c11()
    };
    compare(config, seeds(1000), |_| {});
}

/// Plain litmus tests: loads, stores and RMWs of two or three cells, nearly all of them seq_cst, so that many are robust.
#[test]
fn verdicts_are_those_of_all_graphs_of_litmus_tests() {
    let kinds = [
        (InstructionKind::Load, 5),
        (InstructionKind::Store, 5),
        (InstructionKind::Rmw, 1),
        (InstructionKind::Fence, 1),
    ];
    let config = Config {
        threads: 2..=3,
        instructions: 2..=4,
        total_instructions: 8,
        max_events: 8,
        orders: mixed(),
        kinds: kinds.to_vec(),
        arrays: false,
        domains: false,
        non_atomic: false,
        branches: false,
        wrapping: false,
        goals: 0..=0,
        ..Config::c11()
    };
    compare(config, seeds(1500), |program| {
        let transitions = program.threads.iter_mut().flat_map(|thread| &mut thread.transitions);
        for (number, transition) in transitions.enumerate() {
            match &mut transition.instruction {
                Instruction::Load { order, .. } | Instruction::Store { order, .. } if number % 4 != 0 => {
                    *order = Order::SeqCst;
                }
                _ => {}
            }
        }
    });
}

/// The first thread twice.
#[test]
fn identical_threads_need_not_be_told_apart() {
    let config = Config {
        threads: 1..=2,
        total_instructions: 6,
        max_events: 5,
        orders: mixed(),
        non_atomic: false,
        ..Config::c11()
    };
    compare(config, seeds(500), |program| {
        let mut twin = program.threads[0].clone();
        twin.name = "twin".to_owned();
        program.threads.push(twin);
    });
}
