//! Answers that follow from others, on random programs: each model is asked by itself, and no answer contradicts what follows from
//! another.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::check_all;
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
use ravelin_analysis::{Verdict, implies};
use ravelin_explore::Budget;
use ravelin_program::{Model, Program};
use ravelin_testing::programs::{Config, Generator};
use std::cell::RefCell;
use std::collections::BTreeMap;

fn verdict(program: &Program, model: Model) -> Option<Verdict> {
    let budget = Budget::unlimited().states(30_000);
    let verdict = match model.is_c11() {
        true => c11_robustness(program, &C11Question { budget, ..C11Question::new(model) }).ok()?.verdict,
        false => robustness(program, &RobustnessQuestion { budget, ..RobustnessQuestion::new(model) }).ok()?.verdict,
    };
    (verdict != Verdict::Unknown).then_some(verdict)
}

#[test]
fn what_follows_is_what_a_search_says() {
    let met = RefCell::new(BTreeMap::new());
    let wrong = |program: &Program| {
        let verdicts = Model::WEAK.map(|model| verdict(program, model));
        for (proved, known) in Model::WEAK.into_iter().zip(verdicts) {
            for (other, said) in Model::WEAK.into_iter().zip(verdicts) {
                if known == Some(Verdict::Holds) && said.is_some() && implies(program, proved, true, other) {
                    *met.borrow_mut().entry((proved, other)).or_insert(0) += 1;
                    if said != Some(Verdict::Holds) {
                        return Some(format!("robust against {proved}, but against {other} it is {said:?}"));
                    }
                }
            }
        }
        None
    };
    check_all(&Generator::new(Config::c11()), 1_000, wrong);
    check_all(&Generator::new(Config { domains: true, ..Config::c11() }), 300, wrong);
    check_all(&Generator::new(Config { loops: true, ..Config::c11() }), 300, wrong);
    let met = met.borrow();
    let pairs = [
        (Model::Pso, Model::Tso),
        (Model::Ra, Model::Tso),
        (Model::Rc20, Model::Tso),
        (Model::Rc20, Model::Pso),
        (Model::Rc20, Model::Ra),
    ];
    for pair in pairs.iter().filter(|_| ravelin_testing::is_default_run()) {
        assert!(met.get(pair).is_some_and(|times| *times > 100), "{pair:?} was hardly met: {met:?}");
    }
}
