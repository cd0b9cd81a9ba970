//! Robustness on random loop-free programs: the verdict is what enumerating all computations says, and all engines agree on every
//! attack.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::check_all;
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{
    AttackFate, ProgramFacts, RobustnessAnswer, RobustnessEngine, RobustnessQuestion, attacks_against, race_freedom,
    robustness,
};
use ravelin_answer::InfeasibilityReason;
use ravelin_explore::{Budget, Options, Watch};
use ravelin_machine::attack::query;
use ravelin_program::{HardwareProgram, Model, Program};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::trace::find_violation;
use ravelin_testing::programs::{Config, Generator, InstructionKind};

const MOST_CONFIGURATIONS: usize = 200_000;

fn ask(program: &Program, model: Model, engine: RobustnessEngine, all: bool) -> RobustnessAnswer {
    let question = RobustnessQuestion { engine, all, ..RobustnessQuestion::new(model) };
    robustness(program, &question).unwrap_or_else(|error| panic!("{engine:?} {model}: {error}"))
}

/// `Some(true)`: some computation has a cyclic trace. `None`: there are too many to look at.
fn has_violation(program: &Program, model: Model) -> Option<bool> {
    let reference = Reference::new(program, model, None).ok()?;
    Some(find_violation(&reference, MOST_CONFIGURATIONS).ok()?.is_some())
}

/// What is wrong, if anything.
fn disagreement(program: &Program) -> Option<String> {
    let violated = has_violation(program, Model::Tso)?;
    let answer = match std::panic::catch_unwind(|| compare_engines(program)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(what)) => return Some(what),
        Err(_) => return Some("a panic".to_owned()),
    };
    let said = answer.verdict == Verdict::Violated;
    if said != violated {
        return Some(format!("verdict {:?}, but enumeration says violated: {violated}", answer.verdict));
    }
    match race_freedom(program, &RobustnessQuestion::new(Model::Tso)) {
        Ok(answer) if answer.verdict == Verdict::Holds && answer.implies_robust && violated => {
            Some("free of triangular races, but not robust".to_owned())
        }
        Err(error) => Some(error.to_string()),
        _ => None,
    }
}

fn compare_engines(program: &Program) -> Result<RobustnessAnswer, String> {
    let all = ask(program, Model::Tso, RobustnessEngine::Shared, true);
    let first = ask(program, Model::Tso, RobustnessEngine::Shared, false);
    let single = ask(program, Model::Tso, RobustnessEngine::Single, false);
    for other in [&first, &single] {
        if other.verdict != all.verdict {
            return Err(format!("{:?} says {:?}, all attacks {:?}", other.engine, other.verdict, all.verdict));
        }
    }
    for engine in [RobustnessEngine::Attacks, RobustnessEngine::Single, RobustnessEngine::Monitor] {
        let other = ask(program, Model::Tso, engine, true);
        for (one, other) in all.attacks.iter().zip(&other.attacks) {
            if word(&one.fate) != word(&other.fate) {
                return Err(format!(
                    "{:?}: shared says {}, {engine:?} says {}",
                    one.attack,
                    word(&one.fate),
                    word(&other.fate)
                ));
            }
        }
    }
    Ok(all)
}

fn word(fate: &AttackFate) -> &'static str {
    match fate {
        AttackFate::Dismissed(_) => "dismissed",
        AttackFate::Infeasible => "infeasible",
        AttackFate::Feasible(_) => "feasible",
        AttackFate::Open => "open",
    }
}

#[test]
fn the_verdict_is_what_enumeration_says() {
    let generator = Generator::new(Config::loop_free());
    check_all(&generator, 2_000, disagreement);
    let answers: Vec<bool> = (0..200).filter_map(|seed| has_violation(&generator.program(seed), Model::Tso)).collect();
    let violated = answers.iter().filter(|violated| **violated).count();
    assert!((20..100).contains(&violated), "{violated} of {} are not robust: too few of a kind", answers.len());
}

/// With loops too: robust programs end in the same states under SC and the model. All runs with buffers of three stores are real runs of
/// the model, so a state that only they reach shows that a program is not robust.
fn check_ends(model: Model, ask: impl Fn(&Program) -> Result<RobustnessAnswer, String>) {
    const MOST_STATES: usize = 3_000;
    let ask = std::panic::AssertUnwindSafe(&ask);
    let wrong = |program: &Program| {
        let sc = Reference::new(program, Model::Sc, None).ok()?.explore(MOST_STATES).ok()?;
        let weak = Reference::new(program, model, Some(3)).ok()?.explore(MOST_STATES).ok()?;
        if !sc.complete || !weak.complete {
            return None;
        }
        let answer = match std::panic::catch_unwind(|| ask(program)) {
            Ok(Ok(answer)) => answer,
            Ok(Err(what)) => return Some(what),
            Err(_) => return Some("a panic".to_owned()),
        };
        let differs = answer.verdict == Verdict::Holds && sc.finals != weak.finals;
        differs.then(|| "robust, but ends differently".to_owned())
    };
    check_all(&Generator::new(Config::all()), 1_000, wrong);
}

#[test]
fn robust_programs_end_alike() {
    check_ends(Model::Tso, compare_engines);
}

#[test]
fn programs_that_are_robust_against_pso_end_alike() {
    check_ends(Model::Pso, |program| Ok(ask(program, Model::Pso, RobustnessEngine::Shared, false)));
}

/// Under PSO the answer is what enumeration says. It is open for few programs: those that compare a cell with values that cannot be
/// listed, which the monitor refuses.
#[test]
fn the_verdict_against_pso_is_what_enumeration_says() {
    let answers = std::cell::RefCell::new(std::collections::BTreeMap::new());
    let wrong = |program: &Program| {
        let violated = has_violation(program, Model::Pso)?;
        let answer = ask(program, Model::Pso, RobustnessEngine::Shared, false);
        *answers.borrow_mut().entry(answer.verdict.name()).or_insert(0) += 1;
        let expected = if violated { Verdict::Violated } else { Verdict::Holds };
        let is_open = !violated && answer.one_delaying_thread;
        (answer.verdict != expected && !is_open).then(|| format!("{:?} instead of {expected:?}", answer.verdict))
    };
    let mut config = Config { domains: false, ..Config::loop_free() };
    config.kinds.retain(|(kind, _)| !matches!(kind, InstructionKind::BusLock | InstructionKind::Locked));
    check_all(&Generator::new(config), 2_000, wrong);
    let answers = answers.borrow();
    let count = |verdict: Verdict| answers.get(verdict.name()).copied().unwrap_or(0);
    let (open, robust) = (count(Verdict::Unknown), count(Verdict::Holds));
    assert!(count(Verdict::Violated) > robust / 10 && open * 50 < robust, "{answers:?}");
}

/// Of all programs: under PSO a violation is real, and none is missed that one delaying thread can make.
#[test]
fn pso_violations_are_real_and_none_with_one_delaying_thread_is_missed() {
    fn wrong(program: &Program) -> Option<String> {
        let violated = has_violation(program, Model::Pso)?;
        let answer = match std::panic::catch_unwind(|| ask(program, Model::Pso, RobustnessEngine::Shared, true)) {
            Ok(answer) => answer,
            Err(_) => return Some("a panic".to_owned()),
        };
        let single = ask(program, Model::Pso, RobustnessEngine::Single, false);
        if single.verdict != answer.verdict {
            return Some(format!("single says {:?}, shared {:?}", single.verdict, answer.verdict));
        }
        match (answer.verdict, violated) {
            (Verdict::Violated, false) => Some("a violation that is none".to_owned()),
            (Verdict::Holds, true) => Some("holds, but there is a violation".to_owned()),
            _ => None,
        }
    }
    check_all(&Generator::new(Config::loop_free()), 500, wrong);
}

/// Attacks that need no search, asked one by one of the search that knows nothing of the reasons.
#[test]
fn dismissed_attacks_are_infeasible() {
    fn wrong(program: &Program) -> Option<String> {
        let lowered = HardwareProgram::new(program);
        for model in [Model::Tso, Model::Pso] {
            let watch = Watch::unlimited();
            let mut facts = ProgramFacts::new(&lowered, model, &watch).expect("no limit");
            for attack in attacks_against(model, &lowered) {
                let Some(reason) = facts.dismiss(attack).expect("no limit") else { continue };
                let options = Options { budget: Budget::unlimited().states(20_000), ..Options::default() };
                match query(program, model, &[attack], &options) {
                    Ok(found) if found.found.is_some() => {
                        return Some(format!("{attack:?} is feasible under {model}, although {reason:?}"));
                    }
                    _ => {}
                }
            }
        }
        None
    }
    let with_loops = Generator::new(Config::all());
    let loop_free = Generator::new(Config::loop_free());
    check_all(&loop_free, 300, wrong);
    check_all(&with_loops, 300, wrong);
    let own_values = |generator: &Generator, seed: u64| {
        let program = HardwareProgram::new(&generator.program(seed));
        let watch = Watch::unlimited();
        let mut facts = ProgramFacts::new(&program, Model::Tso, &watch).expect("no limit");
        let attacks = attacks_against(Model::Tso, &program).into_iter();
        attacks.filter(|&attack| facts.dismiss(attack) == Ok(Some(InfeasibilityReason::OwnValues))).count()
    };
    let met: usize = (0..1_000).map(|seed| own_values(&with_loops, seed) + own_values(&loop_free, seed)).sum();
    assert!(met > 20, "only {met} attacks are kept off by the thread's own stores");
}
