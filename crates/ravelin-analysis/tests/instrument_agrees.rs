//! The two forms of an instrumented program agree on every single attack: the translation, and the view of the
//! transition system that the search for attacks uses.

use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{AttackFate, RobustnessQuestion, attack_name, instrument, robustness};
use ravelin_frontend::print;
use ravelin_program::{HardwareProgram, Model};
use ravelin_semantics::operational::Reference;
use ravelin_testing::programs::{Config, Generator};

const MOST_STATES: usize = 60_000;

#[test]
fn the_translation_and_the_search_agree_on_every_attack() {
    let generator = Generator::new(Config::all());
    let (mut feasible, mut infeasible, mut refused) = (0, 0, 0);
    for seed in 0..300 {
        let program = generator.program(seed);
        let lowered = HardwareProgram::new(&program);
        let question = RobustnessQuestion { all: true, ..RobustnessQuestion::new(Model::Tso) };
        let answer = robustness(&program, &question).expect("an answer");
        assert_ne!(answer.verdict, Verdict::Unknown);
        for judged in &answer.attacks {
            let Ok(instrumented) = instrument(&lowered, judged.attack) else {
                refused += 1;
                continue;
            };
            let reference = Reference::new(&instrumented, Model::Sc, None).expect("a valid program");
            let Ok(explored) = reference.explore(MOST_STATES) else { continue };
            let succeeds = !explored.violated_goals.is_empty();
            if !succeeds && !explored.complete {
                continue;
            }
            let expected = matches!(judged.fate, AttackFate::Feasible(_));
            let name = attack_name(&lowered, judged.attack);
            assert_eq!(
                succeeds,
                expected,
                "seed {seed}, {name}\n{}\n{}",
                print::rav(&lowered),
                print::rav(&instrumented)
            );
            *(if succeeds { &mut feasible } else { &mut infeasible }) += 1;
        }
    }
    eprintln!("{feasible} feasible, {infeasible} infeasible, {refused} refused");
    let enough = feasible > 100 && infeasible > 500 && refused < infeasible;
    assert!(enough, "{feasible} feasible, {infeasible} infeasible, {refused} refused");
}
