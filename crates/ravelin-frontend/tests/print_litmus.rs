//! C litmus tests made from programs: their shape, their meaning once read back, and what is refused.

use expect_test::expect;
use ravelin_frontend::{litmus, print, rav, render};
use ravelin_program::{Model, Observable, Program, RegId, Source, ThreadId, Value};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::rc20;
use ravelin_testing::programs::{Config, Generator};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn program(text: &str) -> Program {
    let parsed = rav::parse(Source::new("test.rav", text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{shown}"))
}

fn printed(text: &str) -> String {
    print::litmus(&program(text)).unwrap_or_else(|reason| panic!("{reason}"))
}

#[test]
fn store_buffering_looks_as_herd_expects() {
    expect![[r#"
        C test
        "P0 is left, P1 is right"
        { y = 3; }

        P0 (atomic_int* x, atomic_int* y) {
          atomic_store_explicit(x, 1, memory_order_relaxed);
          int r = atomic_load_explicit(y, memory_order_acquire);
        }

        P1 (atomic_int* x, atomic_int* y) {
          atomic_store_explicit(y, 1, memory_order_seq_cst);
          atomic_thread_fence(memory_order_seq_cst);
          int r = atomic_load_explicit(x, memory_order_relaxed);
        }

        locations [x; y; 0:r; 1:r;]
        ~exists (0:r=3 /\ (1:r=0 \/ ~(x=1)))
    "#]]
    .assert_eq(&printed(
        "static x: bool; static y = 3;
         thread left { x.store(1); let r = y.load(acquire); }
         thread right { y.store(1, seq_cst); fence(); let r = x.load(); }
         finally never left.r == 3 && (right.r == 0 || x != 1);",
    ));
}

#[test]
fn loops_and_branches_need_no_jumps() {
    expect![[r#"
        C test
        "P0 is writer, P1 is reader"
        { flag_0 = 0; }

        P0 (int* data, atomic_int* flag_1) {
          *data = 5;
          atomic_store_explicit(flag_1, 1, memory_order_release);
        }

        P1 (int* data, atomic_int* flag_1, int* expected1) {
          int seen = 0;
          int tmp1 = atomic_load_explicit(flag_1, memory_order_acquire);
          while (tmp1 == 0) {
            tmp1 = atomic_load_explicit(flag_1, memory_order_acquire);
          }
          *expected1 = 1;
          int ok = atomic_compare_exchange_strong_explicit(flag_1, expected1, 2, memory_order_acq_rel, memory_order_acquire);
          int old = *expected1;
          if ((ok != 0) & (old >= 1)) {
            seen = *data;
          } else {
            seen = (0 - 1);
          }
        }

        locations [data; flag_0; flag_1; 1:seen; 1:old; 1:ok;]
        (* Not kept: never reader@done && flag[0] == 1 *)
        exists (1:seen=5)
    "#]]
    .assert_eq(
        &printed(
            "static data; static flag: [0..3; 2];
             thread writer { data.write(5); flag[1].store(1, release); }
             thread reader {
                 let seen;
                 while flag[1].load(acquire) == 0 {}
                 let (old, ok) = flag[1].compare_exchange(1, 2, acq_rel);
                 if ok && old >= 1 { seen = data.read(); } else { seen = -1; }
                 @done;
             }
             never reader@done && flag[0] == 1;
             exists reader.seen == 5;",
        ),
    );
}

#[test]
fn goals_become_one_condition() {
    let condition = |goals: &str| {
        let text = format!("static x; static y; thread t {{ let r = x.load(); let s = y.load(); @end; }} {goals}");
        print::litmus(&program(&text)).map(|text| text.lines().last().unwrap_or_default().to_owned())
    };
    let cases = [
        ("", "exists (true)"),
        ("exists x == 1 && y != 2;", "exists (x=1 /\\ ~(y=2))"),
        ("finally t.r == 1 || t.s == 1;", "forall (0:r=1 \\/ 0:s=1)"),
        ("finally never !(t.r == 1 && t.s == 1);", "~exists (~(0:r=1) \\/ ~(0:s=1))"),
        ("finally never x == 1; finally never y == 1;", "~exists ((x=1) \\/ (y=1))"),
        ("finally x == 1; finally y == 1;", "forall ((x=1) /\\ (y=1))"),
        ("finally never t.r;", "~exists (~(0:r=0))"),
        ("finally never t.r == t.s;", "~exists (0:r=0:s)"),
        ("finally never t.r == x;", "~exists (x=0:r)"),
        ("finally t@end && x == 0;", "forall (true /\\ x=0)"),
    ];
    for (goals, expected) in cases {
        assert_eq!(condition(goals).as_deref(), Ok(expected), "{goals}");
    }
    for goals in ["finally t.r < 2;", "finally t.r + t.s == 1;", "finally x == y;", "exists x == 1; finally y == 1;"] {
        assert!(condition(goals).is_err(), "{goals}");
    }
}

#[test]
fn what_a_litmus_test_cannot_say_is_refused_with_a_reason() {
    let cases = [
        ("thread t[*] { x.store(1); }", "thread `t` has any number of copies"),
        ("thread t { wait(x == 1); }", "`wait(x == 1)` in thread `t` has no counterpart"),
        ("thread t { x.bcas(0, 1); }", "`x.bcas(0, 1)` in thread `t` has no counterpart"),
        ("thread t { lock(x); }", "`lock(x)` in thread `t` has no counterpart"),
        ("thread t { unlock(x); }", "`unlock(x)` in thread `t` has no counterpart"),
        ("thread t { bus_lock; bus_unlock; }", "`bus_lock` in thread `t` has no counterpart"),
        ("thread t { locked { x.store(1); } }", "`locked { x.store(1); }` in thread `t` has no counterpart"),
        ("thread t { let r; havoc r in 0..3; }", "`havoc r in 0..=2` in thread `t` has no counterpart"),
        ("thread t { let r = x.load(); assume(r == 1); }", "`assume(r == 1)` in thread `t` has no counterpart"),
        ("thread t { let r = x.load(); assert(r == 1); }", "`assert(r == 1)` in thread `t` has no counterpart"),
        ("thread t { let r = x.load(); a[r].store(1); }", "`a[r].store(1)` in thread `t` uses a computed address"),
        ("thread t { let r = x.load(); mem[r].store(1); }", "`mem[r].store(1)` in thread `t` uses a computed address"),
        ("thread t { let r = x.load(); x.store(r << 1); }", "the operator `<<` in thread `t` has no counterpart"),
        ("thread t { choose { x.store(1); } or { x.store(2); } }", "thread `t` chooses between several ways at #0"),
        (
            "thread t { let r; loop { r = x.load(); if r == 1 { break; } r = x.load(); if r == 2 { break; } } }",
            "the control flow of thread `t`",
        ),
        (
            "thread t { let r; while r == 0 { r = x.load(); if r == 1 { return; } } x.store(1); }",
            "the control flow of thread `t`",
        ),
        ("static y = any; thread t { y.store(1); }", "`y` starts with any value of its type"),
        ("static y: wrapping u8; thread t { y.store(1); }", "`y` wraps or blocks outside its type"),
        ("arithmetic wrapping 0..4; thread t { let r = x.load(); x.store(r + 1); }", "arithmetic wraps outside 0..=3"),
        ("max_value 3 wrap; thread t { }", "`x` wraps or blocks outside its type"),
        ("thread t { x.store(3000000000); }", "the number 3000000000 does not fit an `int`"),
    ];
    for (text, reason) in cases {
        let found = print::litmus(&program(&format!("static x; static a: [_; 2]; {text}")));
        match found {
            Err(refusal) => assert!(refusal.to_string().starts_with(reason), "{text}: {refusal}"),
            Ok(printed) => panic!("{text} has a litmus test:\n{printed}"),
        }
    }
}

/// A litmus test has no types, so one that is made of a program in which a value leaves its type would go on where the program ends.
#[test]
fn a_program_in_which_a_value_can_leave_its_type_is_refused() {
    for (text, name) in [
        ("static b: bool; thread t { b.store(2); }", "`b`"),
        ("static x: 0..5; thread t { x.fetch_add(1); } thread u { x.store(4); }", "`x`"),
        ("static x: 0..5; thread t { let r = x.load(); x.store(r + 1); } thread u { x.store(4); }", "`x`"),
        ("static a: [u8; 2]; thread t { a[1].store(256); }", "`a[1]`"),
        ("static y; thread t { let r: bool = y.load(); } thread u { y.store(2); }", "`r` of thread `t`"),
        ("static y; thread t { let r: 0..3 = y.swap(1); } thread u { y.store(3); }", "`r` of thread `t`"),
        (
            "static y; static b: bool; thread t { let r = y.load(); if r < 2 { b.store(r); } } thread u { y.store(0 - 1); }",
            "`b`",
        ),
        // More values than are followed.
        ("static y; static x: u8; thread t { let i = 0; while i < 1000 { i = i + 1; } x.store(i); }", "`x`"),
    ] {
        match print::litmus(&program(text)) {
            Err(refusal) => {
                assert!(refusal.to_string().starts_with(&format!("{name} may leave its type")), "{refusal}")
            }
            Ok(printed) => panic!("{text} has a litmus test:\n{printed}"),
        }
    }
    for (text, what) in [
        ("static x; thread p[2] { let r = x.load(); x.store(r + 2147483647); } exists x == 1;", "a part of"),
        ("static x; thread p[3] { x.fetch_add(1500000000); }", "`x`"),
        ("static x: u32; thread p[3] { x.fetch_add(1500000000); }", "`x`"),
        (
            "static x; thread t { let r = x.load(); x.store(r + 2000000000 - 2000000000); } thread u { x.store(2000000000); }",
            "a part of",
        ),
        (
            "static x; static y; thread t { if x.load() * 3 > 5 { y.store(1); } } thread u { x.store(2000000000); }",
            "a part of",
        ),
        ("static x; thread t { loop { x.fetch_add(1); } }", "`x`"),
    ] {
        match print::litmus(&program(text)) {
            Err(refusal) => {
                let refusal = refusal.to_string();
                assert!(refusal.starts_with(what) && refusal.contains("does not fit an `int`"), "{text}: {refusal}");
            }
            Ok(printed) => panic!("{text} has a litmus test:\n{printed}"),
        }
    }
    let in_range = "static x: -2147483648..=2147483647; thread p[3] { x.fetch_add(1500000000); }";
    let leaves = print::litmus(&program(in_range));
    assert!(leaves.is_err_and(|refusal| refusal.to_string().starts_with("`x` may leave its type")));
    for text in [
        "static x: u8; thread t { x.fetch_add(255); } thread u { x.fetch_add(1); }",
        "static x: u8; thread t { x.store(200); } thread u { let r = x.load(); if r + 100 > 255 { x.store(0); } }",
    ] {
        let refusal = print::litmus(&program(text)).expect_err(text).to_string();
        assert!(refusal.starts_with("arithmetic wraps outside 0..=255"), "{text}: {refusal}");
    }
    for text in [
        "static b: bool; thread t { b.store(1); let r: bool = b.load(); }",
        "static x: i32; thread p[2] { let r = x.load(); if r == 0 { x.store(r + 2147483647); } } exists x == 1;",
        "static x; thread t { let r = x.load(); if r != 0 && r + 2147483647 > 0 { x.store(0); } }",
        "static x: 0..5; thread t { let r = x.load(); if r < 4 { x.store(r + 1); } } thread u { x.store(3); }",
        "static x: 0..5; thread t { let r = x.load(); x.store((r + 1) & 3); } thread u { x.fetch_and(2); }",
        "static x: 0..5; thread t { let r = x.compare_exchange(3, 4); } thread u { x.store(3); }",
        "static y; static b: bool; thread t { let i = 0; while i < 1000 { i = i + 1; } b.store(i == 1000); }",
        "static n: i32; thread t { n.fetch_add(1); }",
        "static x: i32; thread p[2] { let r = x.load(); x.store(r + 2147483647); } exists x == 1;",
        "static x: i32; thread p[3] { x.fetch_add(1500000000); }",
        "static x: u8; thread t { x.fetch_add(254); } thread u { x.fetch_add(1); let r = x.load(); x.store(r - 0); }",
        "static x: 0..3; thread t { x.fetch_add(1); } thread u { x.fetch_add(1); }",
        "static x: u8; thread t { let r: 0..2 = x.fetch_sub(0); if r == 1 { x.fetch_add(254); } } thread u { x.swap(1); }",
    ] {
        printed(text);
    }
}

/// What people see of a final state, by the names in the text.
type Outcome = BTreeMap<String, Value>;

/// The name that a litmus test gives to what a program names so.
fn legal(name: &str) -> String {
    name.replace(['[', '\''], "_").replace(']', "")
}

/// Everything that both programs have; `like` says what that is.
fn observables(program: &Program, like: &Program) -> Vec<(String, Observable)> {
    let mut all = Vec::new();
    for (index, thread) in like.threads.iter().enumerate() {
        for register in thread.registers.iter().filter(|register| !register.hidden) {
            let own = program.threads[index].registers.iter().position(|own| legal(&own.name) == legal(&register.name));
            let own = RegId(own.unwrap_or_else(|| panic!("{} is lost", register.name)));
            let name = format!("{index}:{}", legal(&register.name));
            all.push((name, Observable::Register(ThreadId(index), own)));
        }
    }
    let named = |memory: &ravelin_program::Memory, address| legal(&memory.name_of(address));
    for address in like.memory.named_addresses() {
        let name = named(&like.memory, address);
        if let Some(own) = program.memory.named_addresses().find(|&own| named(&program.memory, own) == name) {
            all.push((name, Observable::Memory(own)));
        }
    }
    all
}

fn outcome(
    observables: &[(String, Observable)],
    register: impl Fn(usize, usize) -> Value,
    cell: impl Fn(Value) -> Value,
) -> Outcome {
    let value = |observable: &Observable| match observable {
        Observable::Register(thread, register_id) => register(thread.0, register_id.0),
        Observable::Memory(address) => cell(*address),
        Observable::At(..) => 0,
    };
    observables.iter().map(|(name, observable)| (name.clone(), value(observable))).collect()
}

/// Final states under SC, and whether a final goal is violated; `None` if there are too many states.
fn under_sc(program: &Program, like: &Program, most: usize) -> Option<(BTreeSet<Outcome>, bool)> {
    let explored = Reference::new(program, Model::Sc, None).expect("no refusal").explore(most).expect("one start");
    let observables = observables(program, like);
    let finals = explored.finals.iter().map(|state| {
        outcome(&observables, |thread, register| state.threads[thread].registers[register], |cell| state.cell(cell))
    });
    let violated = explored.violated_goals.iter().any(|&goal| program.goals[goal].is_final());
    explored.complete.then(|| (finals.collect(), violated))
}

/// Final states of all consistent execution graphs; `None` for programs with loops and where there are too many.
fn under_rc20(program: &Program, like: &Program, most: usize) -> Option<BTreeSet<Outcome>> {
    let limits = rc20::GraphLimits { executions: most, states: most, values: 100 };
    let found = rc20::enumerate(program, rc20::OrderReading::Written, limits).ok()?;
    let observables = observables(program, like);
    let states = found.final_states(program);
    let outcomes = states.iter().map(|state| {
        outcome(
            &observables,
            |thread, register| state.registers[thread][register],
            |cell| state.memory.get(&cell).copied().unwrap_or(0),
        )
    });
    Some(outcomes.collect())
}

/// Prints, reads back and compares; tells under which models there was something to compare.
fn round_trip(name: &str, program: &Program) -> (bool, bool) {
    let text = print::litmus(program).unwrap_or_else(|reason| panic!("{name}: {reason}"));
    let parsed = litmus::parse(Source::new("printed.litmus", text.clone()));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    let again = parsed.program.unwrap_or_else(|| panic!("{name}\n{text}\n{shown}"));
    let (sc, rc20) = (under_sc(program, program, 20_000), under_rc20(program, program, 20_000));
    if let Some((finals, violated)) = &sc {
        let (finals_again, violated_again) = under_sc(&again, program, 100_000).expect("hardly more states");
        assert_eq!(finals_again, *finals, "{name} under SC\n{text}");
        // Without a goal the condition is `true`.
        let asked = program.goals.iter().any(|goal| goal.is_final());
        assert_eq!(violated_again && asked, *violated, "{name} under SC\n{text}");
    }
    if let Some(rc20) = &rc20 {
        assert_eq!(under_rc20(&again, program, 200_000).as_ref(), Some(rc20), "{name} under RC20\n{text}");
    }
    (sc.is_some(), rc20.is_some())
}

#[test]
fn read_back_a_test_has_the_same_final_states() {
    let cases = [
        "static x; static y; thread a { x.store(1); let r = y.load(); } thread b { y.store(1); let r = x.load(); }
         exists a.r == 0 && b.r == 0;",
        "static x; static y; thread a { x.store(1, release); y.store(1, release); }
         thread b { let r = y.load(acquire); let s = x.load(seq_cst); } finally never b.r == 1 && b.s == 0;",
        "static x = 4; thread a { let r = x.fetch_add(2, acq_rel); x.fetch_sub(1); let s = x.fetch_and(6); }
         thread b { let r = x.fetch_or(9, release); x.fetch_xor(3); let s = x.swap(7, seq_cst); } finally x != 0;",
        "static x; thread p[me in 0..2] { let (old, ok) = x.compare_exchange(0, me + 1, acq_rel, acquire);
         let again = x.compare_exchange_weak(1, 5).is_ok(); x.compare_exchange(5, 6); } exists x == 6;",
        "static x; static y; thread a { x.write(1); fence(release); y.store(1); }
         thread b { let r = y.load(); if r == 1 { fence(acquire); r = x.read(); } else { r = 9; } } finally b.r != 0;",
        "static x; thread a { x.store(2); } thread b { let r = x.load(); let s = -r; let t = !r; let u = r && s; let v = r || t;
         let w = (r + 7) % 3; let z = (r - 5) * 2 / 3; let q = ((r | 8) & 10) ^ 1; let k = (r <= 1) + (r > 1) * (r != 3); }",
        "static x; static y; thread a { x.store(1); }
         thread b { let r = x.load(); if r == 1 { if y.load() == 0 { y.store(1); } else { return; } y.store(2); } x.store(7); }
         thread c { y.store(3); }",
        "static x; thread a { let n = 0; while n < 3 { n += 1; if n == 2 { x.fetch_add(n); } } x.store(n); }
         thread b { while x.load(acquire) == 0 {} let r = x.load(); }",
        "static x; thread a { x.store(1); } thread b { let n = 3; loop { let r = x.load(); if r == 1 { break; } n = 4; } n += 1; }",
        "static x; thread a { loop { if x.load() == 1 { x.store(0); } else { x.store(1); } } } thread b { let r = x.load(); }",
        "static a: [_; 3] = [0, 5, 6]; thread t { a[0].store(1); let r = a[2].load(); mem[9].store(3); let s = mem[9].load(); }",
    ];
    let mut compared = (0, 0);
    for text in cases {
        let (sc, rc20) = round_trip(text, &program(text));
        compared = (compared.0 + usize::from(sc), compared.1 + usize::from(rc20));
    }
    assert_eq!(compared, (cases.len(), 8));
}

#[test]
fn read_back_the_examples_have_the_same_final_states() {
    let mut files = Vec::new();
    examples(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    files.sort();
    let mut compared = (0, 0);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a readable example");
        let program = program(&text);
        if print::litmus(&program).is_ok() {
            let (sc, rc20) = round_trip(&path.display().to_string(), &program);
            compared = (compared.0 + usize::from(sc), compared.1 + usize::from(rc20));
        }
    }
    assert!(compared.0 >= 25 && compared.1 >= 10, "only {compared:?} examples were compared");
}

#[test]
fn read_back_random_programs_have_the_same_final_states() {
    let simple = Config { domains: false, any_initial: false, wrapping: false, ..Config::c11() };
    let looping = Config { loops: true, ..simple.clone() };
    let mut compared = (0, 0);
    for (config, seeds) in [(simple, 0..600), (looping, 600..1200)] {
        let generator = Generator::new(config);
        for seed in seeds {
            let program = generator.program(seed);
            if print::litmus(&program).is_ok() {
                let (sc, rc20) = round_trip(&format!("seed {seed}"), &program);
                compared = (compared.0 + usize::from(sc), compared.1 + usize::from(rc20));
            }
        }
    }
    assert!(compared.0 >= 150 && compared.1 >= 100, "only {compared:?} programs were compared");
}

fn examples(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of examples") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            examples(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rav") {
            found.push(path);
        }
    }
}
