//! Where threads can stop under SC.

use ravelin_analysis::stops as analysis;
use ravelin_answer::{StopPlace, Stops, Violation};

/// The stops, which accompany every answer.
pub fn stops(found: &analysis::StopsAnswer) -> Stops {
    let told = |stop: &Violation| StopPlace { violation: stop.clone(), message: sentence(stop) };
    Stops { found: found.found.iter().map(told).collect(), limit: found.limit.map(Into::into), copies: found.copies }
}

fn sentence(stop: &Violation) -> String {
    let line = stop.position().map(|position| format!(", line {}", position.line)).unwrap_or_default();
    let told = match stop {
        Violation::Goal { text, .. } => format!("`{text}` is violated under sc{line}"),
        Violation::Assert { thread, text, .. } => format!("thread {thread} can fail `{text}` under sc{line}"),
        Violation::Fault { thread, fault, .. } => format!("thread {thread} can fault under sc{line} ({fault})"),
        Violation::Deadlock { .. } => format!("all threads can wait for ever under sc{line}"),
    };
    format!("{told}: what follows was not looked at.")
}
