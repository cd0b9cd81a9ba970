//! Final states as text.

use super::Style;
use super::numbers::{counted, grouped};
use super::run::{explored, steps};
use super::table::TextTable;
use crate::{EndState, FinalStates};
use ravelin_program::Model;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The most runs that are shown.
const MOST_RUNS: usize = 5;

/// The answer to `states`.
pub fn final_states(answer: &FinalStates, style: Style) -> String {
    let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count() as u64;
    let mut text =
        format!("{} under {}: {}", answer.file, answer.model, counted(answer.finals.len() as u64, "final state"));
    if answer.model != Model::Sc {
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
        None if answer.cut_off && answer.messages.is_some() => {
            let _ = writeln!(
                text,
                "  Some cell had more than {} writes that could still be read, so there may be more states (--messages).",
                answer.messages.unwrap_or(0)
            );
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
    if answer.seq_cst_open > 0 {
        let _ = writeln!(
            text,
            "  {} more if seq_cst accesses are release/acquire ones; whether C11 allows them was not settled.",
            counted(answer.seq_cst_open as u64, "state")
        );
    }
    text.push_str(&runs(answer, style));
    let _ = writeln!(text, "  {}.", explored(&answer.statistics));
    style.fitted(text)
}

/// How states that sc forbids are reached.
fn runs(answer: &FinalStates, style: Style) -> String {
    let mut text = String::new();
    let mut reached = answer.finals.iter().chain(&answer.stuck).filter_map(|state| Some((state, state.run.as_ref()?)));
    for (state, run) in reached.by_ref().take(MOST_RUNS) {
        let _ = writeln!(text, "  run to {}, which sc forbids:", state.shown.trim_end_matches(';'));
        text.push_str(&steps(&run.initial.threads, &run.steps, answer.model.is_buffered(), style));
    }
    let more = reached.count() as u64;
    if more > 0 {
        let _ = writeln!(text, "  {} not shown (--format json has them).", counted(more, "more run"));
    }
    text
}

/// State × model: which of several models allow a state.
pub fn state_models(answers: &[&FinalStates], style: Style) -> String {
    let mut shown: Vec<&str> = Vec::new();
    for state in answers.iter().flat_map(|answer| &answer.finals) {
        if !shown.contains(&state.shown.as_str()) {
            shown.push(&state.shown);
        }
    }
    shown.sort_unstable();
    let mut table = TextTable::new(&[]);
    let names = answers.iter().map(|answer| answer.model.to_string());
    table.row(std::iter::once("final state".to_owned()).chain(names));
    for state in shown {
        let word = |answer: &&FinalStates| match answer.finals.iter().any(|found| found.shown == state) {
            true => "allowed".to_owned(),
            false if answer.complete => "forbidden".to_owned(),
            false => "not found".to_owned(),
        };
        table.row(std::iter::once(state.to_owned()).chain(answers.iter().map(word)));
    }
    table.render_within("", style.width)
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
            row.extend(thread.registers.iter().map(|(register, value)| {
                let name = state.names.get(&format!("{}.{register}", thread.thread));
                name.cloned().unwrap_or_else(|| value.to_string())
            }));
        }
        let values: HashMap<&str, _> = state.memory.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        row.extend(cells.iter().map(|cell| match state.names.get(*cell) {
            Some(name) => name.clone(),
            None => values.get(cell).copied().unwrap_or(0).to_string(),
        }));
        match state.beyond_sc {
            Some(true) => row.push(style.paint("1;31", "not sc")),
            None => row.push("not known whether sc".to_owned()),
            Some(false) => {}
        }
        table.row(row);
    }
    table.render_within("    ", style.width)
}
