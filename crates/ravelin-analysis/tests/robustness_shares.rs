//! The searches of the engine `shared` take turns. Whatever the first share, and however many workers there are, the answer
//! is the same; a limit never becomes a wrong answer; and a short violation is found although other searches never end.

use crate::random_programs::check_all;
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{AttackFate, RobustnessAnswer, RobustnessEngine, RobustnessQuestion, robustness};
use ravelin_explore::Budget;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};
use ravelin_testing::programs::{Config, Generator};

/// Every search is cut after each step, after a few, and hardly ever.
const SHARES: [u64; 4] = [1, 7, 64, 1 << 20];
/// States of a random program that is looked at.
const MOST_STATES: u64 = 20_000;

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn ask(program: &Program, model: Model, all: bool, share: u64, budget: Budget) -> RobustnessAnswer {
    let question = RobustnessQuestion { all, share, budget, ..RobustnessQuestion::new(model) };
    robustness(program, &question).expect("an answer")
}

fn fates(answer: &RobustnessAnswer) -> Vec<&'static str> {
    let word = |fate: &AttackFate| match fate {
        AttackFate::Dismissed(_) => "dismissed",
        AttackFate::Infeasible => "infeasible",
        AttackFate::Feasible(_) => "feasible",
        AttackFate::Open => "open",
    };
    answer.attacks.iter().map(|attack| word(&attack.fate)).collect()
}

/// What is wrong, if anything.
fn wrong(program: &Program, model: Model) -> Option<String> {
    let question = RobustnessQuestion {
        engine: RobustnessEngine::Single,
        all: true,
        budget: Budget::unlimited().states(MOST_STATES),
        ..RobustnessQuestion::new(model)
    };
    let expected = robustness(program, &question).ok()?;
    if expected.limit.is_some() {
        return None;
    }
    for share in SHARES {
        let mut first: Vec<RobustnessAnswer> = Vec::new();
        for workers in [1, 2] {
            let budget = Budget::unlimited().workers(workers);
            let all = ask(program, model, true, share, budget);
            if fates(&all) != fates(&expected) {
                return Some(format!(
                    "share {share}, {workers} workers: {:?} instead of {:?}",
                    fates(&all),
                    fates(&expected)
                ));
            }
            first.push(ask(program, model, false, share, budget));
        }
        if first[0].verdict != expected.verdict {
            return Some(format!("share {share}: {:?} instead of {:?}", first[0].verdict, expected.verdict));
        }
        let computations: Vec<_> = first.iter().map(|answer| answer.witness().map(|witness| &witness.steps)).collect();
        if computations[0] != computations[1] || fates(&first[0]) != fates(&first[1]) {
            return Some(format!("share {share}: the first violation depends on the number of workers"));
        }
        let explored = first[0].explored;
        if explored.states != explored.sc + explored.delaying + explored.helping {
            return Some(format!("share {share}: the states do not add up"));
        }
    }
    // The last state that is permitted may be any.
    let total = ask(program, model, true, 1, Budget::unlimited()).explored.states;
    for states in (1..=30).chain(total.saturating_sub(20)..=total) {
        for (all, workers) in [(false, 1), (true, 1), (true, 2)] {
            let share = 1 + states % 3;
            let answer = ask(program, model, all, share, Budget::unlimited().states(states).workers(workers));
            if answer.verdict != expected.verdict && answer.verdict != Verdict::Unknown {
                return Some(format!("within {states} states {:?} instead of {:?}", answer.verdict, expected.verdict));
            }
            let agrees = |(found, expected): (&str, &str)| found == "open" || found == expected;
            if !fates(&answer).into_iter().zip(fates(&expected)).all(agrees) {
                return Some(format!("within {states} states {:?}, not {:?}", fates(&answer), fates(&expected)));
            }
        }
    }
    None
}

#[test]
fn the_answer_does_not_depend_on_the_shares() {
    check_all(&Generator::new(Config::loop_free()), 300, |program| wrong(program, Model::Tso));
    check_all(&Generator::new(Config::all()), 200, |program| wrong(program, Model::Tso));
    check_all(&Generator::new(Config::loop_free()), 100, |program| wrong(program, Model::Pso));
}

/// Two threads that are not robust, after others that have infinitely many states.
const STORE_BUFFERING: &str = "
    thread left { x.store(1); let r = y.load(); }
    thread right { y.store(1); let r = x.load(); }";

/// Name and threads. Each has attacks before those of store buffering, which none of these threads can complete.
const ENDLESS: [(&str, &str); 4] = [
    // Under SC.
    (
        "a counter",
        "thread a { let mut n = 0; loop { n = n + 1; a.store(n); let r = b.load(); } } thread b { let r = a.load(); b.store(1); }",
    ),
    // During τ2: the attacker reads its own stores and counts.
    (
        "an attacker",
        "thread a { b.store(1); loop { let r = a.load(); a.store(r + 1); } } thread b { let r = b.load(); a.store(0); }",
    ),
    // During τ3: the helper joins and counts, and does not come back to the attacked cell.
    (
        "a helper",
        "thread a { b.store(1); let r = a.load(); } thread b { let mut n = b.load(); loop { n = n + 1; a.store(n); } }",
    ),
    // In all three parts.
    (
        "a seqlock",
        "thread a { loop { let s = a.load(); a.store(s + 1); b.store(s); a.store(s + 2); } }
         thread b { loop { let s = a.load(); let r = b.load(); let e = a.load(); } }",
    ),
];

#[test]
fn a_short_violation_is_found_beside_searches_without_end() {
    for (name, threads) in ENDLESS {
        for text in [format!("{threads} {STORE_BUFFERING}"), format!("{STORE_BUFFERING} {threads}")] {
            let program = program(&format!("static x; static y; static a; static b; {text}"));
            for share in SHARES.into_iter().take(3) {
                let budget = Budget::unlimited().states(100_000);
                let first = ask(&program, Model::Tso, false, share, budget);
                assert_eq!(first.verdict, Verdict::Violated, "{name}, share {share}");
                assert!(first.explored.states < 20_000, "{name}, share {share}: {:?}", first.explored);
                let all = ask(&program, Model::Tso, true, share, budget);
                let feasible = fates(&all).iter().filter(|fate| **fate == "feasible").count();
                assert!(feasible >= 2, "{name}, share {share}: {feasible} attacks are feasible");
            }
        }
    }
}

/// A writer that counts, and one that also reads what it has written, as in a non-blocking write protocol. The attackers
/// read their own counter, so τ2 has no end, and the violation needs two rounds of the other thread.
#[test]
fn writers_that_read_their_own_counter() {
    let program = program(
        "static data; static count;
        thread writer {
            loop { let c = count.load(); count.store(c + 1); data.store(c); count.store(c + 2); }
        }
        thread both {
            loop {
                let c = count.load(); count.store(c + 1); data.store(c); count.store(c + 2);
                loop {
                    let before = count.load();
                    let r = data.load();
                    let after = count.load();
                    if before == after && before % 2 == 0 { break; }
                }
            }
        }",
    );
    for all in [false, true] {
        let answer = ask(&program, Model::Tso, all, 64, Budget::unlimited().states(100_000));
        assert_eq!(answer.verdict, Verdict::Violated);
        assert!(all || answer.explored.states < 20_000, "{:?}", answer.explored);
    }
}

/// A queue of waiting threads: each spins on the cell of the one before it and hands its own on, so that cells change
/// their owners for ever. From the first states of τ2 there are very many ways for the others to go on.
#[test]
fn a_queue_lock_that_leaves_by_a_plain_store() {
    let program = program(
        "static cell: [bool; 5]; static tail: 0..5;
        thread p[me in 1..5] {
            let mut mine = me;
            loop {
                cell[mine].store(1);
                let before = tail.swap(mine);
                while cell[before].load() == 1 {}
                cell[mine].store(0);
                mine = before;
            }
        }",
    );
    let answer = ask(&program, Model::Tso, false, 64, Budget::unlimited().states(200_000));
    assert_ne!(answer.verdict, Verdict::Unknown, "{:?}", answer.explored);
}

/// Lamport's fast mutex: many threads that run freely during τ2.
#[test]
fn many_threads_that_run_freely() {
    let program = program(
        "const N = 7; static x: 0..=N; static y: 0..=N;
        thread p[me in 1..=N] {
            loop {
                x.store(me);
                if y.load() != 0 { continue; }
                y.store(me);
                if x.load() == me { break; }
                assume(y.load() != me);
            }
            y.store(0);
        }",
    );
    let answer = ask(&program, Model::Tso, false, 64, Budget::unlimited().states(1_000_000));
    assert_eq!(answer.verdict, Verdict::Violated);
    assert!(answer.explored.states < 100_000, "{:?}", answer.explored);
}
