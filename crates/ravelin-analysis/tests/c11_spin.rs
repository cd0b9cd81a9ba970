//! Loops that only wait, and what they become.

use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Question, SpinLoop, SpinOutcome, c11_robustness, with_exact_waits, with_waits};
use ravelin_explore::Watch;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source, validate};

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("spin.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn told(found: &SpinLoop) -> String {
    match &found.outcome {
        SpinOutcome::Rewritten(rewrite) if rewrite.weaker => format!("{} (weaker)", rewrite.became),
        SpinOutcome::Rewritten(rewrite) => rewrite.became.clone(),
        SpinOutcome::Kept(obstacle) => format!("kept: {obstacle}"),
    }
}

/// The body of a thread, and what its loops become. Another thread writes `x`, `y`, `z`, `b` and `a`.
const LOOPS: &[(&str, &[&str])] = &[
    ("while x.load() != 1 {}", &["wait(x == 1)"]),
    ("while x.load(acquire) != n {}", &["wait(x == n, acquire)"]),
    ("while 1 != x.load() {}", &["wait(1 == x)"]),
    ("let r = x.load(); while r != 1 { r = x.load(); } n = r; y.store(n);", &["r = wait(x == 1)"]),
    ("let r; loop { r = x.load(); if r > 1 { break; } } y.store(r + 1);", &["r = wait(x > 1)"]),
    ("while b.load() == 0 {}", &["wait(b != 0)"]),
    ("while !(x.load() == 1) {}", &["wait(x == 1)"]),
    ("while x.load() < 100 {}", &["wait(x >= 100)"]),
    ("while x.load() % 2 == 1 {}", &["wait(x % 2 != 1)"]),
    ("while x.load() != 1 {} while x.load() != 2 {}", &["wait(x == 1)", "wait(x == 2)"]),
    ("loop { while x.load() != 1 {} let r = y.load(); }", &["wait(x == 1)", "kept: it never ends"]),
    (
        "loop { let r = x.load(); if r == 1 { n = 1; break; } if r == 2 { n = 2; break; } } y.store(n);",
        &["wait(x == 1) or wait(x != 1 && x == 2)"],
    ),
    ("while n < 3 && x.load() == 1 {}", &["wait(n < 3 && x != 1)"]),
    ("while { fence(); x.load() == 1 } {}", &["wait(x != 1)"]),
    // Cells that no other thread writes.
    ("own.store(2); while x.load() == own.load() {}", &["wait(x != own)"]),
    ("own.store(2); while own.load() != x.load(acquire) {}", &["wait(own == x, acquire)"]),
    (
        "own.store(1); loop { while a[own.load()].load() == 0 {} if x.load() == 1 { break; } }",
        &["wait(a[own] != 0)", "wait(a[own] != 0); wait(x == 1)"],
    ),
    // Compare-exchanges.
    ("while x.compare_exchange(0, 1, acquire).is_err() {}", &["x.bcas(0, 1, acquire)"]),
    ("while x.compare_exchange_weak(0, 1, acquire).is_err() {}", &["x.bcas(0, 1, acquire)"]),
    ("while x.compare_exchange(0, 1) != 0 {}", &["x.bcas(0, 1)"]),
    ("while x.compare_exchange(n, 1) != n {}", &["x.bcas(n, 1)"]),
    (
        "loop { while x.load() == 1 {} if x.compare_exchange(0, 1, acquire).is_ok() { break; } }",
        &["wait(x != 1)", "x.bcas(0, 1, acquire)"],
    ),
    (
        "loop { let old = x.load(); if x.compare_exchange(old, old + 1, release).is_ok() { break; } }",
        &["x.fetch_add(1, release)"],
    ),
    (
        "let old = x.load(); loop { let (seen, ok) = x.compare_exchange_weak(old, old | 4); if ok { break; } old = seen; } y.store(old);",
        &["old = x.fetch_or(4)"],
    ),
    (
        "let old = x.load(); loop { let (seen, ok) = x.compare_exchange(old, n); if ok { break; } old = seen; }",
        &["x.swap(n)"],
    ),
    (
        "loop { let old = b.load(); if b.compare_exchange(old, 1 - old).is_ok() { break; } }",
        &["b.bcas(0, 1 - 0) or b.bcas(1, 1 - 1)"],
    ),
    // Rows of loads.
    ("while x.load() == 1 || y.load() == 1 {}", &["wait(x != 1)", "wait(x != 1); wait(y != 1)"]),
    ("while x.load() == 1 && y.load() == 1 {}", &["wait(x != 1) or wait(y != 1) (weaker)"]),
    // These do more than wait.
    ("while x.load() != 1 { n = n + 1; } y.store(n);", &["kept: what a failed attempt leaves in `n` is used"]),
    ("while x.load() != 1 { n = 1 - n; } y.store(n);", &["kept: what a failed attempt leaves in `n` is used"]),
    ("let m; loop { m = 7 / x.load(); if m == 7 { break; } }", &["kept: `7 / x` may fault in a failed attempt"]),
    ("while x.load() != 1 { y.store(1); }", &["kept: the loop stores to `y`"]),
    ("while x.swap(1) != 0 {}", &["kept: the loop stores to `x`"]),
    ("while x.load() != y.load() {}", &["kept: it reads 2 cells that other threads write: `x`, `y`"]),
    ("let r = x.load(); while r != 1 { r = y.load(); }", &["kept: what a failed attempt leaves in `r` is used"]),
    ("while na.load() != 3 {}", &["kept: `na` is accessed non-atomically too, so a failed attempt may be a data race"]),
    ("while a[x.load()].load() != 1 {}", &["kept: which cell `a[$1]` is depends on what the loop reads"]),
    ("let i; while i == 0 { i = x.load(); assert(i != 2); }", &["kept: the loop has an assertion"]),
    (
        "loop { let old = x.load(acquire); if x.compare_exchange(old, old + 1, relaxed).is_ok() { break; } }",
        &["kept: the load of `x` before the compare-exchange is stronger than the compare-exchange"],
    ),
    (
        "loop { let old = x.load(); if x.compare_exchange(old, 2 * old).is_ok() { break; } }",
        &["kept: no instruction computes the new value of `x` in one step"],
    ),
    (
        "loop { let old = x.load(); y.store(old); if x.compare_exchange(old, 1).is_ok() { break; } }",
        &["kept: the loop stores to `y`"],
    ),
    ("loop { let r = x.load(); @inside; if r == 1 { break; } }", &["kept: the label `@inside` stands inside"]),
    ("if x.load() != 1 { y.store(1); }", &[]),
];

#[test]
fn loops_become_waits() {
    let mut wrong = Vec::new();
    for (body, expected) in LOOPS {
        let text = format!(
            "static x: 0..1000; static y; static b: bool; static own; static na; static a: [bool; 2]; static z;
             thread p {{ let n = 7; {body} }}
             thread q {{ x.store(1); y.store(1); b.store(1); na.write(1); a[0].store(1); z.store(own.load()); }}"
        );
        let (rewritten, loops) = with_waits(&program(&text), &Watch::unlimited()).expect("no limit");
        let mut found: Vec<String> = loops.iter().map(told).collect();
        let mut expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
        found.sort();
        expected.sort();
        if found != expected {
            wrong.push(format!("{body}\n    became   {found:?}\n    expected {expected:?}"));
        }
        assert!(validate(&rewritten).is_empty(), "{body}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_loop_is_listed_with_its_line() {
    let text = "static x;
static y;
thread p {
    loop {
        while x.load() != 1 {}
        y.store(1);
        while y.load() != 2 { x.store(2); }
    }
}
thread q { x.store(1); y.store(2); }";
    let (_, loops) = with_waits(&program(text), &Watch::unlimited()).expect("no limit");
    let lines: Vec<(usize, String)> =
        loops.iter().map(|found| (found.position.map_or(0, |position| position.line), told(found))).collect();
    let expected = [(5, "wait(x == 1)"), (5, "kept: the loop stores to `y`"), (7, "kept: the loop stores to `x`")];
    assert_eq!(lines, expected.map(|(line, what)| (line, what.to_owned())));
}

#[test]
fn goals_may_see_what_is_inside() {
    let seen = |goal: &str| {
        let text = format!(
            "static x; thread p {{ let n; let r = x.load(); while r != 1 {{ r = x.load(); }} @end; n = 2; }} thread q {{ x.store(1); }} {goal}"
        );
        let program = program(&text);
        let (_, loops) = with_waits(&program, &Watch::unlimited()).expect("no limit");
        loops[0].rewrite().expect("rewritten");
        loops[0].is_seen_by_goals(&program)
    };
    assert!(!seen(""));
    assert!(seen("never p.r == 7;"));
    assert!(!seen("never p.n == 7 && p@end && x == 1;"));
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
        "BAR with a comparison",
        "static x; static y; thread p { x.store(1, release); while y.load(acquire) < 1 {} }
         thread q { y.store(1, release); while x.load(acquire) == 0 {} }",
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
        "test-and-test-and-set, each with a lock of the other too",
        "static l: bool; static m: bool;
         thread p { loop { while l.load() == 1 {} if l.compare_exchange(0, 1, acquire).is_ok() { break; } } while m.load() == 0 {} l.store(0, release); }
         thread q { m.store(1, release); loop { while l.load() == 1 {} if l.compare_exchange(0, 1, acquire).is_ok() { break; } } l.store(0, release); }",
        false,
        true,
    ),
    (
        "a ticket lock",
        "static next: u8; static owner: u8; static x;
         thread p[2] { let mine = next.fetch_add(1); while owner.load(acquire) != mine {} let r = x.load(); x.store(r + 1); owner.store(mine + 1, release); }",
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
    (
        "Peterson without fences",
        "static flag: [bool; 2]; static turn: bool;
         thread p[me in 0..2] { flag[me].store(1, release); turn.store(1 - me, release); while flag[1 - me].load(acquire) == 1 && turn.load(acquire) == 1 - me {} flag[me].store(0, release); }",
        false,
        false,
    ),
    (
        "BAR that someone may end",
        "static x; static y; static stop;
         thread p { x.store(1, release); while y.load(acquire) == 0 && stop.load(acquire) == 0 {} }
         thread q { y.store(1, release); while x.load(acquire) == 0 && stop.load(acquire) == 0 {} }
         thread r { stop.store(1, release); }",
        false,
        true,
    ),
    (
        "BAR for two",
        "static x; static y; static z;
         thread p { x.store(1, release); while y.load(acquire) == 0 || z.load(acquire) == 0 {} }
         thread q { y.store(1, release); z.store(1, release); while x.load(acquire) == 0 {} }",
        false,
        true,
    ),
    (
        "a ring of one cell, whose ends look at each other",
        "static head: wrapping 0..4; static tail: wrapping 0..4; static slot: [_; 2];
         thread producer { loop { while wrapping(0..4, tail.load() - head.load(acquire)) == 2 {} slot[tail.load() & 1].store(1); tail.store(tail.load() + 1, release); } }
         thread consumer { loop { while tail.load(acquire) == head.load() {} let r = slot[head.load() & 1].load(); head.store(head.load() + 1, release); } }",
        false,
        true,
    ),
    (
        "a race in a failed attempt",
        "static x; thread p { while x.load() != 3 {} } thread q { x.write(1); }",
        false,
        false,
    ),
];

#[test]
fn waits_mask_what_is_benign_and_nothing_else() {
    let mut wrong = Vec::new();
    for (name, text, as_it_is, with) in VERDICTS {
        let program = program(text);
        let robust = |program: &Program| {
            let answer = c11_robustness(program, &C11Question::new(Model::Rc20)).expect("an answer");
            answer.verdict == Verdict::Holds
        };
        let (waiting, loops) = with_waits(&program, &Watch::unlimited()).expect("no limit");
        let told: Vec<String> = loops.iter().map(told).collect();
        let verdicts = (robust(&program), robust(&waiting));
        if verdicts != (*as_it_is, *with) {
            wrong.push(format!("{name}: {verdicts:?}, {told:?}"));
        }
        let (exact, loops) = with_exact_waits(&program, &Watch::unlimited()).expect("no limit");
        assert!(!loops.iter().filter_map(SpinLoop::rewrite).any(|rewrite| rewrite.weaker), "{name}");
        assert!(validate(&exact).is_empty() && validate(&waiting).is_empty(), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
