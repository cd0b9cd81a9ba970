//! Programs that are slow to read, to compile, to expand, to search or to replay, each with questions that meet the slow phase.
//!
//! The watchdog's tests and `cargo xtask bench limits` ask these. Without limits some of the questions take hours.

use std::fmt::Write as _;

/// A program, and questions for which it takes long.
pub struct SlowProgram {
    pub file: &'static str,
    pub text: String,
    pub questions: &'static [&'static [&'static str]],
}

pub fn slow_programs() -> Vec<SlowProgram> {
    let program = |file, text, questions| SlowProgram { file, text, questions };
    vec![
        program("seqlock.rav", seqlock(), &[&["reach", "--model", "pso"], &["reach", "--engine", "sb"], &["states"]]),
        program("critical.rav", critical(64), &[&["reach", "--engine", "dual"], &["reach", "--engine", "sb"]]),
        program(
            "stores.rav",
            stores(20_000),
            &[
                &["check", "--model", "rc20"],
                &["check", "--property", "trf"],
                &["fence", "--for", "safety", "--model", "tso"],
            ],
        ),
        program("registers.rav", registers(6_000), &[&["reach", "--engine", "dual"], &["reach", "--engine", "lazy"]]),
        program("variables.rav", variables(60_000), &[&["check", "--model", "tso"], &["states"]]),
        program(
            "values.rav",
            values(),
            &[&["reach", "--engine", "sb"], &["check", "--model", "pso"], &["fence", "--all", "--model", "tso"]],
        ),
        program("nested.rmm", nested(100_000), &[&["reach"]]),
        program("crowd.rav", crowd(), &[&["reach", "--model", "sc"], &["check"]]),
        program("guards.spec", guards(100_000), &[&["cover"]]),
    ]
}

/// Three threads that read or write under a sequence lock: closures of silent steps are large.
fn seqlock() -> String {
    let body = "let done = 0; while done < 4 { choose { done = done + 1; let c = counter.load(); assume(c & 1 == 0);
        let (old, ok) = counter.compare_exchange(c, c + 1); assume(ok == 1);
        x.store(done); y.store(done); counter.store(c + 2); } or {
        let before = counter.load(); assume(before & 1 == 0); let a = x.load(); let b = y.load();
        let after = counter.load(); assume(before == after); assert(a == b); } }";
    format!("static counter: 0..31; static x: 0..8; static y: 0..8; thread p[3] {{ {body} }}\n")
}

/// A count of many threads in a goal.
fn critical(threads: usize) -> String {
    format!(
        "static x: bool;\nthread p[{threads}] {{ loop {{ x.store(1); let a = x.load(); @critical; x.store(0); }} }}\nnever 2 of p@critical;\n"
    )
}

/// A thread that is long.
fn stores(count: usize) -> String {
    let mut text = "static x; static y;\nthread p {\n".to_owned();
    (0..count).for_each(|number| writeln!(text, "    x.store({});", number % 7).expect("a string grows"));
    text.push_str("    let a = y.load();\n}\nthread q { y.store(1); let b = x.load(); }\n");
    text.push_str("finally never p.a == 0 && q.b == 0;\n");
    text
}

/// As many registers as steps.
fn registers(count: usize) -> String {
    let mut text = "static x: 0..4;\nthread p {\n".to_owned();
    (0..count).for_each(|number| writeln!(text, "    let r{number} = x.load();").expect("a string grows"));
    text.push_str("}\nthread q { x.store(1); }\n");
    text
}

/// Many cells.
fn variables(count: usize) -> String {
    let mut text = String::new();
    (0..count).for_each(|number| writeln!(text, "static v{number};").expect("a string grows"));
    text.push_str("thread p { v0.store(1); let a = v1.load(); }\nthread q { v1.store(1); let b = v0.load(); }\n");
    text
}

/// Many values, which local states multiply.
fn values() -> String {
    let thread = |name: &str, first: &str, second: &str, third: &str| {
        format!(
            "thread {name} {{ let a; let b; loop {{ a = {first}.load(); b = {second}.load(); {third}.store((a * b + 1) & 63); }} }}\n"
        )
    };
    let threads = [thread("p", "x", "y", "z"), thread("q", "y", "z", "x"), thread("r", "z", "x", "y")].concat();
    format!("static x: 0..64; static y: 0..64; static z: 0..64;\n{threads}never p.a == 63 && q.b == 62 && r.a == 61;\n")
}

/// Blocks in blocks, deeper than anything that is accepted.
fn nested(depth: usize) -> String {
    let (open, close) = ("either { ".repeat(depth), " or nop }".repeat(depth));
    format!("forbidden\n  CS\ndata\n  x = 0 : [0:1]\nprocess\ntext\n  {open}nop{close};\n  CS: nop\n")
}

/// Any number of threads with many local states.
fn crowd() -> String {
    "static x: 0..16; static y: 0..16;\nthread p[*] { let a; let b; loop { a = x.load(); b = y.load(); x.store((a + b) & 15); y.store((a + 1) & 15); @c; } }\nnever 3 of p@c;\n".to_owned()
}

/// A net with many rules.
fn guards(count: usize) -> String {
    let mut text = "vars\n  a b\nrules\n".to_owned();
    for number in 0..count {
        let (few, many) = (1 + number % 50, 1 + number * 7 % 50);
        writeln!(text, "  a >= {few}, b >= {many} -> a' = a - 1, b' = b + 1;").expect("a string grows");
    }
    text.push_str("init\n  a >= 0, b = 0\ntarget\n  b >= 2000\n");
    text
}
