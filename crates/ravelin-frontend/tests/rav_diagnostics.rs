//! Diagnostics. Each fixture carries the errors expected of it as carets under the offending characters: a line
//! `//  ^^^ message` speaks about the line above it, and the carets give the columns.

use crate::carets;
use expect_test::expect;
use ravelin_frontend::{rav, render};
use ravelin_program::Source;

/// The diagnostics of a fixture must be those that its carets announce, and no others.
fn check(fixture: &str) {
    let parsed = rav::parse(Source::new("test.rav", fixture));
    carets::check(&parsed.source, &parsed.diagnostics, ("//", ""));
}

#[test]
fn only_fences_may_stand_before_a_condition() {
    check(
        "
static x;
thread t {
    while { x.store(1); x.load() == 0 } {}
    //                ^ expected `}` after the condition; before it there may be fences only, found `;`
    while { fence(); x.load() == 0 } {}
    while { x.load() == 0 } {}
}
",
    );
}

#[test]
fn memory_is_strict_once_and_gaps_do_not_go_back() {
    check(
        "
  strict mem;
  strict mem;
//^^^^^^^^^^^ `strict mem` is declared twice
strict memory;
//     ^^^^^^ expected `mem` after `strict`, found `memory` (did you mean `mem`?)
static x;
gap -1;
//  ^^ a gap of -1 addresses would go back to those of variables
gap 1 << 62;
//  ^^^^^^^ a gap of 4611686018427387904 addresses leads too far
thread t {
    x.store(ult(1));
    //           ^ expected `,` and the second operand of `ult`, found `)`
}
",
    );
    let parsed =
        rav::parse(Source::new("t.rav", "strict mem; static x; thread t { mem[2].store(1); } never mem[2] == 1;"));
    let messages: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(messages, ["a condition names the cell at address 2, and there is none"]);
}

#[test]
fn misspelt_names_are_all_reported_with_what_was_meant() {
    check(
        "
static flag: bool;
const LIMIT = 3;
thread worker {
    let count = LIMT;
    //          ^^^^ there is no register or constant `LIMT` (did you mean `LIMIT`?)
    flug.store(1);
//  ^^^^ there is no shared variable `flug` (did you mean `flag`?)
    cuont = 1;
//  ^^^^^ there is no register `cuont` (did you mean `count`?)
    flag.stroe(1);
    //   ^^^^^ there is no method `stroe` (did you mean `store`?)
    flag.store(1, relese);
    //            ^^^^^^ there is no order `relese` (did you mean `release`?)
    fence(sec_cst);
    //    ^^^^^^^ expected an order (relaxed, acquire, release, acq_rel or seq_cst), found `sec_cst` (did you mean `seq_cst`?)
    asume(count == 1);
//  ^^^^^ there is no statement `asume` (did you mean `assume`?)
    whlie count == 1 {}
//  ^^^^^ there is no statement `whlie` (did you mean `while`?)
    goto strat;
    //   ^^^^^ there is no label `strat` in this thread (did you mean `start`?)
    @start;
}
never wroker@start;
//    ^^^^^^ there is no thread `wroker` (did you mean `worker`?)
never worker@strat;
//           ^^^^^ this thread has no label `strat` (did you mean `start`?)
never worker.cnt == 1;
//           ^^^ this thread has no register `cnt` (did you mean `count`?)
",
    );
}

#[test]
fn what_c_and_rust_write_is_answered_with_what_is_written_here() {
    check(
        "
  use std::sync::atomic::*;
//^^^ expected an item (`static`, `const`, `thread`, `never`, …), found `use` (leave it out: a program is one file)
  struct Node { next: u32 }
//^^^^^^ expected an item (`static`, `const`, `thread`, `never`, …), found `struct` (there are no structures: a field of several objects is an array, such as `static next: [0..4; 3];`)
static top: AtomicPtr<Node>;
//          ^^^^^^^^^ there is no type `AtomicPtr` (pointers are numbers: leave the type out, and take the address of a cell by `&x`)
static full: AtomicBool = 0;
//           ^^^^^^^^^^ there is no type `AtomicBool` (write `bool`: each access says itself that it is atomic)
static x;
thread t {
    let r = 0;
    r ++;
    //^^ there is no operator `++` (write `r += 1;` for a register, `x.fetch_add(1);` for a shared variable)
    r --;
    //^^ there is no operator `--` (write `r -= 1;` for a register, `x.fetch_sub(1);` for a shared variable)
    x.store(1, Ordering::Release);
    //         ^^^^^^^^^^^^^^^^^ there is no `Ordering::Release` (write `release`)
    r = x.load(memory_order_acquire);
    //         ^^^^^^^^^^^^^^^^^^^^ there is no order `memory_order_acquire` (write `acquire`)
    fence(SeqCst);
    //    ^^^^^^ there is no order `SeqCst` (write `seq_cst`)
    r = A::B;
    //  ^ there is no enum `A`
    x.cas(0, 1);
    //^^^ there is no method `cas` (write `x.compare_exchange(old, new)`)
    assert!(r == 0);
//  ^^^^^^^ there are no macros (write `assert(…)`)
    switch (r) {}
//  ^^^^^^ there is no statement `switch` (write `match e { 0 => { … } _ => { … } }`)
}
",
    );
}

#[test]
fn parsing_goes_on_after_a_syntax_error() {
    check(
        "
static x: bool
//            ^ expected `;` after the declaration, found the keyword `static`
static y: boll;
//        ^^^^ there is no type `boll` (did you mean `bool`?)
static z: usize;
//        ^^^^^ there is no type `usize` (use `i64`, `u64`, or the values that occur, such as `0..8`)
thread t {
    x.store(;
    //      ^ expected an expression, found `;`
    y.store(1)
    //        ^ expected `;` after the statement, found the keyword `let`
    let r = 1 < 2 < 3;
    //            ^ comparisons cannot be chained (compare twice and join with `&&`)
    let = 5;
    //  ^ expected a register, found `=`
    z.store(r);
    if r == 1 { x.store(2) }
    //                     ^ expected `;` after the statement, found `}`
    let loop = 3;
    //  ^^^^ expected a register, found the keyword `loop` (keywords cannot be names; choose another one)
    x.load() y;
    //       ^ expected `;` or an operator, found `y`
    undefined.store(1);
//  ^^^^^^^^^ there is no shared variable `undefined`
}
",
    );
}

#[test]
fn items_and_statements_have_their_places() {
    check(
        "
static x;
thread t {
    nop; static y;
    //   ^^^^^^ `static` is an item, and items stand outside of threads (locals are declared with `let`)
}
",
    );
}

#[test]
fn memory_and_registers_are_not_confused() {
    check(
        "
static x;
static a: [_; 2];
thread t[me in 0..2] {
    let r = x;
    //      ^ `x` is shared memory and has to be loaded (write `x.load()`)
    x = 1;
//  ^ `x` is a shared variable and cannot be assigned to (a store is written `x.store(…)`)
    a[0] = 1;
//  ^^^^ `a[0]` cannot be assigned to (a store is written `a[0].store(…)`)
    r.store(1);
//  ^ `r` is not a shared variable (to use its value as an address, write `mem[r]`)
    a.store(1);
//  ^ `a` is an array of 2 cells, and no cell is named (write `a[0]`)
    a[2].store(1);
    //^ the index 2 is outside of `a`
    x[0].store(1);
    //^ `x` is a single cell and has no index
    me = 1;
//  ^^ `me` is the thread's index and cannot be assigned to
    for i in 0..2 { i = 3; }
    //              ^ the counter `i` of a `for` loop cannot be assigned to (use `while` with a register of your own)
    for i in 0..r {}
    //          ^ `r` is a register, and a constant is needed here
    r + 1;
//  ^^^^^ this statement computes a value and does nothing with it (keep it with `let r = …;`)
    r = x.store(1);
//  ^^^^^^^^^^^^^^^ `store` gives no value (make it a statement of its own)
    let (p, q) = x.load();
    //   ^^^^ two names take the results of a compare_exchange, and there is none here (write `let (old, ok) = x.compare_exchange(0, 1);`)
}
",
    );
}

#[test]
fn orders_fit_their_accesses() {
    check(
        "
static x;
thread t {
    let r = x.load(release);
    //             ^^^^^^^ a load cannot be `release` (use relaxed, acquire or seq_cst)
    x.store(1, acq_rel);
    //         ^^^^^^^ a store cannot be `acq_rel` (use relaxed, release or seq_cst)
    fence(relaxed);
    //    ^^^^^^^ a fence cannot be `relaxed` (use acquire, release, acq_rel or seq_cst)
    x.compare_exchange(0, 1, acq_rel, release);
    //                                ^^^^^^^ a failing compare-exchange is a load and cannot be `release` (use relaxed, acquire or seq_cst)
    x.write(1, release);
    //^^^^^^^^^^^^^^^^^ `write` takes no order, not 1 (non-atomic accesses have no order; use `load` or `store` for atomic ones)
    x.store(1, 2);
    //^^^^^^^^^^^ `store` takes one value, not 2
}
",
    );
}

#[test]
fn a_wait_has_one_place() {
    check(
        "
static x;
static y: [_; 2];
thread t {
    let r;
    wait(x.load() != 1);
    //   ^^^^^^^^^^^^^ a wait needs a condition on shared memory (the wait itself loads: write `x`, not `x.load()`)
    wait(r == 1);
    //   ^^^^^^ a wait needs a condition on shared memory (write `wait(x == 1)`, or any other condition on one shared variable)
    wait(x == y[0]);
    //        ^^^^ a wait looks at one place only
    wait(y[r] < y[0] || y[r] == 1);
    //          ^^^^ a wait looks at one place only
    wait(z == 1);
    //   ^ there is no shared variable `z`
}
",
    );
}

#[test]
fn declarations_are_checked() {
    check(
        "
const A = B + 1;
const B = A + 1;
//        ^ the constant `A` is needed for its own value
const C = 1 / 0;
//        ^^^^^ this constant has no value: division by zero
static x: 1..4;
//     ^ `x` starts with 0, which is not a value of its type (give it a first value: `= 1`)
static y: bool = 2;
//               ^ the initial value 2 is outside the type, 0..=1
static z: [_; 2] = [1, 2, 3];
//                 ^^^^^^^^^ 3 initial values are given for 2 cells
static w: 3..3;
//        ^^^^ there is no value in 3..3
static x;
//     ^ there are two declarations of the variable `x`
static n = 9223372036854775808;
//         ^^^^^^^^^^^^^^^^^^^ this integer does not fit in 64 bits with a sign (give what holds it the type `u64`)
thread t { @a; nop; @a; w.store(n.load() + y.load() + z[0].load() + x.load()); }
//                   ^ there are two declarations of the label `a`
thread t {}
//     ^ there are two declarations of the thread `t`
thread u[100] {}
//       ^^^ thread `u` would have 100 copies (`[*]` stands for any number of copies)
",
    );
}

#[test]
fn what_is_never_reached_or_used_is_a_warning() {
    check(
        "
static x;
static unused;
//     ^^^^^^ warning: the variable `unused` is never used
thread t {
    loop { x.store(1); }
    x.store(2);
//  ^^^^^^^^^^^ warning: this is never reached
    x.store(3);
    @end;
}
never t@end;
//      ^^^ warning: no way leads to the label `end`, so no thread is ever there
",
    );
}

#[test]
fn an_error_shows_the_line_and_what_would_be_accepted() {
    let parsed =
        rav::parse(Source::new("a.rav", "static flag: bool;\nthread t {\n    flga.store(1);\n}\nthread t {}\n"));
    expect![[r#"
        error: there is no shared variable `flga`
         --> a.rav:3:5
          |
        3 |     flga.store(1);
          |     ^^^^
          |
          = help: did you mean `flag`?
        error: there are two declarations of the thread `t`
         --> a.rav:5:8
          |
        2 | thread t {
          |        - the first one
        ...
        5 | thread t {}
          |        ^
    "#]]
    .assert_eq(&render(&parsed.diagnostics, &parsed.source, false));
}
