//! Where threads can stop under SC, beside any answer: as lines of text and as a field of JSON.

use crate::json::{limit, violation};
use ravelin_analysis::stops::Stops;
use ravelin_analysis::witness::WitnessViolation;
use serde_json::{Value, json as value};

/// One line per place, and how far the search for them went; nothing if no thread can stop.
pub fn text(stops: &Stops) -> String {
    let mut lines: Vec<String> = stops.found.iter().map(sentence).collect();
    let open = if stops.found.is_empty() { "Whether a thread can fault" } else { "Where else a thread can fault" };
    lines.extend(stops.limit.map(|limit| format!("{open} under sc is not settled: {limit}.")));
    lines.extend(stops.copies.map(looked_at));
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// The field `stops` of an answer.
pub fn json(stops: &Stops) -> Value {
    let told = |stop: &WitnessViolation| {
        let mut told = violation(stop);
        told["message"] = sentence(stop).into();
        told
    };
    value!({
        "found": stops.found.iter().map(told).collect::<Vec<_>>(),
        "limit": stops.limit.map(limit),
        "copies": stops.copies,
    })
}

/// What an answer's `stops` say, for a page or in words.
pub(crate) fn notes(answer: &Value) -> Vec<String> {
    let found = answer["stops"]["found"].as_array().into_iter().flatten();
    let found = found.filter_map(|stop| stop["message"].as_str()).map(str::to_owned);
    let copies = answer["stops"]["copies"].as_u64().and_then(|copies| usize::try_from(copies).ok());
    found.chain(copies.map(looked_at)).collect()
}

/// With any number of threads.
fn looked_at(copies: usize) -> String {
    let copies = if copies == 1 { "1 copy".to_owned() } else { format!("{copies} copies") };
    format!(
        "Faults under sc were looked for with at most {copies} of each `[*]` thread; with more there may be others."
    )
}

fn sentence(stop: &WitnessViolation) -> String {
    let line = stop.position().map(|position| format!(", line {}", position.line)).unwrap_or_default();
    let told = match stop {
        WitnessViolation::Goal { text, .. } => format!("`{text}` is violated under sc{line}"),
        WitnessViolation::Assert { thread, text, .. } => format!("thread {thread} can fail `{text}` under sc{line}"),
        WitnessViolation::Fault { thread, fault, .. } => format!("thread {thread} can fault under sc{line} ({fault})"),
    };
    format!("{told}: what follows was not looked at.")
}
