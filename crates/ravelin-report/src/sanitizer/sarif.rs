//! Findings as SARIF 2.1.0: a result each, the other access and the steps of the path as related locations, both stacks as
//! thread flows.

use super::{rule, sentence, step_sentence, told};
use ravelin_sanitizer::Frame;
use ravelin_sanitizer::report::{Access, Finding, Memory, Problem, Report, problem_name};
use serde_json::{Map, Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The rules, in the order in which results refer to them.
const RULES: &[(Problem, &str)] = &[
    (Problem::Race, "Conflicting accesses, at least one of them non-atomic, are not ordered by happens-before."),
    (Problem::StaleRead, "Under sequential consistency this read sees a write that it may miss under C11."),
    (
        Problem::StaleWrite,
        "Under sequential consistency this store comes after a write that may overwrite it under C11.",
    ),
    (
        Problem::StaleUpdate,
        "Under sequential consistency this read-modify-write sees a write that it may miss under C11.",
    ),
];

/// The whole document.
pub fn report(report: &Report) -> String {
    let rules = RULES.iter().map(|&(problem, description)| {
        let (heading, id) = problem_name(problem);
        json!({
            "id": id,
            "name": heading,
            "shortDescription": { "text": heading },
            "fullDescription": { "text": description },
            "defaultConfiguration": { "level": level(problem) },
        })
    });
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ravelin",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn level(problem: Problem) -> &'static str {
    if problem == Problem::Race { "error" } else { "warning" }
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
    for (index, location) in related.iter_mut().enumerate() {
        location["id"] = json!(index);
    }
    let flows: Vec<Value> = [&finding.other, &finding.access].into_iter().map(flow).collect();
    let site = |access: &Access| access.place().unwrap_or_default();
    json!({
        "ruleId": rule(finding.problem),
        "ruleIndex": RULES.iter().position(|(problem, _)| *problem == finding.problem),
        "level": level(finding.problem),
        "message": { "text": format!("{}; {}", sentence(finding), finding.advice()) },
        "locations": [innermost(&finding.access, &told(&finding.access, Some(&finding.location)))],
        "relatedLocations": related,
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

fn place(frame: &Frame, message: &str) -> Value {
    let mut location = Map::new();
    location.insert("message".to_owned(), json!({ "text": message }));
    if let Some(file) = &frame.file {
        let mut region = Map::new();
        if let Some(line) = frame.line {
            region.insert("startLine".to_owned(), json!(line));
            if let Some(column) = frame.column {
                region.insert("startColumn".to_owned(), json!(column));
            }
        }
        let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
        if !region.is_empty() {
            physical["region"] = Value::Object(region);
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    let function = frame.function.as_deref().unwrap_or(&frame.code);
    location.insert("logicalLocations".to_owned(), json!([{ "fullyQualifiedName": function, "kind": "function" }]));
    Value::Object(location)
}

/// A path as a URI: relative paths stay relative.
fn uri(file: &str) -> String {
    let mut uri = if file.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_result_has_both_stacks_and_the_path() {
        let document: Value = serde_json::from_str(&report(&sample::report())).expect("it is JSON");
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

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/tmp/ü.c"), "file:///tmp/%C3%BC.c");
    }
}
