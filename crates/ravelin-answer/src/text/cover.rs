//! Coverability as text.

use super::Style;
use super::numbers::{counted, grouped};
use super::table::TextTable;
use crate::{CoverOutcome, Coverability, Verdict};
use std::fmt::Write;

/// The answer to `cover`: whether a marking of a Petri net can be covered, and the transitions that lead there.
pub fn coverability(answer: &Coverability, style: Style) -> String {
    let (word, colour) = match answer.verdict {
        CoverOutcome::Coverable => ("coverable", Verdict::Violated),
        CoverOutcome::Uncoverable => ("uncoverable", Verdict::Holds),
        CoverOutcome::Unknown => ("unknown", Verdict::Unknown),
    };
    let mut text = format!("{}: {}", answer.file, style.word(colour, word));
    if answer.verdict == CoverOutcome::Coverable {
        let _ = writeln!(text, ", by firing {}", counted(answer.steps.len() as u64, "transition"));
        let mut table = TextTable::new(&[0, 1]);
        table.row(["step", "rule", "takes", "gives"].map(str::to_owned));
        for (step, fired) in answer.steps.iter().enumerate() {
            table.row([(step + 1).to_string(), fired.rule.to_string(), fired.takes.clone(), fired.gives.clone()]);
        }
        text.push_str(&table.render("    "));
    } else {
        text.push_str(&answer.limit.map(|limit| format!(": {limit}")).unwrap_or_default());
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "  {}, {}: {} backwards, {} pruned, {} kept, {} minimal, in {:.2} s.",
        counted(answer.places as u64, "place"),
        counted(answer.transitions as u64, "transition"),
        counted(answer.markings_generated, "marking"),
        grouped(answer.markings_pruned),
        grouped(answer.markings_kept),
        grouped(answer.markings_minimal),
        answer.seconds
    );
    text
}
