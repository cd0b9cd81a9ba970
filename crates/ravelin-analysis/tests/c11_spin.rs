//! Loops that only wait, and what they become.

use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Question, c11_robustness, with_waits};
use ravelin_explore::Watch;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source, validate};

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("spin.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

/// The body of a thread, and what its loops become.
const LOOPS: &[(&str, &[&str])] = &[
    ("while x.load() != 1 {}", &["wait(x == 1)"]),
    ("while x.load(acquire) != n {}", &["wait(x == n, acquire)"]),
    ("while 1 != x.load() {}", &["wait(x == 1)"]),
    ("let r = x.load(); while r != 1 { r = x.load(); } n = r;", &["wait(x == 1) into r"]),
    ("while b.load() == 0 {}", &["wait(b == 1)"]),
    ("while !(x.load() == 1) {}", &["wait(x == 1)"]),
    ("while x.compare_exchange(0, 1, acquire).is_err() {}", &["x.bcas(0, 1, acquire)"]),
    ("while x.compare_exchange_weak(0, 1, acquire).is_err() {}", &["x.bcas(0, 1, acquire)"]),
    ("while x.compare_exchange(0, 1) != 0 {}", &["x.bcas(0, 1)"]),
    ("while x.load() != 1 {} while x.load() != 2 {}", &["wait(x == 1)", "wait(x == 2)"]),
    // These do more than wait, or wait for what cannot be listed.
    ("while x.load() != 1 { n = n + 1; }", &[]),
    ("while x.load() != 1 { y.store(1); }", &[]),
    ("while x.load() < 100 {}", &[]),
    ("while x.swap(1) != 0 {}", &[]),
    ("while x.load() != y.load() {}", &[]),
    ("let r = x.load(); while r != 1 { r = y.load(); }", &[]),
    ("while x.compare_exchange(0, n) != 0 { n = n + 1; }", &[]),
    ("if x.load() != 1 { y.store(1); }", &[]),
];

#[test]
fn loops_become_waits() {
    for (body, expected) in LOOPS {
        let text = format!("static x; static y; static b: bool; thread p {{ let n = 7; {body} }}");
        let (rewritten, loops) = with_waits(&program(&text), &Watch::unlimited()).expect("no limit");
        let became: Vec<&str> = loops.iter().map(|found| found.became.as_str()).collect();
        assert_eq!(became.len(), expected.len(), "{body}: {became:?}");
        for (became, expected) in became.iter().zip(*expected) {
            let words = expected.split(" into ").next().unwrap_or(expected);
            assert!(became.contains(words), "{body}: {became}");
        }
        assert!(validate(&rewritten).is_empty(), "{body}");
    }
}

/// Name, program, robust as it is, robust with waits.
const VERDICTS: &[(&str, &str, bool, bool)] = &[
    (
        "BAR",
        "static x; static y; thread p { x.store(1, release); while y.load(acquire) != 1 {} }
         thread q { y.store(1, release); while x.load(acquire) != 1 {} }",
        false,
        true,
    ),
    (
        "a spin lock",
        "static l: bool; static x; static y;
         thread p { loop { while l.compare_exchange(0, 1, acquire).is_err() {} x.store(1); let a = y.load(); l.store(0, release); } }
         thread q { loop { while l.compare_exchange(0, 1, acquire).is_err() {} y.store(1); let a = x.load(); l.store(0, release); } }",
        true,
        true,
    ),
    (
        "waiting for the wrong value",
        "static x; static y; thread p { x.store(1, release); while y.load(acquire) != 0 {} }
         thread q { y.store(1, release); while x.load(acquire) != 0 {} }",
        false,
        false,
    ),
];

#[test]
fn waits_mask_what_is_benign_and_nothing_else() {
    for (name, text, as_it_is, with) in VERDICTS {
        let program = program(text);
        let robust = |program: &Program| {
            let answer = c11_robustness(program, &C11Question::new(Model::Rc20)).expect("an answer");
            answer.verdict == Verdict::Holds
        };
        let (waiting, _) = with_waits(&program, &Watch::unlimited()).expect("no limit");
        assert_eq!((robust(&program), robust(&waiting)), (*as_it_is, *with), "{name}");
    }
}
