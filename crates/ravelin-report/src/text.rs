//! Answers as text for a terminal.

use crate::numbers::{counted, grouped};
use crate::table::{Table, shown_width, wrapped};
use ravelin_analysis::Verdict;
use ravelin_analysis::states::{EndState, FinalStates};
use ravelin_analysis::witness::{BufferEntry, Narrated, Source, Witness, WitnessViolation};
use ravelin_explore::{Limit, Progress, Statistics};
use std::fmt::Write;

/// How to paint.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    pub color: bool,
    /// Columns of the terminal; `None` where lines may be as long as they are.
    pub width: Option<usize>,
}

impl Style {
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Lines that are wider than the terminal, broken between words; what follows stands below the text of the first.
    pub fn fitted(self, text: String) -> String {
        let Some(width) = self.width else { return text };
        if text.lines().all(|line| shown_width(line) <= width) {
            return text;
        }
        let mut fitted = String::new();
        for line in text.lines() {
            let words = line.trim_start_matches(' ');
            let indent = &line[..line.len() - words.len()];
            let room = width.saturating_sub(indent.len()).max(20);
            for part in wrapped(words, room) {
                fitted.extend([indent, part.as_str(), "\n"]);
            }
        }
        fitted
    }

    pub(crate) fn verdict(self, verdict: Verdict) -> String {
        self.word(verdict, verdict.name())
    }

    /// A word of one's own for a verdict, in its colour.
    pub(crate) fn word(self, verdict: Verdict, word: &str) -> String {
        let code = match verdict {
            Verdict::Holds => "1;32",
            Verdict::Violated => "1;31",
            Verdict::Unknown => "1;33",
        };
        self.paint(code, word)
    }
}

/// An answer that is not known because somebody ended the program; `last` is how far the search had come when it last said so.
/// There is no model if the program was not even read.
pub fn interrupted(file: &str, model: Option<&str>, last: Option<&Progress>, style: Style) -> String {
    let under = model.map(|model| format!(" under {model}")).unwrap_or_default();
    let mut text = format!("{file}{under}: {}: {}\n", style.verdict(Verdict::Unknown), Limit::Stopped);
    if let Some(last) = last {
        let seconds = last.elapsed.as_secs_f64();
        let states = counted(last.states, "state");
        let _ = writeln!(text, "  {states} explored, depth {}, in {seconds:.1} s.", last.depth);
    }
    text
}

pub(crate) fn violation(violation: &WitnessViolation) -> String {
    let place = violation.position().map(|position| format!(" (line {})", position.line)).unwrap_or_default();
    match violation {
        WitnessViolation::Goal { text, .. } => format!("violates `{text}`{place}"),
        WitnessViolation::Assert { thread, text, .. } => format!("`{text}` fails in {thread}{place}"),
        WitnessViolation::Fault { thread, text, fault, .. } => format!("error in {thread} at `{text}`{place}: {fault}"),
    }
}

/// The steps of a witness, one a line.
pub(crate) fn run(witness: &Witness, style: Style) -> String {
    let shown = witness.steps.iter().filter(|step| !step.internal).count();
    let steps = counted(shown as u64, "step");
    let kind = if witness.shortest { ", a shortest one" } else { "" };
    let mut text = format!("  run of {steps}{kind}:\n");
    text.push_str(&narrated(&witness.steps, witness.model.is_buffered(), style));
    text
}

/// Told steps as lines: number, thread, line, instruction, effect, and what is pending afterwards.
pub fn narrated(steps: &[Narrated], buffered: bool, style: Style) -> String {
    lines(steps.iter().map(|step| (None, step)), buffered, style)
}

/// The same with the part of the run that each step belongs to.
pub(crate) fn narrated_in_parts<'a>(
    steps: impl Iterator<Item = (&'a str, &'a Narrated)>,
    buffered: bool,
    style: Style,
) -> String {
    lines(steps.map(|(part, step)| (Some(part), step)), buffered, style)
}

fn lines<'a>(steps: impl Iterator<Item = (Option<&'a str>, &'a Narrated)>, buffered: bool, style: Style) -> String {
    let steps: Vec<(Option<&str>, &Narrated)> = steps.collect();
    let parts = steps.iter().any(|(part, _)| part.is_some());
    let mut table = Table::new(if parts { &[0, 3] } else { &[0, 2] });
    let mut heading = vec!["step"];
    heading.extend(parts.then_some("part"));
    heading.extend(["thread", "line", "what", ""]);
    heading.extend(buffered.then_some("pending stores"));
    table.row(heading.into_iter().map(str::to_owned));
    let names = thread_names(&steps);
    for (number, (part, step)) in steps.iter().filter(|(_, step)| !step.internal).enumerate() {
        let mut row = vec![(number + 1).to_string()];
        row.extend(part.map(str::to_owned));
        row.push(step.thread.clone());
        row.push(step.position.map(|position| position.line.to_string()).unwrap_or_default());
        row.extend([step.text.clone(), effect(step)]);
        if buffered {
            row.push(pending(step, &names));
        }
        table.row(row);
    }
    table.render_within("    ", style.width)
}

/// Buffers are listed by thread number; only threads that take part have a name to show.
fn thread_names(steps: &[(Option<&str>, &Narrated)]) -> Vec<Option<String>> {
    let threads = steps.iter().map(|(_, step)| step.buffers.len()).max().unwrap_or(0);
    let mut names = vec![None; threads];
    for (_, step) in steps {
        if let Some(name) = names.get_mut(step.number) {
            *name = Some(step.thread.clone());
        }
    }
    names
}

/// One step in a few words: what was read and from where, what changed.
pub fn effect(step: &Narrated) -> String {
    let mut parts = Vec::new();
    for (read, source) in &step.reads {
        let how = match source {
            Source::Buffer => " from its own buffer".to_owned(),
            Source::Memory => overtaken(step),
        };
        parts.push(format!("reads {} = {}{how}", read.cell, read.value));
    }
    for (written, to) in &step.writes {
        if !step.flush && *to == Source::Memory {
            parts.push(format!("writes {} = {}", written.cell, written.value));
        }
    }
    if step.reads.is_empty() {
        parts.extend(step.registers.iter().map(|register| format!("{} = {}", register.register, register.value)));
    }
    parts.join(", ")
}

/// The thread's own stores that a read of memory came before.
fn overtaken(step: &Narrated) -> String {
    let mut cells: Vec<&str> = Vec::new();
    for entry in step.buffers.get(step.number).into_iter().flatten() {
        if let BufferEntry::Store(store) = entry
            && !cells.contains(&store.cell.as_str())
        {
            cells.push(&store.cell);
        }
    }
    if cells.is_empty() { String::new() } else { format!(" before {} is in memory", cells.join(", ")) }
}

fn pending(step: &Narrated, names: &[Option<String>]) -> String {
    let mut parts = Vec::new();
    for (buffer, name) in step.buffers.iter().zip(names) {
        if !buffer.is_empty() {
            parts.push(format!("{}: {}", name.as_deref().unwrap_or("?"), entries(buffer)));
        }
    }
    parts.join("  ")
}

fn entries(buffer: &[BufferEntry]) -> String {
    let entry = |entry: &BufferEntry| match entry {
        BufferEntry::Store(store) => format!("{}={}", store.cell, store.value),
        BufferEntry::Marker => "|".to_owned(),
    };
    buffer.iter().map(entry).collect::<Vec<_>>().join(" ")
}

pub(crate) fn explored(statistics: &Statistics) -> String {
    format!(
        "{} and {} explored, depth {}, in {:.2} s",
        counted(statistics.states, "state"),
        counted(statistics.transitions, "transition"),
        grouped(statistics.depth),
        statistics.elapsed.as_secs_f64()
    )
}

/// The answer to `states`.
pub fn final_states(file: &str, answer: &FinalStates, style: Style) -> String {
    let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count() as u64;
    let mut text = format!("{file} under {}: {}", answer.model, counted(answer.finals.len() as u64, "final state"));
    if answer.model.is_buffered() {
        let _ = write!(text, ", {} not possible under sc", grouped(beyond));
    }
    text.push('\n');
    text.push_str(&state_table(&answer.finals, false, style));
    if !answer.stuck.is_empty() {
        let _ = writeln!(text, "  {} in which nothing can move:", counted(answer.stuck.len() as u64, "state"));
        text.push_str(&state_table(&answer.stuck, true, style));
    }
    match answer.limit {
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
    let mut cells: Vec<String> = Vec::new();
    for state in states {
        for (name, _) in &state.memory {
            if !cells.contains(name) {
                cells.push(name.clone());
            }
        }
    }
    let mut table = Table::new(&[]);
    let mut heading = Vec::new();
    for thread in &first.threads {
        if with_locations {
            heading.push(thread.name.clone());
        }
        heading.extend(thread.registers.iter().map(|(register, _)| format!("{}.{register}", thread.name)));
    }
    heading.extend(cells.iter().cloned());
    table.row(heading);
    for state in states {
        let mut row = Vec::new();
        for thread in &state.threads {
            if with_locations {
                row.push(thread.location.clone());
            }
            row.extend(thread.registers.iter().map(|(_, value)| value.to_string()));
        }
        for cell in &cells {
            let value = state.memory.iter().find(|(name, _)| name == cell).map_or(0, |(_, value)| *value);
            row.push(value.to_string());
        }
        match state.beyond_sc {
            Some(true) => row.push(style.paint("1;31", "not sc")),
            None => row.push("not known whether sc".to_owned()),
            Some(false) => {}
        }
        table.row(row);
    }
    table.render_within("    ", style.width)
}
