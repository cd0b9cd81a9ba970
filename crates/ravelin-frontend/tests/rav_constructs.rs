//! Constructs that stand for others: enums, functions, `match`, values of `if`. Each text is compared with one written out by
//! hand: the same steps, and the same locations. `rav_meaning` compares random texts with a walk of their trees.

use crate::carets;
use ravelin_frontend::{print, rav, render};
use ravelin_program::{Instruction, Notation, Program, Source};

fn check(fixture: &str) {
    let parsed = rav::parse(Source::new("test.rav", fixture));
    carets::check(&parsed.source, &parsed.diagnostics, ("//", ""));
}

fn parse(text: &str) -> Program {
    let parsed = rav::parse(Source::new("t.rav", text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{shown}\n{text}"))
}

/// Steps and goals; names of registers and notations are not compared.
fn listing(program: &Program) -> String {
    let mut program = program.without_source();
    for variable in &mut program.memory.variables {
        variable.notation = Notation::Signed;
    }
    for thread in &mut program.threads {
        thread.locations.iter_mut().for_each(|location| location.labels.sort());
        for (number, register) in thread.registers.iter_mut().enumerate() {
            register.name = format!("r{number}");
            (register.notation, register.hidden) = (Notation::Signed, false);
        }
    }
    let cells: Vec<_> = program.memory.variables.iter().map(|of| (&of.name, of.base, of.domain, &of.initial)).collect();
    let mut text = format!("{cells:?}\n");
    for thread in &program.threads {
        let registers: Vec<_> = thread.registers.iter().map(|register| register.domain).collect();
        text += &format!("{} {:?} {registers:?}\n", thread.name, thread.initial);
        for transition in &thread.transitions {
            let step = program.show_instruction(thread, &transition.instruction);
            let exact = format!("{:?}", transition.instruction);
            text += &format!(
                "{} → {} {step} {:016x}\n",
                transition.from.0,
                transition.to.0,
                crate::rav_unchanged::hash(&exact)
            );
        }
    }
    for goal in &program.goals {
        text += &format!("{:?} {:?}\n", goal.kind, goal.condition);
    }
    text
}

#[track_caller]
fn same(short: &str, long: &str) {
    assert_eq!(listing(&parse(short)), listing(&parse(long)), "{short}\nand\n{long}");
}

#[test]
fn an_enum_is_a_range_and_its_values_are_constants() {
    same(
        "enum E { A, B = 3, C } static x: E; thread t { x.store(E::C); let r: E = x.load(); wait(x != E::B); } never x == E::A;",
        "static x: 0..=4; thread t { x.store(4); let r: 0..=4 = x.load(); wait(x != 3); } never x == 0;",
    );
    // A register takes the type of its first value.
    same(
        "enum E { A, B } static x: E; thread t { let r = x.load(); if r == E::B { nop; } }",
        "static x: 0..=1; thread t { let r: 0..=1 = x.load(); if r == 1 { nop; } }",
    );
}

#[test]
fn the_values_of_an_enum_are_named_for_users() {
    let text = "enum E { A, B } static x: E; thread t { x.store(E::B); if x.load() != E::A { nop; } wait(x == E::B); \
                let r = x.compare_exchange(E::A, E::B); r = E::A; } never t.r == E::B && x == E::A;";
    let program = parse(text);
    let thread = &program.threads[0];
    let shown: Vec<String> =
        thread.transitions.iter().map(|transition| program.tell_transition(thread, transition)).collect();
    for part in ["x.store(E::B)", "x != E::A", "wait(x == E::B)", "x.compare_exchange(E::A, E::B)", "r = E::A"] {
        assert!(shown.iter().any(|step| step.contains(part)), "{part} in {shown:?}");
    }
    assert_eq!(program.show_condition(&program.goals[0].condition), "t.r == E::B && x == E::A");
    let printed = print::rav(&program);
    assert!(printed.contains("enum E { A = 0, B = 1 }\nstatic x: E;"), "{printed}");
    assert_eq!(
        print::rav(&parse(&printed)).lines().skip(1).collect::<Vec<_>>(),
        printed.lines().skip(1).collect::<Vec<_>>()
    );
}

#[test]
fn a_call_is_the_body_of_the_function() {
    same(
        "static x; fn f(a) { x.store(a); fence(); } thread t { f(1); let r = 2; f(r); }",
        "static x; thread t { x.store(1); fence(); let r = 2; x.store(r); fence(); }",
    );
    same(
        "static x; fn f(a) -> _ { if a == 1 { return x.load(); } x.swap(2) } thread t { let r = f(1); let s = f(r); }",
        "static x; thread t { let r; if 1 == 1 { r = x.load(); goto e; } r = x.swap(2); @e; let s; \
         if r == 1 { s = x.load(); goto d; } s = x.swap(2); @d; }",
    );
    // A constant expression needs no step, and a label is at a place of its own in each call.
    same(
        "const fn f(a) -> _ { a * 2 } static x: [_; f(2)]; fn g(a) { @l; x[f(a)].store(f(a + 1)); } \
         thread t { g(0); nop; g(1); } never t@l && x[f(1)] == f(x[0]);",
        "static x: [_; 4]; thread t { @l; x[0].store(2); nop; @m; x[2].store(4); } never t@l + t@m && x[2] == x[0] * 2;",
    );
}

#[test]
fn the_steps_of_a_function_know_their_calls() {
    let program =
        parse("static x;\nfn g() { x.store(1); }\nfn f() { g(); x.store(2); }\nthread t {\n    f();\n    g();\n}\n");
    let thread = &program.threads[0];
    let calls = thread.transitions.iter().map(|transition| {
        let calls = thread.calls_of(transition);
        let line = |span| program.source.position(span).map_or(0, |position| position.line);
        calls.map(|call| format!("{} {}", call.function, line(call.span))).collect::<Vec<_>>().join(", ")
    });
    assert_eq!(calls.collect::<Vec<_>>(), ["g 3, f 5", "f 5", "g 6"]);
}

#[test]
fn a_match_is_a_chain_of_tests() {
    same(
        "static x; thread t { let r = x.load(); match r { 0 | 5 => { nop; } 1..=3 => { x.store(1); } _ => { x.store(2); } } }",
        "static x; thread t { let r = x.load(); if r == 0 || r == 5 { nop; } else if r >= 1 && r <= 3 { x.store(1); } \
         else { x.store(2); } }",
    );
    // With an arm for every value the last one needs no test.
    same(
        "enum E { A, B } static x: E; thread t { match x.load() { E::A => { nop; } E::B => { x.store(E::A); } } }",
        "static x: bool; thread t { if x.load() == 0 { nop; } else { x.store(0); } }",
    );
    same(
        "static x; thread t { let r = match x.load() { 1 => 2, _ => x.swap(3) }; let s = if r == 2 { 1 } else { r }; }",
        "static x; thread t { let r; if x.load() == 1 { r = 2; } else { r = x.swap(3); } let s; \
         if r == 2 { s = 1; } else { s = r; } }",
    );
}

#[test]
fn integer_types_wrap_and_ranges_do_not() {
    same(
        "static x: u8; thread t { x.fetch_add(1); let r = x.load(); r = r + 1; }",
        "static x: 0..256; thread t { wrapping(u8, x.fetch_add(1)); let r = x.load(); r = wrapping(u8, r + 1); }",
    );
    same(
        "static x: u64; thread t { let r = x.load(); if r < 5 { x.fetch_max(r / 2); } } never x > 3;",
        "static x; thread t { let r = x.load(); if ult(r, 5) { x.fetch_umax(wrapping(i64, udiv(r, 2))); } } never ugt(x, 3);",
    );
    same(
        "static x: 0..256; thread t { x.fetch_add(1); let r = x.load() + 1; }",
        "static x: 0..=255; thread t { checked(x.fetch_add(1)); let r = checked(x.load() + 1); }",
    );
    // What the file says of all operators holds for these, too.
    same(
        "arithmetic wrapping 0..4; static x: u8; thread t { x.fetch_add(1); }",
        "arithmetic wrapping 0..4; static x: 0..256; thread t { x.fetch_add(1); }",
    );
    let program = parse("static x: u64 = 18446744073709551615; thread t { x.store(0xffff_ffff_ffff_fffe); }");
    assert_eq!(program.memory.notation_at(1).show(-1), "18446744073709551615");
    let thread = &program.threads[0];
    assert_eq!(program.tell_transition(thread, &thread.transitions[0]), "x.store(18446744073709551614)");
    assert!(matches!(thread.transitions[0].instruction, Instruction::Store { .. }));
}

#[test]
fn wrong_enums_are_refused() {
    check(
        "
enum E { A, B, A }
//             ^ there are two declarations of the value `A`
enum F { A, B = 0 }
//          ^ `B` is 0, and `A` is so already
enum G {}
//   ^ the enum `G` has no values
enum u8 { A }
//   ^^ `u8` is the name of a type already
enum H { A = H::B, B }
//       ^ the value `H::A` is needed for its own value
enum I { A = 5, B(u8) }
//               ^ `B` cannot hold values: those of an enum are names for integers (keep what it would hold in a cell of its own)
enum J { A = 5, B = 7 }
static x: J;
//     ^ `x` starts with 0, which is not a value of its type (give it a first value: `= J::A`)
static y: J = 6;
//            ^ the initial value 6 is none of `J`
static z: J = any;
//            ^^^ `any` value from 5 to 7 is meant, and some have no name
thread t {
    x.store(J::C);
    //         ^ the enum `J` has no value `C`
    y.store(K::A);
    //      ^ there is no enum `K`
    z.store(B);
    //      ^ there is no register or constant `B` (write `E::B`)
    let r: K = 0;
    //     ^ there is no type `K`
}
",
    );
}

#[test]
fn wrong_functions_and_calls_are_refused() {
    check(
        "
static x;
fn f(a, b) -> u8 { a + b }
fn f() {}
// ^ there are two declarations of the function `f`
fn g(a, a) { x.store(a); }
//      ^ there are two declarations of the parameter `a`
fn even(n) -> bool { odd(n) }
fn odd(n) -> bool { even(n) }
//                  ^^^^ functions cannot call themselves, and `even` calls `odd` calls `even`
fn nothing() { x.store(1); }
fn sometimes(a) -> u8 { if a == 1 { return 1; } }
//                      ^^^^^^^^^^^^^^^^^^^^^^^ this cannot stand in a locked block
//                                              ^ `sometimes` can come to its end without a value (end it with the value, or with `return …;`)
fn fixed(a) { a = 1; }
//            ^ the parameter `a` cannot be assigned to (declare it as `mut a`)
fn early() -> u8 { return; }
//                 ^^^^^^^ `early` gives a value, and there is none here (write `return …;` with the value)
fn late() { return 1; }
//                 ^ `late` gives no value (write `-> u8` or another type after its parameters)
const fn impure() -> u8 { x.load() }
//                        ^^^^^^^^ `impure` is a `const fn`, which is one expression, perhaps after some `let` (leave out `const` if only threads call it)
static a: [u8; f(1, 2)];
//             ^^^^^^^ a constant is needed here, and `f` is no `const fn`
thread t {
    let r = f(1);
    //      ^ `f` takes 2 values, not 1
    r = nothing();
    //  ^^^^^^^ `nothing` gives no value (write `-> u8` or another type after its parameters)
    r = h(1);
    //  ^ there is no function `h` (declare it: `fn h(…) -> u8 { … }`)
    g(1, 2);
    even(1);
    sometimes(r);
    fixed(2);
    early();
    late();
    return 1;
    //     ^ a thread gives no value, so `return` ends it only (write `return;`)
}
thread u { locked { let r = sometimes(1); } break; impure(); }
//                                          ^^^^^^ `break` stands outside of any loop
",
    );
}

#[test]
fn wrong_matches_are_refused() {
    check(
        "
enum E { A, B, C }
static x: E;
static y;
thread t {
    match x.load() {
    //    ^^^^^^^^ this match has no arm for `E::B`, `E::C` (add one, or `_ => …` for all other values)
        E::A => {}
    }
    let r = match y.load() { 0 => 1, 2..1 => 2, _ => 3 };
    //                               ^^^^ there is no value in this range
    match r { 1 => {} n => {} }
    //                ^ there is no register or constant `n`
    match x.load() {
        E::A | E::B => {}
        E::B => {}
//      ^^^^ warning: no value comes to this arm
        _ => {}
    }
    let s = if r == 1 { 2 };
    //                     ^ expected `else`: an `if` that gives a value has one, found `;`
    locked { y.store(if r == 1 { 2 } else { 3 }); }
    //                  ^^^^^^ a locked block is a straight line, and this would branch (load into registers first, and then combine them)
}
",
    );
}

#[test]
fn calls_that_multiply_are_refused_in_time() {
    let mut text = "static x; fn f0() { let r; }\n".to_owned();
    for number in 1..60 {
        text += &format!("fn f{number}() {{ f{}(); f{}(); }}\n", number - 1, number - 1);
    }
    text += "thread t { f59(); }";
    let parsed = rav::parse(Source::new("t.rav", text));
    assert!(parsed.diagnostics.iter().any(|error| error.message.contains("the calls of functions make more than")));
    let mut text = "const fn f0(a) -> _ { a }\n".to_owned();
    for number in 1..60 {
        text += &format!("const fn f{number}(a) -> _ {{ f{}(a) + f{}(a) }}\n", number - 1, number - 1);
    }
    text += "const N = f59(1); static x: [_; f40(0)]; thread t { x[0].store(N); } never x[0] == f59(x[0]);";
    let parsed = rav::parse(Source::new("t.rav", text));
    assert!(parsed.diagnostics.iter().any(|error| error.message == "constants call functions too often"));
}
