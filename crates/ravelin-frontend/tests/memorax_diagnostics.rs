//! Diagnostics of Memorax files, and that no text makes the front end fail. Fixtures carry the findings expected of them as
//! carets under the offending characters: a line `/*  ^^^ message */` speaks about the line above it.

use crate::{carets, corpus};
use expect_test::expect;
use ravelin_frontend::{Severity, memorax, render};
use ravelin_program::Source;
use ravelin_testing::Random;

/// The findings in a fixture must be those that its carets announce, and no others.
fn check(fixture: &str) {
    let parsed = memorax::parse(Source::new("test.rmm", fixture));
    carets::check(&parsed.source, &parsed.diagnostics, ("/*", "*/"));
}

#[test]
fn unknown_names_are_all_reported_with_what_was_meant() {
    check(
        "
  forbidden CS CSS
  /*           ^^^ P1 has no label `CSS` (did you mean `CS`?) */
  data turn = 0 : [0:1]
  process
  data flag = 0 : [0:1]
  registers $seen = 0 : [0:1]
  text
    write: trun := 1;
    /*     ^^^^ there is no global variable `trun` (did you mean `turn`?) */
    write: flag := 1;
    /*     ^^^^ `flag` belongs to a process, and none is named (write `flag[my]` for the process's own, `flag[0]` for that of the first other) */
    write: turn[my] := $sene;
    /*                 ^^^^^ there is no register `$sene` (did you mean `$seen`?) */
    /*     ^^^^ this process has no variable `turn` (the global variable is written `turn`) */
    write: flag[0] := 1;
    /*     ^^^^ P1 has no variable `flag` (did you mean `lfag`?) */
    write: flag[1] := 1;
    /*     ^^^^ P0 has one other process, which is number 0 */
    goto SC;
    /*   ^^ there is no label `SC` in this process (did you mean `CS`?) */
    CS: nop
  process
  data lfag = 0 : [0:1]
  text
    CS: read: $r := turn;
    /*        ^^ there is no register `$r` (declare it before `text`: `registers $r = 0 : [0:1]`) */
    CS: fence
/*  ^^ there are two labels `CS` in this process */
",
    );
}

#[test]
fn parsing_goes_on_after_a_syntax_error() {
    check(
        "
  forbidden A
  data x = 0 : [0:1], y : [0:1]
  /*                ^ declarations follow each other without a sign between them (leave out the `,`) */
  /*                    ^ expected `=` and an initial value, found `:` */
       z = 1 : [1]
       /*        ^ expected `:` between the least and the greatest value, found `]` */
       w = 0
  process
  registers $r = 0 : [0:1]
  text
    A: write x := 1;
    /*       ^ expected `:` after `write`, found `x` */
    wirte: x := 1;
    /*     ^ there is no statement `x` (a write to a shared variable is `write: x := …`) */
    raed x;
/*  ^^^^ there is no statement `raed` (did you mean `read`?) */
    if $r then nop;
    /*    ^^^^ expected a comparison such as `=` or `<`, found the reserved word `then` */
    assume: x = 1;
    /*      ^ an expression holds registers and numbers only (read the variable into a register first: `read: $r := x`) */
    nop nop;
    /*  ^^^ expected `;` between two statements, found the reserved word `nop` */
    either { nop; or fence };
    /*          ^ no statement follows this `;` (leave it out) */
    $r = 1;
    /* ^ expected `:=` and the value that the register takes, found `=` */
    goto A;
    /*    ^ no statement follows this `;` (leave it out) */
",
    );
    check(
        "
  data x = 0
/*^^^^ expected `forbidden` and the control states that must not be reached together, found the reserved word `data` */
  process text { either { nop or fence }
  /*           ^ this `{` is never closed */
  process text nop }
  /*               ^ expected `;` and a statement, or `process`, found `}` */
  proces text nop
",
    );
}

#[test]
fn declarations_are_checked() {
    check(
        "
  forbidden A
  data x = * : Z
  /*   ^^^^^^^^^ `x` would start with any of infinitely many integers (give it a domain such as `x = * : [0:1]`, or an initial value) */
       x = 5 : [0:4]
/*     ^ there are two global variables `x` */
/*     ^^^^^^^^^^^^^ `x` starts with 5, which is not in its domain [0:4] */
       $r = 0
/*     ^^ a register is declared in the section `registers` */
       y = 0 : [3:-3]
/*     ^^^^^^^^^^^^^^ the domain [3:-3] of `y` has no values */
       big = 99999999999999999999
       /*    ^^^^^^^^^^^^^^^^^^^^ this integer does not fit in 64 bits */
  process(0)
/*^^^^^^^ this process would have 0 copies */
  registers $r = * $r = 0
  /*        ^^^^^^ `r` would start with any of infinitely many integers (give it a domain such as `r = * : [0:1]`, or an initial value) */
  /*               ^^ there are two registers `r` */
  text A: write: big := $r
",
    );
    check(
        "
  forbidden A; * * *; * *
  /*        ^ this has 1 entry, but there are 2 processes */
  /*           ^^^^^ this has 3 entries, but there are 2 processes */
  process(2) text A: nop
",
    );
    check(
        "
  forbidden DEAD
  /*        ^^^^ warning: no way leads to the label `DEAD` of P0 */
  predicates x = 0; x < 3
/*^^^^^^^^^^ warning: the predicates are not used */
  process text A: goto A; DEAD: nop
",
    );
    check("  forbidden A\n/*          ^ there is no process (add one: `process text L: nop`) */");
}

#[test]
fn a_register_of_any_integer_is_refused_only_if_it_is_read_first() {
    check(
        "
  forbidden A
  data x = 0
  process
  registers $set = * : Z  $read = * : Z  $some = * : Z  $never = *
  /*                      ^^^^^^^^^^^^^ `read` would start with any of infinitely many integers (give it a domain such as `read = * : [0:1]`, or an initial value) */
  /*                                     ^^^^^^^^^^^^^ `some` would start with any of infinitely many integers (give it a domain such as `some = * : [0:1]`, or an initial value) */
  text
  A: read: $set := x;
     while $set = 0 do { read: $set := x; write: x := $set };
     write: x := $read;
     either { $some := 1 or nop };
     locked { $read := 2; write: x := $read };
     assume: $some = 1
",
    );
    check(
        "
  forbidden *
  data x = 0
  process registers $r = * text locked { read: $r := x; write: x := $r + 1 }; assume: $r = 0
",
    );
}

#[test]
fn instructions_of_vips_are_read_with_a_warning_where_they_are_more_than_a_read_or_a_write() {
    check(
        "
  forbidden *
  data x = 0
  process registers $r = 0 text
    llfence;
    syncrd: $r := x;
    syncrd: x = 0;
    syncwr: x := 1;
/*  ^^^^^^^^^^^^^^ warning: `syncwr` is read as `locked write`, which is in memory before the process continues (a store of x86, which may wait in the store buffer, is `write`) */
    slocked write: x := 1
/*  ^^^^^^^^^^^^^^^^^^^^^ warning: `slocked write` is read as a write that reaches memory after all earlier ones (`locked write` waits until the write has reached memory) */
",
    );
}

#[test]
fn locked_blocks_and_pointers_are_checked() {
    check(
        "
  forbidden *
  data x = 0 : [0:1]
  process registers $r = 0 : [4:5] text
  /*                ^^^^^^^^^^^^^^ `r` starts with 0, which is not in its domain [4:5] */
    locked {
      L: nop;
/*    ^ a label cannot stand in a locked block */
      either { nop or nop };
/*    ^^^^^^^^^^^^^^^^^^^^^ this cannot stand in a locked block (a choice in it is written `locked { … or … }`) */
      goto L
/*    ^^^^^^ this cannot stand in a locked block */
    };
    read: [$r] = 0;
    /*    ^^^^ a pointer means a global variable by its number, and 4 to 5 is none */
    write: [1] := 0
    /*     ^^^ a pointer means a global variable by its number, and 1 is none */
",
    );
}

#[test]
fn macros_are_checked() {
    check(
        "
  forbidden *
  macro a(x, x) nop endmacro
  /*         ^ there are two parameters `x` */
  macro b() c() endmacro
  macro c() b() endmacro
  /*        ^ the macro `b` uses itself */
  macro d(p) p endmacro
  macro d() nop endmacro
  /*    ^ there are two macros `d` */
  process text
    b();
    d();
/*  ^ the macro `d` takes 1 argument, and this use has 0 */
    d(nop, nop);
/*  ^ the macro `d` takes 1 argument, and this use has 2 */
    e(1);
/*  ^ there is no macro `e` */
    f();
/*  ^ the macro `f` is used before its definition */
    d({d({nop; nop})})
  macro f() nop endmacro
  endmacro
/*^^^^^^^^ this `endmacro` ends no macro */
  macro g(
/*^^^^^ this macro is never closed (end it with `endmacro`) */
",
    );
}

#[test]
fn an_error_in_a_macro_shows_the_use_too() {
    let text = "forbidden *\nmacro p(v)\nprocess text\n  write: y := v\nendmacro\np(1)\n";
    let parsed = memorax::parse(Source::new("test.rmm", text));
    expect![[r#"
        error: there is no global variable `y`
         --> test.rmm:4:10
          |
        4 |   write: y := v
          |          ^
        5 | endmacro
        6 | p(1)
          | ---- P0 comes from this use of the macro
    "#]]
    .assert_eq(&render(&parsed.diagnostics, &parsed.source, false));
}

#[test]
fn growth_and_depth_are_limited() {
    let mut doubling = String::from("forbidden *\nmacro m0() nop; nop endmacro\n");
    for level in 1..60 {
        doubling.push_str(&format!("macro m{level}() m{0}(); m{0}() endmacro\n", level - 1));
    }
    let nested_arguments = format!("{}1{}", "d(".repeat(2000), ")".repeat(2000));
    let texts = [
        format!("{doubling}process text m59()"),
        format!("forbidden * macro d(p) p endmacro process registers $r = 0 text $r := {nested_arguments}"),
        format!("forbidden * process text {}nop{}", "{".repeat(3000), "}".repeat(3000)),
        format!("forbidden * process text {} nop", "if true then ".repeat(3000)),
        format!("forbidden * process registers $r = 0 text $r := {}1{}", "(".repeat(3000), ")".repeat(3000)),
        format!("forbidden * process registers $r = 0 text $r := 1{}", " + $r".repeat(3000)),
        format!("forbidden * process registers $r = 0 text assume: {}true", "not ".repeat(3000)),
        format!(
            "forbidden * data a = 0 b = 0 c = 0 process registers $r = 0 text locked {{ write: [$r] := 1{} }}",
            "; write: [$r] := 1".repeat(40)
        ),
        format!("forbidden {} process(64) text nop{}", "* ".repeat(64), "; nop".repeat(3000)),
        "process(9) ".repeat(300) + "text nop",
    ];
    for text in texts {
        let parsed = memorax::parse(Source::new("test.rmm", text.clone()));
        assert!(parsed.program.is_none(), "{text}");
        render(&parsed.diagnostics, &parsed.source, false);
    }
}

fn exercise(text: &str) {
    let parsed = memorax::parse(Source::new("test.rmm", text));
    let failed = parsed.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(parsed.program.is_none(), failed, "a program is given exactly if there is no error:\n{text}");
    for diagnostic in &parsed.diagnostics {
        let place = parsed.source.position(diagnostic.span);
        assert!(place.is_some() || text.trim().is_empty(), "`{}` has no place:\n{text}", diagnostic.message);
    }
    if failed {
        render(&parsed.diagnostics, &parsed.source, false);
    }
}

#[test]
fn no_text_makes_the_front_end_fail() {
    let corpus = corpus::texts("memorax_corpus");
    let words: Vec<&str> = corpus.iter().flat_map(|text| text.split_whitespace()).collect();
    let mut numbers = Random::new(7);
    for text in &corpus {
        for _ in 0..60 {
            // Bytes: removed, doubled, replaced.
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..1 + numbers.below(4) {
                if bytes.is_empty() {
                    break;
                }
                let at = numbers.below(bytes.len());
                match numbers.below(4) {
                    0 => drop(bytes.drain(at..(at + 1 + numbers.below(20)).min(bytes.len()))),
                    1 => bytes.insert(at, bytes[at]),
                    2 => bytes[at] = b"(){}[];:=$*@\xff\n0"[numbers.below(15)],
                    _ => bytes.truncate(at.max(1)),
                }
            }
            exercise(&String::from_utf8_lossy(&bytes));
            // Words: removed, swapped, put in from anywhere.
            let mut tokens: Vec<&str> = text.split_whitespace().collect();
            for _ in 0..1 + numbers.below(4) {
                let at = numbers.below(tokens.len());
                match numbers.below(3) {
                    0 => drop(tokens.remove(at)),
                    1 => tokens.insert(at, words[numbers.below(words.len())]),
                    _ => tokens.swap(at, numbers.below(at + 1)),
                }
            }
            exercise(&tokens.join(" "));
        }
    }
    for text in [
        "",
        " ",
        "\u{feff}",
        "/*",
        "/*/",
        "$",
        "forbidden",
        "macro",
        "macro m",
        "macro m(",
        "m(",
        "process",
        "\u{1f600}",
    ] {
        exercise(text);
    }
}
