//! The run: one column per thread with its store buffer beside it, time going down, memory at the right.
//!
//! A pending store is in its thread's lane from its issue to its flush; a flush is an arrow from the lane to memory.
//! Short runs are written as a table that needs no script. Long runs start with a table of the first rows, and the
//! script shows a window of them. Rows made here and rows made by the script are the same, which a test in a browser
//! checks.

use super::data;
use crate::story::{Demonstration, RunView, Step};
use maud::{Markup, PreEscaped, html};
use ravelin_answer::text::counted;
use ravelin_answer::{AccessStorage, BufferEntry, CellValue, WitnessPart};

/// How many rows are in the page itself.
pub const ROWS: usize = 250;
/// The most cells of the initial memory in the first row.
const MOST_CELLS: usize = 8;

/// The run, with what stands beside it.
pub fn run(demonstration: &Demonstration, id: &str, is_wide: bool, beside: Markup) -> Markup {
    let run = &demonstration.run;
    let shown = threads_shown(run);
    let parts = parts(run);
    let steps = run.steps.len();
    let title = capitalised(&demonstration.run_title);
    let slider = format!("slider-{id}");
    html! {
        section.run data-steps=(steps) {
            div.bar {
                h2 { (title) ", " (counted(steps as u64, "step")) }
                div.controls {
                    button type="button" data-go="first" aria-label="to the beginning" { "«" }
                    button type="button" data-go="back" aria-label="one step back" { "‹" }
                    button type="button" data-go="on" aria-label="one step on" { "›" }
                    button type="button" data-go="last" aria-label="to the end" { "»" }
                    label.hidden for=(slider) { "step" }
                    input id=(slider) type="range" min="0" max=(steps) value=(demonstration.decisive) step="1";
                    output for=(slider) { "step " (demonstration.decisive) " of " (steps) }
                    span.keys { "keys ← → Home End" }
                }
            }
            div class=(if is_wide { "stage wide" } else { "stage" }) {
                div.scroll.steps tabindex="0" role="group" aria-label="steps" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "#" }
                                @if !parts.is_empty() { th scope="col" { "part" } }
                                @for &thread in &shown {
                                    th scope="col" { (run.threads[thread].thread) }
                                    @if run.buffered { th.lane scope="col" { "buffer" } }
                                }
                                th.mem scope="col" { "memory" }
                            }
                        }
                        tbody {
                            (start_row(run, &shown, !parts.is_empty()))
                            @for (number, step) in run.steps.iter().enumerate().take(ROWS) {
                                (row(demonstration, &shown, !parts.is_empty(), number, step))
                            }
                        }
                    }
                    @if steps > ROWS { p.more { "… and " (counted((steps - ROWS) as u64, "step")) " more, which need a script to be shown." } }
                }
                (beside)
                div.state tabindex="0" role="group" aria-label="memory, buffers and registers after this step" {}
            }
            (legend(run, &parts))
            script type="application/json" { (PreEscaped(data::of(demonstration, &shown))) }
        }
    }
}

/// The parts of an attack that occur.
fn parts(run: &RunView) -> Vec<WitnessPart> {
    let mut parts: Vec<WitnessPart> = run.steps.iter().filter_map(|step| step.part).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// What the signs in the table mean.
fn legend(run: &RunView, parts: &[WitnessPart]) -> Markup {
    html! {
        @if !parts.is_empty() || run.buffered {
            dl.signs aria-label="signs" {
                @for part in parts { div { dt { (part.name()) } dd { (part.meaning()) } } }
                @if run.buffered {
                    div { dt { span.chip { "x=1" } } dd { "a store that enters or leaves the buffer of its thread" } }
                    div { dt { span.swatch {} } dd { "it waits there, and only its thread sees it" } }
                }
            }
        }
    }
}

/// The threads that take a step.
fn threads_shown(run: &RunView) -> Vec<usize> {
    (0..run.threads.len()).filter(|&thread| run.steps.iter().any(|step| step.thread == thread)).collect()
}

fn start_row(run: &RunView, shown: &[usize], parts: bool) -> Markup {
    let cells: Vec<String> =
        run.memory.iter().take(MOST_CELLS).map(|cell| format!("{} = {}", cell.cell, cell.shown())).collect();
    let more = if run.memory.len() > MOST_CELLS { " …" } else { "" };
    html! {
        tr.start data-step="0" {
            th scope="row" { "0" }
            @if parts { td {} }
            @for _ in shown { td {} @if run.buffered { td.lane {} } }
            td.mem { (cells.join(", ")) (more) }
        }
    }
}

fn row(demonstration: &Demonstration, shown: &[usize], parts: bool, number: usize, step: &Step) -> Markup {
    let run = &demonstration.run;
    let acting = shown.iter().position(|&thread| thread == step.thread).unwrap_or(0);
    let changes: Vec<String> = written(step).iter().map(|cell| format!("{} = {}", cell.cell, cell.shown())).collect();
    let reaches_memory = !changes.is_empty();
    let buffer_before = |thread: usize| match number {
        0 => &[][..],
        _ => &run.steps[number - 1].buffers[thread],
    };
    // The arrow into memory begins at the source of the value: at the lane for a flush, at the step for a write that
    // bypasses it.
    let through =
        |column: usize, lane: bool| reaches_memory && (column > acting || (column == acting && lane && !step.flush));
    html! {
        tr data-step=(number + 1) data-line=[step.line]
            class=[classes(&[(step.flush, "flush"), (number + 1 == demonstration.decisive, "decisive")])] {
            th scope="row" { (number + 1) }
            @if parts { td.part { @if let Some(part) = step.part { abbr title=(part.meaning()) { (part.name()) } } } }
            @for (column, &thread) in shown.iter().enumerate() {
                td class=[classes(&[(column == acting, "act"), (through(column, false), "through")])] {
                    @if column == acting && !step.flush {
                        @if let Some(line) = step.line { span.line { (line) } }
                        code { (step.text) }
                        @if !step.effect.is_empty() { span.effect { (step.effect) } }
                    }
                }
                @if run.buffered {
                    @let (before, after) = (buffer_before(thread), &step.buffers[thread]);
                    td class=[classes(&[
                        (true, "lane"),
                        (!before.is_empty(), "above"),
                        (!after.is_empty(), "below"),
                        (through(column, true), "through"),
                        (column == acting && step.flush, "leaves"),
                    ])] {
                        @if column == acting { (chips(before, after, step)) }
                    }
                }
            }
            td class=[classes(&[(true, "mem"), (reaches_memory, "arrives")])] { (changes.join("  ")) }
        }
    }
}

/// What a step writes to memory, whether or not that changes it.
pub fn written(step: &Step) -> Vec<CellValue> {
    let mut written: Vec<CellValue> = Vec::new();
    let in_memory = step.writes.iter().filter(|write| write.place == AccessStorage::Memory);
    let written_there =
        in_memory.map(|write| CellValue { cell: write.cell.clone(), value: write.value, name: write.name.clone() });
    for cell in written_there.chain(step.memory.iter().cloned()) {
        match written.iter_mut().find(|other| other.cell == cell.cell) {
            Some(other) => *other = cell,
            None => written.push(cell),
        }
    }
    written
}

/// What entered or left the buffer.
fn chips(before: &[BufferEntry], after: &[BufferEntry], step: &Step) -> Markup {
    let entering = after.len() > before.len();
    let chip = |text: String| html! { span.chip { (text) } };
    html! {
        @if step.flush {
            @for write in &step.writes { (chip(format!("{}={}", write.cell, write.shown()))) }
        } @else if entering {
            @for write in &step.writes { (chip(format!("{}={}", write.cell, write.shown()))) }
        }
    }
}

fn classes(list: &[(bool, &str)]) -> Option<String> {
    let names: Vec<&str> = list.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
