//! The engine `shared` in several processes, here threads that exchange through memory: the answers, the numbers and the witnesses of one.

use crate::random_programs::check_all;
use crate::threads::Threads;
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{AttackFate, RobustnessAnswer, RobustnessQuestion, robustness};
use ravelin_explore::{Budget, Limit, Storage};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};
use ravelin_testing::programs::{Config, Generator};

/// States of a random program that is looked at.
const MOST_STATES: u64 = 20_000;

fn together(
    program: &Program,
    question: &RobustnessQuestion,
    processes: usize,
    budget: &(dyn Fn(usize) -> Budget<'static> + Sync),
) -> Vec<RobustnessAnswer> {
    let RobustnessQuestion { model, all, share, .. } = *question;
    std::thread::scope(|scope| {
        let each = |(number, peers): (usize, Threads)| {
            scope.spawn(move || {
                let storage = Storage { peers: Some(&peers), ..Storage::default() };
                let budget = Budget { storage, ..budget(number) };
                let question = RobustnessQuestion { all, share, budget, ..RobustnessQuestion::new(model) };
                robustness(program, &question).expect("an answer")
            })
        };
        let asked: Vec<_> = Threads::new(processes).into_iter().enumerate().map(each).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    })
}

/// All that an answer says, but for the memory and the time.
fn essence(answer: &RobustnessAnswer) -> String {
    let fate = |fate: &AttackFate| match fate {
        AttackFate::Feasible(witness) => format!("feasible: {:?}", witness.steps),
        fate => format!("{fate:?}"),
    };
    let fates: Vec<String> = answer.attacks.iter().map(|attack| fate(&attack.fate)).collect();
    let explored = &answer.explored;
    let numbers = (explored.states, explored.sc, explored.delaying, explored.helping);
    format!("{:?} {:?} {numbers:?}\n{}", answer.verdict, answer.limit, fates.join("\n"))
}

fn wrong(program: &Program, model: Model) -> Option<String> {
    for all in [false, true] {
        let question = RobustnessQuestion { all, ..RobustnessQuestion::new(model) };
        let budget = Budget::unlimited().states(MOST_STATES);
        let alone = robustness(program, &RobustnessQuestion { budget, ..question }).ok()?;
        if alone.limit.is_some() {
            return None;
        }
        for (processes, share, workers) in [(2, 64, 1), (3, 64, 2), (3, 5, 1)] {
            let question = RobustnessQuestion { share, ..question };
            let alone = robustness(program, &RobustnessQuestion { budget, ..question }).ok()?;
            for answer in together(program, &question, processes, &|_| Budget::unlimited().workers(workers)) {
                if essence(&answer) != essence(&alone) {
                    return Some(format!(
                        "{processes} processes, all {all}, share {share}:\n{}\ninstead of\n{}",
                        essence(&answer),
                        essence(&alone)
                    ));
                }
            }
        }
    }
    None
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_processes() {
    check_all(&Generator::new(Config::loop_free()), 120, |program| wrong(program, Model::Tso));
    check_all(&Generator::new(Config::all()), 120, |program| wrong(program, Model::Tso));
    check_all(&Generator::new(Config::all()), 60, |program| wrong(program, Model::Pso));
}

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

/// Values that outgrow their fields begin the search again, in all processes, whoever sees it.
const COUNTING: &str = "static x; static y; static a;
    thread counter { let mut n = 0; while n < 700 { n = n + 1; a.store(n * n); let r = y.load(); } }
    thread left { x.store(1); let r = y.load(); }
    thread right { let s = a.load(); y.store(s + 1); let r = x.load(); }";

/// Many SC states in which nothing can start, so hunters ask for several batches.
const LONG: &str = "static x; static y; static a: 0..=63; static b: 0..=63; static c: 0..=15;
    thread one { while a.load() < 60 { a.store(a.load() + 1); } }
    thread two { while b.load() < 60 { b.store(b.load() + 1); } }
    thread left { x.store(1); fence(seq_cst); let r = y.load(); while c.load() < 9 { c.store(c.load() + 1); } }
    thread right { y.store(1); let r = x.load(); }";

#[test]
fn large_and_growing_programs_have_the_answers_of_one_process() {
    for text in [COUNTING, LONG, ROBUST] {
        let program = program(text);
        for all in [false, true] {
            let question = RobustnessQuestion { all, ..RobustnessQuestion::new(Model::Tso) };
            let alone = robustness(&program, &question).expect("an answer");
            for processes in [2, 3] {
                for answer in together(&program, &question, processes, &|_| Budget::unlimited()) {
                    assert_eq!(essence(&answer), essence(&alone), "{processes} processes, all {all}");
                }
            }
        }
    }
}

/// Robust, but not without a search: `y` is stored only after `x` was seen.
const ROBUST: &str = "static x; static y; static a: 0..=63; static b: 0..=63;
    thread one { while a.load() < 60 { a.store(a.load() + 1); } }
    thread two { while b.load() < 60 { b.store(b.load() + 1); } }
    thread left { x.store(1); let r = y.load(); }
    thread right { let s = x.load(); if s == 1 { y.store(1); } }";

/// A limit that one process reaches ends it for all, in the same way.
#[test]
fn limits_end_all_processes_alike() {
    let program = program(COUNTING);
    let question = RobustnessQuestion::new(Model::Tso);
    for answer in together(&program, &question, 3, &|_| Budget::unlimited().states(3)) {
        assert_eq!((answer.verdict, answer.limit), (Verdict::Unknown, Some(Limit::States(3))));
        assert!(answer.explored.states < 200, "{:?}", answer.explored);
    }
}
