//! The single-buffer engine on random programs with finite domains: its verdict is that of the load-buffer engine, and that of the
//! bounded engine wherever no store had to wait for room.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::reachability::{Question, dual, reach, sb};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use ravelin_semantics::generate::{Config, Generator, Kind, shrink};
use ravelin_testing::seeds;

fn question(states: u64) -> Question<'static> {
    Question { buffer: 6, budget: Budget::unlimited().states(states), ..Question::new(Model::Tso) }
}

/// The engine's verdict; `None` if it refuses the program or gives up.
fn decided(program: &Program) -> Result<Option<Verdict>, String> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sb(program, &question(20_000)))) {
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
    let others = [
        ("dual", dual(program, &question(100_000)).ok()?.reachability.verdict),
        ("bounded", reach(program, &question(30_000)).ok()?.verdict),
    ];
    let other = others.into_iter().find(|(_, other)| *other != Verdict::Unknown && *other != verdict);
    other.map(|(engine, other)| format!("sb says {verdict:?}, {engine} {other:?}"))
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
fn the_verdict_is_that_of_the_other_engines() {
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
fn the_verdict_is_that_of_the_other_engines_without_faults() {
    let mut config = Config { domains: false, arrays: false, computed_addresses: false, goals: 1..=1, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, Kind::Assert));
    check_all(&Generator::new(config), 600);
}
