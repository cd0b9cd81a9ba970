//! Budgets in every phase: a wish to stop ends each engine before it begins, and a verdict within a tiny budget is that without one, or
//! unknown with the limit named.
//!
//! Work is counted by the looks at the budget that an engine reports as progress, not by time. `RAVELIN_PROGRAMS` and `RAVELIN_SEED`
//! choose how many random programs, and from where.

use crate::random_programs::check_all;
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_analysis::robustness::{RobustnessEngine, RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::{Budget, Limit, Progress};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};
use ravelin_testing::programs::{Config, Generator};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Looks at the budget before an engine that was asked to stop has ended. Each phase looks when it begins.
const FEW_LOOKS: u64 = 64;

/// A verdict, and the limit that kept it from being another.
type Settled = Result<(Verdict, Option<Limit>), AnalysisError>;
/// An engine, by name.
type EngineUnderTest = (&'static str, fn(&Program, Budget) -> Settled);

/// Every engine of every question.
const ENGINES: &[EngineUnderTest] = &[
    ("reach auto tso", |program, budget| reach(program, Model::Tso, ReachEngine::Auto, budget)),
    ("reach auto pso", |program, budget| reach(program, Model::Pso, ReachEngine::Auto, budget)),
    ("reach bounded", |program, budget| reach(program, Model::Tso, ReachEngine::Bounded, budget)),
    ("reach lazy", |program, budget| reach(program, Model::Tso, ReachEngine::Lazy, budget)),
    ("reach dual", |program, budget| reach(program, Model::Tso, ReachEngine::Dual, budget)),
    ("reach sb", |program, budget| reach(program, Model::Tso, ReachEngine::Sb, budget)),
    ("reach sb pso", |program, budget| reach(program, Model::Pso, ReachEngine::Sb, budget)),
    ("check shared", |program, budget| check(program, RobustnessEngine::Shared, budget)),
    ("check attacks", |program, budget| check(program, RobustnessEngine::Attacks, budget)),
    ("check single", |program, budget| check(program, RobustnessEngine::Single, budget)),
    ("check trf", |program, budget| {
        let question = RobustnessQuestion { budget, ..RobustnessQuestion::new(Model::Tso) };
        race_freedom(program, &question).map(|found| (found.verdict, found.limit))
    }),
    ("check rc20", |program, budget| {
        let question = C11Question { budget, ..C11Question::new(Model::Rc20) };
        c11_robustness(program, &question).map(|found| (found.verdict, found.limit))
    }),
];

fn reach(program: &Program, model: Model, engine: ReachEngine, budget: Budget) -> Settled {
    let question = ReachabilityQuestion { budget, ..ReachabilityQuestion::new(model) };
    let found = answer(program, &question, engine)?.reachability;
    Ok((found.verdict, found.limit))
}

fn check(program: &Program, engine: RobustnessEngine, budget: Budget) -> Settled {
    let question = RobustnessQuestion { engine, budget, ..RobustnessQuestion::new(Model::Tso) };
    robustness(program, &question).map(|found| (found.verdict, found.limit))
}

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("slow.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics))
}

/// Large in a way that makes some phase take long.
fn large_programs() -> Vec<Program> {
    let mut stores = "static x; static y;\nthread p {\n".to_owned();
    (0..200).for_each(|number| writeln!(stores, "x.store({}); let r{number} = y.load();", number % 7).expect("grows"));
    stores.push_str("}\nthread q { y.store(1); let b = x.load(); }\nfinally never q.b == 3;\n");
    let values = "static x: 0..64; static y: 0..64;\n\
        thread p { let a; let b; loop { a = x.load(); b = y.load(); y.store((a * b + 1) & 63); } }\n\
        thread q { let a; let b; loop { a = y.load(); b = x.load(); x.store((a + b) & 63); } }\n\
        never p.a == 63 && q.b == 62;\n";
    let critical =
        "static x: bool;\nthread p[64] { loop { x.store(1); let a = x.load(); @critical; } }\nnever 2 of p@critical;\n";
    vec![program(&stores), program(values), program(critical)]
}

#[test]
fn a_wish_to_stop_ends_every_engine_before_it_begins() {
    let stop = AtomicBool::new(true);
    for program in large_programs() {
        for (name, engine) in ENGINES {
            let looks = AtomicU64::new(0);
            let count = |_: &Progress| {
                looks.fetch_add(1, Ordering::Relaxed);
            };
            let settled = engine(&program, Budget::unlimited().stop(&stop).progress(&count));
            let (verdict, limit) = settled.unwrap_or_else(|error| panic!("{name}: {error}"));
            // What needs no search at all may be said.
            if verdict == Verdict::Unknown {
                assert_eq!(limit, Some(Limit::Stopped), "{name}");
            }
            let looks = looks.into_inner();
            assert!(looks <= FEW_LOOKS, "{name} looked {looks} times at its budget before it stopped");
        }
    }
}

#[test]
fn no_time_and_no_memory_are_limits_that_are_named() {
    let none = [
        (Budget::unlimited().time(Duration::ZERO), Limit::Time(Duration::ZERO)),
        (Budget::unlimited().memory(1), Limit::Memory(1)),
    ];
    for program in large_programs() {
        for (name, engine) in ENGINES {
            for (budget, expected) in none {
                let (verdict, limit) = engine(&program, budget).unwrap_or_else(|error| panic!("{name}: {error}"));
                if verdict == Verdict::Unknown {
                    assert_eq!(limit, Some(expected), "{name}");
                }
            }
        }
    }
}

/// What is wrong, if anything: within a budget a verdict is the one without, or unknown.
fn disagreement(program: &Program) -> Option<String> {
    for (name, engine) in ENGINES {
        // The verdict itself need not be known for every program: only those that are settled within reason are compared.
        let Ok((whole, _)) = engine(program, Budget::unlimited().states(20_000)) else { continue };
        let budgets = [
            Budget::unlimited().states(0),
            Budget::unlimited().states(7),
            Budget::unlimited().states(60),
            Budget::unlimited().memory(0),
            Budget::unlimited().memory(3_000),
            Budget::unlimited().memory(30_000),
            Budget::unlimited().memory(300_000),
            Budget::unlimited().time(Duration::from_micros(200)),
        ];
        for budget in budgets {
            match engine(program, budget) {
                Ok((Verdict::Unknown, _)) => {}
                Ok((verdict, _)) if whole == Verdict::Unknown || verdict == whole => {}
                Ok((verdict, _)) => return Some(format!("{name}: {whole:?}, but {verdict:?} within {budget:?}")),
                Err(error) => return Some(format!("{name}: {error}, within {budget:?}")),
            }
        }
    }
    None
}

#[test]
fn a_tiny_budget_makes_no_verdict_wrong() {
    check_all(&Generator::new(Config::all()), 40, disagreement);
}
