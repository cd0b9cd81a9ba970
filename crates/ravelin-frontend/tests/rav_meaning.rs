//! What a text means, computed twice: by lowering it and running the program on the reference semantics, and by walking the
//! text's own tree, which knows nothing of addresses, hidden registers and counters.
//!
//! Random texts of one thread, so that there is one run: headers (`max_value … wrap|block|error`, `arithmetic`), typed and
//! untyped variables and registers, arrays with computed indices, `for`, branches, read-modify-writes, `checked` and
//! `wrapping`. Printing a program and reading it back must not change what it does either.

mod generate;
mod walk;

use generate::{Text, text};
use ravelin_frontend::{print, rav, render};
use ravelin_program::{Model, Program, Source};
use ravelin_semantics::operational::{Reference, State};
use walk::{Outcome, walk};

/// Runs the only run of a program.
fn run(program: &Program) -> (Outcome, State) {
    let reference = Reference::new(program, Model::Sc, None).expect("a program that can be run");
    let mut states = reference.initial_states().expect("one initial state");
    let mut state = states.pop().expect("an initial state");
    assert!(states.is_empty(), "several initial states");
    for _ in 0..100_000 {
        let steps = reference.steps(&state);
        if !steps.faults.is_empty() {
            return (Outcome::Fault, state);
        }
        match steps.next.as_slice() {
            [] if reference.is_final(&state) => return (Outcome::End, state),
            [] => return (Outcome::Blocked, state),
            [(_, next)] => state = next.clone(),
            several => panic!("{} steps at once", several.len()),
        }
    }
    panic!("the run does not end");
}

fn parse(text: &str) -> Program {
    let parsed = rav::parse(Source::new("text.rav", text));
    let shown = render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.unwrap_or_else(|| panic!("{shown}\n{text}"))
}

/// Whether the lowered text, and the printed program, do what the tree says; what differs otherwise.
fn compare(tree: &Text) -> Result<Outcome, String> {
    let text = tree.to_string();
    let (expected, memory) = walk(tree);
    let program = parse(&text);
    for (how, program) in [("lowered", program.clone()), ("printed and read back", parse(&print::rav(&program)))] {
        let (found, state) = run(&program);
        if found != expected {
            return Err(format!("{how}: {found:?} instead of {expected:?}\n{text}"));
        }
        for (name, value) in &memory {
            let place = program.memory.named_addresses().find(|address| program.memory.name_of(*address) == *name);
            let cell = state.cell(place.unwrap_or_else(|| panic!("{how}: no cell {name}\n{text}")));
            if cell != *value {
                return Err(format!("{how}: {name} = {cell} instead of {value}\n{text}"));
            }
        }
    }
    Ok(expected)
}

#[test]
fn random_texts_do_what_their_trees_say() {
    let seeds = ravelin_testing::seeds(3_000);
    let programs = seeds.end - seeds.start;
    let mut seen = [0u32; 3];
    for seed in seeds {
        match compare(&text(seed)) {
            Ok(outcome) => seen[outcome as usize] += 1,
            Err(difference) => panic!("seed {seed}: {difference}"),
        }
    }
    // The texts are worth comparing: each way to end is common.
    assert!(programs < 500 || seen.iter().all(|&count| u64::from(count) * 20 > programs), "{seen:?}");
}

#[test]
fn an_index_is_added_to_the_address_with_64_bits() {
    let (outcome, state) = run(&parse(
        "max_value 3 wrap; static x; static y; static z: [_; 2]; thread p { let i = 1; z[i].store(1); x.store(1); }",
    ));
    assert_eq!((outcome, state.cell(1), state.cell(4)), (Outcome::End, 1, 1));
    let (outcome, state) =
        run(&parse("arithmetic wrapping 0..4; static z: [0..4; 8]; thread p { let i = 6; z[i].store(1); }"));
    assert_eq!((outcome, state.cell(7), state.cell(3)), (Outcome::End, 1, 0));
}

#[test]
fn the_counter_of_a_loop_counts_with_64_bits() {
    for header in ["max_value 3 wrap;", "max_value 3 block;", "max_value 3;", "arithmetic wrapping 0..4;"] {
        let (outcome, state) = run(&parse(&format!(
            "{header} static x: u8; thread p {{ for i in 0..4 {{ x.fetch_add(0); }} x.store(2); }}"
        )));
        assert_eq!((outcome, state.cell(1)), (Outcome::End, 2), "{header}");
    }
}

#[test]
fn minus_one_is_minus_one_however_it_is_written() {
    for (header, value) in [("arithmetic wrapping 0..4;", 3), ("", -1), ("arithmetic wrapping i8;", -1)] {
        for minus_one in ["-1", "-(1)", "0 - 1", "-one"] {
            let text = format!("{header} static x: i64; thread p {{ let one: i64 = 1; x.store({minus_one}); }}");
            assert_eq!(run(&parse(&text)).1.cell(1), value, "{text}");
        }
    }
    // Constants are computed with 64 bits.
    let text = "arithmetic wrapping 0..4; const M = -1; static x: i64; thread p { x.store(M); }";
    assert_eq!(run(&parse(text)).1.cell(1), -1);
}

#[test]
fn checked_and_wrapping_say_how_the_operators_inside_compute() {
    for (expr, value) in [
        ("r + 1", 4),
        ("wrapping(0..4, r + 1)", 0),
        ("wrapping(0..4, r + checked(r + 3))", 1),
        ("checked(wrapping(0..4, r + 1) - 1)", -1),
        ("wrapping(i8, (r + 125))", -128),
        ("wrapping(0..4, r + 1) == 0", 1),
    ] {
        let text = format!("static x: i64; thread p {{ let r = 3; x.store({expr}); }}");
        assert_eq!(run(&parse(&text)).1.cell(1), value, "{text}");
    }
    let text = "static x: i64 = 250; thread p { let r = wrapping(u8, x.fetch_add(6)); wrapping(u8, x.fetch_sub(1)); }";
    assert_eq!(run(&parse(text)).1.cell(1), 255);
    let text = "static x = 7; thread p { if wrapping(0..8, x.load() + 1) == 0 && x.load() == 7 { x.store(1); } }";
    assert_eq!(run(&parse(text)).1.cell(1), 1);
}
