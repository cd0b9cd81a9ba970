//! What small programs become: every thread as its transitions, with labels and domains where they matter.

use expect_test::{Expect, expect};
use ravelin_frontend::{rav, render};
use ravelin_program::{Program, Source, show_domain};
use std::fmt::Write;

fn lower(text: &str) -> Program {
    let parsed = rav::parse(Source::new("test.rav", text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{shown}"))
}

fn show(program: &Program) -> String {
    let mut out = String::new();
    for thread in &program.threads {
        let registers: Vec<String> = thread
            .registers
            .iter()
            .map(|register| match show_domain(register.domain) {
                Some(domain) => format!("{}: {domain}", register.name),
                None => register.name.clone(),
            })
            .collect();
        writeln!(out, "{}({}) from {}", thread.name, registers.join(", "), thread.initial.0).expect("a string");
        for transition in &thread.transitions {
            let labels = |location: ravelin_program::LocId| {
                let labels = &thread.locations[location.0].labels;
                labels.iter().map(|label| format!("@{label}")).collect::<String>()
            };
            let instruction = program.show_instruction(thread, &transition.instruction);
            let (from, to) = (transition.from, transition.to);
            writeln!(out, "  {}{} -> {}{}: {instruction}", from.0, labels(from), to.0, labels(to)).expect("a string");
        }
    }
    for goal in &program.goals {
        writeln!(out, "{:?} {}", goal.kind, program.show_condition(&goal.condition)).expect("a string");
    }
    out
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&show(&lower(text)));
}

#[test]
fn peterson_becomes_two_automata() {
    check(
        "static flag: [bool; 2];
         static turn: 0..2;
         thread p[me in 0..2] {
             loop {
                 flag[me].store(1);
                 turn.store(1 - me);
                 while flag[1 - me].load() == 1 && turn.load() == 1 - me {}
                 @critical;
                 flag[me].store(0);
             }
         }
         never p[0]@critical && p[1]@critical;",
        expect![[r#"
            p[0]($1: bool) from 0
              0 -> 1: flag[0].store(1)
              1 -> 2: turn.store(1)
              2 -> 3: $1 = flag[1].load()
              3 -> 4: assume($1 == 1)
              3 -> 6@critical: assume(!($1 == 1))
              4 -> 5: $1 = turn.load()
              5 -> 2: assume($1 == 1)
              5 -> 6@critical: assume(!($1 == 1))
              6@critical -> 0: flag[0].store(0)
            p[1]($1: bool) from 0
              0 -> 1: flag[1].store(1)
              1 -> 2: turn.store(0)
              2 -> 3: $1 = flag[0].load()
              3 -> 4: assume($1 == 1)
              3 -> 6@critical: assume(!($1 == 1))
              4 -> 5: $1 = turn.load()
              5 -> 2: assume($1 == 0)
              5 -> 6@critical: assume(!($1 == 0))
              6@critical -> 0: flag[1].store(0)
            Never p[0]@critical && p[1]@critical
        "#]],
    );
}

#[test]
fn a_load_goes_straight_into_its_register() {
    check(
        "static x; thread t { let r = x.load(); r = x.load(acquire); let s = x.load() + r; }",
        expect![[r#"
        t(r, s, $1) from 0
          0 -> 1: r = x.load()
          1 -> 2: r = x.load(acquire)
          2 -> 3: $1 = x.load()
          3 -> 4: s = $1 + r
    "#]],
    );
}

#[test]
fn accesses_in_an_expression_are_done_from_left_to_right() {
    check(
        "static x; static a: [_; 4]; thread t { a[x.load()].store(x.load() + a[x.fetch_add(1)].load()); }",
        expect![[r#"
            t($1, $2, $3, $4) from 0
              0 -> 1: $1 = x.load()
              1 -> 2: $2 = x.load()
              2 -> 3: $3 = x.fetch_add(1)
              3 -> 4: $4 = a[$3].load()
              4 -> 5: a[$1].store($2 + $4)
        "#]],
    );
}

#[test]
fn a_pure_condition_is_one_location_with_two_ways() {
    check(
        "thread t { let r; if r == 1 { nop; } else { r = 2; } while r < 3 { r += 1; } }",
        expect![[r#"
        t(r) from 0
          0 -> 1: assume(r == 1)
          0 -> 2: assume(!(r == 1))
          1 -> 3: nop
          2 -> 3: r = 2
          3 -> 4: assume(r < 3)
          3 -> 5: assume(!(r < 3))
          4 -> 3: r = r + 1
    "#]],
    );
}

#[test]
fn a_constant_condition_has_one_way() {
    check(
        "static x; thread t { if 1 < 2 { x.store(1); } else { x.store(2); } while false { x.store(3); } }",
        expect![[r#"
            t() from 0
              0 -> 1: x.store(1)
        "#]],
    );
}

#[test]
fn logic_accesses_memory_only_if_needed() {
    check(
        "static x; static y; thread t { let r = x.load() == 1 || !(y.load() == 2 && x.load() == 3); }",
        expect![[r#"
            t(r, $1) from 0
              0 -> 1: $1 = x.load()
              1 -> 6: assume($1 == 1)
              1 -> 2: assume(!($1 == 1))
              2 -> 3: $1 = y.load()
              3 -> 4: assume($1 == 2)
              3 -> 6: assume(!($1 == 2))
              4 -> 5: $1 = x.load()
              5 -> 7: assume($1 == 3)
              5 -> 6: assume(!($1 == 3))
              6 -> 8: r = 1
              7 -> 8: r = 0
        "#]],
    );
    check(
        "static x; static y; thread t { if x.load() == 1 && y.load() == 2 || x.load() == 3 { nop; } }",
        expect![[r#"
            t($1) from 0
              0 -> 1: $1 = x.load()
              1 -> 2: assume($1 == 1)
              1 -> 4: assume(!($1 == 1))
              2 -> 3: $1 = y.load()
              3 -> 6: assume($1 == 2)
              3 -> 4: assume(!($1 == 2))
              4 -> 5: $1 = x.load()
              5 -> 6: assume($1 == 3)
              5 -> 7: assume(!($1 == 3))
              6 -> 7: nop
        "#]],
    );
}

#[test]
fn jumps_cost_nothing() {
    check(
        "static x; thread t { loop { x.store(1); if x.load() == 2 { break; } if x.load() == 3 { continue; } goto out; } @out; @done; }",
        expect![[r#"
            t($1) from 0
              0 -> 1: x.store(1)
              1 -> 2: $1 = x.load()
              2 -> 5@out@done: assume($1 == 2)
              2 -> 3: assume(!($1 == 2))
              3 -> 4: $1 = x.load()
              4 -> 0: assume($1 == 3)
              4 -> 5@out@done: assume(!($1 == 3))
        "#]],
    );
    check(
        "static x; thread t { goto b; @a; x.store(1); return; @b; x.store(2); goto a; }",
        expect![[r#"
        t() from 1
          0@a -> 2: x.store(1)
          1@b -> 0@a: x.store(2)
    "#]],
    );
}

#[test]
fn fences_before_a_condition_are_executed_in_every_round() {
    let expected = lower(
        "static x; thread t { loop { fence(); fence(acquire); if !(x.load() == 0) { break; } nop; } x.store(1); }",
    );
    let written = lower("static x; thread t { while { fence(); fence(acquire); x.load() == 0 } { nop; } x.store(1); }");
    assert_eq!(show(&written), show(&expected));
}

#[test]
fn an_empty_infinite_loop_is_a_step_that_does_nothing() {
    check(
        "thread t { loop {} } thread u { @a; goto b; @b; goto a; } thread v { while true {} }",
        expect![[r#"
        t() from 0
          0 -> 0: nop
        u() from 0
          0@a@b -> 0@a@b: nop
        v() from 0
          0 -> 0: nop
    "#]],
    );
}

#[test]
fn a_choice_is_made_at_one_location() {
    check(
        "static x; thread t { choose { x.store(1); } or { x.store(2); nop; } }",
        expect![[r#"
        t() from 0
          0 -> 2: x.store(1)
          0 -> 1: x.store(2)
          1 -> 2: nop
    "#]],
    );
}

#[test]
fn a_branch_that_others_can_reach_is_entered_by_a_step() {
    check(
        "static x; thread t { @a; choose { goto a; } or {} or { loop { x.store(1); } } or { x.store(2); } }",
        expect![[r#"
            t() from 0
              0@a -> 0@a: nop
              0@a -> 2: nop
              0@a -> 1: nop
              0@a -> 2: x.store(2)
              1 -> 1: x.store(1)
        "#]],
    );
}

#[test]
fn a_nested_choice_is_one_choice() {
    check(
        "static x; thread t { choose { choose { x.store(1); } or { x.store(2); } } or { x.store(3); } }",
        expect![[r#"
            t() from 0
              0 -> 1: x.store(1)
              0 -> 1: x.store(2)
              0 -> 1: x.store(3)
        "#]],
    );
}

#[test]
fn a_for_loop_counts_in_a_register_of_its_own() {
    check(
        "max_value 3; static x; thread t { for i in 1..3 { if x.load() == i { continue; } x.store(i); } }",
        expect![[r#"
            t(i: 0..=3, $1: 0..=3) from 0
              0 -> 1: i = 1
              1 -> 2: assume(i < 3)
              1 -> 6: assume(!(i < 3))
              2 -> 3: $1 = x.load()
              3 -> 5: assume($1 == i)
              3 -> 4: assume(!($1 == i))
              4 -> 5: x.store(i)
              5 -> 1: i = i + 1
        "#]],
    );
}

#[test]
fn read_modify_writes_keep_what_is_asked_of_them() {
    check(
        "static x: u8;
         thread t {
             x.fetch_add(1);
             let r = x.swap(2, acq_rel);
             let (old, ok) = x.compare_exchange(0, 1, acq_rel);
             (_, ok) = x.compare_exchange_weak(0, 1, seq_cst, relaxed);
             ok = x.compare_exchange(0, 1).is_ok();
             ok = x.compare_exchange(0, 1).is_err();
             if x.compare_exchange(0, 1).is_err() { nop; }
             x.bcas(0, 1, release);
         }",
        expect![[r#"
            t(r, old, ok, $1: bool) from 0
              0 -> 1: x.fetch_add(1)
              1 -> 2: r = x.swap(2, acq_rel)
              2 -> 3: (old, ok) = x.compare_exchange(0, 1, acq_rel)
              3 -> 4: (_, ok) = x.compare_exchange_weak(0, 1, seq_cst, relaxed)
              4 -> 5: (_, ok) = x.compare_exchange(0, 1)
              5 -> 6: (_, $1) = x.compare_exchange(0, 1)
              6 -> 7: ok = !$1
              7 -> 8: (_, $1) = x.compare_exchange(0, 1)
              8 -> 9: assume(!$1)
              8 -> 10: assume(!!$1)
              9 -> 10: nop
              10 -> 11: x.bcas(0, 1, release)
        "#]],
    );
}

#[test]
fn a_wait_has_any_condition_on_one_place() {
    check(
        "static x; static y; static a: [_; 2]; const LAST = 1;
         thread t[me in 0..1] {
             wait(x != 0);
             wait(1 - me <= x && !(x > LAST), acquire);
             let x = wait(x % 2 == 0);
             wait(x == y.load() || x == 2);
             wait(checked(a[x] + x) == 3 || wrapping(u8, a[x] + 1) == 0);
         }",
        expect![[r#"
            t[0](x, $1) from 0
              0 -> 1: wait(x != 0)
              1 -> 2: wait(1 <= x && !(x > 1), acquire)
              2 -> 3: x = wait(x % 2 == 0)
              3 -> 4: $1 = y.load()
              4 -> 5: wait(x == $1 || x == 2)
              5 -> 6: wait(a[x] + x == 3 || a[x] + 1 == 0)
        "#]],
    );
}

#[test]
fn waits_locks_and_locked_blocks_are_single_steps() {
    check(
        "static x; static l;
         thread t {
             wait(x == 1 || x == 2, acquire);
             let r = wait(x == 3);
             lock(l); unlock(l); bus_lock; bus_unlock;
             locked { r = x.load(); x.store(r + l.load()); }
             locked { let s = x.load(); assume(s == 0); }
             fence(); fence(release); havoc r in 0..3; assert(r < 3);
         }",
        expect![[r#"
            t(r, $1, s) from 0
              0 -> 1: wait(x == 1 || x == 2, acquire)
              1 -> 2: r = wait(x == 3)
              2 -> 3: lock(l)
              3 -> 4: unlock(l)
              4 -> 5: bus_lock
              5 -> 6: bus_unlock
              6 -> 7: locked { r = x.load(); $1 = l.load(); x.store(r + $1); }
              7 -> 8: locked { s = x.load(); assume(s == 0); }
              8 -> 9: fence(seq_cst)
              9 -> 10: fence(release)
              10 -> 11: havoc r in 0..=2
              11 -> 12: assert(r < 3)
        "#]],
    );
}

#[test]
fn a_second_register_of_a_name_is_another_register() {
    check(
        "static x; thread t { let r = 1; { let r = r + 1; x.store(r); } let r = r; x.store(r); }",
        expect![[r#"
        t(r, r'2, r'3) from 0
          0 -> 1: r = 1
          1 -> 2: r'2 = r + 1
          2 -> 3: x.store(r'2)
          3 -> 4: r'3 = r
          4 -> 5: x.store(r'3)
    "#]],
    );
}

#[test]
fn addresses_are_values() {
    check(
        "static a: [_; 2]; static p = &a[1]; thread t { let r = p.load(); mem[r].store(&p); a[r & 1].store(&a[r]); }",
        expect![[r#"
            t(r) from 0
              0 -> 1: r = p.load()
              1 -> 2: mem[r].store(3)
              2 -> 3: a[r & 1].store(1 + r)
        "#]],
    );
}

#[test]
fn goals_name_locations_registers_and_memory() {
    check(
        "static x; static a: [_; 2]; const N = 2;
         thread p[N] { let r = x.load(); @l; nop; }
         thread q[*] { nop; @l; }
         never p[0]@l && p[1].r == -1;
         never N of p@l || 3 of q@l;
         exists x == 1 && a[N - 1] == 2 && mem[0] == 3;
         finally never x == &a[1];
         forall true;",
        expect![[r#"
            p[0](r) from 0
              0 -> 1@l: r = x.load()
              1@l -> 2: nop
            p[1](r) from 0
              0 -> 1@l: r = x.load()
              1@l -> 2: nop
            q() from 0
              0 -> 1@l: nop
            Never p[0]@l && p[1].r == -1
            Never p[0]@l + p[1]@l >= 2 || q@l >= 3
            Exists x == 1 && a[1] == 2 && mem[0] == 3
            NeverFinally x == 3
            Finally 1
        "#]],
    );
}

#[test]
fn domains_come_from_types_and_defaults() {
    let program = lower(
        "max_value 7 wrap; static x; static y: wrapping 0..4 = any; static z: [blocking u8; 2] = [1, any];
         thread t { let r; let s: i64; y.store(x.load() + r + s + z[0].load()); }",
    );
    let domains: Vec<Option<String>> =
        program.memory.variables.iter().map(|variable| show_domain(variable.domain)).collect();
    let shown: Vec<&str> = domains.iter().flatten().map(String::as_str).collect();
    assert_eq!(shown, ["wrapping 0..=7", "wrapping 0..=3", "blocking u8"]);
    assert_eq!(program.memory.unnamed.domain().and_then(show_domain).as_deref(), Some("wrapping 0..=7"));
    let registers: Vec<Option<String>> =
        program.threads[0].registers.iter().map(|register| show_domain(register.domain)).collect();
    // Hidden registers hold whatever can be loaded into them.
    let expected = [Some("wrapping 0..=7"), None, Some("0..=7"), Some("u8")];
    assert_eq!(registers.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
}

#[test]
fn spans_point_at_the_statement_the_condition_or_the_access() {
    let program = lower("static x; thread t { x.store(1); if x.load() == 2 { nop; } }");
    let quotes: Vec<&str> =
        program.threads[0].transitions.iter().map(|transition| program.source.quote(transition.span)).collect();
    assert_eq!(quotes, ["x.store(1);", "x.load()", "x.load() == 2", "x.load() == 2", "nop;"]);
}
