//! docs/json-schema.json is the schema of the library's types, and what commands print is valid by it and is read back.

use crate::running::{Scratch, ravelin};
use ravelin::Document;
use serde_json::Value;
use std::sync::LazyLock;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schema.json");

/// With `UPDATE_EXPECT=1` the file is written.
#[test]
fn the_schema_is_that_of_the_types() {
    let schema = schemars::schema_for!(Document);
    let text = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    expect_test::expect_file![FILE].assert_eq(&text);
}

#[test]
fn what_commands_print_is_valid_and_is_read_back() {
    let scratch = Scratch::new("json-schema");
    let race = scratch.write("race.rav", "static x;\nthread p { x.write(1); }\nthread q { x.write(2); }\n");
    let wrong = scratch.write("wrong.rav", "static x; thread");
    let fault = scratch.write("fault.rav", "thread t { let r = 0; r = 1 / r; }\n");
    let net =
        scratch.write("a.spec", "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 1, b = 0 target b >= 1");
    let questions: &[&[&str]] = &[
        &["check", "examples/dekker.rav", "--model", "tso,pso,ra,rc20"],
        &["check", "examples/dekker-fenced.rav", "--attacks"],
        &["check", "examples/sb.rav", "--property", "trf"],
        &["check", "examples/dekker.rav", "--max-states", "5"],
        &["check", &race, &wrong, &fault, "examples/missing.rav"],
        &["reach", "examples/sb.rav", "--model", "sc,tso,pso"],
        &["reach", "examples/peterson.rav", "--engine", "lazy"],
        &["reach", "examples/peterson.rav", "--engine", "dual"],
        &["reach", "examples/lock-order.rav", "--model", "sc,tso,pso"],
        &["check", "examples/lock-order.rav", "examples/parker.rav", "--model", "tso,rc20"],
        &["fence", "examples/dekker.rav", "--model", "tso,pso,ra,rc20", "--explain"],
        &["fence", "examples/sb.rav", "--for", "safety", "--all"],
        &["fence", "examples/mp.rav", "--model", "ra,rc20", "--for", "safety", "--explain"],
        &["fence", "examples/counter.rav", "--model", "rc20", "--for", "safety"],
        &["relax", "examples/relax/seqcount.rav", "examples/mp.rav", "--model", "tso,rc20", "--explain"],
        &["fence", "examples/sb.rav", "--places"],
        &["states", "examples/sb.rav", "--model", "sc,tso,pso"],
        &["simulate", "examples/sb.rav", "--seed", "1"],
        &["confirm", "examples/mp.rav"],
        &["cover", &net],
        &["check", "examples/sb.rav", "examples/mp.rav", "--expect"],
        &["diagnose", &wrong],
    ];
    for question in questions {
        let mut words = question.to_vec();
        if question[0] != "diagnose" {
            words.extend(["--format", "json"]);
        }
        let output = ravelin(&words, "");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(!valid(&text)["answers"].as_array().expect("answers").is_empty(), "{question:?}");
    }
    assert!(!VALIDATOR.is_valid(&serde_json::json!({ "schema": "ravelin/2", "command": "check", "answers": [{}] })));
}

/// Made once: it takes longer than to validate a document.
static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(FILE).expect("a file")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
});

/// A document that is valid by the schema, and is read back.
pub fn valid(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let errors: Vec<String> = VALIDATOR.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{}\n{text}", errors.join("\n"));
    let read = Document::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.command, document["command"]);
    document
}
