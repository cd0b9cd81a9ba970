//! Reachability as text.

use super::Style;
use super::numbers::{counted, grouped};
use super::run::{explored, run, violation};
use super::threads::{behind_verdict, lines};
use crate::{DeadlockVerdict, ReachEffort, Reachability, Verdict};
use std::fmt::Write;

/// The answer to `reach`.
pub fn reachability(answer: &Reachability, style: Style) -> String {
    let mut text = format!("{} under {}: {}", answer.file, answer.model, style.word(answer.verdict, answer.word()));
    if let Some(found) = &answer.any_number {
        text.push_str(&behind_verdict(found, answer.verdict));
    }
    match (&answer.witness, answer.verdict) {
        (Some(witness), _) => {
            let _ = writeln!(text, "\n  {}", violation(&witness.violation));
            if witness.model != answer.model {
                let _ = writeln!(text, "  This happens under {} already.", witness.model);
            }
            text.push_str(&run(witness, style));
            let _ = writeln!(text, "  {}.", effort(answer));
        }
        (None, Verdict::Holds) => {
            let _ = write!(text, ": {}", effort(answer));
            match answer.buffer {
                Some(buffer) => {
                    let _ = write!(text, " (no thread ever had to wait for room in its store buffer of {buffer})");
                }
                None if answer.model.is_buffered() => text.push_str(" (store buffers of any length)"),
                None if answer.engine == "robust" => text.push_str(" (robust and free of data races, so sc decides)"),
                None => {}
            }
            if let Some(messages) = answer.messages {
                let _ = write!(text, " (no cell ever had more than {messages} writes that could still be read)");
            }
            text.push('\n');
            if answer.goals == 0 {
                let _ = writeln!(text, "  {}", answer.without_goals());
            }
            if let Some(note) = answer.open_deadlocks() {
                let _ = writeln!(text, "  {note}");
            }
        }
        (None, _) => text.push_str(&unknown(answer)),
    }
    if let Some(found) = &answer.any_number {
        text.push_str(&lines(found));
    }
    if let Some(not_tried) = &answer.not_tried {
        let _ = writeln!(text, "  Not every engine could try: {not_tried}.");
    }
    style.fitted(text)
}

impl Reachability {
    /// What was looked for in a program without goals.
    pub fn without_goals(&self) -> String {
        let deadlocks = if self.deadlocks == DeadlockVerdict::None { " and deadlocks" } else { "" };
        format!("The program states no goal: only errors of the program itself{deadlocks} were looked for.")
    }

    /// A note, where nothing forbidden can happen and deadlocks are not settled.
    pub fn open_deadlocks(&self) -> Option<String> {
        let open = self.verdict == Verdict::Holds && self.deadlocks == DeadlockVerdict::Unknown;
        open.then(|| match &self.any_number {
            Some(_) => "Deadlocks were not looked for: give the number of threads with --copies.".to_owned(),
            None => format!("Whether a deadlock is possible under {} is not settled.", self.model),
        })
    }
}

fn unknown(answer: &Reachability) -> String {
    let mut text = match (&answer.limit, answer.buffer) {
        (Some(limit), _) => format!(": {limit}\n"),
        (None, Some(buffer)) => format!(": no violation within store buffers of {buffer}\n"),
        (None, None) if answer.seq_cst_open => {
            ": what was found needs seq_cst accesses to be weaker than C11 says, and nothing was found with fences beside them\n"
                .to_owned()
        }
        (None, None) if answer.cut_off => {
            format!(": no violation within {} writes of a cell\n", answer.messages.unwrap_or_default())
        }
        (None, None) => ": the engine cannot settle it\n".to_owned(),
    };
    let _ = write!(text, "  {}", effort(answer));
    if answer.effort.is_none() {
        let _ = write!(text, "; {} not expanded", counted(answer.statistics.frontier, "state"));
    }
    text.push_str(".\n");
    if let (Some(messages), true, true) = (answer.messages, answer.cut_off, answer.limit.is_none()) {
        let _ = writeln!(
            text,
            "  Some cell had more than {messages} writes that could still be read; --messages with a larger number allows more runs."
        );
    } else if answer.cut_off && answer.limit.is_none() {
        text.push_str("  Some store had to wait for room; a larger buffer (--buffer) allows more runs.\n");
    }
    text
}

/// The engine, its effort and its time.
fn effort(answer: &Reachability) -> String {
    let statistics = &answer.statistics;
    let by = |what: String| format!("by {}: {what}, in {:.2} s", answer.engine, statistics.seconds);
    match answer.effort {
        None if answer.verdict == Verdict::Holds => format!("{}, exhaustively", explored(statistics)),
        None => explored(statistics),
        Some(ReachEffort::Constraints { generated, kept, .. }) => {
            by(format!("{} generated backwards, {} kept", counted(generated, "constraint"), grouped(kept)))
        }
        Some(ReachEffort::Rounds { rounds, paths, sc_states, oracle_states }) => by(format!(
            "{}, {} to delay stores on, {} of the extended program under sc, {} of the oracle",
            counted(rounds as u64, "round"),
            counted(paths as u64, "path"),
            counted(sc_states, "state"),
            grouped(oracle_states)
        )),
    }
}
