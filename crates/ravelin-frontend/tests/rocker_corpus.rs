//! What TPL programs mean. Each file of `rocker_corpus/` says in its first lines what the reference semantics must find:
//! `// sc: p.r=0 x=1` is a final state (all of them are listed, seen through the names on the line), `// fails sc` that an
//! assertion fails, `// stuck sc` that some state is stuck. What is not said must not be found under SC; under TSO it is
//! looked for only if a line speaks of it. Printed as `.rav` and read again, a program must still do the same.

use crate::corpus;
use ravelin_frontend::{Language, ParseResult, parse, print, rav, render, rocker};
use ravelin_program::{Model, Program, Source};
use ravelin_semantics::operational::{Exploration, Reference, State};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn corpus() -> Vec<(String, String)> {
    corpus::files("rocker_corpus")
}

/// Without any diagnostic.
fn read(name: &str, text: &str) -> (Program, ParseResult) {
    let parsed = parse(Source::new(name, text), Language::Rocker);
    assert!(parsed.diagnostics.is_empty(), "{}", render(&parsed.diagnostics, &parsed.source, false));
    (parsed.program.clone().expect("no errors"), parsed)
}

fn explore(program: &Program, model: Model) -> Exploration {
    let reference = Reference::new(program, model, None).expect("a program that the reference can run");
    let explored = reference.explore(100_000).expect("few initial states");
    assert!(explored.complete);
    explored
}

/// The value of `x` or `p.r` in a state.
fn observe(program: &Program, state: &State, name: &str) -> i64 {
    match name.split_once('.') {
        None => state.cell(program.memory.find(name).unwrap_or_else(|| panic!("no variable {name}")).1.base),
        Some((thread, register)) => {
            let thread = program.find_thread(thread).unwrap_or_else(|| panic!("no thread {thread}"));
            let register = program.threads[thread.0].find_register(register).expect("a register");
            state.threads[thread.0].registers[register.0]
        }
    }
}

/// The final states as lines of the corpus would list them.
fn finals(program: &Program, explored: &Exploration, names: &[&str]) -> BTreeSet<String> {
    let show = |state| {
        let values = names.iter().map(|name| format!("{name}={}", observe(program, state, name)));
        values.collect::<Vec<_>>().join(" ")
    };
    explored.finals.iter().map(show).collect()
}

fn names(line: &str) -> Vec<&str> {
    line.split_whitespace().filter_map(|part| Some(part.split_once('=')?.0)).collect()
}

#[test]
fn every_program_does_what_its_file_says() {
    for (file, text) in corpus() {
        let (program, _) = read(&file, &text);
        for model in [Model::Sc, Model::Tso] {
            let lines = |prefix: &str| -> Vec<&str> {
                text.lines().filter_map(|line| Some(line.strip_prefix(prefix)?.trim())).collect()
            };
            let says = |what: &str| !lines(&format!("// {what} {model}")).is_empty();
            let states: BTreeSet<String> = lines(&format!("// {model}: ")).into_iter().map(str::to_owned).collect();
            let spoken = !states.is_empty() || says("fails") || says("stuck");
            if model != Model::Sc && !spoken {
                continue;
            }
            let explored = explore(&program, model);
            if let Some(first) = states.first() {
                assert_eq!(finals(&program, &explored, &names(first)), states, "{file} under {model}");
            }
            assert_eq!(!explored.failed_asserts.is_empty(), says("fails"), "assertions of {file} under {model}");
            // A thread stays at an assertion that fails.
            if explored.failed_asserts.is_empty() {
                assert_eq!(!explored.stuck.is_empty(), says("stuck"), "stuck states of {file} under {model}");
            }
            assert!(explored.faults.is_empty(), "{file} under {model}");
        }
    }
}

#[test]
fn endless_loops_have_no_final_state() {
    let (_, text) = corpus().into_iter().find(|(file, _)| file == "endless.tpl").expect("the file is there");
    let explored = explore(&read("endless.tpl", &text).0, Model::Sc);
    assert!(explored.finals.is_empty() && explored.stuck.is_empty());
}

#[test]
fn printed_as_rav_a_program_does_the_same() {
    for (file, text) in corpus() {
        let (program, _) = read(&file, &text);
        let printed = print::rav(&program);
        let again = rav::parse(Source::new("printed.rav", printed.clone()));
        let shown = render(&again.diagnostics, &again.source, false);
        let again = again.program.unwrap_or_else(|| panic!("{file}:\n{printed}\n{shown}"));
        let (before, after) = (explore(&program, Model::Sc), explore(&again, Model::Sc));
        // Registers and cells keep their order and only locations may be numbered anew.
        let values = |explored: &Exploration| -> BTreeSet<_> {
            let registers =
                |state: &State| state.threads.iter().map(|thread| thread.registers.clone()).collect::<Vec<_>>();
            explored.finals.iter().map(|state| (registers(state), state.memory.clone())).collect()
        };
        assert_eq!(values(&before), values(&after), "{file}:\n{printed}");
        assert_eq!(before.failed_asserts.is_empty(), after.failed_asserts.is_empty(), "{file}:\n{printed}");
        assert_eq!(before.stuck.is_empty(), after.stuck.is_empty(), "{file}:\n{printed}");
        assert_eq!(before.faults.is_empty(), after.faults.is_empty(), "{file}:\n{printed}");
    }
}

#[test]
fn expected_answers_are_read_from_the_first_comments() {
    let (_, parsed) =
        read("t.tpl", "// ROBUSTNESS egr: not: ra.\nglobal x;\n// ROBUSTNESS wegr: robust: rlx.\nfn p { skip; }");
    let shown: Vec<String> = parsed
        .expectations
        .iter()
        .map(|one| format!("{} {} {:?}: {} pending={}", one.command, one.model, one.options, one.answer, one.pending))
        .collect();
    assert_eq!(shown, ["check ra []: not robust pending=false", "check rc20 []: not robust pending=false"]);
    let (_, parsed) = read("t.tpl", "// ROBUSTNESS wegr: robust: ra.\nglobal x;\nfn p { skip; }");
    assert_eq!(parsed.expectations[0].options, [("property".to_owned(), "observational".to_owned())]);
    assert_eq!(parsed.source.quote(parsed.expectations[0].span), "// ROBUSTNESS wegr: robust: ra.");
}

#[test]
fn hints_are_kept_in_the_tree() {
    let tree = rocker::tree("global x, y; track x: all; track y: 0, 2; fn p { local r; verify(r); }");
    let tracks: Vec<_> = tree
        .tracks
        .iter()
        .map(|track| {
            let values = track.values.as_ref().map(|values| values.iter().map(|value| value.value).collect::<Vec<_>>());
            (track.name.text.as_str(), values)
        })
        .collect();
    assert_eq!(tracks, [("x", None), ("y", Some(vec![0, 2]))]);
    assert!(matches!(tree.threads[0].body.statements[0].kind, rocker::ast::StatementKind::Verify(_)));
}

#[test]
fn the_examples_of_the_documentation_are_programs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rocker.md");
    let text = fs::read_to_string(path).expect("docs/rocker.md is there");
    let mut examples = 0;
    for part in text.split("```tpl\n").skip(1) {
        read("rocker.md", part.split_once("```").expect("a fence that is closed").0);
        examples += 1;
    }
    assert!(examples >= 2, "only {examples} examples were found");
}
