//! Triangular races as text for a terminal.

use crate::table::Table;
use crate::text::{Style, explored, narrated};
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{Place, RaceFreedom, RaceWitness};
use std::fmt::Write;

/// The answer to `check --property trf`.
pub fn race_freedom(file: &str, answer: &RaceFreedom, style: Style) -> String {
    let word = match answer.verdict {
        Verdict::Holds => "free of triangular races",
        Verdict::Violated => "triangular race",
        Verdict::Unknown => "unknown",
    };
    let mut text = format!("{file} under tso: {}", style.word(answer.verdict, word));
    if let Some(limit) = answer.limit {
        let _ = write!(text, ": {limit}");
    }
    text.push('\n');
    match (&answer.race, answer.verdict) {
        (Some(race), _) => {
            text.push_str(&race_witness(race, style));
            text.push_str("  A program with a triangular race may still be robust: ask for --property robust.\n");
        }
        (None, Verdict::Holds) if answer.implies_robust => text.push_str("  Hence it is robust against tso.\n"),
        (None, Verdict::Holds) => text.push_str(
            "  That does not settle whether it is robust: it has blocks of several accesses that are executed as one, and\n  \
             such a block may read a store's cell before it comes to its own store. Ask for --property robust.\n",
        ),
        (None, _) => text.push_str("  No triangular race so far.\n"),
    }
    let _ = writeln!(text, "  {}.", explored(&answer.statistics));
    style.fitted(text)
}

/// A race: who does what, and the run.
pub(crate) fn race_witness(race: &RaceWitness, style: Style) -> String {
    let line = |place: &Place| place.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default();
    let RaceWitness { thread, racing_thread, store, load, racing_store, stored, loaded, steps, .. } = race;
    let mut text = format!(
        "  {thread} stores to `{stored}`{} and then, with no fence between, reads `{loaded}`{}, to which {racing_thread} stores{}.\n",
        line(store),
        line(load),
        line(racing_store)
    );
    let mut table = Table::new(&[]);
    for (role, by, place) in
        [("store", thread, store), ("load", thread, load), ("racing store", racing_thread, racing_store)]
    {
        let line = place.position.map(|position| format!("line {}", position.line)).unwrap_or_default();
        table.row([role.to_owned(), by.clone(), line, place.text.clone()]);
    }
    text.push_str(&table.render_within("    ", style.width));
    text.push_str("  run under sc:\n");
    text.push_str(&narrated(steps, false, style));
    text
}
