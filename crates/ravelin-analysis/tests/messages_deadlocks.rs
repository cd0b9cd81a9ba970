//! Deadlocks that the machine with messages reports, on random loop-free programs with locks and waits: there is a report exactly if
//! some execution graph that cannot continue is one, and the run is a consistent graph that ends in a deadlock.
//!
//! The judge is the enumeration of all graphs. An execution is a deadlock if some thread is not at its end, and each such thread stands at
//! instructions that wait, none of which the mo-latest value lets pass.

use crate::messages_random::{LIMITS, explored, initial, replayed};
use crate::random_programs::{check_one, without_seq_cst_accesses};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_answer::DeadlockVerdict;
use ravelin_explore::Until;
use ravelin_frontend::Language;
use ravelin_machine::messages::MessageSettings;
use ravelin_machine::{Purpose, Reductions, Violation, may_wait};
use ravelin_program::{Model, Program, SeqCstReading, Source, Value};
use ravelin_semantics::rc20::{Graph, GraphThread, OrderReading, deadlock, enumerate};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::{is_default_run, seeds};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The judge's word on an execution.
fn is_deadlock(program: &Program, graph: &Graph, threads: &[GraphThread]) -> bool {
    let latest = |address: Value| graph.latest(address).unwrap_or_else(|| initial(program, address));
    deadlock(program, threads, &latest).is_some()
}

/// Whether there is a deadlock. `exact` is whether the machine must find it.
fn compare_reading(
    program: &Program,
    model: Model,
    seq_cst: SeqCstReading,
    reading: OrderReading,
    exact: bool,
) -> Result<bool, String> {
    let Ok(all) = enumerate(program, reading, LIMITS) else { return Ok(false) };
    let expected = all.executions.iter().any(|end| is_deadlock(program, &end.graph, &end.threads));
    for reductions in [Reductions::NONE, Reductions::ALL] {
        let purpose = Purpose::Goals;
        let settings = MessageSettings { model, seq_cst, messages: 20, purpose, reductions, deadlocks: true };
        let explored = explored(program, settings, Until::Exhausted)?.ok_or("it is cut off")?;
        let mut found = false;
        for violation in explored.violations() {
            let (violation, run) = violation.map_err(|error| error.to_string())?;
            let grown = replayed(program, &run, reading)?;
            if violation == Violation::Deadlock {
                found = true;
                if !is_deadlock(program, grown.graph(), grown.threads()) {
                    return Err(format!("{reading:?} {settings:?}: a run does not end in a deadlock: {run:?}"));
                }
            }
        }
        if found && !expected || exact && found != expected {
            return Err(format!("{reading:?} {settings:?}: deadlock {found}, but by enumeration {expected}"));
        }
    }
    Ok(expected)
}

/// Whether there is a deadlock under some model, or what is wrong.
fn compare(program: &Program) -> Result<bool, String> {
    use OrderReading::{ReleaseAcquire, SeqCstAsReleaseAcquire, Written};
    let weakened = without_seq_cst_accesses(program.clone());
    let rc20 = compare_reading(&weakened, Model::Rc20, SeqCstReading::RelAcq, Written, true)?;
    let ra = compare_reading(program, Model::Ra, SeqCstReading::RelAcq, ReleaseAcquire, true)?;
    compare_reading(program, Model::Rc20, SeqCstReading::RelAcq, SeqCstAsReleaseAcquire, true)?;
    compare_reading(program, Model::Rc20, SeqCstReading::After, Written, false)?;
    compare_reading(program, Model::Rc20, SeqCstReading::Before, Written, false)?;
    Ok(rc20 || ra)
}

#[test]
fn deadlocks_are_those_of_all_graphs() {
    let mut config = Config { threads: 2..=3, goals: 0..=0, ..Config::c11() };
    for (kind, weight) in &mut config.kinds {
        match kind {
            InstructionKind::Wait | InstructionKind::BlockingCas => *weight = 6,
            InstructionKind::Lock => *weight = 8,
            _ => {}
        }
    }
    let generator = Generator::new(config);
    let counted = [Cell::new(0), Cell::new(0)];
    for seed in seeds(1_000) {
        let program = generator.program(seed);
        if !may_wait(&program) {
            continue;
        }
        check_one(seed, &program, |program| compare(program).err());
        let deadlock = compare(&program).is_ok_and(|deadlock| deadlock);
        let counter = &counted[usize::from(deadlock)];
        counter.set(counter.get() + 1);
    }
    if is_default_run() {
        assert!(counted.iter().all(|counter| counter.get() > 50), "{counted:?}");
    }
}

/// What `reach` says, which asks SC and the robustness check first, and replays every run.
#[test]
fn answers_about_deadlocks_are_those_of_all_graphs() {
    let config = Config { threads: 2..=3, goals: 0..=1, domains: false, arrays: false, ..Config::c11() };
    let mut generator = Generator::new(config);
    for (kind, weight) in &mut generator.config.kinds {
        if matches!(kind, InstructionKind::Wait | InstructionKind::Lock) {
            *weight = 8;
        }
    }
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds(600) {
        // Seq_cst accesses are outside RC20: what is said about them must be right, and may be little.
        let program = generator.program(seed);
        let program = if seed.is_multiple_of(2) { program } else { without_seq_cst_accesses(program) };
        if !may_wait(&program) {
            continue;
        }
        check_one(seed, &program, |program| answered(program).err());
        if let Ok(Some(known)) = answered(&program) {
            *counted.entry(format!("{known:?}")).or_default() += 1;
        }
    }
    if is_default_run() {
        let number = |known: &str| counted.get(known).copied().unwrap_or(0);
        assert!(number("(Found, Bounded)") > 50 && number("(None, Robust)") > 10, "{counted:?}");
    }
}

/// What is known and by which engine, or what is wrong.
fn answered(program: &Program) -> Result<Option<(DeadlockVerdict, ReachEngine)>, String> {
    let Ok(all) = enumerate(program, OrderReading::Written, LIMITS) else { return Ok(None) };
    let expected = all.executions.iter().any(|end| is_deadlock(program, &end.graph, &end.threads));
    let question = ReachabilityQuestion { deadlocks: true, ..ReachabilityQuestion::new(Model::Rc20) };
    let found = answer(program, &question, ReachEngine::Auto).map_err(|error| error.to_string())?;
    let wrong = match (found.deadlocks, found.reachability.verdict) {
        (DeadlockVerdict::None, Verdict::Holds) => expected,
        (DeadlockVerdict::Found, Verdict::Violated) => !expected,
        (DeadlockVerdict::Unknown, Verdict::Violated | Verdict::Unknown) => false,
        _ => true,
    };
    match wrong {
        true => Err(format!("{:?} and {:?}, but {expected}", found.deadlocks, found.reachability.verdict)),
        false => Ok(Some((found.deadlocks, found.engine))),
    }
}

/// A stale value that would let a thread pass does not help it in the end.
#[test]
fn what_is_a_deadlock_and_what_is_not() {
    let cases = [
        ("static x; thread p { x.store(2); } thread q { wait(x == 0); }", true),
        ("static x; thread p { x.store(2); } thread q { wait(x == 2); }", false),
        ("static a; static b; thread p { lock(a); lock(b); } thread q { lock(b); lock(a); }", true),
        ("static a; static b; thread p { lock(a); lock(b); } thread q { lock(a); }", true),
        ("static a; thread p { lock(a); unlock(a); } thread q { lock(a); unlock(a); }", false),
        ("static x; thread p { let r = x.load(); assume(r == 1); } thread q { wait(x == 1); x.store(2); }", false),
        (
            "static x; static y; static z;
             thread p { x.store(1); let r = y.load(); if r == 0 { wait(z == 1); } else { z.store(1); } }
             thread q { y.store(1); let r = x.load(); if r == 0 { wait(z == 1); } else { z.store(1); } }",
            true,
        ),
    ];
    for (text, expected) in cases {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{text}: {:#?}", parsed.diagnostics));
        assert_eq!(compare(&program), Ok(expected), "{text}");
    }
}
