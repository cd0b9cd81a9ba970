//! Programs and what the load-buffer engine says of them, side by side; and the examples, as their headers expect.

use ravelin_analysis::Verdict::{self, Holds, Violated};
use ravelin_analysis::reachability::{ReachabilityQuestion, dual};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};
use std::path::Path;

fn program(name: &str, text: &str) -> Program {
    let parsed = parse(Source::new(name, text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{name}: {:?}\n{text}", parsed.diagnostics))
}

/// The verdict; one that says violated has a run to show for it.
fn verdict(program: &Program) -> Verdict {
    let answer = dual(program, &ReachabilityQuestion::new(Model::Tso))
        .unwrap_or_else(|error| panic!("{}: {error}", program.name));
    assert_eq!(answer.reachability.verdict == Violated, answer.reachability.witness.is_some());
    answer.reachability.verdict
}

const CLAIMS: &[(&str, &str, Verdict)] = &[
    (
        "both threads read 0",
        "static x: bool; static y: bool;
         thread a { x.store(1); let r = y.load(); } thread b { y.store(1); let r = x.load(); }
         exists a.r == 0 && b.r == 0;",
        Violated,
    ),
    (
        "a thread sees its own store at once",
        "static x: bool; thread a { x.store(1); let r = x.load(); assert(r == 1); }",
        Holds,
    ),
    (
        "a value read from an own store, and then an older one of another cell (n6)",
        "static x: 0..3; static y: bool;
         thread a { x.store(1); let r = x.load(); let s = y.load(); } thread b { y.store(1); x.store(2); }
         exists x == 1 && a.r == 1 && a.s == 0;",
        Violated,
    ),
    (
        "stores are seen in order",
        "static x: bool; static y: bool;
         thread a { x.store(1); y.store(1); } thread b { let r = y.load(); let s = x.load(); assert(r == 0 || s == 1); }",
        Holds,
    ),
    (
        "but a reader may be late",
        "static x: bool; static y: bool;
         thread a { x.store(1); y.store(1); } thread b { let r = x.load(); let s = y.load(); assert(r == 1 || s == 0); }",
        Violated,
    ),
    (
        "no bound on buffers is enough for a spinning writer, and yet it holds",
        "static x: bool; static done: bool;
         thread a { loop { x.store(1); if done.load() == 1 { break; } } assert(done.load() == 1); }
         thread b { done.store(1); }",
        Holds,
    ),
    (
        "memory is judged where buffers are empty",
        "static x: bool; static y: bool;
         thread a { x.store(1); @stored; y.store(1); }
         never a@stored && x == 0;",
        Holds,
    ),
    (
        "a condition over locations is judged anywhere",
        "static x: bool;
         thread a { x.store(1); @stored; }
         thread b { let r = x.load(); let s = x.load(); @end; }
         never a@stored && b@end && b.s == 0;",
        Violated,
    ),
    (
        "a store that waits for another's bus lock",
        "static x: bool; static y: bool;
         thread a { y.store(1); bus_lock; @inside; x.store(1); bus_unlock; }
         thread b { x.store(1); @stored; nop; @after; }
         never a@inside && b@after;",
        Violated,
    ),
    (
        "nobody loads while the bus is locked",
        "static x: 0..3;
         thread a { bus_lock; x.store(1); x.store(2); bus_unlock; }
         thread b { let r = x.load(); assert(r != 1); }",
        Holds,
    ),
    (
        "a locked block reads at one moment",
        "static x: bool; static y: bool;
         thread a { locked { x.store(1); y.store(1); } }
         thread b { let r; let s; locked { r = x.load(); s = y.load(); } assert(r == s); }",
        Holds,
    ),
    (
        "two loads do not",
        "static x: bool; static y: bool;
         thread a { locked { x.store(1); y.store(1); } }
         thread b { let r = x.load(); let s = y.load(); assert(r == s); }",
        Violated,
    ),
    (
        "memory may start with anything",
        "static x: 0..4 = any; thread a { let r = x.load(); let s = x.load(); assert(r == s && r != 3); }",
        Violated,
    ),
    (
        "but keeps it",
        "static x: 0..4 = any; thread a { let r = x.load(); let s = x.load(); assert(r == s); }",
        Holds,
    ),
    ("a fault is found", "static x: 0..2; thread a { loop { x.store(x.load() + 1); } }", Violated),
];

#[test]
fn claims() {
    for (name, text, expected) in CLAIMS {
        assert_eq!(verdict(&program(name, text)), *expected, "{name}");
    }
}

/// What the headers say of `reach tso` without a bound; what was unknown because of a bound may be decided here.
#[test]
fn the_examples_are_as_expected() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for folder in ["", "fence-insertion", "lazy-tso", "robustness-c11"] {
        for file in std::fs::read_dir(examples.join(folder)).expect("the examples") {
            let path = file.expect("an example").path();
            if path.extension().is_none_or(|extension| extension != "rav") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let program = program(&path.display().to_string(), &text);
            // Deadlocks have lines of their own, and the engine does not see them.
            let expected = text.lines().filter_map(|line| line.strip_prefix("//! expect reach tso: "));
            let expected = expected.into_iter().find(|expected| !expected.contains("deadlock"));
            let Some(expected) = expected.filter(|_| !program.is_parameterised()) else { continue };
            seen += 1;
            let said = verdict(&program).name();
            assert!(expected == "unknown" || expected.starts_with(said), "{}: {said}", path.display());
        }
    }
    assert!(seen > 60, "only {seen} examples");
}

#[test]
fn an_infinite_domain_is_named_with_its_line() {
    let text = "static x: bool;\nstatic n;\nthread a { loop { n.store(n.load() + 1); } }";
    let error =
        dual(&program("claim.rav", text), &ReachabilityQuestion::new(Model::Tso)).expect_err("infinite").to_string();
    assert!(error.contains("line 2") && error.contains("`n`") && error.contains("static n: 0..8"), "{error}");
    let text = "static x: bool;\nthread a {\n let i = 0;\n loop { i += 1; x.store(i % 2); } }";
    let error =
        dual(&program("claim.rav", text), &ReachabilityQuestion::new(Model::Tso)).expect_err("infinite").to_string();
    assert!(error.contains("line 3") && error.contains("`i`"), "{error}");
}
