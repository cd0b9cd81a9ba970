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
    // The engine `auto` of `reach` lets two engines race where a bounded search does not settle the question, so it is asked under a
    // model for which there is no race, and with the engines one by one.
    // Each with limits on states: what the first limit ends is asked about again with the next. Some searches take long,
    // states with messages are large, and how violations are graded takes as many states as a limit allows. With the
    // engines `lazy` and `bounded`, no goal is settled between 30000 states and 90000. No list of final states with
    // messages is complete between 10000 and 30000.
    let questions: [(&[&str], &[&str]); 15] = [
        (&["check", "--model", "tso,pso"], &["150000"]),
        (&["check", "--model", "ra,rc20"], &["6000", "150000"]),
        (&["check", "--model", "tso", "--attacks"], &["150000"]),
        (&["check", "--model", "tso,pso", "--engine", "attacks"], &["150000"]),
        (&["check", "--model", "tso,pso", "--engine", "single"], &["150000"]),
        (&["check", "--model", "tso", "--property", "trf"], &["150000"]),
        (&["reach", "--model", "sc,pso"], &["150000"]),
        (&["reach", "--model", "tso", "--engine", "lazy"], &["30000"]),
        (&["reach", "--model", "sc,tso,pso", "--engine", "bounded"], &["30000"]),
        (
            &["reach", "--model", "tso", "--engine", "bounded", "--no-fuse", "--no-symmetry", "--no-partial-order"],
            &["150000"],
        ),
        (&["reach", "--model", "ra,rc20", "--messages", "3"], &["30000"]),
        (&["states", "--model", "sc,tso,pso"], &["150000"]),
        (&["states", "--model", "rc20", "--messages", "3"], &["10000"]),
        (&["fence", "--model", "tso", "--explain"], &["150000"]),
        (&["fence", "--model", "rc20"], &["150000"]),
    ];
    for (number, (question, limits)) in questions.into_iter().enumerate() {
        let workers = if number % 2 == 0 { "2" } else { "3" };
        let mut files = files.clone();
        for states in limits {
            let names: Vec<&str> = files.iter().map(String::as_str).collect();
            let found = compare_workers(&[question, &["--max-states", states]].concat(), &names, workers);
            let unsettled = found.iter().filter(|answer| answer["verdict"] == "unknown");
            files = unsettled.map(|answer| answer["file"].as_str().expect("a name").to_owned()).collect();
            files.dedup();
        }
        assert!(limits.len() == 1 || files.is_empty(), "{question:?} is not settled for {files:?}");
    }
}

/// Asks with one worker and with several, and returns the answers.
fn compare_workers(question: &[&str], files: &[&str], workers: &str) -> Vec<Value> {
    let expected = answers(question, files, "1");
    assert!(expected.1.len() >= files.len());
    let found = answers(question, files, workers);
    assert_eq!(found.0, expected.0, "{question:?}");
    for (found, expected) in found.1.iter().zip(&expected.1) {
        let about = format!("{question:?}, {workers} workers, {}", expected["file"]);
        assert!(found == expected, "{about}:\n{expected:#}\n{found:#}");
    }
    expected.1
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
