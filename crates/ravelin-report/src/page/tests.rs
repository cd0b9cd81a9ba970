//! Pages of hostile and unusual documents. A browser tests their behaviour (crates/ravelin-cli/tests/browser.rs).

use super::*;
use crate::story;
use serde_json::{Value, json};

const NASTY: &str = "<img src=x onerror=alert(1)>\"'&</script><!--\u{2028}😀";

/// A run with nasty names everywhere.
fn nasty() -> Document {
    let step = json!({
        "thread": NASTY, "kind": "step", "part": "τ1", "line": 1, "column": 1, "text": NASTY, "internal": false,
        "reads": [], "writes": [{ "cell": NASTY, "value": 1, "place": "buffer" }], "memory": [],
        "registers": [{ "register": NASTY, "value": i64::MIN }], "buffers": [[{ "cell": NASTY, "value": 1 }]],
    });
    document(json!([{
        "kind": "reachability", "file": NASTY, "model": "tso", "verdict": "violated", "engine": NASTY, "effort": null, "not_tried": NASTY,
        "goals": 1, "buffer": 3, "cut_off": false, "limit": null,
        "statistics": { "states": 1, "transitions": 1, "depth": 1, "frontier": 0, "bytes": 1, "seconds": 0.1, "workers": 1 },
        "witness": {
            "violation": { "kind": "assert", "thread": NASTY, "text": NASTY, "line": 7, "column": 1 },
            "model": "tso", "shortest": true,
            "initial": {
                "threads": [{ "thread": NASTY, "registers": [] }], "memory": [{ "cell": NASTY, "value": 0 }]
            },
            "steps": [step],
            "events": [
                { "thread": NASTY, "line": 1, "column": 1, "text": NASTY, "steps": [0] },
                { "thread": null, "line": null, "column": null, "text": NASTY, "steps": [] },
            ],
            "edges": [{ "from": 1, "to": 0, "kind": "rf", "cell": NASTY }],
            "cycle": [],
        },
    }]))
}

fn document(answers: Value) -> Document {
    let command = "reach";
    let document = json!({ "schema": "ravelin/2", "command": command, "answers": answers });
    story::read(&document.to_string()).expect("a story")
}

#[test]
fn markup_in_names_and_sources_stays_text() {
    let page = page(&nasty(), &[(NASTY.to_owned(), format!("a\n{NASTY}\n"))]);
    assert!(!page.contains("<img"), "markup got through");
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(!page.contains("<!--"));
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn values_that_javascript_cannot_hold_are_texts() {
    assert!(page(&nasty(), &[]).contains("\"-9223372036854775808\""));
}

#[test]
fn nothing_is_asked_of_a_network() {
    let page = page(&nasty(), &[]);
    assert!(page.contains("default-src 'none'"));
    for word in ["src=\"", "href=\"http", "url(http", "@import", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn no_answers_and_no_steps_are_pages_too() {
    assert!(page(&document(json!([])), &[]).contains("Nothing was asked."));
    let error =
        json!([{ "kind": "none", "file": "a.rav", "model": null, "verdict": "error", "message": "no such file" }]);
    let page = page(&document(error), &[]);
    assert!(page.contains("There is no answer about a.rav: no such file."));
    assert!(page.contains("data-verdict=\"error\""));
}

#[test]
fn a_page_stays_small_whatever_is_asked() {
    let one = json!({ "kind": "none", "file": "x".repeat(2000), "model": null, "verdict": "error", "message": "y".repeat(3000) });
    let many = page(&document(Value::Array(vec![one; 1000])), &[]);
    assert!(many.len() < 1_000_000, "{}", many.len());
    assert!(many.contains("more answers did not fit"));
}
