//! Deadlocks that the machine reports, against the reference semantics on random programs with locks and waits: there is a report exactly if
//! the reference has a deadlock, under every model, with every reduction on and off, and the run leads to one.

use crate::agrees_with_reference::{check_models, reductions, replay, triplets};
use ravelin_explore::{Budget, Options, Until};
use ravelin_frontend::Language;
use ravelin_machine::{Settings, Violation, may_wait, run};
use ravelin_program::{Model, Program, Source};
use ravelin_semantics::operational::Reference;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::{is_default_run, seeds};

/// Programs with more states are left to the next seed.
const MOST_STATES: usize = 4_000;

/// Whether the reference has a deadlock; `None` if there are too many states.
fn judged(reference: &Reference) -> Option<bool> {
    let mut found = false;
    let visited = reference.visit(MOST_STATES, &mut |state, steps| {
        let deadlock = reference.deadlock(state).is_some();
        assert!(!deadlock || steps.next.is_empty(), "a deadlock in which something moves");
        found |= deadlock;
    });
    visited.ok()?.map(|_| found)
}

/// What is wrong with the machine on this program, if anything.
fn disagreement(program: &Program, model: Model, bound: usize) -> Option<String> {
    let reference = Reference::new(program, model, Some(bound)).ok()?;
    let expected = judged(&reference)?;
    for (name, reductions) in reductions() {
        let settings = Settings { buffer: bound, reductions, deadlocks: true, ..Settings::new(model) };
        let options = Options { budget: Budget::unlimited().workers(1), until: Until::Exhausted };
        let explored = run(program, settings, &options).expect("a program that can be run");
        let mut found = false;
        for violation in explored.violations() {
            match violation {
                Err(unreadable) => return Some(format!("{unreadable} under {model}, reductions {name}")),
                Ok((violation, run)) => {
                    found |= violation == Violation::Deadlock;
                    if let Err(problem) = replay(&reference, violation, &run) {
                        return Some(format!("under {model}, reductions {name}: {problem}"));
                    }
                }
            }
        }
        if found != expected {
            return Some(format!(
                "under {model}, reductions {name}: deadlock {found}, but by the reference {expected}"
            ));
        }
    }
    None
}

fn waiting(config: Config) -> Generator {
    let mut config = Config { goals: 0..=1, ..config };
    for (kind, weight) in &mut config.kinds {
        match kind {
            InstructionKind::Wait | InstructionKind::BlockingCas => *weight = 6,
            InstructionKind::Lock => *weight = 8,
            InstructionKind::Assert | InstructionKind::Havoc => *weight = 1,
            _ => {}
        }
    }
    Generator::new(config)
}

/// Takes the next programs that have something to wait for.
fn compare(programs: u64, program_of: &dyn Fn(u64) -> Program) {
    let (mut with, mut without) = (0, 0);
    for seed in seeds(programs) {
        let program = program_of(seed);
        if !may_wait(&program) {
            continue;
        }
        let bound = check_models(seed, &program, disagreement);
        for model in Model::HARDWARE {
            let reference = Reference::new(&program, model, Some(bound)).expect("a program of the reference");
            match judged(&reference) {
                Some(true) => with += 1,
                Some(false) => without += 1,
                None => {}
            }
        }
    }
    if is_default_run() {
        assert!(with > programs / 20 && without > programs / 20, "{with} with a deadlock, {without} without");
    }
}

#[test]
fn random_programs_deadlock_as_in_the_reference() {
    let generator = waiting(Config::all());
    compare(1_000, &|seed| generator.program(seed));
}

#[test]
fn loop_free_programs_deadlock_as_in_the_reference() {
    let generator = waiting(Config { threads: 2..=3, ..Config::loop_free() });
    compare(1_000, &|seed| generator.program(seed));
}

#[test]
fn identical_threads_deadlock_as_in_the_reference() {
    let generator = waiting(Config::all());
    compare(600, &|seed| triplets(&generator, seed));
}

#[test]
fn what_is_a_deadlock_and_what_is_not() {
    let cases = [
        ("static m; thread p { lock(m); }", [false; 3]),
        ("static m; thread p { lock(m); lock(m); }", [true; 3]),
        ("static a; static b; thread p { lock(a); lock(b); } thread q { lock(b); lock(a); }", [true; 3]),
        ("static x; thread p { wait(x == 1); } thread q { x.store(1); }", [false; 3]),
        ("static x; thread p { wait(x == 1); } thread q { x.store(1); x.store(2); }", [true; 3]),
        ("static x; thread p { x.bcas(1, 2); }", [true; 3]),
        // A thread that goes on for ever leaves no deadlock.
        ("static x; thread p { wait(x == 1); } thread q { loop { x.store(2); } }", [false; 3]),
        // What is assumed is no waiting, and a thread that has failed does not wait.
        ("static x; thread p { let r = x.load(); assume(r == 1); }", [false; 3]),
        ("static x; thread p { let r = x.load(); assume(r == 1); } thread q { wait(x == 1); }", [false; 3]),
        ("static x; thread p { assert(1 == 2); } thread q { wait(x == 1); }", [false; 3]),
        ("static x: blocking bool; thread p { x.bcas(0, 2); }", [false; 3]),
        // Only where loads overtake stores do both read 0, and wait for each other.
        (
            "static x; static y; static z;
             thread p { x.store(1); let r = y.load(); if r == 0 { wait(z == 1); } else { z.store(1); } }
             thread q { y.store(1); let r = x.load(); if r == 0 { wait(z == 1); } else { z.store(1); } }",
            [false, true, true],
        ),
        // Only where stores overtake stores is the second seen before the first.
        (
            "static x; static y; thread p { x.store(1); y.store(1); }
             thread q { let r = y.load(); let s = x.load(); if r == 1 && s == 0 { wait(x == 2); } }",
            [false, false, true],
        ),
    ];
    for (text, expected) in cases {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{text}: {:#?}", parsed.diagnostics));
        for (model, expected) in Model::HARDWARE.into_iter().zip(expected) {
            let reference = Reference::new(&program, model, Some(3)).expect("a program of the reference");
            assert_eq!(judged(&reference), Some(expected), "{text} under {model}");
            assert_eq!(disagreement(&program, model, 3), None, "{text}");
        }
    }
}
