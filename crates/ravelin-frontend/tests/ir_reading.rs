//! What is read of texts of LLVM IR, with typed pointers and with opaque ones.

use ravelin_frontend::ir::module::{
    AtomicOrder, BlockId, Callee, Constant, Function, Module, Operation, RmwOperator, Terminator, Type, Value,
};
use ravelin_frontend::ir::read;
use std::io::Write;
use std::process::{Command, Stdio};

pub const TYPED: &str = include_str!("ir_texts/typed.ll");
pub const OPAQUE: &str = include_str!("ir_texts/opaque.ll");

fn module(text: &str) -> Module {
    read(text).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn function<'a>(module: &'a Module, name: &str) -> &'a Function {
    &module.functions[module.function(name).unwrap_or_else(|| panic!("there is no {name}"))]
}

fn initial<'a>(module: &'a Module, name: &str) -> &'a Constant {
    let global = &module.globals[module.global(name).unwrap_or_else(|| panic!("there is no {name}"))];
    global.initial.as_ref().unwrap_or_else(|| panic!("{name} has no initial value"))
}

/// The operation whose result has a name.
fn operation<'a>(function: &'a Function, name: &str) -> &'a Operation {
    let named = |local: u32| function.locals[local as usize].name == name;
    let mut all = function.blocks.iter().flat_map(|block| &block.instructions);
    let found = all.find(|instruction| instruction.result.is_some_and(|result| named(result.0)));
    &found.unwrap_or_else(|| panic!("there is no %{name}")).operation
}

fn errors(text: &str) -> Vec<String> {
    match read(text) {
        Ok(module) => panic!("{module:#?}"),
        Err(errors) => errors.into_iter().map(|error| error.message).collect(),
    }
}

#[test]
fn globals_have_types_and_initial_values() {
    let module = module(TYPED);
    let names: Vec<&str> = module.globals.iter().map(|global| global.name.as_str()).collect();
    assert_eq!(names, ["head", "ring", "text", "table", "pointer", "bytes", "mine", "far", "calls"]);
    assert_eq!(module.target.as_deref(), Some("x86_64-pc-linux-gnu"));
    assert_eq!(*initial(&module, "head"), Constant::Null);
    assert_eq!(*initial(&module, "ring"), Constant::Zero);
    assert_eq!(*initial(&module, "text"), Constant::Bytes(b"a\n\\\0".to_vec()));
    assert_eq!(*initial(&module, "mine"), Constant::Int(1));
    let Constant::Aggregate(elements) = initial(&module, "table") else { panic!("not an array") };
    assert_eq!(elements[1].value, Value::Constant(Constant::Int(-2)));
    let Constant::Aggregate(fields) = initial(&module, "bytes") else { panic!("not a struct") };
    assert_eq!(fields[0].value, Value::Constant(Constant::Int(-1)), "sign-extended");
    let Constant::Expression(address) = initial(&module, "pointer") else { panic!("not an expression") };
    assert!(matches!(&**address, Operation::GetElementPointer { indices, .. } if indices.len() == 2));
    let get = |name: &str| &module.globals[module.global(name).unwrap()];
    assert!(get("mine").thread_local && get("text").constant && get("far").initial.is_none());
    assert_eq!((get("ring").align, get("head").debug), (Some(8), Some(0)));
    let Constant::Function(print) = initial(&module, "calls") else { panic!("not a function") };
    assert!(module.functions[*print].variadic && module.functions[*print].is_declaration());
}

#[test]
fn aliases_stand_for_what_they_name() {
    let text = "@a = alias i32, ptr @b\n@b = alias i32, ptr @c\n@c = global i32 3\n@d = global ptr @a\n\
                @e = alias i32, getelementptr (i8, ptr @c, i64 2)\n@f = global ptr @e\n@g = alias i32, ptr @g\n";
    let module = module(text);
    assert_eq!(*initial(&module, "d"), Constant::Global(module.global("c").unwrap()));
    assert_eq!(*initial(&module, "f"), Constant::Unsupported("alias".to_owned()));
}

#[test]
fn sizes_and_offsets_are_those_of_x86_64() {
    let typed = module(TYPED);
    let ty = |name: &str| Type::Named(typed.structs.iter().position(|found| found.name == name).unwrap());
    assert_eq!(typed.size_of(&ty("struct.node")), Some(16));
    assert_eq!(typed.size_of(&ty("struct.queue")), Some(88));
    assert_eq!(typed.size_of(&ty("struct.packed")), Some(5));
    assert_eq!(typed.size_of(&ty("struct.hidden")), None);
    let offsets: Vec<u64> = (0..4).map(|field| typed.field(&ty("struct.queue"), field).unwrap().0).collect();
    assert_eq!(offsets, [0, 8, 72, 80]);
    assert_eq!(typed.field(&ty("struct.queue"), 4), None);
    let float = |bits| typed.size_of(&Type::Float(bits));
    assert_eq!((float(32), float(80), typed.size_of(&Type::Int(128))), (Some(4), Some(16), Some(16)));
    let huge = Type::Array(1 << 60, Box::new(Type::Int(32)));
    assert_eq!(typed.size_of(&huge), None);
}

#[test]
fn types_that_contain_themselves_have_no_size() {
    let mut text = "%a = type { %b }\n%b = type { i8, %a }\n%n0 = type { i8 }\n".to_owned();
    for number in 1..3000 {
        let before = number - 1;
        text += &format!("%n{number} = type {{ %n{before}, %n{before} }}\n");
    }
    let module = module(&text);
    assert_eq!(module.size_of(&Type::Named(0)), None);
    let named = |name: &str| Type::Named(module.structs.iter().position(|found| found.name == name).unwrap());
    assert_eq!(module.size_of(&named("n10")), Some(1 << 10));
    assert_eq!(module.size_of(&named("n2999")), None);
}

#[test]
fn instructions_with_typed_pointers() {
    let module = module(TYPED);
    let push = function(&module, "push");
    assert_eq!(push.parameters.len(), 2);
    assert_eq!(push.blocks.iter().map(|block| block.name.as_str()).collect::<Vec<_>>(), ["1", "3", "5", "12"]);
    assert!(matches!(operation(push, "2"), Operation::Alloca { ty: Type::Pointer, count: None, align: Some(8) }));
    let Operation::Phi { incoming, .. } = operation(push, "4") else { panic!("not a phi") };
    assert_eq!(incoming.iter().map(|(_, block)| block.0).collect::<Vec<_>>(), [0, 2]);
    let Terminator::Switch { default, cases, .. } = &push.blocks[1].terminator else { panic!("not a switch") };
    assert_eq!((*default, &cases[..]), (BlockId(2), &[(1, BlockId(2)), (-7, BlockId(3))][..]));
    let Operation::CompareExchange { success, failure, weak, .. } = operation(push, "6") else { panic!("not that") };
    assert_eq!((*success, *failure, *weak), (AtomicOrder::AcquireRelease, AtomicOrder::Monotonic, true));
    assert!(matches!(operation(push, "9"), Operation::Load { order: Some(AtomicOrder::Monotonic), .. }));
    assert!(matches!(operation(push, "10"), Operation::ReadModifyWrite { op: RmwOperator::UnsignedMax, .. }));
    let effects: Vec<&Operation> = push.blocks[2]
        .instructions
        .iter()
        .filter(|instruction| instruction.result.is_none())
        .map(|instruction| &instruction.operation)
        .collect();
    let [
        Operation::Store { order: Some(AtomicOrder::Release), volatile: true, .. },
        Operation::Fence { order: AtomicOrder::Acquire, compiler_only: true },
        Operation::Fence { order: AtomicOrder::SequentiallyConsistent, compiler_only: false },
        Operation::Call(assembly),
    ] = effects[..]
    else {
        panic!("{effects:#?}")
    };
    assert!(matches!(&assembly.callee, Callee::Assembly { template, .. } if template == "mfence"));
    let Operation::Call(call) = operation(push, "11") else { panic!("not a call") };
    assert_eq!((call.returns.clone(), call.arguments.len()), (Type::Int(32), 2));
    assert_eq!(*operation(push, "14"), Operation::Unsupported("va_arg".to_owned()));
    assert_eq!(*operation(push, "17"), Operation::Unsupported("insertelement".to_owned()));
    assert_eq!(push.hidden.len(), 2, "the operands of the bundle and of insertelement");
}

#[test]
fn instructions_with_opaque_pointers() {
    let module = module(OPAQUE);
    let take = function(&module, "take");
    assert_eq!(take.parameters[0].by_value, Some(Type::Named(1)));
    assert_eq!(
        take.blocks.iter().map(|block| block.name.as_str()).collect::<Vec<_>>(),
        ["start", "bb 1", "bb2", "cleanup"]
    );
    assert!(matches!(operation(take, "big"), Operation::Alloca { count: Some(_), .. }));
    assert!(matches!(operation(take, "1"), Operation::Load { order: Some(AtomicOrder::Acquire), .. }));
    let Terminator::Invoke { result: Some(result), normal, unwind, call } = &take.blocks[1].terminator else {
        panic!("not an invoke")
    };
    assert_eq!((take.type_of(*result), normal.0, unwind.0), (&Type::Int(32), 2, 3));
    assert!(matches!(call.callee, Callee::Value(Value::Local(_))));
    assert_eq!(*operation(take, "9"), Operation::Unsupported("landingpad".to_owned()));
    assert!(matches!(operation(take, "10"), Operation::ReadModifyWrite { op: RmwOperator::Unsupported, .. }));
    assert_eq!(take.blocks[3].terminator, Terminator::Unsupported("resume".to_owned()));
    assert_eq!(*initial(&module, "wide"), Constant::Int(-1));
    assert_eq!(*initial(&module, "mask"), Constant::Int(255));
    assert_eq!(module.structs[0].name, "core::cell<[u8; 2]>");
}

#[test]
fn debug_information_gives_places_and_names() {
    let typed = module(TYPED);
    let push = function(&typed, "push");
    let place = typed.debug.place(push.blocks[1].place.debug.unwrap()).unwrap();
    assert_eq!((place.file, place.line, place.column), ("/home/me/stack.c", 7, 9));
    let names: Vec<&str> = push.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["new"]);
    assert_eq!(typed.debug.global_name(0), Some("head"));
    assert_eq!(typed.debug.function_name(push.debug.unwrap()), Some("push"));

    let opaque = module(OPAQUE);
    let take = function(&opaque, "take");
    let named: Vec<(&str, &str)> = take
        .variables
        .iter()
        .map(|variable| (take.locals[variable.local.0 as usize].name.as_str(), variable.name.as_str()))
        .collect();
    assert_eq!(named, [("x", "x"), ("0", "count")], "a fragment is not the variable");
    let path = |node, offset| opaque.debug.global_path(node, offset);
    assert_eq!(path(0, 0).as_deref(), Some("ring.low"));
    assert_eq!(path(0, 4).as_deref(), Some("ring.high"));
    assert_eq!(path(0, 8).as_deref(), Some("ring.next"));
    assert_eq!(path(0, 2), None, "no scalar begins in the middle of another");
    assert_eq!(path(3, 16).as_deref(), Some("buf[1][1]"));
    assert_eq!(path(3, 24), None);
    assert_eq!(opaque.debug.place(30).unwrap().file, "/src/ring.c");
    assert_eq!(opaque.debug.inlined_at(30), Some(31));
}

#[test]
fn unnamed_values_and_blocks_have_the_numbers_of_llvm() {
    let text = "define i32 @f(i32, i32 %named) {\n  add i32 %0, 1\n  %3 = mul i32 %2, 2\n  call void @g()\n  br label %5\n\n\
                  ret i32 %3\n5:\n  call i32 @h()\n  ret i32 %6\n}\ndeclare void @g()\ndeclare i32 @h()\n";
    let module = module(text);
    let f = function(&module, "f");
    assert_eq!(f.blocks.iter().map(|block| block.name.as_str()).collect::<Vec<_>>(), ["1", "4", "5"]);
    assert!(matches!(operation(f, "2"), Operation::Binary { .. }));
}

#[test]
fn several_instructions_may_share_a_line() {
    let module = module("define void @f() { %a = alloca i32 store i32 1, ptr %a call void @f() ret void }");
    assert_eq!(function(&module, "f").blocks[0].instructions.len(), 3);
}

#[test]
fn what_is_newer_than_this_reader_is_unsupported() {
    let module = module(
        "define i64 @f(ptr %p) {\n  %a = ptrtoaddr ptr %p to i64\n  %b = add i64 %a, 1, !x !{i32 1}\n  \
         %c = load i64, ptr %p, sometimes\n  ret i64 %b\n}\n",
    );
    let f = function(&module, "f");
    assert_eq!(*operation(f, "a"), Operation::Unsupported("ptrtoaddr".to_owned()));
    assert!(matches!(operation(f, "b"), Operation::Binary { .. }));
    assert_eq!(*operation(f, "c"), Operation::Unsupported("load".to_owned()));
    assert_eq!(f.locals[f.hidden[0].0 as usize].name, "p");
}

#[test]
fn errors_say_what_is_wrong() {
    let body = |lines: &str| format!("define void @f(i32 %x) {{\n{lines}\n}}\n");
    for (text, expected) in [
        ("hello".to_owned(), "found `hello` where a definition should be"),
        ("int main() { return 0; }\n".to_owned(), "found `int` where a definition should be"),
        (body("  ret void\n  br label %nowhere"), "there is no block `%nowhere`"),
        (body("  %y = add i32 %z, 1\n  ret void"), "`%z` is not defined"),
        (body("  %x = add i32 1, 1\n  ret void"), "`%x` is defined twice"),
        (body("  %y = add i64 %x, 1\n  ret void"), "`%x` has two types"),
        (body("  %y = add i32 %x, 1"), "found `}` where a terminator should be"),
        (body("  store i32 1, ptr @g\n  ret void"), "`@g` is not defined"),
        (body("  ret void").replace('}', ""), "the text ends where `}` should be"),
        (
            body(
                "  br i1 true, label %a, label %b\na:\n  %y = add i32 %x, 1\n  br label %b\nb:\n  %z = add i32 %y, 1\n  ret void",
            ),
            "`%y` is not defined on every path to its use",
        ),
        (
            body("  br i1 true, label %a, label %b\na:\n  br label %b\nb:\n  %z = phi i32 [ 1, %a ]\n  ret void"),
            "a phi has no value for one of the blocks before it",
        ),
        (body("a:\n  br label %a"), "the first block of this function is jumped to"),
        ("@a = global i32 1\n@a = global i32 2\n".to_owned(), "`@a` is defined twice"),
        ("%t = type { i32 }\n%t = type { i8 }\n".to_owned(), "`%t` is defined twice"),
        (
            format!("@a = global {}i8{} zeroinitializer", "[1 x ".repeat(60), "]".repeat(60)),
            "types or constants are nested too deeply",
        ),
    ] {
        let found = errors(&text);
        assert_eq!(found[0], expected, "{text}");
        assert_eq!(found.len(), 1, "{found:?}\n{text}");
    }
}

/// Errors in one line do not hide those in others, and have no consequences in third ones.
#[test]
fn reading_goes_on_after_an_error() {
    let text = "define i32 @f() {\n  %a = add i32 ?, 1\n  %b = add i32 %a, 1\n  %c = mul i32 %b, @\n  ret i32 %c\n}\n";
    assert_eq!(errors(text).len(), 2);
}

#[test]
fn compiled_c_is_read() {
    if !ravelin_testing::has("clang", "--version", "clang") {
        return;
    }
    let source = include_str!("ir_texts/structures.c");
    // Other versions where they are installed: their dialects differ.
    for compiler in ["clang", "clang-14", "clang-16", "clang-19"] {
        let Some(text) = compiled(compiler, source) else {
            assert_ne!(compiler, "clang", "clang compiles the file");
            continue;
        };
        let module = module(&text);
        let mut defined: Vec<&str> = module
            .functions
            .iter()
            .filter(|function| !function.is_declaration())
            .map(|function| function.name.as_str())
            .collect();
        defined.sort();
        assert_eq!(defined, ["classify", "main", "pop", "push", "worker"], "{compiler}");
        for name in &defined {
            let function = function(&module, name);
            let place = module.debug.function_place(function.debug.expect("compiled with -g")).expect("a line");
            let line = source.lines().nth(place.line as usize - 1).expect("a line of the file");
            assert!(line.contains(name), "{compiler}: {line}");
            let variables: Vec<&str> = function.variables.iter().map(|variable| variable.name.as_str()).collect();
            let expected: &[&str] = match *name {
                "push" => &["new", "old"],
                "pop" => &["old"],
                "worker" => &["argument", "turn", "mine"],
                "classify" => &["number", "kind"],
                _ => &["threads", "left", "right"],
            };
            assert_eq!(variables, expected, "{compiler}: {name}");
            for block in &function.blocks {
                for instruction in &block.instructions {
                    assert!(!matches!(instruction.operation, Operation::Unsupported(_)), "{instruction:?}");
                }
            }
        }
        let paths = |name: &str| -> Vec<String> {
            let global = &module.globals[module.global(name).expect("it is defined")];
            let size = module.size_of(&global.ty).expect("it has a size");
            (0..size).filter_map(|offset| module.debug.global_path(global.debug?, offset)).collect()
        };
        assert_eq!(
            paths("stack"),
            ["stack.head", "stack.in.small", "stack.in.large", "stack.flags.first"],
            "{compiler}"
        );
        assert_eq!(paths("grid")[8], "grid[1][1].x", "{compiler}");
        assert_eq!(paths("pair"), ["pair.tag", "pair.value"], "{compiler}");
    }
}

fn compiled(compiler: &str, source: &str) -> Option<String> {
    let mut child = Command::new(compiler)
        .args([
            "-x",
            "c",
            "-std=c11",
            "-S",
            "-emit-llvm",
            "-O1",
            "-Xclang",
            "-disable-llvm-passes",
            "-g",
            "-",
            "-o",
            "-",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(source.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok())?
}
