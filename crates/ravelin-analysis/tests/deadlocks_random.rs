//! What `reach` says about deadlocks, where several engines share the work, against the reference semantics: on random programs with locks and
//! waits, with buffers so small that other engines and the robustness check have to settle it; and on programs chosen for each way.

use crate::random_programs::check_one;
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{PortfolioAnswer, ReachEngine, ReachabilityQuestion, answer};
use ravelin_answer::{DeadlockVerdict, Violation};
use ravelin_explore::Budget;
use ravelin_frontend::Language;
use ravelin_machine::may_wait;
use ravelin_program::{Model, Program, Source};
use ravelin_semantics::operational::Reference;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::{is_default_run, seeds};
use std::collections::BTreeMap;

const MOST_STATES: usize = 20_000;

fn asked(program: &Program, model: Model, buffer: usize) -> Result<PortfolioAnswer, String> {
    let budget = Budget::unlimited().states(100_000);
    let question = ReachabilityQuestion { buffer, deadlocks: true, budget, ..ReachabilityQuestion::new(model) };
    answer(program, &question, ReachEngine::Auto).map_err(|error| error.to_string())
}

/// Whether the reference has a deadlock and whether something else is violated; `None` if buffers of 5 are not enough to say.
fn judged(program: &Program, model: Model) -> Option<(bool, bool)> {
    let reference = Reference::new(program, model, Some(5)).ok()?;
    let (mut deadlock, mut violated, mut cut_off) = (false, false, false);
    let visited = reference.visit(MOST_STATES, &mut |state, steps| {
        deadlock |= reference.deadlock(state).is_some();
        violated |= !steps.faults.is_empty() || !steps.failed_asserts.is_empty();
        violated |= !reference.violated_goals(state).is_empty();
        cut_off |= steps.cut_off;
    });
    visited.ok()?.filter(|_| !cut_off).map(|_| (deadlock, violated))
}

/// What is wrong, or what is known.
fn compare(program: &Program, model: Model) -> Result<Option<(DeadlockVerdict, ReachEngine)>, String> {
    let Some((deadlock, violated)) = judged(program, model) else { return Ok(None) };
    let found = asked(program, model, 1)?;
    let verdict = found.reachability.verdict;
    let shown = found.reachability.witness.as_ref().map(|witness| &witness.violation);
    let wrong = match (found.deadlocks, verdict) {
        (DeadlockVerdict::NotAsked, _) => true,
        (DeadlockVerdict::Found, Verdict::Violated) => !deadlock || !matches!(shown, Some(Violation::Deadlock { .. })),
        (DeadlockVerdict::Found, _) => true,
        (DeadlockVerdict::None, Verdict::Holds) => deadlock || violated,
        (DeadlockVerdict::None, _) => may_wait(program),
        (DeadlockVerdict::Unknown, Verdict::Holds) => violated,
        (DeadlockVerdict::Unknown, Verdict::Violated) => !violated,
        (DeadlockVerdict::Unknown, Verdict::Unknown) => false,
    };
    match wrong {
        true => Err(format!(
            "{verdict:?} and {:?} by {} under {model}, but deadlock {deadlock}, violated {violated}",
            found.deadlocks,
            found.engine.name()
        )),
        false => Ok(Some((found.deadlocks, found.engine))),
    }
}

#[test]
fn answers_about_deadlocks_are_those_of_the_reference() {
    let mut config = Config { domains: false, arrays: false, computed_addresses: false, ..Config::all() };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::Assert | InstructionKind::BusLock));
    for (kind, weight) in &mut config.kinds {
        match kind {
            InstructionKind::Wait | InstructionKind::Lock => *weight = 6,
            _ => {}
        }
    }
    let generator = Generator::new(config);
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds(1_000) {
        let program = generator.program(seed);
        if !may_wait(&program) {
            continue;
        }
        let model = if seed.is_multiple_of(3) { Model::Pso } else { Model::Tso };
        check_one(seed, &program, |program| compare(program, model).err());
        if let Ok(Some(known)) = compare(&program, model) {
            *counted.entry(format!("{known:?}")).or_default() += 1;
        }
    }
    if is_default_run() {
        let number = |known: &str| counted.get(known).copied().unwrap_or(0);
        // The last two are settled by a search of all states, and beside another engine.
        let seen = ["(Found, Bounded)", "(None, Bounded)", "(None, Dual)"].map(number);
        assert!(seen[0] > 50 && seen[1] > 20 && seen[2] > 5, "{counted:?}");
    }
}

#[test]
fn each_way_to_settle_deadlocks() {
    let stores = "x.store(1); x.store(2); x.store(3); x.store(4); x.store(5);";
    let cases = [
        // Nothing can wait.
        (format!("static x; thread p {{ {stores} }} never x == 6;"), Verdict::Holds, DeadlockVerdict::None),
        // Buffers are too small for the bounded search, and the program is robust.
        (
            format!(
                "static x; static y; thread p {{ {stores} wait(y == 1); }} thread q {{ y.store(1); }} never x == 6;"
            ),
            Verdict::Holds,
            DeadlockVerdict::None,
        ),
        // It is not robust, so nothing is known beyond the bound.
        (
            format!(
                "static x; static y; static z; thread p {{ {stores} let r = y.load(); wait(z == 1); }}
                 thread q {{ y.store(1); let r = x.load(); z.store(1); }} never x == 6;"
            ),
            Verdict::Holds,
            DeadlockVerdict::Unknown,
        ),
        // The bounded search finds it, although buffers are too small.
        (
            format!(
                "static x; static y; thread p {{ {stores} wait(y == 1); }} thread q {{ y.store(2); }} never x == 6;"
            ),
            Verdict::Violated,
            DeadlockVerdict::Found,
        ),
        // A goal is violated before that.
        (
            format!("static x; static y; thread p {{ {stores} wait(y == 1); }} never x == 1;"),
            Verdict::Violated,
            DeadlockVerdict::Unknown,
        ),
        // How many threads there are is open.
        ("static x; thread p[*] { wait(x == 1); } never x == 1;".to_owned(), Verdict::Holds, DeadlockVerdict::Unknown),
    ];
    for (text, verdict, deadlocks) in cases {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text.as_str()), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{text}: {:#?}", parsed.diagnostics));
        let found = asked(&program, Model::Tso, 3).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((found.reachability.verdict, found.deadlocks), (verdict, deadlocks), "{text}");
    }
}
