//! Triangular races as text for a terminal.

use super::Style;
use super::run::{explored, sc_run};
use super::table::TextTable;
use crate::{SourcePlace, TriangularRace, TriangularRaces, Verdict};
use std::fmt::Write;

/// The answer to `check --property trf`.
pub fn triangular_races(answer: &TriangularRaces, style: Style) -> String {
    let word = match answer.verdict {
        Verdict::Holds => "free of triangular races",
        Verdict::Violated => "triangular race",
        Verdict::Unknown => "unknown",
    };
    let mut text = format!("{} under {}: {}", answer.file, answer.model, style.word(answer.verdict, word));
    if let Some(limit) = &answer.limit {
        let _ = write!(text, ": {limit}");
    }
    text.push('\n');
    match (&answer.race, answer.verdict) {
        (Some(found), _) => {
            text.push_str(&race(found, style));
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

/// A race: the threads and their accesses, and the run.
pub fn race(race: &TriangularRace, style: Style) -> String {
    let line = |place: &SourcePlace| place.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default();
    let TriangularRace { thread, racing_thread, store, load, racing_store, stored, loaded, .. } = race;
    let mut text = format!(
        "  {thread} stores to `{stored}`{} and then, with no fence between, reads `{loaded}`{}, to which {racing_thread} stores{}.\n",
        line(store),
        line(load),
        line(racing_store)
    );
    let mut table = TextTable::new(&[]);
    for (role, by, place) in
        [("store", thread, store), ("load", thread, load), ("racing store", racing_thread, racing_store)]
    {
        let line = place.position.map(|position| format!("line {}", position.line)).unwrap_or_default();
        table.row([role.to_owned(), by.clone(), line, place.text.clone()]);
    }
    text.push_str(&table.render_within("    ", style.width));
    text.push_str(&sc_run(&race.initial.threads, &race.steps, "", style));
    text
}
