//! `ravelin explain`: every kind of answer is told in words, and what is none is refused with a sentence.

use crate::running;

use running::{Scratch, code, ravelin};

/// The words for the answer of a command.
fn explained(arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    let document = ravelin(&all, "");
    let text = String::from_utf8(document.stdout).expect("JSON is text");
    let output = ravelin(&["explain", "-"], &text);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("words")
}

#[test]
fn a_violation_is_told_step_by_step() {
    let told = explained(&["check", "examples/sb.rav", "--model", "tso"]);
    for words in [
        "examples/sb.rav is not robust against tso",
        "At the beginning memory has x = 0 and y = 0.",
        "Step 1: left stores 1 to x, which waits in left's store buffer; memory still has x = 0 (line 17, `x.store(1)`).",
        "although its own store to x has not reached memory yet",
        "leaves its store buffer and reaches memory, which had x = 0 until now.",
        "Why sequential consistency forbids it",
        "would come before itself",
        "A fence (`fence(seq_cst)`) between the store on line 17 and the load on line 18 stops this attack",
    ] {
        assert!(told.contains(words), "`{words}` is not in\n{told}");
    }
}

#[test]
fn every_kind_of_answer_is_told() {
    let cases: &[(&[&str], &str)] = &[
        (&["check", "examples/sb-fenced.rav", "--model", "tso"], "robust"),
        (&["check", "examples/mp.rav", "--model", "rc20"], "Why sequential consistency forbids it"),
        (&["check", "examples/mp.rav", "--model", "pso"], "Step 1: sender stores 1 to data"),
        (&["check", "examples/sb.rav", "--property", "trf"], "with no fence between"),
        (&["reach", "examples/sb.rav"], "Step 1:"),
        (&["reach", "examples/sb.rav", "--model", "sc"], "can happen under sc"),
        (&["reach", "examples/lamport-fast.rav", "--model", "sc", "--max-states", "10"], "unknown"),
        (&["reach", "examples/missing.rav"], "There is no answer about examples/missing.rav"),
        (&["fence", "examples/sb.rav", "--explain", "--diff"], "Without the one at"),
        (&["fence", "examples/mp.rav", "--model", "rc20"], "What to change"),
        (
            &["fence", "examples/mp.rav", "--model", "rc20", "--for", "safety", "--explain"],
            "Without the one at L18:order",
        ),
        (&["fence", "examples/sb.rav", "--places"], "at a cost of"),
        (&["states", "examples/sb.rav"], "sequential consistency forbids this one"),
        (&["simulate", "examples/sb.rav", "--seed", "1"], "Step 1:"),
        (&["check", "examples/any-number/flag.rav"], "cop"),
    ];
    for (arguments, words) in cases {
        let told = explained(arguments);
        assert!(told.contains(words), "{arguments:?}: `{words}` is not in\n{told}");
    }
    let nothing_to_change = explained(&["fence", "examples/sb-fenced.rav"]);
    assert!(!nothing_to_change.contains("as a diff"), "{nothing_to_change}");
}

#[test]
fn what_is_no_report_is_refused() {
    let whole = ravelin(&["check", "examples/sb.rav", "--format", "json"], "");
    let whole = String::from_utf8(whole.stdout).expect("text");
    let cut = &whole[..whole.len() / 2];
    let deep = "[".repeat(1_000_000);
    let cases: &[(&str, &str)] = &[
        ("", "not JSON"),
        ("hello", "not JSON"),
        (cut, "not JSON"),
        (&deep, "not JSON"),
        ("{}", "no document of Ravelin"),
        ("[1, 2]", "no document of Ravelin"),
        (r#"{ "schema": "other/9", "command": "check", "answers": [] }"#, "other/9"),
        (r#"{ "schema": "ravelin/2", "command": "dance", "answers": [] }"#, "dance"),
        (r#"{ "schema": "ravelin/2", "command": "check", "answers": [{}] }"#, "answer 1"),
        (r#"{ "schema": "ravelin/2", "command": "check", "answers": [7] }"#, "answer 1"),
    ];
    for (text, words) in cases {
        let output = ravelin(&["explain", "-"], text);
        assert_eq!(code(&output), 2, "{words}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(words) && output.stdout.is_empty(), "{said}");
    }
    assert_eq!(code(&ravelin(&["explain", "examples/sb.rav"], "")), 2);
    assert_eq!(code(&ravelin(&["explain", "missing.json"], "")), 2);
    let sarif = ravelin(&["check", "examples/sb.rav", "--format", "sarif"], "");
    assert_eq!(code(&ravelin(&["explain", "-"], &String::from_utf8_lossy(&sarif.stdout))), 2);
    let scratch = Scratch::new("explain");
    let huge = scratch.write("huge.json", &" ".repeat((64 << 20) + 10));
    let output = ravelin(&["explain", &huge], "");
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than"), "{output:?}");
}
