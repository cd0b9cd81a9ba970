//! The load-buffer engine on random programs with finite domains: its verdict is that of the bounded engine wherever no store had
//! to wait for room.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::reachability::{Question, dual, reach};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use ravelin_semantics::generate::{Config, Generator, Kind, shrink};
use ravelin_testing::seeds;

/// What the bounded engine knows for sure: a violation, or that there is none because no buffer was ever full.
fn bounded(program: &Program) -> Option<Verdict> {
    let budget = Budget::unlimited().states(30_000);
    let question = Question { buffer: 6, budget, ..Question::new(Model::Tso) };
    let answer = reach(program, &question).ok()?;
    (answer.verdict != Verdict::Unknown).then_some(answer.verdict)
}

/// The engine's verdict; `None` if it refuses the program or gives up.
fn decided(program: &Program) -> Result<Option<Verdict>, String> {
    let question = Question { budget: Budget::unlimited().states(100_000), ..Question::new(Model::Tso) };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dual(program, &question))) {
        Err(_) => Err("a panic".to_owned()),
        Ok(Err(AnalysisError::NotFinite(_))) => Ok(None),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(answer)) => {
            let verdict = answer.reachability.verdict;
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
    let expected = bounded(program)?;
    (verdict != expected).then(|| format!("dual says {verdict:?}, bounded {expected:?}"))
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
    check_all(&generator, 2_000);
    let verdicts = (0..200).filter_map(|seed| decided(&generator.program(seed)).ok()?);
    let violated: Vec<bool> = verdicts.map(|verdict| verdict == Verdict::Violated).collect();
    let count = violated.iter().filter(|violated| **violated).count();
    assert!(violated.len() > 150, "only {} of 200 programs were decided", violated.len());
    assert!((20..180).contains(&count), "{count} of {} are violated: too few of a kind", violated.len());
}

/// Without faults, which are found early in most programs that have any.
#[test]
fn the_verdict_is_that_of_the_bounded_engine_without_faults() {
    let mut config = Config { domains: false, arrays: false, computed_addresses: false, goals: 1..=1, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, Kind::Assert));
    check_all(&Generator::new(config), 2_000);
}

/// With many locks of all kinds: the bus lock keeps others' stores in their buffers, and locked blocks read several cells at once.
#[test]
fn the_verdict_is_that_of_the_bounded_engine_under_locks() {
    let mut config = Config { goals: 1..=2, threads: 2..=3, computed_addresses: false, ..Config::all() };
    for (kind, weight) in &mut config.kinds {
        match kind {
            Kind::BusLock => *weight = 10,
            Kind::Locked => *weight = 8,
            Kind::Assert => *weight = 0,
            _ => {}
        }
    }
    check_all(&Generator::new(config), 2_000);
}
