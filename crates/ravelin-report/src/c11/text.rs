//! Robustness against release/acquire and RC20 as text for a terminal.

use super::Shown;
use crate::numbers::counted;
use crate::table::Table;
use crate::text::{Style, explored, narrated};
use ravelin_analysis::Verdict;
use ravelin_analysis::c11::{C11Race, C11Violation, C11Witness, EdgeKind, GraphEdge, GraphEvent, SpinLoop, remedy};
use ravelin_program::SeqCstReading;
use std::fmt::Write;

/// The answer to `check --model ra` or `rc20`.
pub fn robustness(shown: &Shown, style: Style) -> String {
    let answer = shown.answer;
    let word = match (&answer.violation, answer.verdict) {
        (Some(C11Violation::Race(_)), _) => "data race",
        (_, Verdict::Holds) => "robust",
        (_, Verdict::Violated) => "not robust",
        (_, Verdict::Unknown) => "unknown",
    };
    let mut text = format!("{} under {}: {}", shown.file, answer.model.name(), style.word(answer.verdict, word));
    if let Some(limit) = answer.limit {
        let _ = write!(text, ": {limit}");
    }
    text.push('\n');
    match &answer.violation {
        Some(C11Violation::NotRobust(witness)) => {
            text.push_str(&stale(witness, style));
            text.push_str(&help(shown, witness));
        }
        Some(C11Violation::Race(found)) => text.push_str(&race(found, style)),
        None => {}
    }
    if let Some(seq_cst) = answer.seq_cst {
        text.push_str(&reading(seq_cst));
    }
    text.push_str(&spins(shown));
    let _ = writeln!(text, "  {}.", explored(&answer.statistics));
    style.fitted(text)
}

/// What a reading of seq_cst accesses means.
pub(crate) fn reading(reading: SeqCstReading) -> String {
    let with = match reading {
        SeqCstReading::RelAcq => "no fence",
        SeqCstReading::Both => "a hidden seq_cst fence behind each, and then with one in front of each",
        SeqCstReading::Before => "a hidden seq_cst fence in front of each",
        SeqCstReading::After => "a hidden seq_cst fence behind each",
    };
    format!(
        "  seq_cst accesses are outside RC20; they were read as release/acquire with {with}. Violations of RC11 may be missed.\n"
    )
}

/// What is wrong, without what would help.
pub(crate) fn violation(violation: &C11Violation, style: Style) -> String {
    match violation {
        C11Violation::NotRobust(witness) => stale(witness, style),
        C11Violation::Race(found) => race(found, style),
    }
}

fn stale(witness: &C11Witness, style: Style) -> String {
    let mut text = format!("  {}\n", witness.sentence);
    let mut roles = Table::new(&[]);
    for (role, event) in [("stale access", witness.access), ("ignored", witness.ignored)] {
        let [number, thread, line, what] = row(&witness.events[event], event);
        let line = if line.is_empty() { line } else { format!("line {line}") };
        roles.row([role.to_owned(), number, thread, line, what]);
    }
    text.push_str(&roles.render_within("    ", style.width));
    text.push_str(&run(&witness.steps, "up to the access", style));
    text.push_str("  execution graph that the model allows:\n");
    text.push_str(&graph(&witness.events, &witness.edges, style));
    text.push_str("  cycle that sc forbids:\n");
    text.push_str(&cycle(witness, style));
    text
}

fn race(race: &C11Race, style: Style) -> String {
    let mut text = format!("  {}\n", race.sentence);
    let mut table = Table::new(&[]);
    for (role, event) in [("first", race.first), ("second", race.second)] {
        let [number, thread, line, what] = row(&race.events[event], event);
        let line = if line.is_empty() { line } else { format!("line {line}") };
        table.row([role.to_owned(), number, thread, line, what]);
    }
    text.push_str(&table.render_within("    ", style.width));
    text.push_str(&run(&race.steps, "up to the second access", style));
    text.push_str("  execution graph:\n");
    text.push_str(&graph(&race.events, &race.edges, style));
    text.push_str("  A program with a data race has no meaning in C11; robustness was not settled.\n");
    text
}

fn run(steps: &[ravelin_analysis::witness::Narrated], until: &str, style: Style) -> String {
    if steps.is_empty() {
        return String::new();
    }
    format!("  run under sc {until}:\n{}", narrated(steps, false, style))
}

fn row(event: &GraphEvent, number: usize) -> [String; 4] {
    [
        format!("e{number}"),
        event.thread.clone().unwrap_or_else(|| "initially".to_owned()),
        event.position.map(|position| position.line.to_string()).unwrap_or_default(),
        event.text.clone(),
    ]
}

/// The events, each with the edges that leave it. Program order goes down the table and is left out.
fn graph(events: &[GraphEvent], edges: &[GraphEdge], style: Style) -> String {
    let mut table = Table::new(&[2]);
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
    let mut table = Table::new(&[2]);
    table.row(["event", "thread", "line", "what", "edge to the next"].map(str::to_owned));
    for edge in &witness.cycle {
        let [name, thread, line, what] = row(&witness.events[edge.from], edge.from);
        table.row([name, thread, line, what, edge.kind.name().to_owned()]);
    }
    table.render_within("    ", style.width)
}

/// What would help.
fn help(shown: &Shown, witness: &C11Witness) -> String {
    match shown.spinning().filter(|_| !shown.rewritten) {
        Some(spin) => format!(
            "  The access is in a loop that only waits. Reading a stale value there does no harm: write `{}` instead, or ask with --auto-wait.\n",
            spin.became
        ),
        None => remedies(shown, witness),
    }
}

/// What would forbid the graph.
fn remedies(shown: &Shown, witness: &C11Witness) -> String {
    let Some(remedy) = remedy(shown.answer) else { return String::new() };
    let place = |event: usize| {
        let event = &witness.events[event];
        let line = event.position.map(|position| format!(" on line {}", position.line)).unwrap_or_default();
        (event.thread.clone().unwrap_or_default(), line)
    };
    let mut parts: Vec<String> = Vec::new();
    for &(event, order) in &remedy.strengthen {
        let (thread, line) = place(event);
        let access = match witness.events[event].text.chars().next() {
            Some('R') => "load",
            Some('W') => "store",
            _ => "read-modify-write",
        };
        parts.push(format!("{} for the {access}{line} of {thread}", order.name()));
    }
    for &event in &remedy.fences {
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
        shown.answer.model
    )
}

/// Loops that only wait.
fn spins(shown: &Shown) -> String {
    if shown.spins.is_empty() {
        return String::new();
    }
    let did = |spin: &SpinLoop| {
        let line = spin.position.map(|position| format!("line {}: ", position.line)).unwrap_or_default();
        format!("{line}{}", spin.became)
    };
    let mut told: Vec<String> = shown.spins.iter().map(did).collect();
    told.dedup();
    let loops = counted(told.len() as u64, "loop");
    let what = match (shown.rewritten, told.len()) {
        (true, _) => "rewritten to",
        (false, 1) => "that only waits, and could be written as",
        (false, _) => "that only wait, and could be written as",
    };
    format!("  {loops} {what} {}.\n", told.join("; "))
}
