//! Diagnostics of litmus tests. Each fixture carries the errors expected of it as carets under the offending characters:
//! a line `(* ^^^ message *)` speaks about the line above it, and the carets give the columns.

use crate::carets;
use expect_test::expect;
use ravelin_frontend::{Diagnostic, litmus, render};
use ravelin_program::Source;

/// The diagnostics of a fixture must be those that its carets announce, and no others.
fn check(fixture: &str) {
    let parsed = litmus::parse(Source::new("test.litmus", fixture));
    // What helps is often longer than a line, and is compared where a whole report is.
    let brief: Vec<Diagnostic> =
        parsed.diagnostics.iter().cloned().map(|one| Diagnostic { help: None, ..one }).collect();
    carets::check(&parsed.source, &brief, ("(*", "*)"));
    let failed = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), failed, "a program is given exactly if there is no error:\n{fixture}");
}

#[test]
fn instructions_that_are_not_read_are_named() {
    check(
        "X86_64 t
{}
 P0                   ;
    clflush (x)       ;
(*  ^^^^^^^ the instruction `clflush` is not supported: persistent memory is not modelled *)
    movnti %eax,(x)   ;
(*  ^^^^^^ the instruction `movnti` is not supported: non-temporal accesses are not modelled *)
    cmovc %eax,%ebx   ;
(*  ^^^^^ the instruction `cmovc` is not supported: use a comparison and a jump *)
    mvo $1,(x)        ;
(*  ^^^ the instruction `mvo` is not supported *)
    lock movl $1,(x)  ;
(*  ^^^^ `movl` cannot be locked *)
    lock addl $1,%eax ;
(*  ^^^^ `lock` needs a memory operand that is written to *)
    mfence (x)        ;
(*  ^^^^^^^^^^ `mfence` takes no operand, not 1 *)
    shll %cl,%eax     ;
(*       ^^^ only shifts by a constant are read *)
exists (x=1)
",
    );
}

#[test]
fn operands_fit_their_instructions() {
    check(
        "X86_64 t
{}
 P0                   ;
    movl (x),(y)      ;
(*  ^^^^^^^^^^^^ an instruction has at most one memory operand *)
    addl (x),(y)      ;
(*  ^^^^^^^^^^^^ an instruction has at most one memory operand *)
    movl %eax,$1      ;
(*            ^^ a constant cannot be written to *)
    movl $1,$x        ;
(*           ^ the address of `x` cannot be written to *)
    movl $1,%rax      ;
(*          ^^^^ this register has 64 bits, and `movl` works on 32 *)
    movl $1,%eex      ;
(*           ^^^ there is no register `eex` *)
    movl 1,%eax       ;
(*       ^ a number alone is no operand *)
    movl (%rax,%rbx,3),%eax ;
(*                  ^ expected a scale of 1, 2, 4 or 8, found `3` *)
    movl $,%eax       ;
(*        ^ expected a number or the name of a cell after `$`, found `,` *)
    xchgl (x),(y)     ;
(*  ^^^^^^^^^^^^^ one operand of `xchg` is a register *)
    jmp nowhere       ;
(*      ^^^^^^^ there is no label `nowhere` in this thread *)
    jmp $1            ;
(*      ^^ a jump goes to a label of its thread *)
    movl $1,(x) movl  ;
(*              ^^^^ expected `|` or `;` after an instruction, found `movl` *)
L: nop                ;
   L: nop             ;
(* ^ the label `L` stands twice in this thread *)
exists (x=1)
",
    );
}

#[test]
fn sizes_are_not_mixed() {
    check(
        "X86_64 t
{}
 P0               | P1                 ;
    movl (x),%eax | nop ;
    nop           | movq %rbx,(x)      ;
(*                            ^^^ `x` is accessed with 64 bits and with 32 *)
    movq %rax,(y) | nop                ;
(*       ^^^^ `%rax` is read with 64 bits and written with 32 *)
exists (x=1)
",
    );
}

#[test]
fn tables_have_as_many_columns_as_threads() {
    check(
        "X86_64 t
{}
 P0          | Q1 | P0 ;
(*             ^^ threads are named P0, P1, …, not `Q1` *)
(*                  ^^ there are two threads `P0` *)
   movl $1,(x) ;
exists (x=1)
",
    );
    check(
        "X86_64 t
{}
 P0          | P1 ;
   movl $1,(x)    ;
(* ^^^^^^^^^^^ this row has 1 columns, and there are 2 threads *)
exists (x=1)
",
    );
}

#[test]
fn initial_states_are_checked() {
    check(
        "X86_64 t
{ x=1; y 2; 0:rax; 0:foo=1; 1:rax=2; x=3; int t[2]={1,2,3}; int u[0]; t[1]=2; 0:rbx=t[7]; z=; }
(*       ^ expected `;` or `}` after the initial value, found `2` *)
(*                   ^^^ there is no register `foo` *)
(*                                   ^ `x` is given an initial value twice *)
(*                                                 ^^^^^^^ 3 values are given for 2 cells *)
(*                                                                ^ an array has from 1 to 4096 cells, not 0 *)
(*                                                                      ^ one cell of `t` cannot be given a value of its own *)
(*                                                                                  ^ `t` is a single cell and has no index 7 *)
(*                                                                                          ^ expected a number or the address of a cell, found `;` *)
P0 ;
nop ;
",
    );
    check(
        "X86_64 t
{ 1:rax=2; }
(*  ^^^ there is no thread P1 *)
P0 ;
nop ;
",
    );
}

#[test]
fn conditions_are_checked() {
    check(
        "X86_64 t
{}
P0 ;
nop ;
exists (1:rax=0 /\\ 0:rxx=1 /\\ x[2]=1)
(*      ^ there is no thread P1 *)
(*                   ^^^ there is no register `rxx` *)
(*                            ^ `x` is a single cell and has no index 2 *)
",
    );
    check(
        "X86_64 t
{}
P0 ;
nop ;
locations [x y]
(*           ^ expected `;` or `]` after a location, found `y` *)
   exists (x=1
   forall (x=2)
(* ^^^^^^ expected `)` after the condition, found `forall` *)
",
    );
    check(
        "X86_64 t
{}
P0 ;
nop ;
exists (x=1)
   exists (x=2)
(* ^^^^^^^^^^^^ a test has one condition *)
",
    );
    check(
        "X86_64 t
{}
P0 ;
nop ;
exists (x=1)
   forever (x=2)
(* ^^^^^^^ expected nothing after the condition, found `forever` *)
",
    );
}

#[test]
fn statements_of_c_are_checked() {
    check(
        "C t
{}
P0 (atomic_int* x, int y) {
(*                     ^ the parameter `y` is no pointer *)
    x = 1;
(*  ^ `x` is the address of a cell and cannot be assigned to *)
    *z = 1;
(*   ^ there is no local variable or parameter `z` *)
    r1 = 1;
(*  ^^ warning: `r1` is assigned to without a declaration *)
    int r0 = atomic_load_explicit(x, memory_order_release);
(*                                   ^^^^^^^^^^^^^^^^^^^^ a load cannot be `memory_order_release` *)
    atomic_store_explicit(x, 1, memory_order_acquire);
(*                              ^^^^^^^^^^^^^^^^^^^^ a store cannot be `memory_order_acquire` *)
    atomic_store_explicit(x, 1, relaxed);
(*                              ^^^^^^^ expected a memory order *)
    atomic_store(x);
(*  ^^^^^^^^^^^^^^^ `atomic_store` takes 2 arguments, not 1 *)
    r0 = atomic_load_explicit(x, memory_order_consume);
(*                               ^^^^^^^^^^^^^^^^^^^^ warning: memory_order_consume is read as memory_order_acquire *)
(*  ^^ warning: `r0` is assigned to without a declaration *)
    r0 = READ_ONCE(*x);
(*       ^^^^^^^^^ `READ_ONCE` belongs to the Linux kernel, whose tests are not supported *)
    r0 = atomic_flag_test_and_set(x);
(*       ^^^^^^^^^^^^^^^^^^^^^^^^ there is no operation `atomic_flag_test_and_set` *)
    for (r0 = 0; r0 < 2; r0 = r0 + 1) { }
(*  ^^^ `for` is not supported *)
    r0 = atomic_store(x, 1);
(*       ^^^^^^^^^^^^^^^^^^ this operation gives no value *)
    r0 + 1 = 2;
(*  ^^^^^^ this cannot be assigned to *)
    r0 = &r1;
(*       ^^^ the address of `r1` is no value *)
    r0 = 1
    r0 = 2;
(*  ^^ expected `;` after the statement, found `r0` *)
    atomic_compare_exchange_strong(x, &r7, 1);
(*                                     ^^ there is no local variable or parameter `r7` *)
}
exists (x=1)
",
    );
}

#[test]
fn locals_of_c_are_known_to_conditions() {
    check(
        "C t
{}
P0 (atomic_int* x) { int r0 = atomic_load(x); }
exists (0:r1=1)
(*        ^^ P0 has no local variable `r1` *)
",
    );
}

#[test]
fn headers_say_what_is_read() {
    let shown = |text: &str| {
        let parsed = litmus::parse(Source::new("t.litmus", text));
        assert!(parsed.program.is_none());
        render(&parsed.diagnostics, &parsed.source, false)
    };
    expect![[r#"
        error: expected a kind of test, found `PPC`
         --> t.litmus:1:1
          |
        1 | PPC SB
          | ^^^ the first line of a litmus test is a kind and a name
          |
          = help: tests for X86_64 (AT&T), X86 (Intel) and C are read
    "#]]
    .assert_eq(&shown("PPC SB\n{}\n"));
    expect![[r#"
        error: the test has no name
         --> t.litmus:1:1
          |
        1 | X86_64
          | ^^^^^^
          |
          = help: write one behind the kind: `X86_64 SB`
    "#]]
    .assert_eq(&shown("X86_64\n{}\nP0 ;\nnop ;\n"));
    expect![[r#"
        error: the test has no initial state
         --> t.litmus:1:1
          |
        1 | C SB
          | ^^^^
          |
          = help: write `{ }` before the code if all memory and registers start at 0
    "#]]
    .assert_eq(&shown("C SB\nP0 (int* x) "));
    expect![[r#"
        error: expected a kind of test, found nothing
         --> t.litmus:1:1
          |
        1 |
          | ^ the first line of a litmus test is a kind and a name
          |
          = help: tests for X86_64 (AT&T), X86 (Intel) and C are read
    "#]]
    .assert_eq(&shown(""));
}
