//! Lazy reachability on random programs: on loop-free ones the verdict is that of an exploration with buffers that were never
//! cut off; with loops, whatever is claimed is true.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::check_all;
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{OpenCause, ReachabilityQuestion, lazy, reach};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use ravelin_testing::programs::{Config, Generator};

/// What exploration with long buffers says; `None` if it does not end.
fn bounded(program: &Program, buffer: usize) -> Option<Verdict> {
    let budget = Budget::unlimited().states(200_000);
    let answer =
        reach(program, &ReachabilityQuestion { buffer, budget, ..ReachabilityQuestion::new(Model::Tso) }).ok()?;
    Some(answer.verdict).filter(|_| answer.limit.is_none())
}

fn ask(program: &Program, states: u64, workers: usize) -> Result<(Verdict, Option<OpenCause>), String> {
    let asked = || {
        let budget = Budget::unlimited().states(states).workers(workers);
        lazy(program, &ReachabilityQuestion { budget, ..ReachabilityQuestion::new(Model::Tso) })
    };
    match std::panic::catch_unwind(asked) {
        Ok(Ok(answer)) => Ok((answer.verdict, answer.unsettled)),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("a panic".to_owned()),
    }
}

fn loop_free_disagreement(program: &Program, workers: usize) -> Option<String> {
    let expected = bounded(program, 12)?;
    assert_ne!(expected, Verdict::Unknown, "twelve stores are enough for these");
    match ask(program, 2_000_000, workers) {
        Ok((verdict, _)) if verdict == expected => None,
        Ok((_, Some(OpenCause::BusLock))) => None,
        Ok(other) => Some(format!("lazy says {other:?}, exploration {expected:?}")),
        Err(error) => Some(error),
    }
}

fn looping_disagreement(program: &Program) -> Option<String> {
    let expected = bounded(program, 4)?;
    match (ask(program, 20_000, 1), expected) {
        (Err(error), _) => Some(error),
        // A run that is shown was replayed; that none is shown must not be claimed wrongly.
        (Ok((Verdict::Holds, _)), Verdict::Violated) => Some("lazy says holds, but a goal is reached".to_owned()),
        (Ok((Verdict::Violated, _)), Verdict::Holds) => Some("lazy says violated, exploration holds".to_owned()),
        _ => None,
    }
}

fn check(config: Config, default: u64, disagreement: impl Fn(&Program) -> Option<String>) {
    check_all(&Generator::new(config), default, disagreement);
}

#[test]
fn loop_free_programs_are_decided() {
    check(Config::loop_free(), 2_000, |program| loop_free_disagreement(program, 1));
}

#[test]
fn two_workers_say_the_same() {
    check(Config::loop_free(), 300, |program| loop_free_disagreement(program, 2));
}

#[test]
fn what_is_said_of_loops_is_true() {
    check(Config::all(), 1_000, looping_disagreement);
}
