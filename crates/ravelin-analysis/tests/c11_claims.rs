//! Programs and their verdicts against release/acquire and RC20, side by side.

use ravelin_analysis::AnalysisError;
use ravelin_analysis::Verdict::{self, Holds, Violated};
use ravelin_analysis::c11::{C11Answer, C11Question, MonitorRefusal, c11_robustness};
use ravelin_answer::{EdgeKind, SeqCstBasis};
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, SeqCstReading, Source};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, robust};

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn ask(program: &Program, model: Model, seq_cst: SeqCstReading) -> C11Answer {
    let question = C11Question { seq_cst, ..C11Question::new(model) };
    c11_robustness(program, &question).expect("an answer")
}

/// What the graphs of a loop-free program say.
fn by_enumeration(program: &Program, model: Model) -> Verdict {
    let reading = if model == Model::Rc20 { OrderReading::Written } else { OrderReading::ReleaseAcquire };
    let robust = robust(program, reading, GraphLimits::default()).expect("few graphs").is_robust();
    let races = enumerate(program, reading, GraphLimits::default()).expect("few graphs").has_race(reading);
    if robust && !races { Holds } else { Violated }
}

const CELLS: &str = "static x; static y; static z; static w;\n";

/// The last stale value of such a cell needs no bits.
#[test]
fn a_cell_with_one_value_that_is_compared_with_a_register_is_monitored() {
    let text = "static z: [_; 2] = 1;
         thread t { let a; let b; let c; a = z[c + -3].load(); (_, b) = z[b].compare_exchange(a, 1); }
         thread u { let c; z[1].store(0); z[c + -3].store(1); }";
    for model in [Model::Ra, Model::Rc20] {
        let program = program(text);
        let verdict = ask(&program, model, SeqCstReading::RelAcq).verdict;
        assert_eq!(verdict, by_enumeration(&program, model), "{model}");
    }
}

/// Name, threads, verdict against release/acquire, verdict against RC20.
const CLAIMS: &[(&str, &str, Verdict, Verdict)] = &[
    (
        "a compare-exchange that expects one value before one that expects one of several",
        "thread p { let a; (_, a) = x.compare_exchange(2, 0); a = y.load(); let b; (b, a) = x.compare_exchange(a, 1); }
         thread q { x.store(3); y.store(2); }",
        Holds,
        Violated,
    ),
    // Section 1 and figure 1 of the paper.
    (
        "SB",
        "thread p { x.store(1, release); let a = y.load(acquire); } thread q { y.store(1, release); let b = x.load(acquire); }",
        Violated,
        Violated,
    ),
    (
        "MP",
        "thread p { x.store(1, release); y.store(1, release); } thread q { let a = y.load(acquire); let b = x.load(acquire); }",
        Holds,
        Holds,
    ),
    (
        "MP, the store of y relaxed",
        "thread p { x.store(1, release); y.store(1); } thread q { let a = y.load(acquire); let b = x.load(acquire); }",
        Holds,
        Violated,
    ),
    (
        "MP, the load of y relaxed",
        "thread p { x.store(1, release); y.store(1, release); } thread q { let a = y.load(); let b = x.load(acquire); }",
        Holds,
        Violated,
    ),
    (
        "MP, the accesses of x relaxed",
        "thread p { x.store(1); y.store(1, release); } thread q { let a = y.load(acquire); let b = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "example 3.1",
        "thread p { x.store(1, release); let a = y.load(acquire); x.store(2, release); }
         thread q { y.store(1, release); let b = x.load(acquire); y.store(2, release); }",
        Violated,
        Violated,
    ),
    // Section 4.1.
    (
        "figure 6 (1): a load after an RMW of another thread",
        "thread p { x.fetch_add(1, acq_rel); let b = y.load(acquire); } thread q { y.store(1, release); let b = x.load(acquire); }",
        Violated,
        Violated,
    ),
    (
        "figure 6 (2): a store cannot squeeze in before an RMW",
        "thread p { x.fetch_add(1, acq_rel); let b = y.load(acquire); } thread q { y.store(1, release); x.store(2, release); }",
        Holds,
        Holds,
    ),
    (
        "figure 6 (2) with a store instead of the RMW",
        "thread p { x.store(1, release); let b = y.load(acquire); } thread q { y.store(1, release); x.store(2, release); }",
        Violated,
        Violated,
    ),
    (
        "2+2W",
        "thread p { x.store(1, release); y.store(2, release); } thread q { y.store(1, release); x.store(2, release); }",
        Violated,
        Violated,
    ),
    (
        "2+2W with exchanges",
        "thread p { x.swap(1, acq_rel); y.swap(2, acq_rel); } thread q { y.swap(1, acq_rel); x.swap(2, acq_rel); }",
        Holds,
        Holds,
    ),
    // Section 4.3.
    (
        "BAR",
        "thread p { x.store(1, release); while y.load(acquire) != 1 {} } thread q { y.store(1, release); while x.load(acquire) != 1 {} }",
        Violated,
        Violated,
    ),
    (
        "BARW(1,1)",
        "thread p { x.store(1, release); wait(y == 1, acquire); } thread q { y.store(1, release); wait(x == 1, acquire); }",
        Holds,
        Holds,
    ),
    (
        "BARW(0,2)",
        "thread p { x.store(1, release); wait(y == 0, acquire); } thread q { y.store(1, release); wait(x == 2, acquire); }",
        Holds,
        Holds,
    ),
    (
        "BARW(0,0)",
        "thread p { x.store(1, release); wait(y == 0, acquire); } thread q { y.store(1, release); wait(x == 0, acquire); }",
        Violated,
        Violated,
    ),
    // Fences.
    (
        "SB with seq_cst fences",
        "thread p { x.store(1); fence(seq_cst); let a = y.load(); } thread q { y.store(1); fence(seq_cst); let b = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "SB with one seq_cst fence",
        "thread p { x.store(1); fence(seq_cst); let a = y.load(); } thread q { y.store(1); fence(acq_rel); let b = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "MP with fences",
        "thread p { x.store(1); fence(release); y.store(1); } thread q { let a = y.load(); fence(acquire); let b = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "MP with the release fence alone",
        "thread p { x.store(1); fence(release); y.store(1); } thread q { let a = y.load(); let b = x.load(); }",
        Holds,
        Violated,
    ),
    (
        "fences on both ends of a chain of relaxed accesses forbid nothing",
        "thread p { z.store(1); fence(seq_cst); x.store(1); } thread q { let a = x.load(); y.store(1); }
         thread r { let a = y.load(); fence(seq_cst); let b = z.load(); }",
        Holds,
        Violated,
    ),
    (
        "what a fence finds at a cell reaches the next fence through another thread",
        "thread p { z.store(1); fence(seq_cst); x.store(1); } thread q { let a = x.load(); y.store(1, release); }
         thread r { let a = y.load(acquire); fence(seq_cst); let b = z.load(); }",
        Holds,
        Holds,
    ),
    // Release sequences.
    (
        "an RMW continues a release sequence",
        "thread p { x.store(1); y.store(1, release); } thread q { y.fetch_add(1); }
         thread r { wait(y == 2, acquire); let b = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "a relaxed store by the same thread does not",
        "thread p { x.store(1); y.store(1, release); y.store(2); } thread r { wait(y == 2, acquire); let b = x.load(); }",
        Holds,
        Violated,
    ),
    // Independent reads.
    (
        "IRIW",
        "thread p { x.store(1, release); } thread q { y.store(1, release); }
         thread r { let a = x.load(acquire); let b = y.load(acquire); } thread s { let a = y.load(acquire); let b = x.load(acquire); }",
        Violated,
        Violated,
    ),
    ("coherence alone", "thread p { x.store(1); x.store(2); } thread q { let a = x.load(); let b = x.load(); }", Holds, Holds),
    // Locks, compare-exchange.
    (
        "a lock",
        "thread p { lock(w); x.store(1); let a = y.load(); unlock(w); } thread q { lock(w); y.store(1); let b = x.load(); unlock(w); }",
        Holds,
        Holds,
    ),
    (
        "a strong compare-exchange that can only fail for a reason",
        "thread p { x.store(1, release); let a = y.load(acquire); }
         thread q { y.store(1, release); let b = x.compare_exchange(5, 6, acq_rel, acquire); }",
        Violated,
        Violated,
    ),
    (
        "a strong compare-exchange cannot squeeze in, and its stale value lets it pass",
        "thread p { x.fetch_add(1, acq_rel); let a = y.load(acquire); }
         thread q { y.store(1, release); let b = x.compare_exchange(0, 6, acq_rel, acquire); }",
        Holds,
        Holds,
    ),
    (
        "a weak one may always fail",
        "thread p { x.fetch_add(1, acq_rel); let a = y.load(acquire); }
         thread q { y.store(1, release); let b = x.compare_exchange_weak(0, 6, acq_rel, acquire); }",
        Violated,
        Violated,
    ),
    // Data races.
    (
        "a message",
        "thread p { x.write(1); y.store(1, release); } thread q { if y.load(acquire) == 1 { let a = x.read(); } }",
        Holds,
        Holds,
    ),
    (
        "a message without synchronisation",
        "thread p { x.write(1); y.store(1); } thread q { if y.load(acquire) == 1 { let a = x.read(); } }",
        Holds,
        Violated,
    ),
    ("two non-atomic stores", "thread p { x.write(1); } thread q { x.write(2); }", Violated, Violated),
    ("two non-atomic loads", "thread p { let a = x.read(); } thread q { let a = x.read(); }", Holds, Holds),
    ("a non-atomic load and an atomic store", "thread p { let a = x.read(); } thread q { x.store(1); }", Violated, Violated),
    (
        "an earlier atomic store races although the later one is known",
        "thread p { x.store(1); } thread q { if x.load() == 1 { x.store(2, release); } }
         thread r { if x.load(acquire) == 2 { let a = x.read(); } }",
        Holds,
        Violated,
    ),
    (
        "a compare-exchange whose new value cannot be computed is no access",
        "thread p { x.compare_exchange(0, 0 / 0); x.write(0); } thread q { x.store(1); }",
        Holds,
        Holds,
    ),
    // Arrays and loops.
    (
        "cells of an array are told apart",
        "static a: [0..2; 2]; thread p[me in 0..2] { a[me].store(1, release); let r = a[1 - me].load(acquire); }",
        Violated,
        Violated,
    ),
    (
        "a ring of messages",
        "static turn: bool; thread p { loop { wait(turn == 0, acquire); x.store(1); turn.store(1, release); } }
         thread q { loop { wait(turn == 1, acquire); let a = x.load(); turn.store(0, release); } }",
        Holds,
        Holds,
    ),
    (
        "addresses that are computed",
        "thread p { let i = 50; while i < 52 { mem[i].store(1, release); i = i + 1; } let a = mem[i].load(acquire); }
         thread q { mem[52].store(1, release); let b = mem[51].load(acquire); }",
        Violated,
        Violated,
    ),
    (
        "addresses that are loaded",
        "thread p { mem[70].store(1, release); x.store(70, release); }
         thread q { let a = x.load(acquire); if a != 0 { let b = mem[a].load(); } }",
        Holds,
        Holds,
    ),
    ("nobody writes", "thread p { let a = x.load(); } thread q { let a = x.load(); }", Holds, Holds),
];

#[test]
fn verdicts() {
    for (name, threads, ra, rc20) in CLAIMS {
        let program = program(&format!("{CELLS}{threads}"));
        for (model, expected) in [(Model::Ra, ra), (Model::Rc20, rc20)] {
            assert_eq!(ask(&program, model, SeqCstReading::Both).verdict, *expected, "{name} against {model:?}");
            if program.is_acyclic() {
                assert_eq!(by_enumeration(&program, model), *expected, "{name} against {model:?}, all graphs");
            }
        }
    }
}

/// Name, threads, and whether each reading of seq_cst accesses finds a violation: exact, after, before, both, as release/acquire.
const SEQ_CST: &[(&str, &str, [bool; 5])] = &[
    (
        "SB",
        "thread p { x.store(1, seq_cst); let a = y.load(seq_cst); } thread q { y.store(1, seq_cst); let b = x.load(seq_cst); }",
        [false, false, false, false, true],
    ),
    (
        "SB with seq_cst loads alone",
        "thread p { x.store(1, release); let a = y.load(seq_cst); } thread q { y.store(1, release); let b = x.load(seq_cst); }",
        [true, true, false, true, true],
    ),
    (
        "SB with seq_cst stores alone",
        "thread p { x.store(1, seq_cst); let a = y.load(acquire); } thread q { y.store(1, seq_cst); let b = x.load(acquire); }",
        [true, false, true, true, true],
    ),
    (
        "IRIW",
        "thread p { x.store(1, seq_cst); } thread q { y.store(1, seq_cst); }
         thread r { let a = x.load(seq_cst); let b = y.load(seq_cst); } thread s { let a = y.load(seq_cst); let b = x.load(seq_cst); }",
        [false, false, false, false, true],
    ),
];

#[test]
fn readings_of_seq_cst_accesses() {
    for (name, threads, expected) in SEQ_CST {
        let program = program(&format!("{CELLS}{threads}"));
        for (reading, expected) in SeqCstReading::ALL.into_iter().zip(expected) {
            let answer = ask(&program, Model::Rc20, reading);
            assert_eq!(answer.verdict == Violated, *expected, "{name}, {}", reading.name());
            assert_eq!(answer.seq_cst, Some(reading), "the answer says which reading it is about");
            assert!(*expected || answer.verdict != Holds || answer.basis == Some(SeqCstBasis::Search), "{name}");
        }
        // Against release/acquire there is nothing to read.
        assert_eq!(ask(&program, Model::Ra, SeqCstReading::Both).seq_cst, None);
    }
}

#[test]
fn a_witness_tells_what_happens() {
    let program = program(
        "static x;\nstatic y;\nthread p {\n    x.store(1, release);\n    let a = y.load(acquire);\n}\n\
         thread q {\n    y.store(1, release);\n    let b = x.load(acquire);\n}\n",
    );
    let answer = ask(&program, Model::Rc20, SeqCstReading::Both);
    let witness = answer.witness().expect("a witness");
    assert_eq!(witness.steps.len(), 3);
    assert_eq!(witness.events[witness.access].text, "R x = 0 (acquire)");
    assert_eq!(witness.events[witness.ignored].text, "W x = 1 (release)");
    let kinds: Vec<EdgeKind> = witness.cycle.iter().map(|edge| edge.kind).collect();
    assert_eq!(kinds, [EdgeKind::Fr, EdgeKind::Po, EdgeKind::Fr, EdgeKind::Po]);
    assert_eq!(witness.cycle.last().map(|edge| edge.to), Some(witness.access));
    assert_eq!(
        witness.sentence,
        "q may read 0 from `x` on line 9 although p stores 1 to `x` on line 4 and then reads 0 from `y` on line 5, \
         before q stores 1 to `y` on line 8."
    );
}

#[test]
fn a_race_names_both_accesses() {
    let program = program("static x;\nthread p { x.write(1); }\nthread q { let a = x.read(); }\n");
    let answer = ask(&program, Model::Rc20, SeqCstReading::Both);
    let race = answer.race().expect("a race");
    let mut texts = [race.first, race.second].map(|event| race.events[event].text.clone());
    texts.sort();
    assert_eq!(texts[1], "W x = 1 (non_atomic)");
    let question = C11Question { races: false, ..C11Question::new(Model::Rc20) };
    assert_eq!(c11_robustness(&program, &question).expect("an answer").verdict, Holds, "races are not asked for");
}

#[test]
fn what_c11_does_not_have_is_refused() {
    for (text, what) in [
        ("static x; thread p { locked { let a = x.load(); x.store(a + 1); } }", "a locked block"),
        ("static x; thread p { bus_lock; x.store(1); bus_unlock; }", "the bus lock"),
    ] {
        match c11_robustness(&program(text), &C11Question::new(Model::Rc20)) {
            Err(AnalysisError::NotC11(MonitorRefusal::NotC11 { what: said, .. })) => assert_eq!(said, what),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn more_facts_than_can_be_remembered_are_refused() {
    let program = program(
        "static x: 0..1000; static y: 0..1000; static z: 0..1000;
         thread p { x.store(999); y.store(999); z.store(999); }
         thread q { let r = 0; havoc r in 0..1000; wait(x == r); wait(y == r); wait(z == r); }",
    );
    match c11_robustness(&program, &C11Question::new(Model::Rc20)) {
        Err(AnalysisError::NotC11(MonitorRefusal::TooManyFacts { facts, limit })) => {
            assert_eq!((facts, limit), (3000, 2048))
        }
        other => panic!("{other:?}"),
    }
}

/// A thread that waits for one of many values, and never for most of them: one fact each, and the last is the one that matters.
#[test]
fn as_many_facts_as_a_program_has_are_remembered() {
    for values in [100, 300, 1500] {
        let text = |store: &str, load: &str| {
            let waits: String = (2..values).map(|value| format!("wait(x == {value}); ")).collect();
            format!(
                "static x: 0..2000 = 1999; static start: bool; static last: bool; static done: bool;
                 thread p {{ x.store(1); start.store(1, release); last.store(1); done.store(1{store}); }}
                 thread q {{
                     wait(start == 1, acquire);
                     let r = x.load();
                     if r == 0 {{ {waits} }}
                     wait(done == 1{load});
                     r = last.load();
                 }}"
            )
        };
        let verdict =
            |text: String| c11_robustness(&program(&text), &C11Question::new(Model::Rc20)).expect("an answer").verdict;
        assert_eq!(verdict(text(", release", ", acquire")), Holds, "{values} values");
        assert_eq!(verdict(text("", ", acquire")), Violated, "{values} values");
    }
}

/// What waits may pass with a value that a non-atomic write has replaced, although it never does under SC.
#[test]
fn a_thread_that_waits_races_with_a_non_atomic_write_that_it_may_miss() {
    let ordered = "thread p { d.write(1); y.store(1, release); }";
    let unordered = "thread p { d.write(1); y.store(1); }";
    for (waits, verdict, writer) in [
        // Passes under SC, behind the write or beside it.
        ("wait(y == 1, acquire); wait(d == 1);", Holds, ordered),
        ("wait(d == 1);", Violated, unordered),
        ("wait(d == 0);", Violated, unordered),
        // Never passes under SC.
        ("wait(y == 1, acquire); wait(d == 0);", Holds, ordered),
        ("wait(y == 1); wait(d == 0);", Violated, unordered),
        ("wait(y == 1); d.bcas(0, 2);", Violated, unordered),
        ("wait(y == 1); lock(d);", Violated, unordered),
        // Passes under no model.
        ("wait(y == 1); wait(y == 2); wait(d == 0);", Holds, unordered),
        ("wait(y == 1, acquire); wait(d == 3);", Holds, ordered),
        ("wait(y == 1, acquire); d.bcas(0, 2);", Holds, ordered),
    ] {
        let text = format!("static d; static y; {writer} thread q {{ {waits} }}");
        let answer = c11_robustness(&program(&text), &C11Question::new(Model::Rc20)).expect("an answer");
        assert_eq!(answer.verdict, verdict, "{text}");
        assert_eq!(answer.race().is_some(), verdict == Violated, "{text}");
    }
    let text = format!("static d; static y; {unordered} thread q {{ wait(y == 1); wait(d == 0); }}");
    let question = C11Question { races: false, ..C11Question::new(Model::Rc20) };
    assert_eq!(
        c11_robustness(&program(&text), &question).expect("an answer").verdict,
        Holds,
        "races are not asked for"
    );
}

#[test]
fn a_limit_gives_no_verdict() {
    let program = program(
        "static x: u8; static y: u8; thread p { loop { x.fetch_add(1, acq_rel); } } thread q { loop { let a = x.load(acquire); y.store(a, release); } }",
    );
    let mut question = C11Question::new(Model::Rc20);
    question.budget.limits.states = Some(3);
    let answer = c11_robustness(&program, &question).expect("an answer");
    assert_eq!((answer.verdict, answer.limit.is_some()), (Verdict::Unknown, true));
}
