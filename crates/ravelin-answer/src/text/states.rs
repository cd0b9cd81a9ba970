//! Final states as text.

use super::Style;
use super::numbers::{counted, grouped};
use super::run::explored;
use super::table::TextTable;
use crate::{EndState, FinalStates};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The answer to `states`.
pub fn final_states(answer: &FinalStates, style: Style) -> String {
    let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count() as u64;
    let mut text =
        format!("{} under {}: {}", answer.file, answer.model, counted(answer.finals.len() as u64, "final state"));
    if answer.model.is_buffered() {
        let _ = write!(text, ", {} not possible under sc", grouped(beyond));
    }
    text.push('\n');
    text.push_str(&state_table(&answer.finals, false, style));
    if !answer.stuck.is_empty() {
        let _ = writeln!(text, "  {} in which nothing can move:", counted(answer.stuck.len() as u64, "state"));
        text.push_str(&state_table(&answer.stuck, true, style));
    }
    match &answer.limit {
        Some(limit) => {
            let _ = writeln!(text, "  Not all: {limit}.");
        }
        None if answer.cut_off => {
            let _ = writeln!(
                text,
                "  Within store buffers of {}: some store had to wait for room, so there may be more.",
                answer.buffer.unwrap_or(0)
            );
        }
        None => {}
    }
    let _ = writeln!(text, "  {}.", explored(&answer.statistics));
    style.fitted(text)
}

fn state_table(states: &[EndState], with_locations: bool, style: Style) -> String {
    let Some(first) = states.first() else { return String::new() };
    let mut seen = HashSet::new();
    let names = states.iter().flat_map(|state| &state.memory).map(|(name, _)| name.as_str());
    let cells: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    let mut table = TextTable::new(&[]);
    let mut heading = Vec::new();
    for thread in &first.threads {
        if with_locations {
            heading.push(thread.thread.clone());
        }
        heading.extend(thread.registers.iter().map(|(register, _)| format!("{}.{register}", thread.thread)));
    }
    heading.extend(cells.iter().map(|&cell| cell.to_owned()));
    table.row(heading);
    for state in states {
        let mut row = Vec::new();
        for thread in &state.threads {
            if with_locations {
                row.push(thread.location.clone());
            }
            row.extend(thread.registers.iter().map(|(_, value)| value.to_string()));
        }
        let values: HashMap<&str, _> = state.memory.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        row.extend(cells.iter().map(|cell| values.get(cell).copied().unwrap_or(0).to_string()));
        match state.beyond_sc {
            Some(true) => row.push(style.paint("1;31", "not sc")),
            None => row.push("not known whether sc".to_owned()),
            Some(false) => {}
        }
        table.row(row);
    }
    table.render_within("    ", style.width)
}
