//! What Memorax programs mean. Each file of `memorax_corpus/` says in its first line whether one of its forbidden tuples
//! is reached under each model; the reference semantics is the judge.

use crate::corpus;
use ravelin_frontend::{Severity, memorax, print, rav, render};
use ravelin_program::{Instruction, Model, Program, Source, Value};
use ravelin_semantics::operational::{Exploration, Reference};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn corpus() -> Vec<(String, String)> {
    corpus::files("memorax_corpus")
}

fn read(name: &str, text: &str) -> Program {
    let parsed = memorax::parse(Source::new(name, text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{name}:\n{shown}"))
}

fn explore(program: &Program, model: Model) -> Exploration {
    let reference = Reference::new(program, model, Some(2)).expect("a program that can be run");
    reference.explore(200_000).expect("few initial states")
}

fn violated(text: &str, model: Model) -> Vec<usize> {
    explore(&read("test.rmm", text), model).violated_goals.into_iter().collect()
}

#[test]
fn the_corpus_means_what_its_first_lines_say() {
    for (name, text) in corpus() {
        let program = read(&name, &text);
        let first = text.lines().next().unwrap_or_default();
        for model in Model::HARDWARE {
            let explored = explore(&program, model);
            assert!(explored.complete, "{name} is too large");
            assert_eq!(explored.faults, [], "{name}");
            let verdict = if explored.violated_goals.is_empty() { "holds" } else { "violated" };
            assert!(first.contains(&format!("{model}={verdict}")), "{name}: {model}={verdict}");
        }
    }
}

#[test]
fn each_tuple_is_a_goal_of_its_own() {
    let expected: BTreeMap<&str, &[usize]> = [
        ("anything.rmm", &[0, 1][..]),
        ("control.rmm", &[0, 3, 4]),
        ("copies.rmm", &[2]),
        ("domains.rmm", &[0]),
        ("pointer.rmm", &[0]),
        ("predicates.rmm", &[0]),
    ]
    .into();
    for (name, text) in corpus() {
        if let Some(goals) = expected.get(name.as_str()) {
            assert_eq!(violated(&text, Model::Sc), *goals, "{name}");
        }
    }
}

/// Memory and registers of the final states, whatever the control locations are called.
fn finals(explored: &Exploration, registers: &[usize]) -> BTreeSet<(Vec<Value>, Vec<Vec<Value>>)> {
    let own = |state: &ravelin_semantics::operational::State| {
        let threads = state.threads.iter().zip(registers);
        threads.map(|(thread, &count)| thread.registers[..count].to_vec()).collect()
    };
    explored.finals.iter().map(|state| (state.memory.values().copied().collect(), own(state))).collect()
}

#[test]
fn printed_as_rav_a_program_behaves_the_same() {
    for (name, text) in corpus() {
        let program = read(&name, &text);
        let printed = print::rav(&program);
        let parsed = rav::parse(Source::new("printed.rav", printed.clone()));
        let shown = render(&parsed.diagnostics, &parsed.source, false);
        let again = parsed.program.unwrap_or_else(|| panic!("{printed}\n{shown}"));
        let registers: Vec<usize> = program.threads.iter().map(|thread| thread.registers.len()).collect();
        for model in [Model::Sc, Model::Tso] {
            let (before, after) = (explore(&program, model), explore(&again, model));
            assert_eq!(before.violated_goals, after.violated_goals, "{name} {model}\n{printed}");
            assert_eq!(finals(&before, &registers), finals(&after, &registers), "{name} {model}\n{printed}");
        }
    }
}

/// The instructions of P0, as `.rav` shows them.
fn steps(data: &str, statements: &str) -> Vec<String> {
    let text = format!(
        "forbidden * *\ndata x = 0 : [0:3] y = 0 : [0:3]\nprocess\n{data}\ntext\n{statements}\nprocess data v = 0 text nop"
    );
    let program = read("test.rmm", &text);
    let thread = &program.threads[0];
    thread.transitions.iter().map(|transition| program.show_instruction(thread, &transition.instruction)).collect()
}

#[test]
fn each_statement_becomes_the_instruction_it_is() {
    let registers = "registers $r = 0 : [0:3] $s = 0 : [0:1]";
    let cases: &[(&str, &[&str])] = &[
        ("nop", &["nop"]),
        ("$r := $s + 1 - 1", &["r = s + 1 - 1"]),
        ("assume: $r = 1 || $s != 0", &["assume(r == 1 || s != 0)"]),
        ("assume: true", &["nop"]),
        ("assume: 1 = 2", &["assume(0)"]),
        ("read: $r := x", &["r = x.load()"]),
        ("read: x = $r", &["wait(x == r)"]),
        ("write: x := $r", &["x.store(r)"]),
        ("write: v[0] := 5 - 6", &["v[P1].store(-1)"]),
        ("slocked write: x := 1", &["x.store(1, release)"]),
        ("locked write: x := 1", &["locked { x.store(1); }"]),
        ("cas(x, 0, $r)", &["x.bcas(0, r, seq_cst)"]),
        ("fence", &["fence(seq_cst)"]),
        ("ssfence", &["fence(release)"]),
        ("llfence", &["fence(acquire)"]),
        ("syncrd: $r := x", &["r = x.load()"]),
        ("syncrd: x = $r", &["wait(x == r)"]),
        ("syncwr: x := $r", &["locked { x.store(r); }"]),
        ("locked { llfence; syncwr: x := 1; syncrd: $r := x }", &["locked { x.store(1); r = x.load(); }"]),
        ("read: $r := [1]", &["r = y.load()"]),
        ("write: [$s] := 2", &["assume(s == 0)", "assume(s == 1)", "x.store(2)", "y.store(2)"]),
        ("locked { read: x = 1 }", &["locked { $1 = x.load(); assume($1 == 1); }"]),
        (
            "locked { write: [$s] := 2 or nop }",
            &["locked { assume(s == 0); x.store(2); }", "locked { assume(s == 1); y.store(2); }", "locked { nop; }"],
        ),
        ("if $s = 0 then nop else fence", &["assume(s == 0)", "assume(!(s == 0))", "nop", "fence(seq_cst)"]),
        ("while $s = 0 do nop", &["assume(s == 0)", "assume(!(s == 0))", "nop"]),
        ("either { nop or fence }", &["nop", "fence(seq_cst)"]),
    ];
    for (statement, expected) in cases {
        assert_eq!(steps(registers, statement), *expected, "{statement}");
    }
}

#[test]
fn a_locked_block_drains_if_any_alternative_writes() {
    let drains = |statement: &str| {
        let text = format!("forbidden *\ndata x = 0\nprocess registers $r = 0 text {statement}");
        let program = read("test.rmm", &text);
        let all = program.threads[0].transitions.iter().map(|transition| match transition.instruction {
            Instruction::Locked { drains, .. } => drains,
            _ => panic!("one locked step"),
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(drains("locked { read: x = 0 or read: $r := x }"), [false, false]);
    assert_eq!(drains("locked { read: x = 0 or write: x := 1 }"), [true, true]);
    assert_eq!(drains("locked { locked { nop or cas(x, 0, 1) }; read: x = 0 }"), [true, true]);
    assert_eq!(drains("locked { fence }"), [true]);
    assert_eq!(drains("locked { llfence }"), [false]);
}

#[test]
fn names_are_those_of_the_file() {
    let text = "forbidden L M\ndata g = 0\nprocess(2)\ndata own = 0\nregisters $r0 = 0 $1 = 0\ntext L: nop; M: N: nop";
    let program = read("folder/name.rmm", text);
    assert_eq!(program.name, "name");
    let variables: Vec<&str> = program.memory.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(variables, ["g", "own[P0]", "own[P1]"]);
    assert_eq!(program.threads[1].name, "P1");
    let registers: Vec<&str> = program.threads[0].registers.iter().map(|register| register.name.as_str()).collect();
    assert_eq!(registers, ["r0", "1"]);
    let labels: Vec<&[String]> = program.threads[0].locations.iter().map(|location| &location.labels[..]).collect();
    assert_eq!(labels, [&["L".to_owned()][..], &["M".to_owned(), "N".to_owned()], &[]]);
}

#[test]
fn spans_of_macros_point_into_the_definition_and_arguments_at_the_use() {
    let text = "forbidden *\ndata x = 0\nmacro set(v) write: x := v; write: x := 3 endmacro\nmacro two(s) process text s endmacro\ntwo(set(1); nop)";
    let program = read("test.rmm", text);
    let thread = &program.threads[0];
    let quoted: Vec<&str> = thread.transitions.iter().map(|step| program.source.quote(step.span)).collect();
    assert_eq!(quoted, ["write: x :=", "write: x := 3", "nop"]);
    assert_eq!(program.source.quote(thread.span), "two(set(1); nop)");
}

#[test]
fn a_branch_that_comes_back_to_itself_does_not_reach_the_others() {
    // The loop and the label stand first in a branch; going round must not lead to OTHER after x was written.
    let text = "forbidden OTHER; BACK
        data x = 0 : [0:1]
        process registers $r = 0 : [0:1] text
          either { while $r = 0 do { write: x := 1; read: $r := x; $r := 0 } or read: x = 1; OTHER: nop };
          nop;
          BACK: nop";
    assert_eq!(violated(text, Model::Sc), [0usize; 0]);
    let text = "forbidden OTHER
        data x = 0 : [0:1]
        process text either { A: write: x := 1; goto A or read: x = 1; OTHER: nop }";
    assert_eq!(violated(text, Model::Sc), [0usize; 0]);
}

#[test]
fn a_label_on_a_jump_is_a_state_of_its_own() {
    let text = "forbidden A; B process text goto B; A: goto B; B: nop";
    assert_eq!(violated(text, Model::Sc), [1]);
    let text = "forbidden A; B process text { A: { B: nop } }; L: goto L";
    assert_eq!(violated(text, Model::Sc), [0, 1]);
}

#[test]
fn warnings_say_where_behaviour_is_cut() {
    let text = "forbidden *
        data x = 0 : [0:1] n = 0
        process registers $r = 0 : [0:2] text
          write: x := 2; write: x := $r; read: $r := n; $r := $r + 1; cas(x, 3, 1); write: [$r] := 0; write: n := $r";
    let parsed = memorax::parse(Source::new("test.rmm", text));
    let shown: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(
        shown,
        [
            "`x` cannot hold 2, so this step always blocks",
            "this step blocks where the value does not fit into `x`",
            "this step blocks where the value does not fit into `$r`",
            "this step blocks where the value does not fit into `$r`",
            "`x` never holds 3: its domain is [0:1]",
            "this pointer can mean no variable, and the step then blocks",
        ]
    );
    assert!(parsed.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Warning));
    assert!(parsed.program.is_some());
}

#[test]
fn the_example_of_the_documentation_means_what_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/memorax.md");
    let text = fs::read_to_string(path).expect("docs/memorax.md is there");
    let example = text.split("```").nth(1).and_then(|block| block.strip_prefix("text\n")).expect("an example");
    assert_eq!(violated(example, Model::Sc), [0usize; 0]);
    assert_eq!(violated(example, Model::Tso), [0]);
}

/// Store buffering: each process writes its flag and reads the other's.
#[test]
fn an_access_of_the_shared_level_is_one_of_memory() {
    let with = |write: &str, fence: &str, read: &str| {
        let process = |mine: &str, other: &str| {
            format!("process text {write}: {mine} := 1; {fence}; {read}: {other} = 0; CS: nop")
        };
        format!("forbidden CS CS data x = 0 : [0:1] y = 0 : [0:1] {} {}", process("x", "y"), process("y", "x"))
    };
    for (text, goals) in [
        (with("write", "nop", "read"), &[0][..]),
        (with("write", "llfence", "read"), &[0]),
        (with("write", "llfence", "syncrd"), &[0]),
        (with("syncwr", "nop", "syncrd"), &[]),
        (with("syncwr", "llfence", "read"), &[]),
    ] {
        assert_eq!(violated(&text, Model::Tso), goals, "{text}");
        assert_eq!(violated(&text, Model::Sc), [0usize; 0], "{text}");
    }
}

/// Whatever a register that is written before it is read starts with, the program does the same.
#[test]
fn a_register_of_any_integer_may_start_anywhere_if_it_is_written_first() {
    let text = "forbidden CS CS data x = 0 : [0:1] process registers $r = * text read: $r := x; assume: $r = 0; CS: nop process text CS: nop";
    assert_eq!(violated(text, Model::Sc), [0]);
    let program = read("test.rmm", text);
    assert!(!program.threads[0].transitions.iter().any(|t| matches!(t.instruction, Instruction::Havoc { .. })));
}
