//! The single-buffer engine on random programs with finite domains: its verdict is that of the load-buffer engine, and that of the
//! bounded engine wherever no store had to wait for room.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{self, assert_mixed, check_all, without_faults};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachabilityQuestion, dual, reach, sb};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use ravelin_testing::programs::{Config, Generator};

fn question(states: u64) -> ReachabilityQuestion<'static> {
    ReachabilityQuestion {
        buffer: 6,
        budget: Budget::unlimited().states(states),
        ..ReachabilityQuestion::new(Model::Tso)
    }
}

/// The engine's verdict; `None` if it refuses the program or gives up.
fn decided(program: &Program) -> Result<Option<Verdict>, String> {
    random_programs::decided(|| Ok(sb(program, &question(20_000))?.reachability))
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

#[test]
fn the_verdict_is_that_of_the_other_engines() {
    let generator = Generator::new(Config::all());
    check_all(&generator, 600, disagreement);
    assert_mixed(&generator, decided);
}

#[test]
fn the_verdict_is_that_of_the_other_engines_without_faults() {
    check_all(&without_faults(), 600, disagreement);
}
