//! Programs and their verdicts, side by side.

use ravelin_analysis::Verdict::{self, Holds, Unknown, Violated};
use ravelin_analysis::robustness::{AttackFate, RobustnessEngine, RobustnessQuestion, race_freedom, robustness};
use ravelin_explore::Budget;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

fn verdicts(program: &Program, model: Model) -> Vec<Verdict> {
    let ask = |engine, all| {
        let question = RobustnessQuestion { engine, all, ..RobustnessQuestion::new(model) };
        robustness(program, &question).expect("an answer").verdict
    };
    vec![
        ask(RobustnessEngine::Shared, false),
        ask(RobustnessEngine::Shared, true),
        ask(RobustnessEngine::Attacks, true),
        ask(RobustnessEngine::Single, false),
        ask(RobustnessEngine::Single, true),
    ]
}

const CELLS: &str = "static x; static y; static z;\n";

/// Name, threads, verdict against TSO, verdict against PSO.
const CLAIMS: &[(&str, &str, Verdict, Verdict)] = &[
    ("nothing", "", Holds, Holds),
    (
        "store buffering",
        "thread a { x.store(1); let r = y.load(); } thread b { y.store(1); let r = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "store buffering, one fence",
        "thread a { x.store(1); fence(seq_cst); let r = y.load(); } thread b { y.store(1); let r = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "store buffering, both fences",
        "thread a { x.store(1); fence(seq_cst); let r = y.load(); }
         thread b { y.store(1); fence(seq_cst); let r = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "store buffering with locked stores",
        "thread a { x.swap(1); let r = y.load(); } thread b { y.swap(1); let r = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "store buffering, a release fence does not help",
        "thread a { x.store(1); fence(acq_rel); let r = y.load(); }
         thread b { y.store(1); fence(acq_rel); let r = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "store buffering with seq_cst stores",
        "thread a { x.store(1, seq_cst); let r = y.load(); } thread b { y.store(1, seq_cst); let r = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "message passing",
        "thread a { x.store(1); y.store(1); } thread b { let r = y.load(); let s = x.load(); }",
        Holds,
        Violated,
    ),
    (
        "message passing with a release store",
        "thread a { x.store(1); y.store(1, release); } thread b { let r = y.load(); let s = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "message passing with a release fence",
        "thread a { x.store(1); fence(release); y.store(1); } thread b { let r = y.load(); let s = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "a release store to a third cell orders those around it",
        "thread a { x.store(1); z.store(1, release); y.store(1); } thread b { let r = y.load(); let s = x.load(); }",
        Holds,
        Holds,
    ),
    ("2+2W", "thread a { x.store(1); y.store(2); } thread b { y.store(1); x.store(2); }", Holds, Violated),
    ("R", "thread a { x.store(1); y.store(1); } thread b { y.store(2); let r = x.load(); }", Violated, Violated),
    (
        "n6: a load that reads early does not overtake",
        "thread a { x.store(1); let r = x.load(); let s = y.load(); } thread b { y.store(2); x.store(2); }",
        Violated,
        Violated,
    ),
    (
        "a load of the stored cell only",
        "thread a { x.store(1); let r = x.load(); } thread b { x.store(2); let r = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "a bus-locked block is one action, and joins by its store",
        "thread a { x.store(1); let r = y.load(); }
         thread b { bus_lock; let s = y.load(); y.store(1); bus_unlock; let t = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "a bus-locked block closes the cycle by what it loaded before it joined",
        "thread a { x.store(1); let r = y.load(); }
         thread b { bus_lock; let s = x.load(); y.store(1); bus_unlock; }",
        Violated,
        Violated,
    ),
    (
        "the same as a locked block",
        "thread a { x.store(1); let r = y.load(); } thread b { let s; locked { s = x.load(); y.store(1); } }",
        Violated,
        Violated,
    ),
    (
        "a locked block, then the load",
        "thread a { x.store(1); let r = y.load(); }
         thread b { let s; locked { s = y.load(); y.store(1); } let t = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "an RMW, then the load",
        "thread a { x.store(1); let r = y.load(); } thread b { let s = y.fetch_add(1); let t = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "a compare-exchange that fails is a load and joins nothing",
        "thread a { x.store(1); let r = y.load(); } thread b { let s = y.compare_exchange(5, 6); let t = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "RMWs on the cell of the store",
        "thread a { x.store(1); let r = y.load(); } thread b { y.store(1); let s = x.fetch_add(1); }",
        Violated,
        Violated,
    ),
    (
        "both sides in bus-locked blocks",
        "thread a { bus_lock; x.store(1); let r = y.load(); bus_unlock; }
         thread b { bus_lock; y.store(1); let r = x.load(); bus_unlock; }",
        Holds,
        Unknown,
    ),
    (
        "a lock around everything",
        "static l;
         thread a { lock(l); x.store(1); let r = y.load(); unlock(l); }
         thread b { lock(l); y.store(1); let r = x.load(); unlock(l); }",
        Holds,
        Holds,
    ),
    (
        "the helper waits for what it cannot see",
        "thread a { x.store(1); let r = y.load(); } thread b { wait(x == 1); y.store(1); let s = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "a wait overtakes",
        "thread a { x.store(1); wait(y == 0); } thread b { y.store(1); wait(x == 0); }",
        Violated,
        Violated,
    ),
    (
        "three threads in a ring",
        "thread a { x.store(1); let r = y.load(); } thread b { y.store(1); let r = z.load(); }
         thread c { z.store(1); let r = x.load(); }",
        Violated,
        Violated,
    ),
    (
        "the attacker needs a helper before the helper that closes",
        "thread a { x.store(1); let r = y.load(); assume(r == 0); wait(z == 1); let s = w.load(); }
         thread b { y.store(1); z.store(1); } thread c { w.store(1); let r = x.load(); } static w;",
        Violated,
        Violated,
    ),
    (
        "IRIW",
        "thread a { x.store(1); } thread b { y.store(1); } thread c { let r = x.load(); let s = y.load(); }
         thread d { let r = y.load(); let s = x.load(); }",
        Holds,
        Holds,
    ),
    (
        "computed indices",
        "static f: [bool; 2];
         thread p[me in 0..2] { f[me].store(1); let r = f[1 - me].load(); }",
        Violated,
        Violated,
    ),
    (
        "computed addresses",
        "thread a { let p = 40; mem[p + 1].store(1); let r = mem[p + 2].load(); }
         thread b { let q = 42; mem[q].store(1); let r = mem[q - 1].load(); }",
        Violated,
        Violated,
    ),
];

#[test]
fn verdicts_by_every_engine() {
    for (name, threads, tso, pso) in CLAIMS {
        let program = program(&format!("{CELLS}{threads}"));
        for (model, expected) in [(Model::Tso, *tso), (Model::Pso, *pso)] {
            for verdict in verdicts(&program, model) {
                assert_eq!(verdict, expected, "{name} under {model}");
            }
        }
    }
}

#[test]
fn triangular_races() {
    let claims = [
        (
            "a store that nobody else sees is enough",
            "thread a { x.store(1); let r = y.load(); } thread b { y.store(1); }",
            Violated,
        ),
        (
            "a fence in between",
            "thread a { x.store(1); fence(seq_cst); let r = y.load(); } thread b { y.store(1); }",
            Holds,
        ),
        ("the same cell", "thread a { x.store(1); let r = x.load(); } thread b { x.store(2); }", Holds),
        ("a locked racing store", "thread a { x.store(1); let r = y.load(); } thread b { y.swap(1); }", Violated),
        (
            "a load of a cell stored to since",
            "thread a { x.store(1); y.store(1); let r = y.load(); } thread b { y.store(2); }",
            Holds,
        ),
        (
            "a cell stored to before",
            "thread a { y.store(1); x.store(1); let r = y.load(); } thread b { y.store(2); }",
            Violated,
        ),
        (
            "the racing thread may have seen the store",
            "thread a { x.store(1); let r = y.load(); } thread b { wait(x == 1); y.store(1); }",
            Violated,
        ),
        (
            "the racing store comes late in a bus-locked block",
            "thread a { x.store(1); let r = y.load(); } thread b { bus_lock; let s = z.load(); y.store(1); bus_unlock; }",
            Violated,
        ),
    ];
    for (name, threads, expected) in claims {
        let program = program(&format!("{CELLS}{threads}"));
        let answer = race_freedom(&program, &RobustnessQuestion::new(Model::Tso)).expect("an answer");
        assert_eq!(answer.verdict, expected, "{name}");
        assert_eq!(answer.race.is_some(), expected == Violated, "{name}");
    }
}

/// A counter without end: the answer is unknown, with what is settled, and a violation that exists early is found.
#[test]
fn unbounded_counters() {
    let ticket = "static next; static serving;
        thread p[me in 0..2] {
            loop {
                let t = next.fetch_add(1);
                while serving.load() != t {}
                EXTRA
                serving.store(t + 1);
            }
        }";
    let budget = Budget::unlimited().states(20_000);
    let ask = |text: &str, all| {
        let question = RobustnessQuestion { budget, all, ..RobustnessQuestion::new(Model::Tso) };
        robustness(&program(text), &question).expect("an answer")
    };
    let robust = ask(&ticket.replace("EXTRA", ""), true);
    assert_eq!(robust.verdict, Holds, "every attack can be dismissed");
    let data = ask(
        &format!("static d; static e; {}", ticket.replace("EXTRA", "d.store(t); let r = e.load(); e.store(t);")),
        true,
    );
    assert_eq!(data.verdict, Unknown);
    assert!(data.limit.is_some());
    assert!(data.count(|fate| matches!(fate, AttackFate::Dismissed(_))) > 0);
    assert!(data.count(|fate| matches!(fate, AttackFate::Open)) > 0);
    let early = format!(
        "static x; static y; {} thread a {{ x.store(1); let r = y.load(); }} thread b {{ y.store(1); let r = x.load(); }}",
        ticket.replace("EXTRA", "let r = x.load();")
    );
    assert_eq!(ask(&early, false).verdict, Violated);
}

/// Two threads that delay stores do together what neither does alone; under TSO that is impossible.
#[test]
fn two_threads_that_delay_stores_are_not_one() {
    let text = "static x; static y; static z;
        thread u { x.store(1); y.store(1); }
        thread v { x.store(2); z.store(1); }
        thread t { wait(y == 1); wait(z == 1); wait(x == 0); }";
    for engine in [RobustnessEngine::Shared, RobustnessEngine::Monitor] {
        let ask = |model| {
            let question = RobustnessQuestion { engine, ..RobustnessQuestion::new(model) };
            robustness(&program(text), &question).expect("an answer")
        };
        assert_eq!(ask(Model::Tso).verdict, Holds);
        let answer = ask(Model::Pso);
        assert_eq!(answer.verdict, Violated);
        assert_eq!(answer.count(|fate| matches!(fate, AttackFate::Feasible(_))), 0, "no thread does harm alone");
        let witness = answer.witness().expect("a computation");
        assert_eq!(witness.together, ["u", "v"]);
        assert!(witness.computation.actions.len() >= 11);
    }
    // Where the third thread does not wait for a value, one is enough.
    let loads = text.replace("wait(x == 0)", "let r = x.load()");
    let answer = robustness(&program(&loads), &RobustnessQuestion::new(Model::Pso)).expect("an answer");
    assert_eq!(answer.count(|fate| matches!(fate, AttackFate::Feasible(_))), 1);
}
