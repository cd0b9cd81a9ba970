//! Robustness against release/acquire and RC20 as JSON. The fields are described in docs/json.md.

use super::Shown;
use crate::json::{initial, limit, statistics, step};
use ravelin_analysis::c11::{C11Race, C11Violation, C11Witness, GraphEdge, GraphEvent, Remedy, remedy};
use serde_json::{Value, json};

/// The answer to `check --model ra` or `rc20`.
pub fn robustness(shown: &Shown) -> Value {
    let answer = shown.answer;
    let spins = shown.spins.iter().map(|spin| {
        json!({
            "thread": shown.program.threads[spin.thread.0].name,
            "line": spin.position.map(|position| position.line),
            "became": spin.became,
        })
    });
    json!({
        "file": shown.file,
        "model": answer.model.name(),
        "property": "robust",
        "verdict": answer.verdict.name(),
        "seq_cst": answer.seq_cst.map(|reading| reading.name()),
        "may_miss_violations": answer.seq_cst.is_some(),
        "witness": answer.witness().map(|witness| stale(witness, remedy(answer))),
        "race": answer.race().map(race),
        "waiting_loops": spins.collect::<Vec<_>>(),
        "rewritten": shown.rewritten,
        "limit": answer.limit.map(limit),
        "statistics": statistics(&answer.statistics, None),
    })
}

/// What is wrong.
pub(crate) fn violation(violation: &C11Violation) -> Value {
    match violation {
        C11Violation::NotRobust(witness) => json!({ "stale": stale(witness, None) }),
        C11Violation::Race(found) => json!({ "data_race": race(found) }),
    }
}

fn stale(witness: &C11Witness, remedy: Option<Remedy>) -> Value {
    let remedy = remedy.map(|remedy| {
        let strengthen =
            remedy.strengthen.iter().map(|(event, order)| json!({ "event": event, "order": order.name() }));
        json!({ "strengthen": strengthen.collect::<Vec<_>>(), "fence_before": remedy.fences })
    });
    json!({
        "sentence": witness.sentence,
        "access": witness.access,
        "ignored": witness.ignored,
        "initial": initial(&witness.beginning),
        "steps": witness.steps.iter().map(step).collect::<Vec<_>>(),
        "events": witness.events.iter().map(event).collect::<Vec<_>>(),
        "edges": witness.edges.iter().map(edge).collect::<Vec<_>>(),
        "cycle": witness.cycle.iter().map(edge).collect::<Vec<_>>(),
        "remedy": remedy,
    })
}

fn race(race: &C11Race) -> Value {
    json!({
        "sentence": race.sentence,
        "first": race.first,
        "second": race.second,
        "initial": initial(&race.beginning),
        "steps": race.steps.iter().map(step).collect::<Vec<_>>(),
        "events": race.events.iter().map(event).collect::<Vec<_>>(),
        "edges": race.edges.iter().map(edge).collect::<Vec<_>>(),
    })
}

fn event(event: &GraphEvent) -> Value {
    json!({
        "thread": event.thread,
        "line": event.position.map(|position| position.line),
        "column": event.position.map(|position| position.column),
        "text": event.text,
        "steps": event.step.into_iter().collect::<Vec<_>>(),
    })
}

fn edge(edge: &GraphEdge) -> Value {
    json!({ "from": edge.from, "to": edge.to, "kind": edge.kind.name() })
}
