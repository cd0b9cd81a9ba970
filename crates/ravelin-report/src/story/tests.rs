//! Texts that are not documents, and documents with inconsistent parts.

use super::*;
use serde_json::{Value, json};

fn from_value(document: &Value) -> Result<Document, StoryError> {
    read(&document.to_string())
}

fn wrong(document: Value) -> String {
    from_value(&document).expect_err("this is no story").to_string()
}

#[test]
fn what_is_no_document_is_refused_with_a_reason() {
    assert!(read("{").expect_err("half a text").to_string().starts_with("this is not JSON: "));
    assert!(wrong(json!([])).starts_with("this is no document of Ravelin"));
    assert!(wrong(json!({ "schema": "ravelin/2" })).starts_with("this is no document of Ravelin"));
    let other = json!({ "schema": "ravelin/1", "command": "reach", "answers": [] });
    assert_eq!(wrong(other), "the document has the schema `ravelin/1`, and this program reads `ravelin/2`");
    let other = json!({ "schema": "ravelin/2", "command": "cover", "answers": [] });
    assert!(wrong(other).starts_with("answers of `cover` cannot be told"));
    let other = json!({ "schema": "ravelin/2", "command": "reach", "answers": [{ "file": "a.rav" }] });
    assert_eq!(wrong(other), "answer 1: missing field `kind`");
}

/// A run of one thread that stores to x and flushes, with steps and edges for tests to corrupt.
fn reach(thread: &str, to: usize) -> Value {
    let step = |kind: &str, memory: Value, buffers: Value| {
        json!({
            "thread": thread, "kind": kind, "line": 3, "column": 5, "text": "x.store(1)", "internal": false,
            "reads": [], "writes": [], "memory": memory, "registers": [], "buffers": buffers,
        })
    };
    let pending = json!([[{ "cell": "x", "value": 1 }, "marker"]]);
    json!({
        "schema": "ravelin/2",
        "command": "reach",
        "answers": [{
            "kind": "reachability", "file": "a.rav", "model": "pso", "verdict": "violated", "engine": "bounded", "effort": null, "not_tried": null,
            "goals": 1, "buffer": 3, "cut_off": false, "limit": null,
            "statistics": {
                "states": 1, "transitions": 1, "depth": 1, "frontier": 0, "bytes": 1, "seconds": 0.1, "workers": 1
            },
            "witness": {
                "violation": { "kind": "goal", "goal": 0, "text": "never x == 1", "line": 7, "column": 1 },
                "model": "pso",
                "shortest": true,
                "initial": { "threads": [{ "thread": "t", "registers": [] }], "memory": [{ "cell": "x", "value": 0 }] },
                "steps": [step("step", json!([]), pending), step("flush", json!([{ "cell": "x", "value": 1 }]), json!([[]]))],
                "events": [{ "thread": "t", "line": 3, "column": 5, "text": "W x = 1", "steps": [0, 1] }],
                "edges": [{ "from": 0, "to": to, "kind": "po", "cell": null }],
                "cycle": [],
            },
        }],
    })
}

#[test]
fn memory_and_buffers_follow_from_the_steps() {
    let document = from_value(&reach("t", 0)).expect("a story");
    let story = &document.stories[0];
    assert_eq!(story.sentence, "a.rav violates `never x == 1` (line 7) under pso.");
    let run = &story.demonstration.as_ref().expect("a witness").run;
    let shown: Vec<String> =
        run.states().map(|state| format!("{} {}", state.memory[0].value, state.buffers[0].len())).collect();
    assert_eq!(shown, ["0 0", "0 2", "1 0"]);
    assert_eq!(run.after(2), run.states().last().expect("there is one"));
    assert_eq!(story.demonstration.as_ref().expect("a witness").lines(), [3, 7]);
}

#[test]
fn parts_that_do_not_fit_are_errors() {
    assert_eq!(wrong(reach("u", 0)), "answer 1: step 1: there is no thread `u`");
    assert_eq!(wrong(reach("t", 9)), "answer 1: an edge leads from event 0 to event 9, which are not both there");
    let mut document = reach("t", 0);
    document["answers"][0]["witness"]["steps"][0]["buffers"] = json!([]);
    assert_eq!(wrong(document), "answer 1: step 1: it does not have a buffer for each thread");
    let mut document = reach("t", 0);
    document["answers"][0]["witness"]["initial"] = Value::Null;
    assert!(wrong(document).starts_with("answer 1: "));
    let mut document = reach("t", 0);
    document["answers"][0]["witness"]["events"][0]["steps"] = json!([7]);
    assert_eq!(wrong(document), "answer 1: the event `W x = 1` is made of steps that are none");
}
