//! Instrumented programs explored under SC: an attack is feasible exactly if `success` can be reached.

use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{ReachabilityQuestion, reach};
use ravelin_analysis::robustness::{Attack, attacks, find_attack, instrument};
use ravelin_answer::Violation;
use ravelin_frontend::{Language, print};
use ravelin_program::{HardwareProgram, Model, Program, Source, validate};

fn parse(text: &str) -> HardwareProgram {
    let parsed = ravelin_frontend::parse(Source::new("test.rav", text), Language::Rav);
    HardwareProgram::new(&parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics)))
}

/// Explores the instrumented program, and the text that is printed for it.
fn feasible(program: &HardwareProgram, attack: Attack) -> bool {
    let instrumented = instrument(program, attack).expect("nothing that is refused");
    assert_eq!(validate(&instrumented), []);
    let verdict = succeeds(&instrumented);
    let text = print::rav(&instrumented);
    assert_eq!(succeeds(&parse(&text)), verdict, "the printed program differs\n{text}");
    verdict
}

fn succeeds(instrumented: &Program) -> bool {
    let answer = reach(instrumented, &ReachabilityQuestion::new(Model::Sc)).expect("an answer");
    match answer.verdict {
        Verdict::Holds => false,
        Verdict::Violated => {
            let violation = answer.witness.expect("a witness").violation;
            assert!(matches!(violation, Violation::Goal { .. }), "{violation:?}");
            true
        }
        Verdict::Unknown => panic!("no limit was set"),
    }
}

/// The names of all feasible attacks.
fn feasible_attacks(text: &str) -> Vec<String> {
    let program = parse(text);
    let those = attacks(&program).into_iter().filter(|&attack| feasible(&program, attack));
    those.map(|attack| ravelin_analysis::robustness::attack_name(&program, attack)).collect()
}

#[test]
fn litmus_tests_have_the_attacks_that_the_literature_knows() {
    let none: &[&str] = &[];
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "store buffering",
            "static x; static y;
             thread a { x.store(1); \n let r = y.load(); }
             thread b { y.store(1); \n let r = x.load(); }",
            &["a:L2:L3", "b:L4:L5"],
        ),
        (
            "store buffering, one side fenced: the other can still delay",
            "static x; static y;
             thread a { x.store(1); \n fence(); let r = y.load(); }
             thread b { y.store(1); \n let r = x.load(); }",
            &["b:L4:L5"],
        ),
        (
            "store buffering, both fenced",
            "static x; static y;
             thread a { x.store(1); fence(); let r = y.load(); }
             thread b { y.store(1); fence(); let r = x.load(); }",
            none,
        ),
        (
            "store buffering with seq_cst stores",
            "static x; static y;
             thread a { x.store(1, seq_cst); let r = y.load(); }
             thread b { y.store(1, seq_cst); let r = x.load(); }",
            none,
        ),
        (
            "message passing",
            "static x; static y;
             thread a { x.store(1); y.store(1); let r = x.load(); }
             thread b { let r = y.load(); let s = x.load(); }",
            none,
        ),
        (
            "the load reads the delayed store (W5)",
            "static x;
             thread a { x.store(1); let r = x.load(); }
             thread b { let r = x.load(); x.store(2); }",
            none,
        ),
        (
            "loads in between see the delayed store: without it there is no way to the second load",
            "static x; static y;
             thread a { x.store(1); \n if x.load() == 1 { \n let r = y.load(); } }
             thread b { y.store(1); fence(); let r = x.load(); }",
            &["a:L2:L4"],
        ),
        (
            "and only the newest one",
            "static x; static y;
             thread a { x.store(1); x.store(2); if x.load() == 1 { let r = y.load(); } }
             thread b { y.store(1); fence(); let r = x.load(); }",
            none,
        ),
        (
            "a helper closes the cycle by a store",
            "static x; static y;
             thread a { x.store(1); \n let r = y.load(); }
             thread b { y.store(1); x.store(2); }",
            &["a:L2:L3"],
        ),
        (
            "two helpers pass the path on",
            "static x; static y; static z;
             thread a { x.store(1); \n let r = y.load(); }
             thread b { y.store(1); z.store(1); }
             thread c { let r = z.load(); let s = x.load(); }",
            &["a:L2:L3"],
        ),
        (
            "two helpers, and the second reads before the first writes only: no path",
            "static x; static y; static z;
             thread a { x.store(1); let r = y.load(); }
             thread b { y.store(1); let r = z.load(); }
             thread c { let r = z.load(); let s = x.load(); }",
            none,
        ),
        (
            "an assertion that fails stops the thread",
            "static x; static y;
             thread a { x.store(1); assert(1 == 2); let r = y.load(); }
             thread b { y.store(1); fence(); let r = x.load(); }",
            none,
        ),
        (
            "a release fence is no fence under TSO",
            "static x; static y;
             thread a { x.store(1); \n fence(release); let r = y.load(); }
             thread b { y.store(1); fence(); let r = x.load(); }",
            &["a:L2:L3"],
        ),
        (
            "unlock is a plain store, and can be seen to be late",
            "static l; static y;
             thread a { lock(l); \n unlock(l); \n let r = y.load(); }
             thread b { y.store(1); fence(); let r = l.load(); }",
            &["a:L3:L4"],
        ),
        (
            "but whoever takes the lock waits for it",
            "static l; static y;
             thread a { lock(l); unlock(l); let r = y.load(); }
             thread b { y.store(1); lock(l); unlock(l); }",
            none,
        ),
        (
            "a wait overtakes",
            "static x; static y;
             thread a { x.store(1); \n wait(y == 0); }
             thread b { y.store(1); fence(); let r = x.load(); }",
            &["a:L2:L3"],
        ),
        (
            "a wait for what never comes does not",
            "static x; static y;
             thread a { x.store(1); wait(y == 2); }
             thread b { y.store(1); fence(); let r = x.load(); }",
            none,
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(feasible_attacks(text), *expected, "{name}");
    }
}

#[test]
fn locked_instructions_are_one_action() {
    let cases: &[(&str, &str, bool)] = &[
        ("the block after the path", "bus_lock; let p = y.load(); y.store(1); bus_unlock; let q = x.load();", true),
        ("the store itself in the block", "bus_lock; let p = x.load(); y.store(1); bus_unlock;", true),
        ("the same in another order", "bus_lock; y.store(1); let p = x.load(); bus_unlock;", true),
        ("nothing in the block joins", "bus_lock; let p = x.load(); let q = y.load(); bus_unlock;", false),
        ("a block does not join by what it does itself", "bus_lock; let p = x.load(); x.store(1); bus_unlock;", false),
        ("a block that never ends", "bus_lock; let p = x.load(); y.store(1); assume(0 == 1); bus_unlock;", false),
        ("a locked block", "locked { let p = x.load(); y.store(1); }", true),
        ("a locked block that does not join", "locked { let p = x.load(); x.store(1); }", false),
        ("fetch_add", "y.fetch_add(1); let p = x.load();", true),
        ("swap of the attacked address", "y.store(1); let p = x.swap(3);", true),
        ("an exchange that succeeds", "let p = y.compare_exchange(0, 1); let q = x.load();", true),
        ("an exchange that fails only reads", "let p = y.compare_exchange(5, 1); let q = x.load();", false),
        ("a weak one", "let p = y.compare_exchange_weak(0, 1); let q = x.load();", true),
        ("bcas", "y.bcas(0, 1); let q = x.load();", true),
        ("bcas that waits for ever", "y.bcas(7, 1); let q = x.load();", false),
        ("lock", "lock(y); let q = x.load();", true),
        ("an exchange that fails joins by what it reads", "y.store(1); let p = x.compare_exchange(5, 1);", true),
    ];
    for (name, helper, expected) in cases {
        let text =
            format!("static x; static y;\nthread a {{ x.store(1);\n let r = y.load(); }}\nthread b {{ {helper} }}\n");
        let program = parse(&text);
        let attack = find_attack(&program, "a:L2:L3").expect("it is there");
        assert_eq!(feasible(&program, attack), *expected, "{name}");
    }
}

#[test]
fn a_promise_is_kept_by_one_of_several_helpers() {
    // The first block's accesses count for the second helper although it had to wait for its last access to join.
    let text = "static x; static y; static z; static w;
        thread a { x.store(1); \n let r = y.load(); }
        thread b { bus_lock; w.store(1); y.store(1); bus_unlock; }
        thread c { bus_lock; let p = x.load(); let q = w.load(); bus_unlock; }";
    let program = parse(text);
    assert!(feasible(&program, find_attack(&program, "a:L2:L3").expect("it is there")));
    // Here the second block reads what the first only read.
    let text = text.replace("w.store(1); y.store(1)", "let s = w.load(); y.store(1)");
    let program = parse(&text);
    assert!(!feasible(&program, find_attack(&program, "a:L2:L3").expect("it is there")));
}

#[test]
fn the_attacker_cannot_pass_a_locked_instruction() {
    for between in [
        "z.fetch_add(1);",
        "z.compare_exchange_weak(1, 2);",
        "z.bcas(0, 1);",
        "lock(z);",
        "bus_lock; bus_unlock;",
        "fence();",
    ] {
        let text = format!(
            "static x; static y; static z;\nthread a {{ x.store(1);\n {between} let r = y.load(); }}
             thread b {{ y.store(1); fence(); let r = x.load(); }}"
        );
        let program = parse(&text);
        assert!(!feasible(&program, find_attack(&program, "a:L2:L3").expect("it is there")), "{between}");
    }
    // While it holds the bus lock nobody can help.
    let text = "static x; static y;
        thread a { bus_lock; x.store(1); \n let r = y.load(); bus_unlock; }
        thread b { y.store(1); fence(); let r = x.load(); }";
    let program = parse(text);
    assert!(!feasible(&program, find_attack(&program, "a:L2:L3").expect("it is there")));
}

#[test]
fn a_block_of_loads_overtakes_if_one_of_them_reads_memory() {
    let cases = [("let r = x.load(); let s = y.load();", true), ("let r = x.load(); let s = x.load();", false)];
    for (loads, expected) in cases {
        let text = format!(
            "static x; static y;\nthread a {{ x.store(1);\n locked {{ {loads} }} }}
             thread b {{ y.store(1); fence(); x.store(2); }}"
        );
        let program = parse(&text);
        let attack = find_attack(&program, "a:L2:L3").expect("it is there");
        assert_eq!(feasible(&program, attack), expected, "{loads}");
    }
    // The block goes on with what it read from the delayed store.
    let text = "static x; static y; static z;
        thread a { x.store(1); let s = 0; locked { let r = x.load(); s = z.load(); } let t = y.load(); assume(s == 2); \n t = y.load(); }
        thread b { z.store(2); y.store(1); fence(); let r = x.load(); }";
    let program = parse(text);
    assert!(feasible(&program, find_attack(&program, "a:L2:L3").expect("it is there")));
}

#[test]
fn indices_and_addresses_may_be_computed() {
    let cases = [
        // The attacker stores a[0] and loads a[1], both computed.
        ("a[i].store(1);", "let r = a[1 - i].load();", "a[1].store(1); fence(); let r = a[0].load();", true),
        ("a[i].store(1);", "let r = a[1 - i].load();", "a[1].store(1); fence(); let r = a[1].load();", false),
        ("a[i].store(1);", "let r = a[i].load();", "a[0].store(2); fence(); let r = a[0].load();", false),
        // Out of bounds: the step is impossible, and no fault is reported.
        ("a[i + 2].store(1);", "let r = a[1].load();", "a[1].store(1); fence(); let r = a[0].load();", false),
        ("a[i].store(1);", "let r = a[i - 1].load();", "a[1].store(1); fence(); let r = a[0].load();", false),
        ("a[i].store(1);", "let r = b.load();", "let j = b.load(); b.store(1); fence(); let r = a[j].load();", true),
        (
            "a[i].store(1);",
            "let r = b.load();",
            "let j = b.load(); b.store(1); fence(); let r = a[j + 1].load();",
            false,
        ),
        // Raw addresses: a is at 1 and 2, b at 3.
        ("mem[i + 1].store(1);", "let r = b.load();", "b.store(1); fence(); let r = a[0].load();", true),
        ("mem[i + 1].store(1);", "let r = b.load();", "b.store(1); fence(); let r = a[1].load();", false),
        ("a[0].store(1);", "let r = mem[i + 3].load();", "b.store(1); fence(); let r = a[0].load();", true),
        (
            "mem[i + 9].store(1);",
            "let r = mem[i + 10].load();",
            "mem[10].store(1); fence(); let r = mem[9].load();",
            true,
        ),
        (
            "mem[i + 9].store(1);",
            "let r = mem[i + 9].load();",
            "mem[10].store(1); fence(); let r = mem[9].load();",
            false,
        ),
        (
            "a[i].store(&b);",
            "let p = a[0].load(); let r = mem[p].load();",
            "b.store(1); fence(); let r = a[0].load();",
            true,
        ),
        ("mem[9].store(1);", "let r = mem[10].load();", "mem[10].store(1); fence(); let r = mem[9].load();", true),
        ("a[i].store(1);", "let r = b.load();", "let j = 0; b.fetch_add(1); j = a[j].load();", true),
    ];
    for (store, load, helper, expected) in cases {
        let text = format!(
            "static a: [_; 2]; static b;\nthread t {{ let i = 0; {store}\n {load} }}\nthread u {{ {helper} }}\n"
        );
        let program = parse(&text);
        let some = attacks(&program).into_iter().any(|attack| attack.thread.0 == 0 && feasible(&program, attack));
        assert_eq!(some, expected, "{text}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_not_issued() {
    let cases = [("bool", 1, true), ("bool", 2, false), ("blocking bool", 2, false), ("wrapping bool", 2, true)];
    for (kind, value, expected) in cases {
        for lines in ["x.store(v);", "mem[v - v + 1].store(v);"] {
            let text = format!(
                "static x: {kind}; static y;\nthread a {{ let v = {value}; {lines}\n let r = y.load(); }}
                 thread b {{ y.store(1); fence(); let r = x.load(); }}"
            );
            let program = parse(&text);
            let attack = find_attack(&program, "a:L2:L3").expect("it is there");
            assert_eq!(feasible(&program, attack), expected, "{text}");
        }
    }
    // The wrapped value is what the attacker reads.
    let text = "static x: wrapping bool; static y;
        thread a { let v = 2; x.store(v); if x.load() == 0 { \n let r = y.load(); } }
        thread b { y.store(1); fence(); let r = x.load(); }";
    let program = parse(text);
    assert!(feasible(&program, find_attack(&program, "a:L2:L3").expect("it is there")));
}

#[test]
fn arithmetic_may_wrap_in_fewer_values_than_there_are_cells() {
    // 1 + 3 is 0 in 0..=3, and -1 is 3; the auxiliary cells lie beyond 3.
    let text = "max_value 3 wrap;
        static a: [_; 2]; static y;
        thread t { let i = 3; i = i + 1; a[i].store(1); \n let r = y.load(); }
        thread u { y.fetch_add(7); fence(); let q = y.load(); assume(q == 3); let j = 0 - 1; let r = a[j - 3].load(); }";
    let program = parse(text);
    assert!(feasible(&program, find_attack(&program, "t:L3:L4").expect("it is there")));
}

#[test]
fn examples_are_robust_exactly_if_no_attack_is_feasible() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "rav") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable example");
        let (expectations, _) = ravelin_frontend::expectations(&text);
        let expected = expectations
            .iter()
            .find(|expected| expected.command == "check" && expected.model == "tso" && expected.options.is_empty());
        let Some(expected) = expected else { continue };
        let program = parse(&text);
        let mut some = false;
        for attack in attacks(&program) {
            let instrumented = instrument(&program, attack).expect("nothing that is refused");
            some |= succeeds(&instrumented);
        }
        assert_eq!(some, expected.answer == "not robust", "{}", path.display());
        checked += 1;
    }
    assert!(checked > 20, "only {checked} examples say whether they are robust");
}
