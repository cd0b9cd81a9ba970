//! Damaged programs of LLVM IR: each is lifted to a valid model, or refused with a reason, and neither panics nor hangs.

use crate::mutation::Mutants;
use ravelin_frontend::c::{LiftOptions, lift};
use ravelin_frontend::{Language, render};
use ravelin_program::{Source, validate};
use ravelin_testing::seeds;

const PROGRAMS: [&str; 2] = [include_str!("ir_texts/programs/typed.ll"), include_str!("ir_texts/programs/opaque.ll")];

const PARTS: [&str; 44] = [
    "0",
    "1",
    "-1",
    "9223372036854775807",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "ptr",
    "double",
    "undef",
    "null",
    "zeroinitializer",
    "poison",
    "true",
    "@top",
    "@queue",
    "@counts",
    "@worker",
    "@main",
    "@malloc",
    "@free",
    "@pthread_create",
    "@pthread_mutex_lock",
    "%argument",
    "%0",
    "%1",
    "%call",
    " seq_cst",
    " monotonic",
    " add ",
    " sdiv ",
    " urem ",
    " lshr ",
    " icmp ult ",
    " icmp sge ",
    "  ret void\n",
    "  unreachable\n",
    "  fence seq_cst\n",
    "  call void @abort()\n",
    "label %entry",
    "[4 x i32]",
];

/// What others do with what was read.
fn lift_text(text: &str, options: &LiftOptions) {
    let source = Source::new("damaged.ll", text);
    let lifted = lift(source, Language::Llvm, text, options);
    match &lifted.program {
        Some(program) => assert!(validate(program).is_empty(), "{:?}\n{text}", validate(program)),
        None => {
            assert!(!lifted.diagnostics.is_empty(), "refused without a reason:\n{text}");
            render(&lifted.diagnostics, &lifted.source, false);
        }
    }
}

#[test]
fn programs_are_lifted_as_they_are() {
    for text in PROGRAMS {
        let lifted = lift(Source::new("program.ll", text), Language::Llvm, text, &LiftOptions::default());
        assert!(lifted.program.is_some(), "{:?}", lifted.diagnostics);
    }
}

#[test]
fn damaged_programs_are_lifted_or_refused() {
    let texts = PROGRAMS.map(str::to_owned);
    let range = seeds(300);
    let usual = LiftOptions::default();
    let entry = LiftOptions { entry: vec!["worker".to_owned(), "worker".to_owned()], ..LiftOptions::default() };
    let all = Mutants::new(&texts, &PARTS, range.start + 1).take((range.end - range.start) as usize);
    for (number, text) in all.enumerate() {
        lift_text(&text, if number % 4 == 0 { &entry } else { &usual });
    }
}
