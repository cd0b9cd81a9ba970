//! Deadlocks beside an answer of `check`, as text.

use super::Style;
use super::run::{run, violation};
use crate::{DeadlockVerdict, Deadlocks};
use ravelin_program::Model;
use std::fmt::Write;

/// The threads that wait, and the run to there; or what is not settled. Nothing if there is no deadlock.
pub fn deadlocks(found: &Deadlocks, model: Option<Model>, style: Style) -> String {
    let mut text = String::new();
    if let Some(witness) = &found.witness {
        let word = style.paint("1;31", "Deadlock");
        let waiting = violation(&witness.violation).replace('\n', "\n  ");
        let _ = writeln!(text, "  {word} under {}:\n    {waiting}", witness.model);
        text.push_str(&run(witness, style));
    }
    for note in found.open(model) {
        let _ = writeln!(text, "  {note}");
    }
    text
}

impl Deadlocks {
    /// What is not settled, one sentence each.
    pub fn open(&self, model: Option<Model>) -> Vec<String> {
        let named = |model: &str| format!("Whether a deadlock is possible under {model} is not settled.");
        match (self.sc, self.model) {
            (DeadlockVerdict::Unknown, _) => vec![named("sc")],
            (_, DeadlockVerdict::Unknown) => model.map(|model| named(model.name())).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}
