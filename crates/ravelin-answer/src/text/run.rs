//! Runs as text: one line per step.

use super::Style;
use super::c11::graph;
use super::numbers::{counted, grouped};
use super::table::TextTable;
use crate::{AccessStorage, BufferEntry, InitialThread, RunStep, RunWitness, Statistics, Violation, WaitingThread};

/// The violation at the end of a run, with the program as its subject.
pub fn violation(violation: &Violation) -> String {
    let place = violation.position().map(|position| format!(" (line {})", position.line)).unwrap_or_default();
    match violation {
        Violation::Goal { text, exists: true, .. } => format!("reaches `{text}`{place}"),
        Violation::Goal { text, .. } => format!("violates `{text}`{place}"),
        Violation::Deadlock { threads } => threads.iter().map(WaitingThread::sentence).collect::<Vec<_>>().join("\n  "),
        Violation::Assert { thread, text, .. } => format!("`{text}` fails in {thread}{place}"),
        Violation::Fault { thread, text, fault, .. } => format!("error in {thread} at `{text}`{place}: {fault}"),
    }
}

/// The steps of a witness, one per line.
pub fn run(witness: &RunWitness, style: Style) -> String {
    let shown = witness.steps.iter().filter(|step| !step.internal).count();
    let number = counted(shown as u64, "step");
    let kind = if witness.shortest { ", a shortest one" } else { "" };
    let mut text = format!("  run of {number}{kind}:\n");
    text.push_str(&steps(&witness.initial.threads, &witness.steps, witness.model.is_buffered(), style));
    // Under C11 a run alone does not say why its reads are allowed.
    if let (true, Some(events), Some(edges)) = (witness.model.is_c11(), &witness.events, &witness.edges) {
        text.push_str("  execution graph that the model allows:\n");
        text.push_str(&graph(events, edges, style));
    }
    text
}

/// A run under sc, if there is one.
pub fn sc_run(threads: &[InitialThread], taken: &[RunStep], until: &str, style: Style) -> String {
    if taken.is_empty() {
        return String::new();
    }
    format!("  run under sc{until}:\n{}", steps(threads, taken, false, style))
}

/// Steps as lines: number, part if they have one, thread, line, instruction, effect, and the pending stores afterwards.
pub fn steps(threads: &[InitialThread], steps: &[RunStep], buffered: bool, style: Style) -> String {
    let parts = steps.iter().any(|step| step.part.is_some());
    let mut table = TextTable::new(if parts { &[0, 3] } else { &[0, 2] });
    let mut heading = vec!["step"];
    heading.extend(parts.then_some("part"));
    heading.extend(["thread", "line", "what", ""]);
    heading.extend(buffered.then_some("pending stores"));
    table.row(heading.into_iter().map(str::to_owned));
    for (number, step) in steps.iter().filter(|step| !step.internal).enumerate() {
        let mut row = vec![(number + 1).to_string()];
        row.extend(step.part.map(|part| part.name().to_owned()));
        row.push(step.thread.clone());
        row.push(step.position.map(|position| position.line.to_string()).unwrap_or_default());
        row.extend([format!("{}{}", step.text, step.within()), effect(threads, step)]);
        if buffered {
            row.push(pending(threads, step));
        }
        table.row(row);
    }
    table.render_within("    ", style.width)
}

/// One step in a few words: what was read and from where, what changed.
pub fn effect(threads: &[InitialThread], step: &RunStep) -> String {
    let mut parts = Vec::new();
    for read in &step.reads {
        let how = match read.place {
            AccessStorage::Buffer => " from its own buffer".to_owned(),
            AccessStorage::Memory => overtaken(threads, step),
            AccessStorage::Older => ", an older write".to_owned(),
        };
        parts.push(format!("reads {} = {}{how}", read.cell, read.shown()));
    }
    if !step.is_flush() {
        let written = step.writes.iter().filter_map(|write| {
            let how = match write.place {
                AccessStorage::Buffer => return None,
                AccessStorage::Memory => "",
                AccessStorage::Older => " before newer writes",
            };
            Some(format!("writes {} = {}{how}", write.cell, write.shown()))
        });
        parts.extend(written);
    }
    if step.reads.is_empty() {
        parts.extend(step.registers.iter().map(|changed| format!("{} = {}", changed.register, changed.shown())));
    }
    parts.join(", ")
}

/// The thread's own pending stores that a read of memory overtook.
fn overtaken(threads: &[InitialThread], step: &RunStep) -> String {
    let buffer = threads.iter().position(|thread| thread.thread == step.thread);
    let buffer = buffer.and_then(|number| step.buffers.get(number));
    let mut cells: Vec<&str> = Vec::new();
    for entry in buffer.into_iter().flatten() {
        if let BufferEntry::Store(store) = entry
            && !cells.contains(&store.cell.as_str())
        {
            cells.push(&store.cell);
        }
    }
    if cells.is_empty() { String::new() } else { format!(" before {} is in memory", cells.join(", ")) }
}

fn pending(threads: &[InitialThread], step: &RunStep) -> String {
    let mut parts = Vec::new();
    for (buffer, thread) in step.buffers.iter().zip(threads) {
        if !buffer.is_empty() {
            parts.push(format!("{}: {}", thread.thread, entries(buffer)));
        }
    }
    parts.join("  ")
}

fn entries(buffer: &[BufferEntry]) -> String {
    let entry = |entry: &BufferEntry| match entry {
        BufferEntry::Store(store) => format!("{}={}", store.cell, store.shown()),
        BufferEntry::Marker => "|".to_owned(),
    };
    buffer.iter().map(entry).collect::<Vec<_>>().join(" ")
}

/// What a search explored, and its time.
pub fn explored(statistics: &Statistics) -> String {
    format!(
        "{} and {} explored, depth {}, in {:.2} s",
        counted(statistics.states, "state"),
        counted(statistics.transitions, "transition"),
        grouped(statistics.depth),
        statistics.seconds
    )
}
