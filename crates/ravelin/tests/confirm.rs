//! Tests for a machine, made from witnesses: every one has an outcome that tso allows and sc forbids.

use ravelin::answer::{AllowedBy, Answer, EndRun, TestMethod};
use ravelin::confirm::{MachineTest, Subject, TestPlan};
use ravelin::{Budget, Model, Program};
use ravelin_frontend::print;
use ravelin_testing::programs::{Config, Generator};
use ravelin_testing::seeds;
use std::sync::atomic::AtomicBool;

fn example(name: &str) -> Program {
    let path = format!("{}/../../examples/{name}.rav", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("an example");
    Program::parse(format!("{name}.rav"), text).expect("a program")
}

fn plan(answer: &Answer) -> Option<Result<TestPlan, ravelin::Error>> {
    match Subject::of(answer, Budget::unlimited()).expect("a subject") {
        Subject::Run { run, .. } => Some(TestPlan::of_run(&run, Budget::unlimited())),
        _ => None,
    }
}

fn tests(answer: &Answer) -> Vec<MachineTest> {
    match plan(answer).expect("a witness").expect("a plan") {
        TestPlan::Tests(tests) => tests,
        TestPlan::Forbidden => panic!("x86 allows it"),
    }
}

fn check(program: &Program, model: Model) -> Answer {
    ravelin::check(program).model(model).run().expect("an answer")
}

/// The wanted outcome comes first, and only tso allows it; with fences nothing does.
fn assert_weak(test: &MachineTest, what: &str) {
    let wanted: Vec<_> = test.outcomes.iter().filter(|outcome| outcome.wanted).collect();
    assert_eq!((wanted.len(), wanted[0].allowed), (1, AllowedBy::Tso), "{what}: {}", test.wanted);
    assert!(test.outcomes[0].wanted, "{what}");
    for outcome in test.fenced.iter().flat_map(|fenced| &fenced.outcomes) {
        assert!(outcome.allowed != AllowedBy::Tso, "{what}: {}", outcome.text);
    }
}

#[test]
fn tests_have_the_accesses_of_their_witness() {
    for (name, method, threads) in [
        ("sb", TestMethod::Perpetual, 2),
        ("dekker", TestMethod::Perpetual, 2),
        ("r", TestMethod::Barrier, 2),
        ("n6", TestMethod::Barrier, 2),
        ("parker", TestMethod::Barrier, 2),
    ] {
        let tests = tests(&check(&example(name), Model::Tso));
        for test in &tests {
            assert_weak(test, name);
        }
        assert_eq!((tests[0].method, tests[0].threads.len()), (method, threads), "{name}");
        assert!(tests.iter().all(|test| test.fenced.is_some()), "{name}");
    }
    let sb = &tests(&check(&example("sb"), Model::Tso))[0];
    assert_eq!(sb.threads[0].accesses, ["store x = 1 (line 17)", "load y (line 18)"]);
    assert!(sb.program.contains("STORE(CELL(0), VALUE(1, 1));"), "{}", sb.program);
    assert_eq!(sb.outcomes.iter().filter(|outcome| outcome.allowed == AllowedBy::Sc).count(), 3);
}

#[test]
fn what_x86_forbids_has_no_test() {
    assert!(matches!(plan(&check(&example("mp"), Model::Pso)), Some(Ok(TestPlan::Forbidden))));
    for model in [Model::Rc20, Model::Tso] {
        let subject = Subject::of(&check(&example("mp"), model), Budget::unlimited());
        assert!(matches!(subject, Ok(Subject::Forbidden { .. })), "{model}: {subject:?}");
    }
}

/// The run of store buffering, with more threads that store to cells of their own, and without its cycle.
fn crowded(threads: usize) -> EndRun {
    let subject = Subject::of(&check(&example("sb"), Model::Tso), Budget::unlimited());
    let Ok(Subject::Run { mut run, .. }) = subject else { panic!("{subject:?}") };
    let issue = run.steps.iter().position(|step| !step.is_flush() && !step.writes.is_empty()).expect("a store");
    let flush = run.steps.iter().position(|step| step.is_flush()).expect("a flush");
    for number in 0..threads {
        let mut thread = run.initial.threads[0].clone();
        thread.thread = format!("t{number}");
        run.initial.threads.push(thread);
        for step in [issue, flush] {
            let mut step = run.steps[step].clone();
            step.thread = format!("t{number}");
            step.writes[0].cell = format!("c{number}");
            run.steps.push(step);
        }
    }
    (run.events, run.edges, run.cycle) = (None, None, None);
    *run
}

#[test]
fn runs_that_are_too_large_have_no_test() {
    for (threads, says) in [(200, "202 threads, and a test has at most 6"), (5, "7 threads")] {
        let refused = TestPlan::of_run(&crowded(threads), Budget::unlimited()).expect_err("too large").to_string();
        assert!(refused.contains(says), "{refused}");
    }
    assert!(matches!(TestPlan::of_run(&crowded(2), Budget::unlimited()), Ok(TestPlan::Tests(_))));
}

#[test]
fn tests_are_made_within_a_budget() {
    let run = crowded(2);
    let stop = AtomicBool::new(true);
    for budget in [Budget::unlimited().stop(&stop), Budget::unlimited().memory(1 << 10)] {
        assert!(TestPlan::of_run(&run, budget).is_err());
    }
}

#[test]
fn counts_that_the_model_forbids_are_told_apart() {
    let test = &tests(&check(&example("r"), Model::Tso))[0];
    let mut counts = vec![0; test.outcomes.len() + 1];
    counts[0] = 5;
    *counts.last_mut().expect("a count") = 2;
    let counted = test.counts(100, 0.5, &counts);
    assert_eq!((counted.seen, counted.forbidden, counted.rate()), (5, 2, Some(10)));
}

#[test]
fn no_witness_of_generated_programs_under_tso_is_forbidden() {
    let generator = Generator::new(Config::loop_free());
    let mut made = 0;
    for seed in seeds(300) {
        let text = print::rav(&generator.program(seed));
        let program = Program::parse("program.rav", text).expect("a program");
        let Ok(answer) = ravelin::check(&program).model(Model::Tso).deadlocks(false).run() else { continue };
        match plan(&answer) {
            None | Some(Err(_)) => {}
            Some(Ok(TestPlan::Forbidden)) => panic!("seed {seed}: {answer}"),
            Some(Ok(TestPlan::Tests(tests))) => {
                tests.iter().for_each(|test| assert_weak(test, &format!("seed {seed}")));
                made += 1;
            }
        }
    }
    assert!(made > 0 || !ravelin_testing::is_default_run(), "no test was made");
}
