//! The answer to `reach`: who settled it, what it took, and the run that shows it.

use crate::json;
use crate::numbers::{counted, grouped};
use crate::parameterised::{self, behind_verdict};
use crate::text::{Style, explored, run, violation};
use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{Answer, Counts, Effort, Engine, Lazy};
use serde_json::{Value, json};
use std::fmt::Write;

/// For people.
pub fn text(file: &str, answer: &Answer, style: Style) -> String {
    let reachability = &answer.reachability;
    let mut text = format!("{file} under {}: {}", reachability.model, style.verdict(reachability.verdict));
    if let Some(found) = &answer.any_number {
        text.push_str(&behind_verdict(found, reachability.verdict));
    }
    match (&reachability.witness, reachability.verdict) {
        (Some(witness), _) => {
            let _ = writeln!(text, "\n  {}", violation(&witness.violation));
            text.push_str(&run(witness, style));
            let _ = writeln!(text, "  {}.", effort(answer));
        }
        (None, Verdict::Holds) => {
            let _ = write!(text, ": {}", effort(answer));
            match reachability.buffer {
                Some(buffer) => {
                    let _ = write!(text, " (no thread ever had to wait for room in its store buffer of {buffer})");
                }
                None if reachability.model.is_buffered() => text.push_str(" (store buffers of any length)"),
                None => {}
            }
            text.push('\n');
            if reachability.goals == 0 {
                text.push_str("  The program states no goal: only errors of the program itself were looked for.\n");
            }
        }
        (None, _) => text.push_str(&unknown(answer)),
    }
    if let Some(found) = &answer.any_number {
        text.push_str(&parameterised::lines(found));
    }
    if let Some(not_tried) = &answer.not_tried {
        let _ = writeln!(text, "  Not every engine could try: {not_tried}.");
    }
    style.fitted(text)
}

fn unknown(answer: &Answer) -> String {
    let reachability = &answer.reachability;
    let mut text = match (reachability.limit, reachability.buffer) {
        (Some(limit), _) => format!(": {limit}\n"),
        (None, Some(buffer)) => format!(": no violation within store buffers of {buffer}\n"),
        (None, None) => ": the engine cannot settle it\n".to_owned(),
    };
    let _ = write!(text, "  {}", effort(answer));
    if matches!(answer.effort, Effort::States) {
        let _ = write!(text, "; {} not expanded", counted(reachability.statistics.frontier, "state"));
    }
    text.push_str(".\n");
    if reachability.cut_off && reachability.limit.is_none() {
        text.push_str("  Some store had to wait for room; a larger buffer (--buffer) allows more runs.\n");
    }
    text
}

/// Who did what, in how long.
fn effort(answer: &Answer) -> String {
    let statistics = &answer.reachability.statistics;
    match &answer.effort {
        Effort::States if answer.reachability.verdict == Verdict::Holds => {
            format!("{}, exhaustively", explored(statistics))
        }
        Effort::States => explored(statistics),
        Effort::Constraints(counts) => {
            format!(
                "by {}: {}, in {:.2} s",
                answer.engine.name(),
                constraints(counts),
                statistics.elapsed.as_secs_f64()
            )
        }
        Effort::Rounds(lazy) => {
            format!("by {}: {}, in {:.2} s", answer.engine.name(), rounds(lazy), statistics.elapsed.as_secs_f64())
        }
    }
}

fn constraints(counts: &Counts) -> String {
    format!("{} generated backwards, {} kept", counted(counts.generated, "constraint"), grouped(counts.kept))
}

fn rounds(lazy: &Lazy) -> String {
    format!(
        "{}, {} to delay stores on, {} of the extended program under sc, {} of the oracle",
        counted(lazy.rounds as u64, "round"),
        counted(lazy.paths as u64, "path"),
        counted(lazy.sc_states, "state"),
        grouped(lazy.oracle_states)
    )
}

/// For programs.
pub fn json(file: &str, answer: &Answer) -> Value {
    let reachability = &answer.reachability;
    let effort = match &answer.effort {
        Effort::States => Value::Null,
        Effort::Constraints(counts) => json!({
            "constraints_generated": counts.generated,
            "constraints_kept": counts.kept,
            "constraints_minimal": counts.minimal,
        }),
        Effort::Rounds(lazy) => json!({
            "rounds": lazy.rounds,
            "paths": lazy.paths,
            "sc_states": lazy.sc_states,
            "oracle_states": lazy.oracle_states,
        }),
    };
    let words = (answer.engine == Engine::Bounded).then_some(reachability.words);
    let mut told = json!({
        "file": file,
        "model": reachability.model.name(),
        "verdict": reachability.verdict.name(),
        "engine": answer.engine.name(),
        "effort": effort,
        "not_tried": answer.not_tried,
        "goals": reachability.goals,
        "buffer": reachability.buffer,
        "cut_off": reachability.cut_off,
        "limit": reachability.limit.map(json::limit),
        "witness": reachability.witness.as_ref().map(json::witness),
        "statistics": json::statistics(&reachability.statistics, words),
    });
    if let Some(found) = &answer.any_number {
        told["any_number"] = parameterised::json(found);
    }
    told
}
