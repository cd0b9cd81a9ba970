//! The backward search for PSO on random programs with finite domains: its verdict is that of the bounded
//! engine wherever no store had to wait for room.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{self, assert_mixed, check_all, without_faults};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachabilityQuestion, pso, reach};
use ravelin_explore::Budget;
use ravelin_program::{Model, Order, Program};
use ravelin_testing::programs::{Config, Generator, InstructionKind};

fn question(states: u64) -> ReachabilityQuestion<'static> {
    ReachabilityQuestion {
        buffer: 6,
        budget: Budget::unlimited().states(states),
        ..ReachabilityQuestion::new(Model::Pso)
    }
}

/// The engine's verdict; `None` if it refuses the program or gives up.
fn decided(program: &Program) -> Result<Option<Verdict>, String> {
    random_programs::decided(|| Ok(pso(program, &question(20_000))?.reachability))
}

/// What is wrong, if anything.
fn disagreement(program: &Program) -> Option<String> {
    let verdict = match decided(program) {
        Ok(verdict) => verdict?,
        Err(what) => return Some(what),
    };
    let other = reach(program, &question(30_000)).ok()?.verdict;
    let differs = other != Verdict::Unknown && other != verdict;
    differs.then(|| format!("pso says {verdict:?}, bounded {other:?}"))
}

#[test]
fn the_verdict_is_that_of_the_bounded_engine() {
    let generator = Generator::new(Config::all());
    check_all(&generator, 600, disagreement);
    assert_mixed(&generator, decided);
}

#[test]
fn the_verdict_is_that_of_the_bounded_engine_without_faults() {
    check_all(&without_faults(), 600, disagreement);
}

/// Without store-store fences, where the search must be exact: a violation that no run shows is an error, not a reason to ask others.
#[test]
fn the_verdict_is_that_of_the_bounded_engine_without_store_store_fences() {
    let orders = vec![Order::Relaxed, Order::Acquire];
    let mut config = Config { domains: false, computed_addresses: false, orders, goals: 1..=1, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::Assert | InstructionKind::Lock));
    check_all(&Generator::new(config), 600, disagreement);
}

fn message_passing(flag: &str) -> Program {
    let text = format!(
        "static x;\nstatic y;\nthread w {{ x.store(1); {flag} }}\n\
         thread r {{ let a; let b; a = y.load(); b = x.load(); }}\nfinally never r.a == 1 && r.b == 0;\n"
    );
    let parsed = ravelin_frontend::parse(ravelin_program::Source::new("mp", text), ravelin_frontend::Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

/// What keeps the flag from overtaking the message.
#[test]
fn message_passing_needs_a_store_store_fence() {
    let claims = [
        ("y.store(1);", Verdict::Violated),
        ("y.store(1, release);", Verdict::Holds),
        ("fence(release); y.store(1);", Verdict::Holds),
        ("fence(seq_cst); y.store(1);", Verdict::Holds),
    ];
    for (flag, expected) in claims {
        assert_eq!(decided(&message_passing(flag)), Ok(Some(expected)), "{flag}");
    }
}
