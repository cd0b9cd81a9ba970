//! What a machine showed, as text.

use super::Style;
use super::numbers::{counted, grouped};
use super::table::TextTable;
use crate::{ConfirmOutcome, Confirmation, HardwareTest, TestCounts, TestMethod, TestPart};
use std::fmt::Write;

/// The answer to `confirm`. What the model forbids comes first.
pub fn confirmation(answer: &Confirmation, style: Style) -> String {
    let word = style.word(answer.verdict, answer.outcome.word());
    let mut text = format!("{} on this machine: {word}\n  {}\n", answer.file, answer.sentence);
    for test in &answer.tests {
        text.push_str(&hardware_test(test, style));
    }
    if answer.outcome == ConfirmOutcome::ModelBroken {
        text.push_str("  The model or this machine is wrong: please report it, with what --keep writes.\n");
    }
    for note in &answer.notes {
        let _ = writeln!(text, "  {note}");
    }
    if let Some(limit) = &answer.limit {
        let _ = writeln!(text, "  It was not completed: {limit}.");
    }
    style.fitted(text)
}

fn hardware_test(test: &HardwareTest, style: Style) -> String {
    let part = match test.part {
        TestPart::Run => "all accesses of the run",
        TestPart::Cycle => "the accesses of the cycle",
    };
    let method = match test.method {
        TestMethod::Perpetual => "perpetual: threads never meet, and iterations are matched afterwards",
        TestMethod::Barrier => "with a barrier before each iteration",
    };
    let mut text = format!("  test of {part}, {method}:\n");
    let mut table = TextTable::new(&[]);
    for thread in &test.threads {
        table.row([thread.thread.clone(), thread.accesses.join("; ")]);
    }
    text.push_str(&table.render_within("    ", style.width));
    let _ = writeln!(text, "  {}", measured(&test.measured));
    if !test.measured.is_empty() {
        text.push_str(&histogram(&test.measured, style));
    }
    if let Some(fenced) = &test.fenced {
        let _ =
            writeln!(text, "  with {} ({}):", counted(fenced.fences.len() as u64, "fence"), fenced.fences.join("; "));
        let _ = writeln!(text, "  {}", measured(&fenced.measured));
    }
    text
}

/// How often, and how often in a second.
fn measured(counts: &TestCounts) -> String {
    let TestCounts { iterations, seconds, seen, .. } = counts;
    if counts.is_empty() {
        return format!("the test did not complete a single batch in {seconds:.3} s");
    }
    let seen_times = match seen {
        0 => "never seen".to_owned(),
        seen => format!("seen {}", counted(*seen, "time")),
    };
    let rate = match counts.rate() {
        Some(rate) if *seen > 0 => format!(", {} per second", grouped(rate)),
        _ => String::new(),
    };
    format!("{seen_times} in {} in {seconds:.3} s{rate}", counted(*iterations, "iteration"))
}

fn histogram(counts: &TestCounts, style: Style) -> String {
    let mut table = TextTable::new(&[0]);
    table.row(["times".to_owned(), "allowed by".to_owned(), "outcome".to_owned()]);
    for row in &counts.histogram {
        let mark = if row.wanted { "  <- the witness" } else { "" };
        table.row([grouped(row.count), row.allowed.words().to_owned(), format!("{}{mark}", row.outcome)]);
    }
    table.render_within("    ", style.width)
}
