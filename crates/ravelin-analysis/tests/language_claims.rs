//! What `docs/language.md` says about release stores under PSO and about choices, for the judge and for every engine.

use ravelin_analysis::Verdict::{self, Holds, Violated};
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer, dual, pso, reach, sb};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::states::states;
use ravelin_frontend::rav;
use ravelin_program::{Model, Program, Source};
use ravelin_semantics::operational::Reference;

fn program(text: &str) -> Program {
    let parsed = rav::parse(Source::new("claim.rav", text));
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

/// Whether the goal can be reached, as the judge and all engines for the model say.
fn reached(program: &Program, model: Model) -> Verdict {
    let explored = Reference::new(program, model, None).expect("no refusal").explore(10_000).expect("few states");
    assert!(explored.complete && explored.faults.is_empty());
    let judged = if explored.violated_goals.is_empty() { Holds } else { Violated };
    let question = ReachabilityQuestion::new(model);
    let mut said = vec![reach(program, &question).expect("an answer").verdict];
    match model {
        Model::Sc => {}
        Model::Tso => {
            said.push(dual(program, &question).expect("an answer").reachability.verdict);
            said.push(sb(program, &question).expect("an answer").reachability.verdict);
        }
        Model::Pso => said.push(pso(program, &question).expect("an answer").reachability.verdict),
        Model::Ra | Model::Rc20 => unreachable!("the judge has refused"),
    }
    assert!(said.iter().all(|verdict| *verdict == judged), "{said:?}, but the judge: {judged:?}");
    judged
}

#[test]
fn under_pso_a_release_store_is_a_store_store_fence_and_a_store() {
    // What stands between the stores to x and z, whether z can be seen without x, and whether it can without y.
    for (between, without_x, without_y) in [
        ("y.store(1);", Violated, Violated),
        ("y.store(1, release);", Holds, Violated),
        ("fence(release); y.store(1);", Holds, Violated),
        // Stores 0, so a load cannot see whether `y` was stored.
        ("unlock(y);", Holds, Violated),
        ("y.store(1, seq_cst);", Holds, Holds),
    ] {
        for (cell, expected) in [("x", without_x), ("y", without_y)] {
            let text = format!(
                "static x: bool; static y: bool; static z: bool;
                 thread w {{ x.store(1); {between} z.store(1); }}
                 thread r {{ let a = z.load(); let b = {cell}.load(); }}
                 finally never r.a == 1 && r.b == 0;"
            );
            let program = program(&text);
            assert_eq!(reached(&program, Model::Pso), expected, "{text}");
            // What is reached here and not under SC is reached because two stores change places.
            let robust = robustness(&program, &RobustnessQuestion::new(Model::Pso)).expect("an answer").verdict;
            assert_eq!(robust, expected, "{text}");
        }
    }
}

#[test]
fn a_choice_is_made_by_the_first_step() {
    for (block, entered, can_be_left_waiting) in [
        ("wait(x == 1); @inside; nop;", Holds, false),
        ("assume(0); @inside; nop;", Holds, false),
        ("x.bcas(1, 0); @inside; nop;", Holds, false),
        ("locked { let t = x.load(); assume(t == 1); } @inside; nop;", Holds, false),
        ("choose { wait(x == 1); } or { assume(0); } @inside; nop;", Holds, false),
        ("nop; @inside; wait(x == 1);", Violated, true),
        ("wait(x == 0); @inside; nop;", Violated, false),
        ("choose { assume(0); } or { x.bcas(0, 0); } @inside; nop;", Violated, false),
    ] {
        let text = format!("static x: bool; thread p {{ choose {{ {block} }} or {{ nop; }} }} never p@inside;");
        let program = program(&text);
        for model in Model::HARDWARE {
            assert_eq!(reached(&program, model), entered, "{text}");
        }
        let explored =
            Reference::new(&program, Model::Sc, None).expect("no refusal").explore(1000).expect("few states");
        assert_eq!(!explored.stuck.is_empty(), can_be_left_waiting, "{text}");
    }
}

/// An engine that does not know a model must never answer for another one.
#[test]
fn engines_of_hardware_refuse_models_of_c11() {
    let program = program("static x; thread p { x.store(1); }");
    for model in [Model::Ra, Model::Rc20] {
        let question = ReachabilityQuestion::new(model);
        assert!(reach(&program, &question).is_err());
        for engine in ReachEngine::CHOSEN {
            let answer = answer(&program, &question, engine);
            match engine {
                ReachEngine::Auto | ReachEngine::Bounded => {
                    assert_eq!(answer.expect("an answer").reachability.model, model);
                }
                _ => assert!(answer.is_err(), "{} under {model}", engine.name()),
            }
        }
        assert_eq!(states(&program, &question).expect("an answer").model, model);
        // These are about one model, whatever is asked, and say so.
        assert_eq!(dual(&program, &question).expect("an answer").reachability.model, Model::Tso);
        assert_eq!(sb(&program, &question).expect("an answer").reachability.model, Model::Tso);
        assert_eq!(pso(&program, &question).expect("an answer").reachability.model, Model::Pso);
        let robust = RobustnessQuestion::new(model);
        assert!(robustness(&program, &robust).is_err() && race_freedom(&program, &robust).is_err());
        assert!(Reference::new(&program, model, None).is_err());
    }
    assert!(c11_robustness(&program, &C11Question::new(Model::Tso)).is_err());
}
