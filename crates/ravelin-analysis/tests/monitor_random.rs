//! The monitor for TSO and PSO on random loop-free programs: it finds an access that may be stale exactly if enumerating
//! all computations finds one whose trace no SC computation has.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::check_all;
use ravelin_explore::{Budget, Options};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, monitor};
use ravelin_program::{Model, Program, SeqCstReading};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::trace::find_violation;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use std::panic::{AssertUnwindSafe, catch_unwind};

const MOST_CONFIGURATIONS: usize = 200_000;

/// Whether some computation has a cyclic trace; `None` if there are too many to look at.
fn has_violation(program: &Program, model: Model) -> Option<bool> {
    let reference = Reference::new(program, model, None).ok()?;
    Some(find_violation(&reference, MOST_CONFIGURATIONS).ok()?.is_some())
}

/// Whether the monitor finds one; `None` if it refuses the program.
fn is_found(program: &Program, model: Model, reductions: Reductions) -> Result<Option<bool>, String> {
    let settings = C11Settings {
        model,
        seq_cst: SeqCstReading::RelAcq,
        chains: false,
        observational: false,
        races: false,
        reductions,
    };
    let options = Options { budget: Budget::unlimited().states(200_000), ..Options::default() };
    match catch_unwind(AssertUnwindSafe(|| monitor(program, settings, &options))) {
        Err(_) => Err("a panic".to_owned()),
        Ok(Err(MonitorError::Refused(_))) => Ok(None),
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(search)) => Ok(search.limit.is_none().then_some(search.found.is_some())),
    }
}

/// What is wrong, if anything. An update that faults with some values counts as an access, whatever it reads: if it `may_fault`, the
/// monitor may find too much.
fn disagreement(program: &Program, model: Model, may_fault: bool) -> Option<String> {
    let found = match is_found(program, model, Reductions::ALL) {
        Err(what) => return Some(what),
        Ok(found) => found?,
    };
    match is_found(program, model, Reductions::NONE) {
        Err(what) => return Some(what),
        Ok(unreduced) if unreduced.is_some_and(|unreduced| unreduced != found) => {
            return Some(format!("under {model} reductions make a difference: with them, it finds one: {found}"));
        }
        Ok(_) => {}
    }
    if found && may_fault {
        return None;
    }
    let violated = has_violation(program, model)?;
    (found != violated).then(|| format!("under {model} the monitor finds one: {found}, enumeration: {violated}"))
}

/// What C11 does not have, the monitor refuses.
fn generator(domains: bool) -> Generator {
    let mut config = Config { domains, ..Config::loop_free() };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::BusLock | InstructionKind::Locked));
    Generator::new(config)
}

#[test]
fn the_monitor_finds_what_enumeration_finds() {
    for model in [Model::Tso, Model::Pso] {
        let generator = generator(false);
        check_all(&generator, 2_000, |program| disagreement(program, model, false));
        let found =
            (0..200).filter_map(|seed| is_found(&generator.program(seed), model, Reductions::ALL).ok().flatten());
        let answers: Vec<bool> = found.collect();
        let violated = answers.iter().filter(|violated| **violated).count();
        assert!((20..120).contains(&violated), "{violated} of {} are not robust: too few of a kind", answers.len());
    }
}

#[test]
fn the_monitor_misses_nothing_where_values_may_not_fit() {
    for model in [Model::Tso, Model::Pso] {
        check_all(&generator(true), 2_000, |program| disagreement(program, model, true));
    }
}

/// A compare-exchange is no access with an outcome that its register does not admit.
#[test]
fn an_outcome_that_has_no_room_is_not_stale() {
    for (exchange, stale) in [
        ("(_, r) = x.compare_exchange(0, 0);", false),
        ("(_, r) = x.compare_exchange(1, 1);", true),
        ("(_, r) = x.compare_exchange_weak(1, 1);", true),
        ("(_, r) = x.compare_exchange_weak(0, 0);", false),
    ] {
        let text = format!(
            "static x = 1; static y;
            thread t0 {{ let a; x.store(0); a = y.load(); }}
            thread t1 {{ let r: blocking 1..=2 = 1; y.store(1); {exchange} }}"
        );
        let source = ravelin_program::Source::new("outcome.rav", text);
        let parsed = ravelin_frontend::parse(source, ravelin_frontend::Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        for model in [Model::Tso, Model::Pso] {
            for reductions in [Reductions::ALL, Reductions::NONE] {
                assert_eq!(is_found(&program, model, reductions), Ok(Some(stale)), "{exchange} under {model}");
            }
            assert_eq!(has_violation(&program, model), Some(stale), "{exchange} under {model}");
        }
    }
}
