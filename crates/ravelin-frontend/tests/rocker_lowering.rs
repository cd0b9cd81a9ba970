//! What accesses become: every thread as its transitions, so that orders and classes can be seen.

use expect_test::{Expect, expect};
use ravelin_frontend::{render, rocker};
use ravelin_program::{Arithmetic, Domain, Escape, Program, Source};
use std::fmt::Write;

fn lower(text: &str) -> Program {
    let parsed = rocker::parse(Source::new("test.tpl", text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{shown}"))
}

fn check(text: &str, expected: Expect) {
    let program = lower(text);
    let mut out = String::new();
    for thread in &program.threads {
        writeln!(out, "{} from {}", thread.name, thread.initial.0).expect("a string");
        for transition in &thread.transitions {
            let labels: String =
                thread.locations[transition.from.0].labels.iter().map(|label| format!("@{label}")).collect();
            let instruction = program.show_instruction(thread, &transition.instruction);
            writeln!(out, "  {}{labels} -> {}: {instruction}", transition.from.0, transition.to.0).expect("a string");
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn the_order_of_an_access_is_relaxed_unless_it_is_given() {
    check(
        "global x; na d;
         fn p {
             local r;
             r = x.load(); r = x.load(rlx); r = x.load(acq);
             x.store(r); x.store(r, rlx); x.store(r, rel);
             r = d.naload(); d.nastore(r);
             wait(x, 1); wait(x, 1, acq); r = wait(x, 1, 2, rlx);
             lock(x); unlock(x);
         }",
        expect![[r#"
            p from 0
              0 -> 1: r = x.load()
              1 -> 2: r = x.load()
              2 -> 3: r = x.load(acquire)
              3 -> 4: x.store(r)
              4 -> 5: x.store(r)
              5 -> 6: x.store(r, release)
              6 -> 7: r = d.read()
              7 -> 8: d.write(r)
              8 -> 9: wait(x == 1)
              9 -> 10: wait(x == 1, acquire)
              10 -> 11: r = wait(x == 1 || x == 2)
              11 -> 12: lock(x)
              12 -> 13: unlock(x)
        "#]],
    );
}

#[test]
fn the_order_of_a_read_modify_write_comes_from_its_two_halves() {
    check(
        "global x;
         fn p {
             local r;
             r = FADD(x, 1); r = FADD(x, 1, rlx, rlx); r = FADD(x, 1, acq, rlx);
             r = exchange(x, 1, rlx, rel); r = exchange(x, 1, acq, rel); FADD(x, 5);
             BCAS(x, 0, 1); BCAS(x, 0, 1, acq, rlx);
             r = CAS(x, 0, 1); r = CAS(x, 0, 1, acq, rel); r = CAS(x, 0, 1, rlx, rel);
         }",
        expect![[r#"
            p from 0
              0 -> 1: r = x.fetch_add(1)
              1 -> 2: r = x.fetch_add(1)
              2 -> 3: r = x.fetch_add(1, acquire)
              3 -> 4: r = x.swap(1, release)
              4 -> 5: r = x.swap(1, acq_rel)
              5 -> 6: x.fetch_add(5)
              6 -> 7: x.bcas(0, 1)
              7 -> 8: x.bcas(0, 1, acquire)
              8 -> 9: r = x.compare_exchange(0, 1)
              9 -> 10: r = x.compare_exchange(0, 1, acq_rel)
              10 -> 11: r = x.compare_exchange(0, 1, release)
        "#]],
    );
}

#[test]
fn a_failing_assumption_leads_to_the_end() {
    check(
        "global x; fn p { local r; assume(r == 1); again: x.store(1); if (r) goto again; verify(r); }",
        expect![[r#"
            p from 0
              0 -> 1: assume(r == 1)
              0 -> 4: assume(!(r == 1))
              1@again -> 2: x.store(1)
              2 -> 1: assume(r)
              2 -> 3: assume(!r)
              3 -> 4: assume(r == r)
        "#]],
    );
}

#[test]
fn fences_without_an_order_are_sequentially_consistent() {
    check(
        "global x; fn p { fence; fence(upd); fence(seq_cst); fence(acq_rel); fence(acq); fence(rel); }",
        expect![[r#"
            p from 0
              0 -> 1: fence(seq_cst)
              1 -> 2: fence(seq_cst)
              2 -> 3: fence(seq_cst)
              3 -> 4: fence(acq_rel)
              4 -> 5: fence(acquire)
              5 -> 6: fence(release)
        "#]],
    );
}

#[test]
fn everything_is_modulo_the_greatest_value_and_one() {
    for (text, max) in
        [("global x; fn p { local r; r = r + 1; }", 254), ("max_value 3; global x; fn p { local r; r = r + 1; }", 3)]
    {
        let program = lower(text);
        let domain = Domain::new(0, max, Escape::Wrap);
        let mut found = Vec::new();
        program.threads[0].transitions[0].instruction.for_each_arithmetic(&mut |arithmetic| found.push(arithmetic));
        assert_eq!(found, [Arithmetic::Wrapping(domain)]);
        assert_eq!(program.memory.variables[0].domain, domain);
        assert_eq!(program.threads[0].registers[0].domain, domain);
    }
}

#[test]
fn a_number_alone_is_not_taken_modulo() {
    let parsed = rocker::parse(Source::new(
        "test.tpl",
        "max_value 7; global x; fn p { local r; while (r < 8) { r = r + 8; } wait(x, 9); }",
    ));
    let warnings: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "8 is greater than the greatest value, which is 7",
            "8 is greater than the greatest value, which is 7",
            "9 is greater than the greatest value, which is 7"
        ]
    );
    check(
        "max_value 7; global x; fn p { local r; while (r < 8) { r = r + 8; } wait(x, 9); }",
        expect![[r#"
            p from 0
              0 -> 1: assume(r < 8)
              0 -> 2: assume(!(r < 8))
              1 -> 0: r = r + 8
              2 -> 3: wait(x == 9)
        "#]],
    );
}
