//! The number of workers changes how long an answer takes, and not what it says.

use crate::running;

use running::{code, examples, ravelin};
use serde_json::Value;

/// What an answer says beside what it took.
fn told(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for effort in ["statistics", "explored", "effort"] {
                fields.remove(effort);
            }
            fields.values_mut().for_each(|field| *field = told(field.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = told(item.take())),
        _ => {}
    }
    value
}

/// The answers about all examples, with an exit code.
fn answers(question: &[&str], files: &[&str], workers: &str) -> (i32, Vec<Value>) {
    let common = ["--format", "json", "--workers", workers];
    let output = ravelin(&[question, files, &common].concat(), "");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{question:?}: {}", String::from_utf8_lossy(&output.stderr)));
    let answers = document["answers"].as_array().expect("answers").iter().cloned().map(told).collect();
    (code(&output), answers)
}

#[test]
fn witnesses_are_the_same_with_any_number_of_workers() {
    let mut files = examples();
    files.retain(|file| !std::fs::read_to_string(file).expect("a text").contains("[*]"));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    // The engine `auto` of `reach` lets two engines race where a bounded search does not settle the question, so it is asked under a
    // model for which there is no race, and with the engines one by one.
    let questions: [&[&str]; 14] = [
        &["check", "--model", "tso,pso,ra,rc20"],
        &["check", "--model", "tso", "--attacks"],
        &["check", "--model", "tso,pso", "--engine", "attacks"],
        &["check", "--model", "tso,pso", "--engine", "single"],
        &["check", "--model", "tso", "--property", "trf"],
        &["reach", "--model", "sc,pso"],
        &["reach", "--model", "tso", "--engine", "lazy"],
        &["reach", "--model", "sc,tso,pso", "--engine", "bounded"],
        &["reach", "--model", "tso", "--engine", "bounded", "--no-fuse", "--no-symmetry", "--no-partial-order"],
        &["reach", "--model", "ra,rc20", "--messages", "3"],
        &["states", "--model", "sc,tso,pso"],
        &["states", "--model", "rc20", "--messages", "3"],
        &["fence", "--model", "tso", "--explain"],
        &["fence", "--model", "rc20"],
    ];
    for question in questions {
        // Some take long, and states with messages are large. No list of final states with messages is complete between ten
        // thousand states and thirty thousand.
        let states = match (question[0], question.contains(&"--messages")) {
            ("states", true) => "10000",
            (_, true) => "30000",
            (_, false) => "150000",
        };
        let question = &[question, &["--max-states", states]].concat()[..];
        let expected = answers(question, &files, "1");
        assert!(expected.1.len() >= files.len());
        for workers in ["2", "3"] {
            let found = answers(question, &files, workers);
            assert_eq!(found.0, expected.0, "{question:?}");
            for (found, expected) in found.1.iter().zip(&expected.1) {
                let about = format!("{question:?}, {workers} workers, {}", expected["file"]);
                assert!(found == expected, "{about}:\n{expected:#}\n{found:#}");
            }
        }
    }
}

/// A space with levels that several threads expand, in which many shortest ways lead to one violation.
#[test]
fn witnesses_in_large_levels_are_the_same_too() {
    let program = "static x: 0..=40; static y: 0..=40; static z: 0..=40; static w: 0..=40;
        thread a { while x.load() < 40 { x.store(x.load() + 1); } }
        thread b { while y.load() < 40 { y.store(y.load() + 1); } }
        thread c { while z.load() < 40 { z.store(z.load() + 1); } }
        thread d { while w.load() < 40 { w.store(w.load() + 1); } }
        never x + y + z + w == 40;";
    let scratch = running::Scratch::new("workers");
    let file = scratch.write("program.rav", program);
    let question = ["reach", "--model", "sc", "--no-symmetry", "--engine", "bounded"];
    let expected = answers(&question, &[&file], "1");
    assert_eq!(expected.0, 1);
    for workers in ["2", "3"] {
        assert!(answers(&question, &[&file], workers) == expected, "{workers} workers");
    }
}
