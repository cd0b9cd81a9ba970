//! A litmus test as a C program: its accesses as inline assembly, its outcomes as tables, and the harness that runs and counts it.
//!
//! Every access is one volatile asm statement with a memory clobber, so that the compiler keeps all of them in order. They are what
//! compilers make of C11's orders on x86: loads and stores are `mov`, a seq_cst store is `mov` and `mfence`, a read-modify-write has `lock`
//! (`xchg` implies it), a seq_cst fence is `mfence`.
//!
//! A perpetual test counts every outcome that could be written down, allowed or not, as long as these are few. A test with a barrier
//! compares what was read with the outcomes that tso allows, and counts all others together.

use super::execution::TestAccessKind;
use super::litmus::{LitmusTest, LitmusThread};
use super::outcomes::Outcomes;
use super::{MachineTest, TestOutcome};
use ravelin_answer::TestMethod;
use ravelin_program::Value;
use std::fmt::Write;

const HARNESS: &str = include_str!("harness.c");

/// With more outcomes, only those that tso allows are counted by a perpetual test.
const MOST_OUTCOMES: usize = 128;

/// The program of a test, with what its counts mean.
pub fn machine_test(
    test: &LitmusTest,
    outcomes: &Outcomes,
    fences: Vec<String>,
    fenced: Option<Box<MachineTest>>,
) -> MachineTest {
    let method = if test.is_perpetual() { TestMethod::Perpetual } else { TestMethod::Barrier };
    let counted = counted(test, outcomes, method);
    let told = |outcome: &Vec<Value>| TestOutcome {
        text: test.outcome_text(outcome),
        allowed: outcomes.allowed(outcome),
        wanted: *outcome == test.target,
    };
    let told: Vec<TestOutcome> = counted.iter().map(told).collect();
    MachineTest {
        part: test.part,
        method,
        threads: test.shown(),
        wanted: test.outcome_text(&test.target),
        program: program(test, &counted, &told, method),
        outcomes: told,
        fences,
        fenced,
    }
}

/// The outcomes that are counted, the wanted one first.
fn counted(test: &LitmusTest, outcomes: &Outcomes, method: TestMethod) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    if method == TestMethod::Perpetual {
        for (_, cell) in test.loads() {
            let values = test.cells[cell].values.len() as Value;
            all =
                all.iter().flat_map(|one| (0..values).map(move |value| [one.as_slice(), &[value]].concat())).collect();
            if all.len() > MOST_OUTCOMES {
                break;
            }
        }
    }
    if method == TestMethod::Barrier || all.len() > MOST_OUTCOMES {
        all = outcomes.tso.iter().take(MOST_OUTCOMES * 4).cloned().collect();
    }
    all.retain(|outcome| *outcome != test.target);
    all.insert(0, test.target.clone());
    all
}

fn program(test: &LitmusTest, counted: &[Vec<Value>], told: &[TestOutcome], method: TestMethod) -> String {
    let mut text = String::from("/* Made by `ravelin confirm` (docs/confirm.md). */\n#define _GNU_SOURCE\n");
    for header in ["pthread", "sched", "stdint", "stdio", "stdlib", "string", "time"] {
        let _ = writeln!(text, "#include <{header}.h>");
    }
    let _ = writeln!(text, "\n/* The test:");
    for thread in test.shown() {
        let _ = writeln!(text, " *   {}: {}", comment(&thread.thread), comment(&thread.accesses.join("; ")));
    }
    let _ = writeln!(text, " * The outcome of the witness: {}. */", comment(&test.outcome_text(&test.target)));
    let loads: Vec<(usize, usize)> = test.loads().collect();
    let perpetual = usize::from(method == TestMethod::Perpetual);
    for (name, number) in [
        ("PERPETUAL", perpetual),
        ("THREADS", test.threads.len()),
        ("CELLS", test.cells.len()),
        ("LOADS", loads.len()),
        ("VALUES", test.target.len()),
        ("OUTCOMES", counted.len()),
        ("WANTED", 0),
    ] {
        let _ = writeln!(text, "#define {name} {number}");
    }
    let slot = |number: usize| loads[..number].iter().filter(|(thread, _)| *thread == loads[number].0).count();
    let loads_of = |thread| loads.iter().filter(|(of, _)| *of == thread).count();
    table(&mut text, "load_thread", loads.iter().map(|(thread, _)| *thread as Value));
    table(&mut text, "load_slot", (0..loads.len()).map(|number| slot(number) as Value));
    table(&mut text, "loads_of", (0..test.threads.len()).map(|thread| loads_of(thread) as Value));
    if method == TestMethod::Perpetual {
        let writer = |cell: &super::litmus::TestCell| cell.writers.first().map_or(-1, |&writer| writer as Value);
        table(&mut text, "load_cell", loads.iter().map(|(_, cell)| *cell as Value));
        table(&mut text, "cell_writer", test.cells.iter().map(writer));
        table(&mut text, "cell_stores", test.cells.iter().map(|cell| cell.values.len() as Value - 1));
    } else {
        table(&mut text, "end_cell", test.memory.iter().map(|&cell| cell as Value));
    }
    let _ = writeln!(text, "static const int outcomes[OUTCOMES][VALUES + 1] = {{");
    for outcome in counted {
        let values: Vec<String> = outcome.iter().map(Value::to_string).collect();
        let _ = writeln!(text, "  {{{}}},", values.join(", "));
    }
    text.push_str("};\n");
    strings(&mut text, "allowed", told.iter().map(|outcome| outcome.allowed.words()));
    strings(&mut text, "names", told.iter().map(|outcome| outcome.text.as_str()));
    let bodies: Vec<String> =
        test.threads.iter().enumerate().map(|(number, thread)| body(test, number, thread)).collect();
    let mut calls = String::from("static inline void bodies(int thread, long n) {\n  switch (thread) {\n");
    for number in 0..test.threads.len() {
        let _ = writeln!(calls, "    case {number}: body_{number}(n); break;");
    }
    calls.push_str("  }\n}");
    text.push('\n');
    text + &HARNESS.replace("BODIES", &format!("{}{calls}", bodies.concat()))
}

/// One iteration of a thread. What was loaded stays in registers until its end, so that no other store is in between.
fn body(test: &LitmusTest, number: usize, thread: &LitmusThread) -> String {
    let mut text = format!("static inline void body_{number}(long n) {{\n");
    let loads = thread.operations.iter().filter(|operation| operation.is_load()).count();
    for load in 0..loads {
        let _ = writeln!(text, "  int64_t r{load};");
    }
    let mut load = 0;
    for operation in &thread.operations {
        let cell = operation.cell;
        let stores = test.cells.get(cell).map_or(0, |cell| cell.values.len() - 1);
        let stored = operation.value;
        let line = match operation.kind {
            TestAccessKind::Fence => "FENCE();".to_owned(),
            TestAccessKind::Store => format!("STORE(CELL({cell}), VALUE({stores}, {stored}));"),
            TestAccessKind::Load => format!("LOAD(CELL({cell}), r{load});"),
            TestAccessKind::Exchange => format!("EXCHANGE(CELL({cell}), VALUE({stores}, {stored}), r{load});"),
            TestAccessKind::LockedLoad => format!("LOCKED_LOAD(CELL({cell}), r{load});"),
        };
        load += usize::from(operation.is_load());
        let _ = writeln!(text, "  {line} /* {} */", comment(&test.operation_text(operation)));
    }
    for load in 0..loads {
        let _ = writeln!(text, "  kept[{number}][n * {loads} + {load}] = r{load};");
    }
    text.push_str("}\n\n");
    text
}

fn table(text: &mut String, name: &str, numbers: impl Iterator<Item = Value>) {
    let mut numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    if numbers.is_empty() {
        numbers.push("0".to_owned());
    }
    let _ = writeln!(text, "static const int {name}[] = {{{}}};", numbers.join(", "));
}

fn strings<'a>(text: &mut String, name: &str, all: impl Iterator<Item = &'a str>) {
    let _ = writeln!(text, "static const char *const {name}[] = {{");
    for one in all {
        let _ = writeln!(text, "  \"{}\",", quoted(one));
    }
    text.push_str("};\n");
}

/// Names come from programs: nothing in them ends a comment.
fn comment(text: &str) -> String {
    text.chars().map(|letter| if matches!(letter, '*' | '\\') || letter.is_control() { '.' } else { letter }).collect()
}

/// Nor a string.
fn quoted(text: &str) -> String {
    let plain = |letter: char| !matches!(letter, '"' | '\\' | '?') && !letter.is_control();
    text.chars().map(|letter| if plain(letter) { letter } else { '.' }).collect()
}
