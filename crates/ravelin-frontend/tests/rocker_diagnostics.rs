//! Diagnostics. Each fixture carries the errors expected of it as carets under the offending characters: a line
//! `//  ^^^ message` speaks about the line above it, and the carets give the columns.

use crate::carets;
use ravelin_frontend::{Severity, rocker};
use ravelin_program::Source;

/// The diagnostics of a fixture must be those that its carets announce, and no others.
fn check(fixture: &str) {
    let parsed = rocker::parse(Source::new("test.tpl", fixture));
    carets::check(&parsed.source, &parsed.diagnostics, ("//", ""));
}

#[test]
fn misspelt_names_are_all_reported_with_what_was_meant() {
    check(
        "
global flag, turn;
track trun: all;
//    ^^^^ there is no variable `trun` (did you mean `turn`?)
fn p {
    local count, seen;
    flug.store(1);
//  ^^^^ there is no variable `flug` (did you mean `flag`?)
    cuont = flag.load();
//  ^^^^^ there is no local `cuont` (did you mean `count`?)
    count = sen + coutn;
    //      ^^^ there is no local `sen` (did you mean `seen`?)
    //            ^^^^^ there is no local `coutn` (did you mean `count`?)
    flag.stroe(1);
    //   ^^^^^ there is no access `stroe` (did you mean `store`?)
    flag.store(1, rell);
    //            ^^^^ expected the order of a store (`rlx` or `rel`), found `rell` (did you mean `rel`?)
    flag.FADD(1);
    //   ^^^^ there is no access `FADD` (it is written `FADD(x, …)`)
    asume(count == 1);
//  ^^^^^ there is no statement `asume` (did you mean `assume`?)
    goto strat;
    //   ^^^^^ there is no label `strat` in this thread (did you mean `start`?)
    start: fence(seqcst);
    //           ^^^^^^ expected the order of a fence (`acq`, `rel`, `acq_rel`, `seq_cst` or `upd`), found `seqcst` (did you mean `seq_cst`?)
    elsewhere.store(count);
//  ^^^^^^^^^ there is no variable `elsewhere` (declare it with `global elsewhere;`)
}
",
    );
}

#[test]
fn parsing_goes_on_after_a_syntax_error() {
    check(
        "
max_value;
//       ^ expected the greatest value, found `;`
global x = , y;
//         ^ expected a number to start with, found `,`
global z
//      ^ expected `;` after the declaration, found the keyword `global`
global w;
   gloabl v;
// ^^^^^^ expected a declaration (`max_value`, `global`, `na`, `track` or `fn`), found `gloabl` (did you mean `global`?)
fn p {
    local r
//         ^ expected `;` after the locals, found `r`
    r = ;
    //  ^ expected a value, found `;`
    w.store(1
    if (r == 1) goto ;
//  ^^ expected `)` after the access, found the keyword `if`
    //               ^ expected a label, found `;`
    while r == 1 { skip; }
    //    ^ expected `(` after `while`, found `r`
    w.store(2));
    //        ^ expected `;` after the access, found `)`
    r = w.load() + 1;
    //           ^ expected `;` after the access, found `+` (compute with the value in a statement of its own)
    if (r) { skip; } else if (r == 2) { goto nowhere; }
    //                    ^^ `else` is followed by a block (write `else { if (…) { … } }`)
    //                                       ^^^^^^^ there is no label `nowhere` in this thread (a label is declared by `nowhere:` before a statement)
    oneof { skip; };
    //    ^ expected `(` after `oneof`, found `{`
}
   }
// ^ this `}` closes nothing
",
    );
}

#[test]
fn the_classes_of_variables_are_not_mixed() {
    check(
        "
global x, y;
na d, x;
//    ^ there are two variables named `x`
track d: 1;
//    ^ `d` is not atomic
fn p {
    local r, r, y;
    //       ^ there are two locals named `r`
    //          ^ `y` is already the name of a shared variable
    r = d.load();
    //  ^ `d` is not atomic and cannot be accessed by `load` (use `naload`)
    d.store(1);
//  ^ `d` is not atomic and cannot be accessed by `store` (use `nastore`)
    x.nastore(1);
//  ^ `x` is atomic and cannot be accessed by `nastore` (use `store`)
    r = x.naload();
    //  ^ `x` is atomic and cannot be accessed by `naload` (use `load`)
    lock(d);
    //   ^ `d` is not atomic and cannot be accessed by `lock` (declare it as `global`)
    r = CAS(d, 0, 1);
    //      ^ `d` is not atomic and cannot be accessed by `CAS` (declare it as `global`)
    r.store(1);
//  ^ `r` is a local and not a shared variable
}
fn p { skip; }
// ^ there are two threads named `p`
",
    );
}

#[test]
fn memory_is_accessed_only_by_statements_of_its_own() {
    check(
        "
global x;
na d;
fn p {
    local r;
    r = x + 1;
    //  ^ the shared variable `x` cannot stand in an expression (load it into a local first: `r = x.load();`)
    if (d == 1) { skip; }
    //  ^ the shared variable `d` cannot stand in an expression (load it into a local first: `r = d.naload();`)
    if (x.load(acq) == 1 && undeclared) { skip; }
    //  ^^^^^^^^^^^ memory is not accessed inside an expression (load it into a local first: `r = x.load();`)
    //                      ^^^^^^^^^^ there is no local `undeclared`
    r = 1 + CAS(x, 0, 1);
    //      ^^^ `CAS` cannot stand inside an expression (give its result to a local first: `r = CAS(…);`)
    x = 5;
//  ^ `x` is a shared variable, and a local is needed here (a store is written `x.store(…);`)
    verify(d);
    //     ^ `d` is a shared variable, and a local is needed here
      x.load();
    //  ^^^^ the value that is loaded goes nowhere (give it to a local: `r = x.load(…);`)
    r = x.store(1);
    //    ^^^^^ a store has no value
    r = BCAS(x, 0, 1);
    //  ^^^^ `BCAS` has no value
    r = r[1] + 2;
    //  ^^^^ there are no arrays in TPL
}
",
    );
}

#[test]
fn orders_must_fit_the_access() {
    check(
        "
global x;
fn p {
    local r;
    r = x.load(rel);
    //         ^^^ expected the order of a load (`rlx` or `acq`), found the keyword `rel` (did you mean `rlx`?)
    x.store(1, seq_cst);
    //         ^^^^^^^ expected the order of a store (`rlx` or `rel`), found the keyword `seq_cst`
    wait(x, 1, rel);
    //         ^^^ expected the order of a load (`rlx` or `acq`), found the keyword `rel` (did you mean `rlx`?)
    r = FADD(x, 1, acq);
    //                ^ expected `,` and the order of the store after that of the load, found `)`
    fence(rlx);
    //    ^^^ expected the order of a fence (`acq`, `rel`, `acq_rel`, `seq_cst` or `upd`), found the keyword `rlx` (did you mean `rel`?)
}
",
    );
}

#[test]
fn names_cannot_be_keywords() {
    check(
        "
global print, len;
//     ^^^^^ expected the name of a variable, found the keyword `print` (keywords cannot be names; choose another one)
global byte, bytes;
//     ^^^^ `byte` is a keyword of Promela and cannot be a name
fn run {
// ^^^ `run` is a keyword of Promela and cannot be a name
    local waited, do;
    //            ^^ expected the name of a local, found the keyword `do` (keywords cannot be names; choose another one)
    wait = 1;
//  ^^^^ expected a local, found the keyword `wait` (keywords cannot be names; choose another one)
    else: skip;
//  ^^^^ expected a label, found the keyword `else` (keywords cannot be names; choose another one)
    waited = 1;
}
",
    );
}

#[test]
fn declarations_and_values_are_checked() {
    check(
        "
max_value 300;
//        ^^^ the greatest value cannot be 300
   max_value 2;
// ^^^^^^^^^ the greatest value is declared twice
global x = 7, y = 0x1;
//                ^^^ `0x1` is not a number
   /* no */
// ^^ TPL has no block comments (start every line of the comment with `//`)
fn p {
    x.store(1);
    local r = 3;
//  ^^^^^ locals are declared before the first statement (move this to the start of the `fn`)
    //      ^ a local is declared without a value (locals start at 0; assign to `r` in a statement)
    l: r = 99999999999999999999;
    //     ^^^^^^^^^^^^^^^^^^^^ this number is too large
    l: skip;
//  ^ there are two labels named `l`
    r = 1 $ 2;
    //    ^ `$` means nothing here
    //      ^ expected `;` after the assignment, found `2`
    last:
//  ^^^^ a label stands before a statement, and there is none (write `skip;` after it)
}
",
    );
    check(
        "
max_value 3;
global x = 4;
//         ^ 4 is greater than the greatest value, which is 3
track x: 5;
//       ^ warning: 5 is greater than the greatest value, which is 3
fn p {
    while (true) { x.store(4); }
    //                     ^ warning: 4 is greater than the greatest value, which is 3
    unreached: skip;
//  ^^^^^^^^^ warning: nothing leads to the label `unreached`
}
",
    );
}

#[test]
fn a_block_that_is_not_closed_does_not_swallow_the_next_thread() {
    check(
        "
global x;
fn p {
//   ^ this `{` is never closed
    while (true) {
        x.store(1);
}
fn q {
    y.store(1);
//  ^ there is no variable `y` (declare it with `global y;`)
}
",
    );
}

#[test]
fn expected_answers_that_make_no_sense_are_only_doubted() {
    let text = "// ROBUSTNESS egr: robust: tso.\nglobal x;\nfn p { skip; }\n";
    let parsed = rocker::parse(Source::new("test.tpl", text));
    assert!(parsed.program.is_some() && parsed.expectations.is_empty());
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].severity, Severity::Warning);
}
