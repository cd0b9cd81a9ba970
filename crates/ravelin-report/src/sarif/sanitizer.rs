//! What the sanitizer found as results: the other access and the steps of the path are related locations, both stacks
//! are thread flows.

use super::format::{
    CodeFlow, Fingerprints, LogicalLocation, Notification, ResultKind, SarifLevel, SarifLocation, SarifResult,
    ThreadFlow, ThreadFlowLocation,
};
use super::rules::WEAK_FAILURE;
use super::{SANITIZER, numbered, physical};
use ravelin_answer::SanitizerReport;
use ravelin_answer::sanitizer::{Finding, Frame, MemoryArea, StaleAccess, WatchedAccess, WeakFailure, signal_words};
use ravelin_program::Position;

pub(super) fn result(finding: &Finding) -> SarifResult {
    let mut related = vec![innermost(&finding.other, finding.other.phrase(None))];
    for access in [&finding.access, &finding.other] {
        let caller = access.caller.as_ref().and_then(|caller| access.stack.get(caller.frame));
        related.extend(caller.map(|frame| place(frame, format!("the {} is called from here", access.words()))));
    }
    for step in &finding.path {
        related.push(innermost(&step.after, step.sentence()));
        related.push(innermost(&step.before, step.before.phrase(Some(&step.location))));
    }
    if let MemoryArea::Heap { allocated, .. } = &finding.location.memory {
        related.extend(allocated.first().map(|frame| place(frame, "the memory was allocated here".to_owned())));
    }
    let rule_id = finding.problem.name();
    let rule = SANITIZER.iter().enumerate().find(|(_, rule)| rule.id == rule_id);
    let site = |access: &WatchedAccess| access.place().unwrap_or_default();
    let flow = CodeFlow {
        message: "the stacks of both accesses".into(),
        thread_flows: vec![flow(&finding.other), flow(&finding.access)],
    };
    SarifResult {
        rule_id,
        rule_index: rule.map(|(index, _)| index),
        kind: ResultKind::Fail,
        level: rule.map_or(SarifLevel::Warning, |(_, rule)| rule.level),
        message: message(finding).into(),
        locations: [innermost(&finding.access, finding.access.phrase(Some(&finding.location)))],
        related_locations: numbered(related),
        code_flows: vec![flow],
        fixes: Vec::new(),
        occurrence_count: Some(finding.count),
        partial_fingerprints: Fingerprints {
            places: format!("{rule_id} {} {}", site(&finding.access), site(&finding.other)),
        },
    }
}

/// What was found, where it can happen, what it would do, and what to change.
fn message(finding: &Finding) -> String {
    let machines = finding.machines.map(|machines| machines.sentence().trim_end_matches('.'));
    let consequence = finding.consequence.as_ref().map(|consequence| consequence.sentence.as_str());
    let known = [Some(finding.sentence.as_str()), machines, consequence, Some(finding.suggestion.text.as_str())];
    known.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A weak run that ended badly: at the last access that took an old value, with the others as related locations.
pub(super) fn weak_failure(failure: &WeakFailure) -> SarifResult {
    let located = |stale: &StaleAccess| innermost(&stale.access, stale.sentence.clone());
    let first = failure.stale.first().map(located);
    let schedule = failure.first_run.as_ref().and_then(|run| run.schedule.clone()).unwrap_or_default();
    let explanation = match failure.stale.len() {
        0 => failure.explanation().to_owned(),
        1 => "1 access took an old value".to_owned(),
        many => format!("accesses at {many} places took old values"),
    };
    let rule = SANITIZER.iter().position(|rule| rule.id == WEAK_FAILURE);
    SarifResult {
        rule_id: WEAK_FAILURE,
        rule_index: rule,
        kind: ResultKind::Fail,
        level: SarifLevel::Error,
        message: format!("a run with {schedule} was {}: {explanation}", failure.how).into(),
        locations: [first.unwrap_or_default()],
        related_locations: numbered(failure.stale.iter().skip(1).map(located)),
        code_flows: Vec::new(),
        fixes: Vec::new(),
        occurrence_count: Some(failure.runs as u64),
        partial_fingerprints: Fingerprints { places: format!("{WEAK_FAILURE} {}", failure.how) },
    }
}

/// If the absence of results implies nothing, there must be a notification.
pub(super) fn notifications(report: &SanitizerReport) -> Vec<Notification> {
    let lacking = report.processes.iter().filter(|process| process.dropped > 0 || process.unwatched);
    let mut texts: Vec<String> = report.unrecorded_note().into_iter().collect();
    for note in lacking.flat_map(|process| &process.notes) {
        if !texts.contains(note) {
            texts.push(note.clone());
        }
    }
    let crashed =
        report.crashes.iter().map(|crash| format!("the program was killed by {}", signal_words(crash.signal)));
    texts.extend(crashed);
    texts
        .into_iter()
        .map(|text| Notification { level: SarifLevel::Error, message: text.into(), locations: Vec::new() })
        .collect()
}

/// A thread flow: the calls that lead to an access, outermost first.
fn flow(access: &WatchedAccess) -> ThreadFlow {
    let call = |(depth, frame): (usize, &Frame)| {
        let function = frame.function.as_deref().unwrap_or("?");
        let message = if depth == 0 { access.phrase(None) } else { format!("call in {function}") };
        ThreadFlowLocation {
            location: place(frame, message),
            nesting_level: Some(access.stack.len() - 1 - depth),
            execution_order: None,
        }
    };
    let mut locations: Vec<ThreadFlowLocation> = access.stack.iter().enumerate().rev().map(call).collect();
    if locations.is_empty() {
        // A flow must not be empty.
        let location = innermost(access, access.phrase(None));
        locations.push(ThreadFlowLocation { location, ..ThreadFlowLocation::default() });
    }
    ThreadFlow { id: access.thread.words(), locations }
}

fn innermost(access: &WatchedAccess, message: String) -> SarifLocation {
    match access.stack.first() {
        Some(frame) => place(frame, message),
        None => SarifLocation { message: Some(message.into()), ..SarifLocation::default() },
    }
}

fn place(frame: &Frame, message: String) -> SarifLocation {
    let position = frame.line.map(|line| Position { line: line as usize, column: frame.column.unwrap_or(0) as usize });
    let function = frame.function.as_ref().unwrap_or(&frame.code);
    SarifLocation {
        id: None,
        message: Some(message.into()),
        physical_location: frame.file.as_deref().map(|file| physical(file, position)),
        logical_locations: vec![LogicalLocation {
            name: None,
            fully_qualified_name: Some(function.clone()),
            kind: "function",
        }],
    }
}

#[cfg(test)]
mod tests {
    use crate::sarif::report;
    use ravelin_answer::Document;
    use serde_json::Value;

    #[test]
    fn a_result_has_both_stacks_and_the_path() {
        let findings = Document::read(include_str!("findings.json")).expect("a document");
        let document: Value = serde_json::from_str(&report(&findings.answers, None)).expect("it is JSON");
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
