//! What Trencher programs do. Each file of `trencher_corpus/` lists its final states in comments: `# final sc` are those
//! of SC, and `# final tso` are those that TSO adds. Registers are all listed, cells only if they do not hold 0.

use crate::corpus;
use ravelin_frontend::{Language, print, rav, render, trencher};
use ravelin_program::{BinaryOp, Expr, Instruction, LocId, Model, Order, Program, Source};
use ravelin_semantics::operational::{Reference, State};
use std::collections::BTreeSet;

fn corpus() -> Vec<(String, String)> {
    corpus::files("trencher_corpus")
}

fn program(name: &str, text: &str) -> Program {
    let parsed = trencher::parse(Source::new(name, text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{shown}"))
}

/// All final states, with registers called as in `like`, whose threads and registers are numbered alike.
fn finals(program: &Program, like: &Program, model: Model) -> BTreeSet<String> {
    let reference = Reference::new(program, model, None).expect("no refusal");
    let explored = reference.explore(100_000).expect("few initial states");
    assert!(explored.complete && explored.faults.is_empty(), "{}", program.name);
    explored.finals.iter().map(|state| tell(state, like)).collect()
}

fn tell(state: &State, program: &Program) -> String {
    let mut words = Vec::new();
    for (thread, values) in program.threads.iter().zip(&state.threads) {
        for (register, value) in thread.registers.iter().zip(&values.registers) {
            words.push(format!("{}.{}={value}", thread.name, register.name));
        }
    }
    // Printed as `.rav`, a cell may have become a named one that holds 0.
    words.extend(
        state.memory.iter().filter(|(_, value)| **value != 0).map(|(cell, value)| format!("mem[{cell}]={value}")),
    );
    words.sort();
    words.join(" ")
}

fn expected(text: &str, keys: &[&str]) -> BTreeSet<String> {
    let mut states = BTreeSet::new();
    for line in text.lines().flat_map(|line| line.split('\r')) {
        let Some((key, state)) = line.strip_prefix("# final ").and_then(|rest| rest.split_once(' ')) else { continue };
        if keys.contains(&key) {
            let mut words: Vec<&str> = state.split_whitespace().collect();
            words.sort_unstable();
            states.insert(words.join(" "));
        }
    }
    states
}

#[test]
fn the_corpus_ends_as_it_says() {
    for (name, text) in corpus() {
        let program = program(&name, &text);
        assert_eq!(Language::from_text(&text), Some(Language::Trencher), "{name}");
        for (model, keys) in [(Model::Sc, &["sc"][..]), (Model::Tso, &["sc", "tso"][..])] {
            let expected = expected(&text, keys);
            assert!(!expected.is_empty(), "{name} says nothing");
            assert_eq!(finals(&program, &program, model), expected, "{name} under {model}");
        }
    }
}

#[test]
fn printed_as_rav_the_corpus_ends_in_the_same_states() {
    for (name, text) in corpus() {
        let program = program(&name, &text);
        let printed = print::rav(&program);
        let again = rav::parse(Source::new(&name, printed.clone())).program.unwrap_or_else(|| panic!("{printed}"));
        for model in [Model::Sc, Model::Tso] {
            assert_eq!(finals(&again, &program, model), finals(&program, &program, model), "{name}\n{printed}");
        }
    }
}

#[test]
fn each_instruction_means_what_it_says() {
    let text = "thread t initial s\ntransition s s read r + r 1\ntransition s s write 1 2\ntransition s s local r 3\n\
                transition s s check r\ntransition s s mfence\ntransition s s noop\ntransition s s lock\n\
                transition s s unlock\nend\n";
    let program = program("t.txt", text);
    let thread = &program.threads[0];
    let shown: Vec<String> =
        thread.transitions.iter().map(|transition| program.show_instruction(thread, &transition.instruction)).collect();
    assert_eq!(
        shown,
        [
            "r = mem[r + 1].load()",
            "mem[2].store(1)",
            "r = 3",
            "assume(r)",
            "fence(seq_cst)",
            "nop",
            "bus_lock",
            "bus_unlock"
        ]
    );
    let Instruction::Load { address, order, .. } = &thread.transitions[0].instruction else { panic!("a load") };
    assert_eq!((address.within, *order), (None, Order::Relaxed));
    assert!(matches!(address.expr, Expr::Binary(BinaryOp::Add, ..)));
    assert!(program.memory.variables.is_empty() && program.goals.is_empty());
}

#[test]
fn every_transition_knows_its_place() {
    let text = "thread t\ninitial a\ntransition a\n  b write + 1 2 3\ntransition b a noop\nend\n";
    let program = program("t.txt", text);
    let quoted: Vec<&str> =
        program.threads[0].transitions.iter().map(|transition| program.source.quote(transition.span)).collect();
    assert_eq!(quoted, ["transition a\n  b write + 1 2 3", "transition b a noop"]);
    let labels: Vec<&str> = program.threads[0].locations.iter().map(|location| location.labels[0].as_str()).collect();
    assert_eq!(labels, ["a", "b"]);
    assert_eq!(program.source.quote(program.threads[0].span), "t");
}

#[test]
fn the_last_initial_state_counts() {
    let program = program("t.txt", "thread t initial a initial b transition a b noop transition b a noop end");
    let thread = &program.threads[0];
    assert_eq!(thread.locations[thread.initial.0].labels, ["b"]);
    assert_eq!(thread.outgoing(LocId(0)).count(), 1);
}

#[test]
fn a_word_that_starts_as_a_number_is_the_register_that_the_thread_sets_or_else_the_number() {
    let value = |text: &str| {
        let text = format!("thread t initial a {text} transition y z local result 5abc end");
        let program = program("t.txt", &text);
        let last = program.threads[0].transitions.iter().find(|transition| {
            matches!(&transition.instruction, Instruction::Assign { reg, .. }
                if program.threads[0].registers[reg.0].name == "result")
        });
        program.show_instruction(&program.threads[0], &last.expect("an assignment").instruction)
    };
    assert_eq!(value("transition a y noop"), "result = 5");
    assert_eq!(value("transition a y read 5abc 0"), "result = 5abc");
}

#[test]
fn values_are_never_cut_to_32_bits_and_overflow_is_a_fault() {
    let text = "thread t initial a transition a b local r * 2000000000 2000000000 transition b c local r * r r end";
    let program = program("t.txt", text);
    let explored = Reference::new(&program, Model::Sc, None).expect("no refusal").explore(100).expect("few states");
    assert_eq!(explored.faults.len(), 1);
    assert_eq!(
        explored.stuck.iter().next().expect("stuck at the fault").threads[0].registers,
        [4_000_000_000_000_000_000]
    );
}

/// As in Persist's files: memory has so many cells, and a value that is put into a register or a cell wraps. Between the operators of an
/// expression nothing does.
#[test]
fn with_a_size_of_memory_values_are_bytes_that_wrap() {
    let text = "memory_size 2\nthread t\ninitial a\ntransition a b write - 0 1 0\ntransition b c read r 0\n\
                transition c d local s + r 2\ntransition d e write + r r 1\n\
                transition e f check == + r 1 256\nend\n";
    let program = program("t.txt", text);
    let expected = BTreeSet::from(["mem[0]=255 mem[1]=254 t.r=255 t.s=1".to_owned()]);
    assert_eq!(finals(&program, &program, Model::Tso), expected);
    let printed = print::rav(&program);
    let again = rav::parse(Source::new("t.rav", printed.clone())).program.unwrap_or_else(|| panic!("{printed}"));
    let ends = Reference::new(&again, Model::Tso, None).expect("no refusal").explore(100_000).expect("few states");
    assert!(ends.faults.is_empty() && ends.finals.len() == 1, "{printed}");
    let held: Vec<i64> = ends.finals.iter().flat_map(|state| state.memory.values().copied()).collect();
    assert_eq!(held, [255, 254], "{printed}");
}

#[test]
fn with_a_size_of_memory_an_access_elsewhere_is_a_fault() {
    for (address, faults) in [("1", false), ("2", true), ("- 0 1", true), ("+ r 1", false)] {
        let text = format!("memory_size 2 thread t initial a transition a b read r {address} end");
        let program = program("t.txt", &text);
        let explored =
            Reference::new(&program, Model::Tso, None).expect("no refusal").explore(1000).expect("few states");
        assert_eq!(!explored.faults.is_empty(), faults, "{address}");
    }
}
