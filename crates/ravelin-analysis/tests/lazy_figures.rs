//! The programs of *Lazy TSO Reachability*, with the verdicts of the paper and how many rounds they take.

use ravelin_analysis::Verdict::{self, Holds, Unknown, Violated};
use ravelin_analysis::reachability::{Lazy, OpenCause, ReachabilityQuestion, lazy};
use ravelin_explore::Budget;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("figure.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn example(name: &str) -> Program {
    let path = format!("{}/../../examples/{name}.rav", env!("CARGO_MANIFEST_DIR"));
    program(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

fn ask(program: &Program, states: u64, workers: usize) -> Lazy {
    let budget = Budget::unlimited().states(states).workers(workers);
    lazy(program, &ReachabilityQuestion { budget, ..ReachabilityQuestion::new(Model::Tso) }).expect("an answer")
}

/// Figure 8: Dekker's algorithm with N ways between the store and the load of each thread.
fn diamond(ways: usize) -> Program {
    let diamond = |cell: &str| {
        let way = |i: usize| format!("{{ assume(way == {i}); {cell}.store({}); }}", (i + 1) % ways);
        let all: Vec<String> = (0..ways).map(way).collect();
        format!("let way = {cell}.load(); choose {}", all.join(" or "))
    };
    let thread = |name: &str, mine: &str, other: &str, cell: &str| {
        let diamond = diamond(cell);
        format!("thread {name} {{ {mine}.store(1); {diamond} let r = {other}.load(); assume(r == 0); @goal; }}\n")
    };
    program(&format!(
        "static x; static y; static a; static b;\n{}{}never t1@goal && t2@goal;",
        thread("t1", "x", "y", "a"),
        thread("t2", "y", "x", "b")
    ))
}

/// Figure 9: the goal needs the stores of two rounds through a loop of N to be pending at once.
fn long_loop(length: usize) -> Program {
    program(&format!(
        "static x; static y;
         thread t1 {{
             let mut i = 0;
             loop {{
                 choose {{ assume(i < {length}); x.store(i); i = i + 1; }}
                 or {{ assume(i == {length}); i = 0; }}
                 or {{ assume(i == {length}); break; }}
             }}
             let r = y.load();
             assume(r == 0);
             @goal;
         }}
         thread t2 {{
             y.store(1);
             let mut r = x.load();
             assume(r == 1);
             r = x.load();
             assume(r == 0);
             @goal;
         }}
         never t1@goal && t2@goal;"
    ))
}

/// Figure 12: safe, but one more store can always be delayed.
const NO_FIXPOINT: &str = "
    static x: bool; static y: bool;
    thread t1 { let mut r = 0; loop { choose { x.store(1 - r); } or { r = y.load(); } or { assume(r == 2); break; } } @goal; }
    thread t2 { let mut r = 0; loop { choose { y.store(1 - r); } or { r = x.load(); } or { assume(r == 2); break; } } @goal; }
    never t1@goal && t2@goal;";

#[test]
fn the_figures() {
    let table: [(&str, Program, Verdict); 7] = [
        ("figure 1", example("lazy-tso/dekker-once"), Violated),
        ("figure 7, 2 threads", example("lazy-tso/lamport-n"), Violated),
        ("figure 8", example("lazy-tso/dekker-diamond"), Violated),
        ("figure 9", example("lazy-tso/long-loop"), Violated),
        ("figure 12", program(NO_FIXPOINT), Unknown),
        ("figure 12, in turns", example("lazy-tso/no-fixpoint"), Unknown),
        ("robust", example("dekker-fenced"), Holds),
    ];
    for (name, program, verdict) in table {
        for workers in [1, 2] {
            let answer = ask(&program, 50_000, workers);
            assert_eq!(answer.verdict, verdict, "{name}, {workers} workers: {answer:?}");
            match verdict {
                // Several witnesses at once: two rounds always were enough for the paper.
                Violated => assert!(answer.rounds <= 3 && answer.witness.is_some(), "{name}: {answer:?}"),
                Holds => assert_eq!((answer.rounds, answer.paths), (1, 0), "{name}"),
                Unknown => assert!(answer.rounds > 3 && matches!(answer.unsettled, Some(OpenCause::Limit(_)))),
            }
        }
    }
}

#[test]
fn branching_costs_no_rounds() {
    for ways in [1, 2, 10, 200] {
        let answer = ask(&diamond(ways), 100_000, 1);
        assert_eq!((answer.verdict, answer.rounds), (Violated, 2), "{ways} ways: {answer:?}");
    }
}

#[test]
fn the_length_of_a_loop_costs_no_rounds() {
    for length in [2, 3, 10, 50] {
        let answer = ask(&long_loop(length), 2_000_000, 1);
        assert_eq!(answer.verdict, Violated, "length {length}");
        assert!(answer.rounds <= 3, "length {length}: {} rounds", answer.rounds);
    }
}

/// What only an exact extension can say: not robust, with loops, and safe.
#[test]
fn a_program_that_is_not_robust_can_hold() {
    // Both may read 0, and may do so again and again; but a fence ends each round, so only two stores are ever pending.
    let safe = program(
        "static x: bool; static y: bool;
         thread t1 { loop { x.store(1); let r = y.load(); fence(seq_cst); x.store(0); fence(seq_cst); if r == 2 { nop; @goal; nop; } } }
         thread t2 { loop { y.store(1); let r = x.load(); fence(seq_cst); y.store(0); fence(seq_cst); if r == 2 { nop; @goal; nop; } } }
         never t1@goal || t2@goal;",
    );
    let answer = ask(&safe, 100_000, 1);
    assert_eq!(answer.verdict, Holds, "{answer:?}");
    assert!(answer.rounds > 1 && answer.paths > 0, "{answer:?}");
}

#[test]
fn limits_and_stopping_end_in_unknown() {
    let program = example("lazy-tso/no-fixpoint");
    let stop = std::sync::atomic::AtomicBool::new(true);
    for workers in [1, 2] {
        let budget = Budget::unlimited().workers(workers);
        let question = ReachabilityQuestion { budget: budget.stop(&stop), ..ReachabilityQuestion::new(Model::Tso) };
        let answer = lazy(&program, &question).expect("an answer");
        assert_eq!(answer.verdict, Unknown);
        let time = std::time::Duration::from_millis(50);
        let question = ReachabilityQuestion { budget: budget.time(time), ..ReachabilityQuestion::new(Model::Tso) };
        let answer = lazy(&program, &question).expect("an answer");
        assert_eq!(answer.verdict, Unknown);
        assert!(matches!(answer.unsettled, Some(OpenCause::Limit(_))), "{answer:?}");
    }
}
