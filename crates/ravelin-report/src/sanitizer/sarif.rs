//! Findings as SARIF 2.1.0: one result each, the other access and the steps of the path as related locations, both
//! stacks as thread flows.

use super::{rule, sentence, step_sentence, told};
use crate::sarif::{self, Columns, Run, SANITIZER, document, numbered};
use ravelin_program::Position;
use ravelin_sanitizer::Frame;
use ravelin_sanitizer::report::{Access, Finding, Memory, Problem, Report};
use serde_json::{Value, json};

/// The whole document. `root` is the folder in which the program ran.
pub fn report(report: &Report, root: Option<&str>) -> String {
    let results = report.findings.iter().map(result).collect();
    // If the absence of results implies nothing, there must be a notification.
    let lacking = report.processes.iter().filter(|process| process.dropped > 0 || process.unwatched);
    let lacking = lacking.flat_map(|process| &process.notes);
    let incomplete = super::text::unrecorded(report).into_iter().chain(lacking.cloned());
    let notifications = incomplete.map(|text| json!({ "level": "error", "message": { "text": text } })).collect();
    document(Run { rules: SANITIZER, results, notifications, columns: Columns::Utf16, root })
}

/// Number and level of the rule that a problem breaks.
fn broken(problem: Problem) -> (usize, &'static str) {
    let number = SANITIZER.iter().position(|known| known.id == rule(problem)).unwrap_or(0);
    (number, SANITIZER[number].level)
}

fn result(finding: &Finding) -> Value {
    let mut related = vec![innermost(&finding.other, &told(&finding.other, None))];
    for step in &finding.path {
        related.push(innermost(&step.after, &step_sentence(step)));
        related.push(innermost(&step.before, &told(&step.before, Some(&step.location))));
    }
    if let Memory::Heap { stack, .. } = &finding.location.memory {
        related.extend(stack.first().map(|frame| place(frame, "the memory was allocated here")));
    }
    let flows: Vec<Value> = [&finding.other, &finding.access].into_iter().map(flow).collect();
    let (index, level) = broken(finding.problem);
    let site = |access: &Access| access.place().unwrap_or_default();
    json!({
        "ruleId": rule(finding.problem),
        "ruleIndex": index,
        "level": level,
        "message": { "text": format!("{}; {}", sentence(finding), finding.advice()) },
        "locations": [innermost(&finding.access, &told(&finding.access, Some(&finding.location)))],
        "relatedLocations": numbered(related),
        "codeFlows": [{ "message": { "text": "the stacks of both accesses" }, "threadFlows": flows }],
        "occurrenceCount": finding.count,
        "partialFingerprints": {
            "ravelinPlaces/v1": format!("{} {} {}", rule(finding.problem), site(&finding.access), site(&finding.other)),
        },
    })
}

/// A thread flow: the calls that lead to an access, outermost first.
fn flow(access: &Access) -> Value {
    let mut locations: Vec<Value> = Vec::new();
    for (depth, frame) in access.stack.iter().enumerate().rev() {
        let function = frame.function.as_deref().unwrap_or("?");
        let message = if depth == 0 { told(access, None) } else { format!("call in {function}") };
        locations.push(json!({ "location": place(frame, &message), "nestingLevel": access.stack.len() - 1 - depth }));
    }
    if locations.is_empty() {
        // A flow must not be empty.
        locations.push(json!({ "location": { "message": { "text": told(access, None) } } }));
    }
    json!({ "id": access.thread.words(), "locations": locations })
}

fn innermost(access: &Access, message: &str) -> Value {
    match access.stack.first() {
        Some(frame) => place(frame, message),
        None => json!({ "message": { "text": message } }),
    }
}

fn position(frame: &Frame) -> Option<Position> {
    let number = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
    Some(Position { line: number(frame.line)?, column: number(frame.column).unwrap_or(0) })
}

fn place(frame: &Frame, message: &str) -> Value {
    let mut location = match &frame.file {
        Some(file) => sarif::place(file, position(frame), message),
        None => json!({ "message": { "text": message } }),
    };
    let function = frame.function.as_deref().unwrap_or(&frame.code);
    location["logicalLocations"] = json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    location
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_result_has_both_stacks_and_the_path() {
        let document: Value = serde_json::from_str(&report(&sample::report(), None)).expect("it is JSON");
        let run = &document["runs"][0];
        let results = run["results"].as_array().expect("results are a list");
        assert_eq!(results.len(), 2);
        let first = &results[0];
        assert_eq!(first["ruleId"], "stale-read");
        let index = first["ruleIndex"].as_u64().expect("a number") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], "stale-read");
        assert_eq!(first["locations"][0]["physicalLocation"]["region"]["startLine"], 14);
        assert_eq!(first["relatedLocations"].as_array().map(Vec::len), Some(3));
        let flows = &first["codeFlows"][0]["threadFlows"];
        assert_eq!(flows[1]["locations"][0]["location"]["physicalLocation"]["region"]["startLine"], 20);
        assert_eq!(flows[1]["locations"][1]["nestingLevel"], 1);
        assert_eq!(first["occurrenceCount"], 1200);
    }
}
