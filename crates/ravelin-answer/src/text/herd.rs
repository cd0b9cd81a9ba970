//! Final states in herd's layout, for scripts that read its answers.
//!
//! Where herd counts executions, this counts final states: `Positive`, `Negative` and the numbers after `Observation`.

use crate::{FinalStates, Quantifier};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One test's block.
pub fn herd(answer: &FinalStates) -> String {
    let mut states: BTreeMap<&str, bool> = BTreeMap::new();
    for state in &answer.finals {
        *states.entry(&state.shown).or_default() |= state.condition.unwrap_or(true);
    }
    let positive = states.values().filter(|satisfied| **satisfied).count();
    let negative = states.len() - positive;
    let quantifier = answer.condition.as_ref().map_or(Quantifier::Exists, |condition| condition.quantifier);
    let (word, quantifier, ok) = match quantifier {
        Quantifier::Forall => ("Required", "forall", negative == 0),
        Quantifier::NotExists => ("Forbidden", "~exists", positive == 0),
        Quantifier::Exists => ("Allowed", "exists", positive > 0),
    };
    let seen = match (positive, negative) {
        (0, _) => "Never",
        (_, 0) => "Always",
        _ => "Sometimes",
    };
    let condition = answer.condition.as_ref().map_or("true", |condition| &condition.text);
    let name = &answer.name;
    let mut text = format!("Test {name} {word}\nStates {}\n", states.len());
    for state in states.keys() {
        let _ = writeln!(text, "{state}");
    }
    let _ = writeln!(text, "{}\nWitnesses", if ok { "Ok" } else { "No" });
    let _ = writeln!(text, "Positive: {positive} Negative: {negative}");
    if answer.limit.is_some() || answer.cut_off {
        text.push_str("Flag Incomplete\n");
    }
    let _ = writeln!(text, "Condition {quantifier} ({condition})");
    let _ = writeln!(text, "Observation {name} {seen} {positive} {negative}");
    let _ = writeln!(text, "Time {name} {:.2}\n", answer.statistics.seconds);
    text
}
