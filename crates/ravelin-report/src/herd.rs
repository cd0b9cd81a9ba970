//! Final states in herd's layout, for scripts that read its answers.
//!
//! Where herd counts executions, this counts final states: `Positive`, `Negative` and the numbers behind `Observation`.

use ravelin_analysis::states::{FinalStates, final_goal};
use ravelin_program::{GoalKind, Program};
use std::collections::BTreeMap;
use std::fmt::Write;

/// One test's block.
pub fn final_states(program: &Program, answer: &FinalStates) -> String {
    let goal = final_goal(program);
    let kind = goal.map_or(GoalKind::Exists, |goal| goal.kind);
    let mut states: BTreeMap<&str, bool> = BTreeMap::new();
    for state in &answer.finals {
        *states.entry(&state.shown).or_default() |= state.condition.unwrap_or(true);
    }
    let positive = states.values().filter(|satisfied| **satisfied).count();
    let negative = states.len() - positive;
    let (word, quantifier, ok) = match kind {
        GoalKind::Finally => ("Required", "forall", negative == 0),
        GoalKind::NeverFinally => ("Forbidden", "~exists", positive == 0),
        GoalKind::Exists | GoalKind::Never => ("Allowed", "exists", positive > 0),
    };
    let seen = match (positive, negative) {
        (0, _) => "Never",
        (_, 0) => "Always",
        _ => "Sometimes",
    };
    let condition = goal.map_or_else(|| "true".to_owned(), |goal| condition(program, goal));
    let name = &program.name;
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
    let _ = writeln!(text, "Time {name} {:.2}\n", answer.statistics.elapsed.as_secs_f64());
    text
}

/// The condition as it was written, without its quantifier and outer parentheses.
fn condition(program: &Program, goal: &ravelin_program::Goal) -> String {
    let quoted = program.source.quote(goal.span).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = quoted.trim_end_matches(';').trim();
    for quantifier in ["~exists", "exists", "forall", "finally never", "finally"] {
        if let Some(rest) = text.strip_prefix(quantifier) {
            text = rest.trim();
            break;
        }
    }
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    match inner {
        _ if quoted.is_empty() => program.show_condition(&goal.condition),
        Some(inner) if is_balanced(inner) => inner.to_owned(),
        _ => text.to_owned(),
    }
}

fn is_balanced(text: &str) -> bool {
    let mut open = 0i64;
    for letter in text.chars() {
        open += i64::from(letter == '(') - i64::from(letter == ')');
        if open < 0 {
            return false;
        }
    }
    open == 0
}
