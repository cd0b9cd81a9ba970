//! The control flow of a program as a Graphviz graph.
//!
//! One cluster a thread, one node a location with its number and labels, one edge a transition with its instruction. An
//! arrow without a source marks where a thread starts; a double circle marks a location where it is at its end. Every
//! text is escaped, so names may hold any characters.

use ravelin_program::{Copies, LocId, Program, Thread};
use std::fmt::Write;

/// Graphviz input for any program.
pub fn dot(program: &Program) -> String {
    let mut text = String::new();
    text.push_str(&format!("digraph {} {{\n", quoted(&program.name)));
    text.push_str("    node [shape=circle, fontname=\"monospace\"];\n");
    text.push_str("    edge [fontname=\"monospace\"];\n");
    for (index, thread) in program.threads.iter().enumerate() {
        cluster(&mut text, program, index, thread).expect("writing to a string");
    }
    text.push_str("}\n");
    text
}

fn cluster(text: &mut String, program: &Program, index: usize, thread: &Thread) -> std::fmt::Result {
    let name = match thread.copies {
        Copies::One => thread.name.clone(),
        Copies::Any => format!("{}[*]", thread.name),
    };
    writeln!(text, "    subgraph cluster_{index} {{")?;
    writeln!(text, "        label={};", quoted(&name))?;
    writeln!(text, "        t{index}_start [shape=point, label=\"\"];")?;
    writeln!(text, "        t{index}_start -> t{index}_l{};", thread.initial.0)?;
    for (number, location) in thread.locations.iter().enumerate() {
        let mut label = number.to_string();
        for name in &location.labels {
            label.push_str("\n@");
            label.push_str(name);
        }
        let shape = if thread.is_end(LocId(number)) { ", shape=doublecircle" } else { "" };
        writeln!(text, "        t{index}_l{number} [label={}{shape}];", quoted(&label))?;
    }
    for transition in &thread.transitions {
        let (from, to) = (transition.from.0, transition.to.0);
        let instruction = program.show_instruction(thread, &transition.instruction);
        writeln!(text, "        t{index}_l{from} -> t{index}_l{to} [label={}];", quoted(&instruction))?;
    }
    writeln!(text, "    }}")
}

/// A quoted string of the dot language. Graphviz takes a backslash for the start of an escape, so each is doubled; a
/// line break is written as one; other control characters have no picture and are replaced.
fn quoted(name: &str) -> String {
    let mut text = String::from("\"");
    for character in name.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            control if control.is_control() => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}
