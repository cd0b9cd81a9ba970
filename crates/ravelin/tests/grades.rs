//! Grades of violations of robustness, on random programs with loops that wait: each is confirmed by other questions about
//! the same program. Where a stale value only repeats loops, the final states are those of sc; where none is used, memory
//! ends as under sc; goals hold or are violated as reachability says.

use ravelin::answer::{EndState, Grade, Impact, Property, Verdict};
use ravelin::{Answer, Budget, Model, Program};
use ravelin_testing::Random;
use std::collections::BTreeMap;
use std::fmt::Write;

const CELLS: [&str; 3] = ["x", "y", "z"];

fn access(random: &mut Random, orders: &[&str]) -> (String, String) {
    let cell = random.pick(&CELLS).to_owned();
    let order = random.pick(orders);
    (cell, order.to_owned())
}

/// A thread of a few statements. Every register has a name of its own.
fn thread(random: &mut Random, number: usize, registers: &mut Vec<String>) -> String {
    let (loads, stores) = (["relaxed", "acquire", "seq_cst"], ["relaxed", "release", "seq_cst"]);
    let mut text = String::new();
    let mut own: Vec<String> = Vec::new();
    for _ in 0..random.within(2..=4) {
        let value = random.within(1..=2);
        let strongest = 2 + usize::from(random.once_in(6));
        match random.below(12) {
            0..4 => {
                let (cell, order) = access(random, &stores[..strongest]);
                let _ = writeln!(text, "    {cell}.store({value}, {order});");
            }
            4..7 => {
                let (cell, order) = access(random, &loads[..strongest]);
                let register = format!("r{}", own.len());
                let _ = writeln!(text, "    let {register} = {cell}.load({order});");
                own.push(register);
            }
            7..10 => {
                let (cell, order) = access(random, &loads[..2]);
                let comparison = random.pick(&["!=", "=="]);
                let value = if comparison == "==" { 0 } else { value };
                let _ = writeln!(text, "    while {cell}.load({order}) {comparison} {value} {{}}");
            }
            10 => {
                let order = random.pick(&["seq_cst", "acquire", "release"]);
                let _ = writeln!(text, "    fence({order});");
            }
            _ => {
                if let Some(register) = own.last() {
                    let (cell, order) = access(random, &stores[..2]);
                    let _ = writeln!(text, "    if {register} == {value} {{ {cell}.store({value}, {order}); }}");
                }
            }
        }
    }
    registers.extend(own.into_iter().map(|register| format!("t{number}.{register}")));
    format!("thread t{number} {{\n{text}}}\n")
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text: String = CELLS.iter().map(|cell| format!("static {cell}: 0..3;\n")).collect();
    let mut registers = Vec::new();
    for number in 0..random.within(2..=3) {
        text += &thread(&mut random, number, &mut registers);
    }
    let condition = |random: &mut Random| {
        let value = random.below(3);
        match random.once_in(2) && !registers.is_empty() {
            true => format!("{} == {value}", random.pick(&registers)),
            false => format!("{} == {value}", random.pick(&CELLS)),
        }
    };
    match random.below(3) {
        0 => {}
        1 => text += &format!("never {} && {};\n", condition(&mut random), condition(&mut random)),
        _ => text += &format!("finally {} || {};\n", condition(&mut random), condition(&mut random)),
    }
    text
}

/// The final states, without the registers if they do not count; `None` if they are not all known.
fn finals(program: &Program, model: Model, registers: bool) -> Option<Vec<String>> {
    let answer = ravelin::states(program).model(model).budget(Budget::unlimited().states(200_000)).run();
    let Ok(Answer::FinalStates(states)) = answer else { panic!("states") };
    let shown = |state: &EndState| format!("{:?} {:?}", registers.then_some(&state.threads), state.memory);
    let mut all: Vec<String> = states.finals.iter().map(shown).collect();
    all.sort();
    all.dedup();
    states.complete.then_some(all)
}

fn goals(program: &Program, model: Model) -> Verdict {
    let answer = ravelin::reach(program).model(model).deadlocks(false).budget(Budget::unlimited().states(200_000));
    answer.run().expect("reach answers").verdict().expect("a verdict")
}

fn impact(answer: &Answer) -> Option<&Impact> {
    answer.impact().filter(|_| !matches!(answer, Answer::C11Robustness(answer) if answer.race.is_some()))
}

#[test]
fn grades_are_confirmed_by_other_questions() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in ravelin_testing::seeds(300) {
        let text = program(seed);
        let program = Program::parse("random.rav", text.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for model in Model::WEAK {
            let answer = ravelin::check(&program).model(model).deadlocks(false).run();
            let answer = answer.unwrap_or_else(|error| panic!("{error}\n{text}"));
            let Some(impact) = impact(&answer) else { panic!("no impact under {model}\n{text}") };
            let context = || format!("seed {seed} under {model}: {impact:?}\n{text}");
            match (impact.robust, impact.grade) {
                (Verdict::Violated, Some(grade)) => {
                    *seen.entry(grade.name()).or_default() += 1;
                    confirm(&program, model, impact, grade, &context);
                }
                (Verdict::Violated, None) => panic!("no grade: {}", context()),
                (_, grade) => assert_eq!(grade, None, "{}", context()),
            }
        }
    }
    if ravelin_testing::is_default_run() {
        for grade in [Grade::Rejoins, Grade::Unobserved, Grade::GoalsHold, Grade::Wrong, Grade::Open] {
            assert!(seen.get(grade.name()).is_some_and(|&count| count >= 5), "{grade:?}: {seen:?}");
        }
    }
}

fn confirm(program: &Program, model: Model, impact: &Impact, grade: Grade, context: &dyn Fn() -> String) {
    let known = [impact.sc, impact.model].map(|verdict| verdict != Verdict::Unknown);
    assert!(!known[0] || impact.sc == goals(program, Model::Sc), "{}", context());
    assert!(!known[1] || impact.model == goals(program, model), "{}", context());
    match grade {
        Grade::Rejoins | Grade::Unobserved => {
            let registers = grade == Grade::Rejoins;
            let (weak, sc) = (finals(program, model, registers), finals(program, Model::Sc, registers));
            assert!(weak.is_none() || weak == sc, "{}", context());
        }
        Grade::GoalsHold => assert_eq!((impact.model, impact.stated > 0), (Verdict::Holds, true), "{}", context()),
        Grade::Wrong => {
            assert_eq!(impact.model, Verdict::Violated, "{}", context());
            assert!(impact.witness.is_some(), "{}", context());
        }
        Grade::Open => assert!(impact.stated == 0 || impact.model == Verdict::Unknown, "{}", context()),
    }
}

/// An `exists` is no goal, but it looks at registers.
#[test]
fn what_a_litmus_test_asks_about_is_used() {
    let text = "static x; static y;
        thread p { x.store(1); let a = y.load(); }
        thread q { y.store(1); let b = x.load(); }";
    let grade = |text: &str| {
        let program = Program::parse("sb.rav", text.to_owned()).expect("a program");
        let answer = ravelin::check(&program).model(Model::Rc20).run().expect("an answer");
        answer.impact().and_then(|impact| impact.grade)
    };
    assert_eq!(grade(text), Some(Grade::Unobserved));
    assert_eq!(grade(&format!("{text} exists p.a == 0 && q.b == 0;")), Some(Grade::Open));
    assert_eq!(grade(&format!("{text} finally p.a == 1 || q.b == 1;")), Some(Grade::Wrong));
}

/// Violations of robustness that do no harm do not make a program right that is wrong under sc.
#[test]
fn what_is_wrong_under_sc_is_not_harmless() {
    let text = "static x; static y; thread p { x.store(1); let a = y.load(); }
        thread q { y.store(1); let b = x.load(); } never x == 1;";
    let program = Program::parse("sb.rav", text.to_owned()).expect("a program");
    for (property, verdict) in [(Property::Observational, Verdict::Holds), (Property::Safe, Verdict::Violated)] {
        let answer = ravelin::check(&program).model(Model::Rc20).property(property).run().expect("an answer");
        assert_eq!(answer.verdict(), Some(verdict));
        assert_eq!(answer.impact().and_then(|impact| impact.grade), Some(Grade::Wrong));
        let text = answer.to_string();
        assert!(text.contains("wrong under sc already") && !text.contains("Nothing has to change"), "{text}");
    }
}
