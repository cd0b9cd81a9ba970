//! A work-stealing deque whose `top` only grows: thieves that hold an old value of it wait for ever. With and without the
//! reduction that forgets such values the verdict is the same; with it, a longer deque has as many more states as positions.

use ravelin_analysis::Verdict::{self, Holds, Violated};
use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_frontend::{Language, parse};
use ravelin_machine::Reductions;
use ravelin_program::{Model, Program, Source};

/// The Chase-Lev deque with a window of two positions.
const DEQUE: &str = "
    global top = 1, bottom = 1;
    fn owner {
        local t, t_new, b;
        while (true) {
            oneof ({
                b = bottom.load(acq);
                b = b - 1;
                bottom.store(b, rel);
                fence(seq_cst);
                t = top.load(acq);
                if (b < t) {
                    bottom.store(t, rel);
                } else {
                    if (b > t) {
                        skip;
                    } else {
                        t_new = CAS(top, t, t + 1, acq, rel);
                        bottom.store(t + 1, rel);
                    }
                }
            }{
                b = bottom.load(acq);
                fence(seq_cst);
                t = top.load(acq);
                assume(b < POSITIONS);
                if (b > t + 2) { skip; } else { bottom.store(b + 1, rel); }
            });
        }
    }
    THIEF1
    THIEF2";

const THIEF: &str = "fn NAME {
        local t, t_new, b;
        while (true) {
            fence(seq_cst);
            t = top.load(acq);
            fence(seq_cst);
            b = bottom.load(acq);
            if (b <= t) { skip; } else { BCAS(top, t, t + 1, acq, rel); }
        }
    }";

fn deque(thief: &str, positions: usize) -> Program {
    let text = DEQUE.replace("POSITIONS", &positions.to_string());
    let text =
        text.replace("THIEF1", &thief.replace("NAME", "thief1")).replace("THIEF2", &thief.replace("NAME", "thief2"));
    let parsed = parse(Source::new("deque.tpl", &*text), Language::Rocker);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn ask(program: &Program, model: Model, old_values: bool) -> (Verdict, u64) {
    let reductions = Reductions { old_values, ..Reductions::ALL };
    let answer = c11_robustness(program, &C11Question { reductions, ..C11Question::new(model) }).expect("an answer");
    (answer.verdict, answer.statistics.states)
}

#[test]
fn a_deque_is_robust_with_and_without_its_old_values() {
    for model in [Model::Ra, Model::Rc20] {
        let program = deque(THIEF, 8);
        let (with, without) = (ask(&program, model, true), ask(&program, model, false));
        assert_eq!((with.0, without.0), (Holds, Holds), "{model}");
        assert!(3 * with.1 < without.1, "{} states instead of {}", with.1, without.1);
    }
}

#[test]
fn states_grow_with_the_positions_and_not_with_pairs_of_them() {
    let states = |positions| ask(&deque(THIEF, positions), Model::Ra, true).1;
    let (few, some, many) = (states(20), states(40), states(60));
    assert_eq!(some - few, many - some);
}

#[test]
fn a_thief_without_a_fence_is_found_with_and_without_old_values() {
    let unfenced = THIEF.replace("fence(seq_cst);\n            b = ", "b = ");
    assert_ne!(unfenced, THIEF);
    for model in [Model::Ra, Model::Rc20] {
        let program = deque(&unfenced, 8);
        assert_eq!([true, false].map(|old_values| ask(&program, model, old_values).0), [Violated, Violated], "{model}");
    }
}

/// The counter wraps around after three values: what the search guesses is wrong, and it starts again without.
#[test]
fn a_counter_that_wraps_around_has_no_old_values() {
    let text = "max_value 3;
         global top = 0, bottom = 2;
         fn p { local t, b; while (true) { t = top.load(); b = bottom.load(); BCAS(top, t, t + 1); } }
         fn q { local t, b; while (true) { t = top.load(); b = bottom.load(); BCAS(top, t, t + 1); } }";
    let parsed = parse(Source::new("counter.tpl", text), Language::Rocker);
    let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    assert_eq!(ask(&program, Model::Ra, true), ask(&program, Model::Ra, false));
}

/// What may be stale is behind a comparison that an old value decides.
const DECIDED_BY_OLD_VALUES: &[(&str, &str)] = &[
    (
        "a register in which the loaded value wraps around",
        "static c: 0..=6; static d: 0..=6 = 5; static x; static y;
         thread p {
             let t: 0..=6; let b: wrapping 0..2;
             t = c.load(); wait(c == 3);
             b = d.load();
             if b == t { x.store(1); let a = y.load(); } else { c.bcas(t, t + 1); }
         }
         thread q { y.store(1); let a = x.load(); }
         thread r { let a = d.load(); c.fetch_add(1); c.fetch_add(1); c.fetch_add(1); }",
    ),
    (
        "a cell that is less than the counter from the beginning",
        "static c: 0..=6 = 2; static d: 0..=6; static e: -1..=0; static x; static y;
         thread p {
             let t: -1..=6; let b: 0..=6;
             t = e.load();
             b = d.load();
             if b == t { x.store(1); let a = y.load(); } else { c.bcas(t, t + 1); }
         }
         thread q { y.store(1); let a = x.load(); }
         thread r { e.store(-1); let a = d.load(); a = c.load(); }",
    ),
    (
        "a cell that lags further and further behind the counter",
        "static c: 0..=6; static d: 0..=6; static x; static y;
         thread p {
             let t: 0..=6; let b: 0..=6;
             t = c.load(); wait(c == 4);
             b = d.load();
             if b == t { x.store(1); let a = y.load(); } else { c.bcas(t, t + 1); }
         }
         thread q { y.store(1); let a = x.load(); }
         thread r { c.fetch_add(1); d.store(1); c.fetch_add(1); c.fetch_add(1); c.fetch_add(1); }",
    ),
];

#[test]
fn what_old_values_decide_is_found() {
    for (name, text) in DECIDED_BY_OLD_VALUES {
        let parsed = parse(Source::new("claim.rav", *text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{name}: {:?}", parsed.diagnostics));
        assert_eq!([true, false].map(|old_values| ask(&program, Model::Ra, old_values).0), [Violated; 2], "{name}");
    }
}
