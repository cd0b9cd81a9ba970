//! The backward search for PSO on random programs with finite domains: its verdict is that of the bounded
//! engine wherever no store had to wait for room.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::reachability::{Question, pso, reach};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Budget;
use ravelin_program::{Model, Order, Program};
use ravelin_semantics::generate::{Config, Generator, Kind, shrink};
use ravelin_testing::seeds;

fn question(states: u64) -> Question<'static> {
    Question { buffer: 6, budget: Budget::unlimited().states(states), ..Question::new(Model::Pso) }
}

/// The engine's verdict; `None` if it refuses the program or gives up.
fn decided(program: &Program) -> Result<Option<Verdict>, String> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pso(program, &question(20_000)))) {
        Err(_) => Err("a panic".to_owned()),
        Ok(Err(AnalysisError::NotFinite(_))) => Ok(None),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(answer)) => {
            let verdict = answer.reachability.verdict;
            let shown = answer.reachability.witness.is_some();
            if shown != (verdict == Verdict::Violated) {
                return Err(format!("{verdict:?}, and a run: {shown}"));
            }
            Ok((verdict != Verdict::Unknown).then_some(verdict))
        }
    }
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

fn check_all(generator: &Generator, programs: u64) {
    for seed in seeds(programs) {
        let program = generator.program(seed);
        if let Some(what) = disagreement(&program) {
            let small = shrink(&program, &mut |program| disagreement(program).is_some());
            let what = disagreement(&small).unwrap_or(what);
            panic!("seed {seed}: {what}\n{}", ravelin_frontend::print::rav(&small));
        }
    }
}

#[test]
fn the_verdict_is_that_of_the_bounded_engine() {
    let generator = Generator::new(Config::all());
    check_all(&generator, 600);
    let verdicts: Vec<Verdict> =
        (0..200).filter_map(|seed| decided(&generator.program(seed)).unwrap_or_default()).collect();
    let violated = verdicts.iter().filter(|verdict| **verdict == Verdict::Violated).count();
    assert!(verdicts.len() > 150, "only {} of 200 programs were decided", verdicts.len());
    assert!((20..180).contains(&violated), "{violated} of {} are violated: too few of a kind", verdicts.len());
}

/// Without faults, which are found early in most programs that have any.
#[test]
fn the_verdict_is_that_of_the_bounded_engine_without_faults() {
    let mut config = Config { domains: false, arrays: false, computed_addresses: false, goals: 1..=1, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, Kind::Assert));
    check_all(&Generator::new(config), 600);
}

/// Without store-store fences, where the search must be exact: a violation that no run shows is an error, not a reason to ask others.
#[test]
fn the_verdict_is_that_of_the_bounded_engine_without_store_store_fences() {
    let orders = vec![Order::Relaxed, Order::Acquire];
    let mut config = Config { domains: false, computed_addresses: false, orders, goals: 1..=1, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, Kind::Assert | Kind::Lock));
    check_all(&Generator::new(config), 600);
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
