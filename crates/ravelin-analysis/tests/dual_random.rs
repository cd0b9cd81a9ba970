//! The load-buffer engine on random programs with finite domains: its verdict is that of the bounded engine wherever no store had
//! to wait for room.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{self, assert_mixed, check_all, without_faults};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachabilityQuestion, dual, reach};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use ravelin_testing::programs::{Config, Generator, InstructionKind};

/// What the bounded engine knows for sure: a violation, or that there is none because no buffer was ever full.
fn bounded(program: &Program) -> Option<Verdict> {
    let budget = Budget::unlimited().states(30_000);
    let question = ReachabilityQuestion { buffer: 6, budget, ..ReachabilityQuestion::new(Model::Tso) };
    let answer = reach(program, &question).ok()?;
    (answer.verdict != Verdict::Unknown).then_some(answer.verdict)
}

/// The engine's verdict; `None` if it refuses the program or gives up.
fn decided(program: &Program) -> Result<Option<Verdict>, String> {
    let question =
        ReachabilityQuestion { budget: Budget::unlimited().states(100_000), ..ReachabilityQuestion::new(Model::Tso) };
    random_programs::decided(|| Ok(dual(program, &question)?.reachability))
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

#[test]
fn the_verdict_is_that_of_the_bounded_engine() {
    let generator = Generator::new(Config::all());
    check_all(&generator, 2_000, disagreement);
    assert_mixed(&generator, decided);
}

#[test]
fn the_verdict_is_that_of_the_bounded_engine_without_faults() {
    check_all(&without_faults(), 2_000, disagreement);
}

/// With many locks of all kinds: the bus lock keeps others' stores in their buffers, and locked blocks read several cells at once.
#[test]
fn the_verdict_is_that_of_the_bounded_engine_under_locks() {
    let mut config = Config { goals: 1..=2, threads: 2..=3, computed_addresses: false, ..Config::all() };
    for (kind, weight) in &mut config.kinds {
        match kind {
            InstructionKind::BusLock => *weight = 10,
            InstructionKind::Locked => *weight = 8,
            InstructionKind::Assert => *weight = 0,
            _ => {}
        }
    }
    check_all(&Generator::new(config), 2_000, disagreement);
}
