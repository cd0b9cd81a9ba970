//! SARIF: every answer is valid against the schema that OASIS publishes, and says what the JSON says.

use crate::running;
use crate::schema;

use running::{Scratch, code, on_text, ravelin};
use schema::validate;
use serde_json::{Value, json};

/// The validated document of a command, and its exit code.
fn sarif(arguments: &[&str]) -> (i32, Value) {
    let mut all = arguments.to_vec();
    all.extend(["--format", "sarif"]);
    let output = ravelin(&all, "");
    let document =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error} {output:?}"));
    validate(&document);
    (code(&output), document)
}

fn results(document: &Value) -> &[Value] {
    document["runs"][0]["results"].as_array().expect("results")
}

#[test]
fn each_kind_of_violation_has_its_rule_and_its_place() {
    let scratch = Scratch::new("sarif-kinds");
    let assert = scratch.write("assert.rav", "static x;\nthread t { let r = x.load(); assert(r == 1); }\n");
    let fault = scratch.write("a fault.rav", "thread t { let r = 0; r = 1 / r; }\n");
    let race = scratch.write("race.rav", "static x;\nthread p { x.write(1); }\nthread q { x.write(2); }\n");
    let cases: &[(&[&str], &str, &[u64])] = &[
        (&["check", "examples/sb.rav", "--model", "tso"], "not-robust-tso", &[17]),
        (&["check", "examples/mp.rav", "--model", "pso"], "not-robust-pso", &[17]),
        (&["check", "examples/mp.rav", "--model", "rc20"], "stale-access", &[23]),
        (&["check", "examples/sb.rav", "--property", "trf"], "triangular-race", &[18, 23]),
        (&["reach", "examples/sb.rav", "--model", "tso"], "goal", &[26]),
        (&["reach", "examples/sb.rav", "--model", "rc20"], "goal", &[26]),
        (&["reach", &assert, "--model", "tso"], "assert", &[2]),
        (&["reach", &fault, "--model", "tso"], "fault", &[1]),
        (&["reach", "examples/lock-order.rav", "--model", "tso"], "deadlock", &[18]),
        (&["check", &race, "--model", "rc20"], "data-race", &[2, 3]),
    ];
    for (arguments, rule, lines) in cases {
        let (exit, document) = sarif(arguments);
        assert_eq!(exit, 1, "{arguments:?}");
        let [result, others @ ..] = results(&document) else { panic!("{arguments:?}: {document:#}") };
        assert_eq!(result["ruleId"], *rule);
        // A violation of robustness that breaks a goal is followed by that.
        let breaks_goal = rule.starts_with("not-robust") || *rule == "stale-access";
        let others: Vec<&str> = others.iter().filter_map(|other| other["ruleId"].as_str()).collect();
        assert_eq!(others, if breaks_goal { &["goal"][..] } else { &[] }, "{arguments:?}");
        assert_eq!(result["kind"], "fail");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(lines.iter().any(|line| region["startLine"] == *line), "{arguments:?}: {region}");
        let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
        let mut orders: Vec<u64> = flows
            .iter()
            .flat_map(|flow| flow["locations"].as_array().expect("locations"))
            .map(|location| location["executionOrder"].as_u64().expect("a number"))
            .collect();
        orders.sort_unstable();
        assert_eq!(orders, (1..=orders.len() as u64).collect::<Vec<_>>(), "every step once");
    }
}

#[test]
fn harmless_violations_are_notes() {
    let (exit, document) = sarif(&["check", "examples/robustness-c11/bar.rav", "--model", "tso,rc20"]);
    assert_eq!((exit, results(&document).len()), (1, 2));
    for result in results(&document) {
        assert_eq!((&result["kind"], &result["level"]), (&"fail".into(), &"note".into()));
        let message = result["message"]["text"].as_str().expect("a message");
        assert!(message.ends_with("This is harmless: a stale value only repeats loops that wait (lines 16 and 23)."));
    }
}

#[test]
fn what_holds_passes_and_what_is_open_is_open() {
    let (exit, document) = sarif(&["check", "examples/sb-fenced.rav", "--model", "tso,rc20"]);
    assert_eq!(exit, 0);
    assert!(results(&document).iter().all(|result| result["kind"] == "pass"));
    assert_eq!(document["runs"][0]["invocations"][0]["executionSuccessful"], true);
    let (exit, document) = sarif(&["reach", "examples/lamport-fast.rav", "--model", "sc", "--max-states", "10"]);
    assert_eq!(exit, 3);
    assert_eq!(results(&document)[0]["kind"], "open");
    let message = results(&document)[0]["message"]["text"].as_str().expect("a message");
    assert!(message.contains("stopped after 10 states"), "{message}");
}

#[test]
fn errors_are_notifications_with_a_place() {
    let scratch = Scratch::new("sarif-errors");
    let wrong = scratch.write("wrong.rav", "static flag;\nthread t { flug.store(1); }\n");
    let (exit, document) =
        sarif(&["check", &wrong, "examples/missing.rav", "examples/sb-fenced.rav", "--model", "tso"]);
    assert_eq!(exit, 2);
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"].as_array().expect("notifications");
    assert_eq!(told.len(), 2);
    assert_eq!(
        told[0]["locations"][0]["physicalLocation"]["region"],
        json!({ "startLine": 2, "startColumn": 12, "endLine": 2, "endColumn": 16 })
    );
    assert_eq!(results(&document).len(), 1, "the others are asked all the same");
}

#[test]
fn fences_come_with_a_fix_that_can_be_applied() {
    let (exit, document) = sarif(&["fence", "examples/sb.rav"]);
    assert_eq!(exit, 0);
    let result = &results(&document)[0];
    assert_eq!(result["ruleId"], "fences");
    let mut lines: Vec<String> =
        include_str!("../../../examples/sb.rav").split_inclusive('\n').map(str::to_owned).collect();
    let replacements = &result["fixes"][0]["artifactChanges"][0]["replacements"];
    for replacement in replacements.as_array().expect("replacements").iter().rev() {
        let line = |which: &str| replacement["deletedRegion"][which].as_u64().expect("a line") as usize - 1;
        let inserted = replacement["insertedContent"]["text"].as_str().expect("a text").to_owned();
        lines.splice(line("startLine")..line("endLine"), [inserted]);
    }
    let repaired = on_text(&lines.concat(), &["check", "--model", "tso"]);
    assert_eq!(code(&repaired), 0, "{repaired:?}");
}

#[test]
fn every_quick_example_gives_a_valid_document() {
    let mut files: Vec<String> = Vec::new();
    for folder in ["examples", "examples/lazy-tso", "examples/fence-insertion", "examples/robustness-c11"] {
        let path = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(&path).expect("examples") {
            let name = entry.expect("an example").file_name().into_string().expect("a name");
            if name.ends_with(".rav") {
                files.push(format!("{folder}/{name}"));
            }
        }
    }
    assert!(files.len() > 30);
    let limits = ["--max-states", "20000", "--timeout", "20"];
    for command in ["check", "reach", "fence"] {
        let mut arguments = vec![command];
        arguments.extend(files.iter().map(String::as_str));
        arguments.extend(limits);
        let (_, document) = sarif(&arguments);
        let number = results(&document).len();
        let told = document["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().map_or(0, Vec::len);
        assert!(number + told >= files.len(), "{command}: {number} results of {} files", files.len());
    }
}

#[test]
fn sarif_is_refused_where_there_is_no_rule() {
    for arguments in [
        &["states", "examples/sb.rav"][..],
        &["simulate", "examples/sb.rav"],
        &["fence", "examples/sb.rav", "--places"],
        &["check", "examples/sb.rav", "--expect"],
    ] {
        let mut all = arguments.to_vec();
        all.extend(["--format", "sarif"]);
        let output = ravelin(&all, "");
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8_lossy(&output.stderr).contains("SARIF"), "{output:?}");
    }
}
