//! Reachability under release/acquire and RC20 on random programs.
//!
//! Loop-free: the verdict is what the enumeration of all graphs says, prefixes included. With loops: a larger bound on messages never
//! contradicts a smaller one, reductions make no difference, and what is robust has SC's verdict.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_one, without_seq_cst_accesses};
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer, reach};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::{Budget, Limits};
use ravelin_machine::Reductions;
use ravelin_program::{Model, Program, SeqCstReading};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, violated_goals};
use ravelin_testing::programs::{Config, Generator};
use ravelin_testing::seeds;

const LIMITS: GraphLimits = GraphLimits { executions: 20_000, states: 20_000, values: 100 };

fn ask(program: &Program, question: &ReachabilityQuestion, engine: ReachEngine) -> Result<Verdict, String> {
    let found = answer(program, question, engine).map_err(|error| format!("{:?}: {error}", question.model))?;
    let (verdict, shown) = (found.reachability.verdict, found.reachability.witness.is_some());
    match shown == (verdict == Verdict::Violated) {
        true => Ok(verdict),
        false => Err(format!("{verdict:?}, and a run: {shown}")),
    }
}

fn exact(program: &Program, model: Model, reading: OrderReading, seq_cst: bool) -> Result<(), String> {
    let (Ok(goals), Ok(all)) = (violated_goals(program, reading, LIMITS), enumerate(program, reading, LIMITS)) else {
        return Ok(());
    };
    let expected = match goals.is_empty() && all.failures().is_empty() {
        true => Verdict::Holds,
        false => Verdict::Violated,
    };
    for engine in [ReachEngine::Auto, ReachEngine::Bounded] {
        for reductions in [Reductions::ALL, Reductions::NONE] {
            let question = ReachabilityQuestion { messages: Some(20), reductions, ..ReachabilityQuestion::new(model) };
            let said = ask(program, &question, engine)?;
            // With seq_cst accesses the answer may be unknown, never wrong.
            if said != expected && !(seq_cst && said == Verdict::Unknown) {
                return Err(format!("{model} by {}: {said:?}, by enumeration {expected:?}", engine.name()));
            }
        }
    }
    Ok(())
}

fn caught(compared: impl FnOnce() -> Result<(), String> + std::panic::UnwindSafe) -> Option<String> {
    std::panic::catch_unwind(compared).unwrap_or(Err("a panic".to_owned())).err()
}

#[test]
fn verdicts_are_those_of_all_graphs() {
    let generator = Generator::new(Config { max_events: 6, goals: 1..=2, ..Config::c11() });
    for seed in seeds(600) {
        check_one(seed, &generator.program(seed), |program| {
            caught(|| {
                exact(&without_seq_cst_accesses(program.clone()), Model::Rc20, OrderReading::Written, false)?;
                exact(program, Model::Ra, OrderReading::ReleaseAcquire, false)?;
                exact(program, Model::Rc20, OrderReading::Written, true)
            })
        });
    }
}

/// Loops too: what one bound proves or finds, no other contradicts.
fn consistent(program: &Program) -> Result<(), String> {
    let budget = Budget { limits: Limits { states: Some(3_000), ..Limits::default() }, ..Budget::default() };
    for model in [Model::Ra, Model::Rc20] {
        let mut said: Vec<(String, Verdict)> = Vec::new();
        for messages in [2, 3, 5] {
            for reductions in [Reductions::ALL, Reductions::NONE] {
                let question = ReachabilityQuestion {
                    messages: Some(messages),
                    reductions,
                    budget,
                    ..ReachabilityQuestion::new(model)
                };
                let verdict = ask(program, &question, ReachEngine::Bounded)?;
                said.push((format!("{messages} messages, {reductions:?}"), verdict));
            }
        }
        let auto = ReachabilityQuestion { messages: Some(4), budget, ..ReachabilityQuestion::new(model) };
        said.push(("auto".to_owned(), ask(program, &auto, ReachEngine::Auto)?));
        let question = C11Question { seq_cst: SeqCstReading::RelAcq, budget, ..C11Question::new(model) };
        match c11_robustness(program, &question) {
            Ok(robust) if robust.verdict == Verdict::Holds => {
                let sc = ReachabilityQuestion { budget, ..ReachabilityQuestion::new(Model::Sc) };
                let sc = reach(program, &sc).map_err(|error| error.to_string())?;
                said.push(("sc, and it is robust".to_owned(), sc.verdict));
            }
            Ok(_) | Err(AnalysisError::NotC11(_)) => {}
            Err(error) => return Err(error.to_string()),
        }
        let has = |verdict: Verdict| said.iter().any(|(_, said)| *said == verdict);
        if has(Verdict::Holds) && has(Verdict::Violated) {
            return Err(format!("{model}: {said:?}"));
        }
    }
    Ok(())
}

#[test]
fn bounds_do_not_contradict_each_other() {
    let generator = Generator::new(Config { loops: true, max_events: 9, goals: 1..=2, ..Config::c11() });
    for seed in seeds(300) {
        check_one(seed, &generator.program(seed), |program| caught(|| consistent(program)));
    }
}
