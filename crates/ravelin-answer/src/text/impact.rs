//! Whether it matters that a program is not robust, as text: a summary behind the verdict, what is not settled, and the
//! run that violates a goal.

use super::Style;
use super::numbers::counted;
use super::run::{run, violation};
use crate::{Deadlocks, Grade, Impact, Property, Verdict};
use ravelin_program::Model;
use std::fmt::Write;

impl Impact {
    /// What follows the verdict on robustness: `, but harmless: …`, `, and wrong: …`. Empty if nothing is known.
    pub fn summary(&self, model: Model, deadlocks: Option<&Deadlocks>) -> String {
        let deadlock = deadlocks.and_then(|found| found.witness.as_ref());
        let wrong = match (&self.witness, deadlock) {
            (Some(witness), _) => Some((witness.model, violation(&witness.violation))),
            (None, Some(witness)) => Some((witness.model, "deadlock".to_owned())),
            (None, None) => None,
        };
        let but = if self.robust == Verdict::Holds { "but" } else { "and" };
        match (wrong, self.grade) {
            (Some((Model::Sc, what)), _) => format!(", {but} wrong under sc already: {what}"),
            (Some((_, what)), _) => format!(", {but} wrong: {what}"),
            (None, Some(grade)) if grade.is_harmless() => {
                format!(", but harmless: {}", self.why_harmless(grade, model))
            }
            (None, _) => String::new(),
        }
    }

    fn why_harmless(&self, grade: Grade, model: Model) -> String {
        let repeats = match self.repeated.len() {
            0 | 1 => format!("only repeats a loop that waits{}", on_lines(&self.repeated)),
            _ => format!("only repeats loops that wait{}", on_lines(&self.repeated)),
        };
        let unused = on_lines(&self.unused);
        match (grade, self.stated) {
            (Grade::GoalsHold, 1) => format!("its goal holds under {model}"),
            (Grade::GoalsHold, stated) => format!("its {stated} goals and assertions hold under {model}"),
            (Grade::Rejoins, _) => format!("a stale value {repeats}"),
            _ if self.repeated.is_empty() => format!("no value that may be stale is used{unused}"),
            _ => format!("a stale value {repeats} or is not used{unused}"),
        }
    }

    /// What is not settled, as one sentence.
    pub fn open(&self, model: Model) -> Option<String> {
        match (self.grade?, self.stated) {
            (Grade::Open, 0) => Some(
                "Whether this matters is not settled: the program states no goal (`never`, `assert`, `finally`)."
                    .to_owned(),
            ),
            (Grade::Open, stated) => Some(format!(
                "Whether this matters is not settled: {} not proved to hold under {model}, and no violation was found (`ravelin reach --model {model}` tries longer).",
                if stated == 1 { "the goal is".to_owned() } else { format!("{} are", counted(stated as u64, "goal")) }
            )),
            _ => None,
        }
    }

    /// What there is to do, where the violations of robustness themselves are not the matter.
    pub fn advice(&self, model: Model) -> Option<String> {
        match self.grade? {
            Grade::Rejoins => Some(
                "Nothing has to change: --auto-wait reads such loops as `wait`, which is what they mean.".to_owned(),
            ),
            Grade::Unobserved | Grade::GoalsHold => Some(format!(
                "Nothing has to change for that; `ravelin fence --model {model}` finds the cheapest changes that make it robust all the same."
            )),
            Grade::Wrong if self.sc != Verdict::Violated => Some(format!(
                "`ravelin fence --model {model} --for safety` finds the cheapest changes with which all goals hold."
            )),
            Grade::Wrong | Grade::Open => None,
        }
    }
}

/// ` (line 3)`, ` (lines 3 and 5)`; nothing for none.
fn on_lines(lines: &[usize]) -> String {
    match lines {
        [] => String::new(),
        [line] => format!(" (line {line})"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(usize::to_string).collect();
            format!(" (lines {} and {last})", first.join(", "))
        }
    }
}

/// The verdict on a property other than robustness, the run that violates a goal, what there is to do, and what is not
/// settled.
pub fn impact(found: &Impact, model: Model, asked: Property, on_property: Verdict, style: Style) -> String {
    let mut text = String::new();
    if asked != Property::Robust {
        let word = match (asked, on_property) {
            (_, Verdict::Holds) => "holds",
            (_, Verdict::Violated) => "is violated",
            (Property::Observational, Verdict::Unknown) => "is not proved",
            (_, Verdict::Unknown) => "is not settled",
        };
        let _ = writeln!(text, "  The property `{}` {}.", asked.name(), style.word(on_property, word));
        if let (Property::Observational, Verdict::Unknown, Some(obstacle)) = (asked, on_property, &found.obstacle) {
            let _ = writeln!(text, "  {obstacle}");
        }
    }
    if let Some(witness) = &found.witness {
        let word = style.paint("1;31", "Wrong");
        let _ = writeln!(text, "  {word} under {}: {}", witness.model, violation(&witness.violation));
        text.push_str(&run(witness, style));
    }
    for line in found.advice(model).into_iter().chain(found.open(model)) {
        let _ = writeln!(text, "  {line}");
    }
    text
}
