//! Damaged texts of LLVM IR: no panic, and whatever is read can be promoted and laid out.

use crate::ir_random;
use crate::ir_reading::{OPAQUE, TYPED};
use crate::mutation::Mutants;
use ravelin_frontend::ir::live::Liveness;
use ravelin_frontend::ir::module::Operation;
use ravelin_frontend::ir::{promote::promote, read};
use ravelin_frontend::render;
use ravelin_program::Source;
use ravelin_testing::seeds;

const PARTS: [&str; 40] = [
    "%0",
    "%1",
    "%x",
    "@ring",
    "@head",
    "!0",
    "!dbg !30",
    "i32",
    "i1",
    "ptr",
    "i8*",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "(",
    ")",
    ",",
    "*",
    "\"",
    "define void @f() {\n",
    "}\n",
    "  ret void\n",
    "label %start",
    "entry:\n",
    "[ 0, %1 ]",
    "c\"",
    "alloca i32",
    "store i32 1, ptr %x\n",
    "load i32, ptr %x\n",
    "getelementptr",
    "bitcast (",
    " to ",
    "-1",
    "99999999999999999999",
    "1152921504606846976 x ",
    "%struct.node",
    "= type {",
];

/// What others do with a module.
fn use_module(text: &str) {
    match read(text) {
        Ok(module) => {
            for global in &module.globals {
                let size = module.size_of(&global.ty).unwrap_or(0);
                for offset in 0..size.min(32) {
                    global.debug.and_then(|node| module.debug.global_path(node, offset));
                }
            }
            for function in &module.functions {
                let mut changed = function.clone();
                promote(&module, &mut changed);
                let liveness = Liveness::of(&changed);
                for (number, block) in changed.blocks.iter().enumerate() {
                    if let Some(liveness) = &liveness {
                        liveness.live_out(&changed, ravelin_frontend::ir::module::BlockId(number as u32));
                    }
                    for instruction in &block.instructions {
                        instruction.place.debug.and_then(|node| module.debug.place(node));
                        if let Operation::GetElementPointer { source, .. } = &instruction.operation {
                            module.field(source, 1);
                        }
                    }
                }
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= 20, "{}", errors.len());
            render(&errors, &Source::new("damaged.ll", text), false);
        }
    }
}

#[test]
fn damaged_texts_are_read_or_refused() {
    let mut texts = vec![TYPED.to_owned(), OPAQUE.to_owned()];
    texts.extend((0..4).map(|seed| ir_random::module(seed, seed % 2 == 0)));
    let range = seeds(4000);
    let count = (range.end - range.start) as usize;
    Mutants::new(&texts, &PARTS, range.start + 1).take(count).for_each(|text| use_module(&text));
}

#[test]
fn prefixes_are_read_or_refused() {
    for text in [TYPED, OPAQUE] {
        for end in (0..text.len()).step_by(3) {
            use_module(&text[..end]);
        }
    }
}

/// Each of these would take minutes, or memory without end, in anything but linear time.
#[test]
fn long_texts_are_read_in_linear_time() {
    let many = 20_000;
    let lines = |line: &dyn Fn(usize) -> String| (0..many).map(line).collect::<String>();
    let texts = [
        "(".repeat(1 << 18),
        "{".repeat(1 << 18),
        format!("@a = global {}", "[2 x ".repeat(1 << 16)),
        format!("define void @f() {{\n{}  ret void\n}}", lines(&|n| format!("  %a{n} = alloca i32\n"))),
        format!("define i32 @f(i32 %x) {{\n{}  ret i32 0\n}}", lines(&|n| format!("  br label %b{n}\nb{n}:\n"))),
        // Every block is a loop around all blocks after it.
        format!(
            "define void @f(i1 %c) {{\n  br label %b0\n{}b{many}:\n{}  ret void\n}}",
            lines(&|n| format!("b{n}:\n  br label %b{}\n", n + 1)),
            lines(&|n| format!("  br i1 %c, label %b{n}, label %c{n}\nc{n}:\n"))
        ),
        // Every variable is live in every block.
        format!(
            "define void @f() {{\n{}{}{}  ret void\n}}",
            lines(&|n| format!("  %a{n} = alloca i32\n  store i32 1, ptr %a{n}\n")),
            lines(&|n| format!("  br label %b{n}\nb{n}:\n")),
            lines(&|n| format!("  %r{n} = load i32, ptr %a{n}\n"))
        ),
        // Parts of a type that is larger than its name.
        format!(
            "%t = type {{ {{ {} i8 }} }}\ndefine void @f(%t %x) {{\n{}  ret void\n}}",
            "i8, ".repeat(many),
            lines(&|n| format!("  %e{n} = extractvalue %t %x, 0\n"))
        ),
        lines(&|n| format!("!{n} = !{{!{}, !{}}}\n", n + 1, n)),
        lines(&|_| "?\n".to_owned()),
        "@a = ".repeat(1 << 17),
        "@a = alias ".repeat(1 << 17),
        "define ".repeat(1 << 17),
        format!("@a = global i64 {}", "add (i64 1, i64 ".repeat(1 << 16)),
        // A long name and a large constant that are used many times.
        format!(
            "define void @f() {{\n  %a = alloca i32\n{}  ret void\n}}\n!1 = !DILocalVariable(name: \"{}\")",
            "  #dbg_declare(ptr %a, !1, !DIExpression(), !2)\n".repeat(many),
            "x".repeat(1 << 18)
        ),
        format!(
            "@g = global i8 0\ndefine void @f() {{\n  %a = alloca ptr\n  store ptr getelementptr (i8, ptr @g{}), ptr %a\n{}  ret void\n}}",
            ", i64 0".repeat(many),
            lines(&|n| format!("  %l{n} = load ptr, ptr %a\n  store ptr %l{n}, ptr @g\n"))
        ),
    ];
    texts.iter().for_each(|text| use_module(text));
}
