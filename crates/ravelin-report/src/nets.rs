//! The answer to `cover`: whether a marking of a Petri net can be covered, and the transitions that lead there.

use crate::json;
use crate::numbers::{counted, grouped};
use crate::table::Table;
use crate::text::Style;
use ravelin_analysis::Verdict as Colour;
use ravelin_nets::{Answer, Net, Verdict};
use serde_json::{Value, json};
use std::fmt::Write;

fn word(verdict: &Verdict) -> (&'static str, Colour) {
    match verdict {
        Verdict::Coverable(_) => ("coverable", Colour::Violated),
        Verdict::Uncoverable => ("uncoverable", Colour::Holds),
        Verdict::Unknown(_) => ("unknown", Colour::Unknown),
    }
}

/// For people.
pub fn text(file: &str, net: &Net, answer: &Answer, style: Style) -> String {
    let (word, colour) = word(&answer.verdict);
    let mut text = format!("{file}: {}", style.word(colour, word));
    match &answer.verdict {
        Verdict::Coverable(sequence) => {
            let _ = writeln!(text, ", by firing {}", counted(sequence.len() as u64, "transition"));
            let mut table = Table::new(&[0, 1]);
            table.row(["step", "rule", "takes", "gives"].map(str::to_owned));
            for (step, &transition) in sequence.iter().enumerate() {
                let fired = &net.transitions[transition as usize];
                table.row([
                    (step + 1).to_string(),
                    (transition + 1).to_string(),
                    net.show(&fired.takes),
                    net.show(&fired.gives),
                ]);
            }
            text.push_str(&table.render("    "));
        }
        Verdict::Uncoverable => text.push('\n'),
        Verdict::Unknown(limit) => {
            let _ = writeln!(text, ": {limit}");
        }
    }
    let counts = &answer.counts;
    let _ = writeln!(
        text,
        "  {}, {}: {} backwards, {} pruned, {} kept, {} minimal, in {:.2} s.",
        counted(net.places.len() as u64, "place"),
        counted(net.transitions.len() as u64, "transition"),
        counted(counts.generated, "marking"),
        grouped(counts.pruned),
        grouped(counts.kept),
        grouped(counts.minimal),
        counts.elapsed.as_secs_f64()
    );
    text
}

/// For programs.
pub fn json(file: &str, net: &Net, answer: &Answer) -> Value {
    let (word, _) = word(&answer.verdict);
    let (sequence, limit) = match &answer.verdict {
        // Rules are numbered from one, as people do.
        Verdict::Coverable(sequence) => (Some(sequence.iter().map(|fired| fired + 1).collect::<Vec<_>>()), None),
        Verdict::Uncoverable => (None, None),
        Verdict::Unknown(limit) => (None, Some(json::limit(*limit))),
    };
    json!({
        "file": file,
        "verdict": word,
        "sequence": sequence,
        "limit": limit,
        "places": net.places.len(),
        "transitions": net.transitions.len(),
        "markings_generated": answer.counts.generated,
        "markings_pruned": answer.counts.pruned,
        "markings_kept": answer.counts.kept,
        "markings_minimal": answer.counts.minimal,
        "bytes": answer.counts.bytes,
        "seconds": answer.counts.elapsed.as_secs_f64(),
    })
}
