//! Robustness against release/acquire and RC20 as text for a terminal.

use super::Style;
use super::numbers::counted;
use super::run::{explored, sc_run};
use super::table::TextTable;
use crate::{C11Race, C11Robustness, C11Witness, Edge, EdgeKind, Event, Impact, KeptLoop, WaitingLoop};
use std::fmt::Write;

/// The answer to `check --model ra` or `rc20`.
pub fn robustness(answer: &C11Robustness, style: Style) -> String {
    let word = if answer.race.is_some() { "data race" } else { answer.robust().on_robustness() };
    let mut text = format!("{} under {}: {}", answer.file, answer.model, style.word(answer.verdict, word));
    if let Some(limit) = &answer.limit {
        let _ = write!(text, ": {limit}");
    }
    if let Some(impact) = &answer.impact {
        text.push_str(&impact.summary(answer.model, answer.deadlocks.as_ref()));
    }
    text.push('\n');
    text.push_str(&super::robust::implied(answer.implied_by));
    if let Some(witness) = &answer.witness {
        text.push_str(&stale(witness, style));
        text.push_str(&help(answer, witness));
    }
    if let Some(found) = &answer.race {
        text.push_str(&race(found, style));
    }
    if let Some(basis) = answer.seq_cst_basis {
        let _ = writeln!(text, "  {}", basis.sentence());
    }
    text.push_str(&waiting_loops(answer));
    text.push_str(&kept_loops(answer));
    let _ = writeln!(text, "  {}.", explored(&answer.statistics));
    style.fitted(text)
}

pub fn stale(witness: &C11Witness, style: Style) -> String {
    let mut text = format!("  {}\n", witness.sentence);
    let named = [("stale access", witness.access), ("ignored", witness.ignored)];
    text.push_str(&roles(named, &witness.events, style));
    text.push_str(&sc_run(&witness.initial.threads, &witness.steps, " up to the access", style));
    text.push_str("  execution graph that the model allows:\n");
    text.push_str(&graph(&witness.events, &witness.edges, style));
    text.push_str("  cycle that sc forbids:\n");
    text.push_str(&cycle(witness, style));
    if let Some(machines) = witness.machines {
        let _ = writeln!(text, "  {}", machines.sentence());
    }
    text
}

pub fn race(race: &C11Race, style: Style) -> String {
    let mut text = format!("  {}\n", race.sentence);
    text.push_str(&roles([("first", race.first), ("second", race.second)], &race.events, style));
    text.push_str(&sc_run(&race.initial.threads, &race.steps, " up to the second access", style));
    text.push_str("  execution graph:\n");
    text.push_str(&graph(&race.events, &race.edges, style));
    text.push_str("  A program with a data race has no meaning in C11; robustness was not settled.\n");
    text
}

/// The two events that matter, by what they do.
fn roles(named: [(&str, usize); 2], events: &[Event], style: Style) -> String {
    let mut table = TextTable::new(&[]);
    for (role, event) in named {
        let [number, thread, line, what] = row(&events[event], event);
        let line = if line.is_empty() { line } else { format!("line {line}") };
        table.row([role.to_owned(), number, thread, line, what]);
    }
    table.render_within("    ", style.width)
}

fn row(event: &Event, number: usize) -> [String; 4] {
    [
        format!("e{number}"),
        event.thread.clone().unwrap_or_else(|| "initially".to_owned()),
        event.position.map(|position| position.line.to_string()).unwrap_or_default(),
        event.text.clone(),
    ]
}

/// The events, each with its outgoing edges. Program order goes down the table and is omitted.
pub fn graph(events: &[Event], edges: &[Edge], style: Style) -> String {
    let mut table = TextTable::new(&[2]);
    table.row(["event", "thread", "line", "what", "edges"].map(str::to_owned));
    for (number, event) in events.iter().enumerate() {
        let leaving = edges.iter().filter(|edge| edge.from == number && edge.kind != EdgeKind::Po);
        let leaving: Vec<String> = leaving.map(|edge| format!("{} e{}", edge.kind, edge.to)).collect();
        let [name, thread, line, what] = row(event, number);
        table.row([name, thread, line, what, leaving.join(", ")]);
    }
    table.render_within("    ", style.width)
}

fn cycle(witness: &C11Witness, style: Style) -> String {
    let mut table = TextTable::new(&[2]);
    table.row(["event", "thread", "line", "what", "edge to the next"].map(str::to_owned));
    for edge in &witness.cycle {
        let [name, thread, line, what] = row(&witness.events[edge.from], edge.from);
        table.row([name, thread, line, what, edge.kind.name().to_owned()]);
    }
    table.render_within("    ", style.width)
}

/// What would help.
fn help(answer: &C11Robustness, witness: &C11Witness) -> String {
    match answer.stale_in_loop().filter(|_| !answer.rewritten) {
        Some(waiting) => format!(
            "  The access is in a loop that only waits. Reading a stale value there does no harm: write `{}` instead, or ask with --auto-wait.\n",
            waiting.became
        ),
        None if answer.impact.as_ref().is_some_and(Impact::is_harmless) => String::new(),
        None => remedies(answer, witness),
    }
}

/// What would forbid the graph.
fn remedies(answer: &C11Robustness, witness: &C11Witness) -> String {
    let Some(remedy) = &witness.remedy else { return String::new() };
    let place = |event: usize| {
        let event = &witness.events[event];
        let line = event.position.map(|position| format!(" on line {}", position.line)).unwrap_or_default();
        (event.thread.clone().unwrap_or_default(), line)
    };
    let mut parts: Vec<String> = Vec::new();
    for stronger in &remedy.strengthen {
        let (thread, line) = place(stronger.event);
        let access = match witness.events[stronger.event].text.chars().next() {
            Some('R') => "load",
            Some('W') => "store",
            _ => "read-modify-write",
        };
        parts.push(format!("{} for the {access}{line} of {thread}", stronger.order));
    }
    for &event in &remedy.fence_before {
        let (thread, line) = place(event);
        parts.push(format!("a seq_cst fence before the access{line} of {thread}"));
    }
    let verb = if parts.len() == 1 { "forbids" } else { "together forbid" };
    let mut list = parts.join(" and ");
    if let Some(first) = list.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    format!(
        "  {list} {verb} this graph; others may remain (`ravelin fence --model {}` finds the cheapest changes).\n",
        answer.model
    )
}

/// Loops that only wait.
fn waiting_loops(answer: &C11Robustness) -> String {
    if answer.waiting_loops.is_empty() {
        return String::new();
    }
    let did = |waiting: &WaitingLoop| {
        let line = waiting.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{line}{}", waiting.became)
    };
    let mut lines: Vec<String> = answer.waiting_loops.iter().map(did).collect();
    lines.dedup();
    let loops = counted(lines.len() as u64, "loop");
    let what = match (answer.rewritten, lines.len()) {
        (true, _) => "rewritten to",
        (false, 1) => "that only waits, and could be written as",
        (false, _) => "that only wait, and could be written as",
    };
    format!("  {loops} {what} {}.\n", lines.join("; "))
}

/// The other loops, where waiting ones were asked to be rewritten.
fn kept_loops(answer: &C11Robustness) -> String {
    if !answer.rewritten || answer.kept_loops.is_empty() {
        return String::new();
    }
    let mut lines: Vec<String> = Vec::new();
    for KeptLoop { line, reason, .. } in &answer.kept_loops {
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let said = format!("    {line}not taken: {reason}\n");
        if !lines.contains(&said) {
            lines.push(said);
        }
    }
    format!("  {} kept:\n{}", counted(lines.len() as u64, "loop"), lines.concat())
}
