//! `cargo ravelin verify` on the project in `examples/rust-verify`: its tests in `correct.rs` are verified and those in
//! `broken.rs` are violated, with few runs.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// More runs than the largest of the tests needs.
const RUNS: u64 = 100;

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/rust-verify"))
}

/// Where everything is built: kept from run to run, as cargo's own directory is.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-verify")
}

fn without_inherited(cargo: &mut Command) -> &mut Command {
    for inherited in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(inherited);
    }
    cargo
}

fn verify(words: &[&str]) -> Output {
    let of_cargo = |word: &&str| ["--test", "--", "no_thread"].contains(word);
    let (options, rest) = words.split_at(words.iter().position(of_cargo).unwrap_or(words.len()));
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    cargo.args(["cargo", "verify"]).args(options).arg("--manifest-path").arg(project().join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target()).args(rest);
    without_inherited(&mut cargo).output().expect("ravelin runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The answers of all tests of a file.
fn answers(file: &str, exit_code: i32) -> Vec<Value> {
    let output = verify(&["--format", "json", "--max-runs", "1000", "--test", file]);
    assert_eq!(output.status.code(), Some(exit_code), "{}", text(&output));
    let mut document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    match document["answers"].take() {
        Value::Array(answers) => answers,
        other => panic!("{other} are no answers"),
    }
}

/// The functions of a file that are tests and not ignored.
fn tests(source: &str) -> usize {
    source.matches("#[test]").count() - source.matches("#[ignore").count()
}

#[test]
fn correct_tests_are_verified() {
    let answers = answers("correct", 0);
    assert_eq!(answers.len(), tests(include_str!("../../../examples/rust-verify/tests/correct.rs")));
    for answer in &answers {
        assert_eq!(answer["verdict"], "holds", "{answer:#}");
        assert_eq!(answer["verification"]["complete"], true, "{answer:#}");
        let runs = answer["verification"]["runs"].as_u64().expect("a number");
        assert!(runs <= RUNS, "{} takes {runs} runs", answer["program"]);
    }
    // Known numbers of traces.
    for (test, expected) in
        [("publication", 2), ("dekker", 3), ("mutex", 6), ("reference_count", 2), ("no_thread", 1), ("after_setup", 2)]
    {
        let name = format!("correct::{test}");
        let answer = answers.iter().find(|answer| answer["program"] == *name).expect("an answer");
        assert_eq!(answer["verification"]["runs"], expected, "{name}");
    }
}

#[test]
fn broken_tests_are_violated() {
    let answers = answers("broken", 1);
    assert_eq!(answers.len(), tests(include_str!("../../../examples/rust-verify/tests/broken.rs")));
    for answer in &answers {
        assert_eq!(answer["verdict"], "violated", "{answer:#}");
        let runs = answer["verification"]["runs"].as_u64().expect("a number");
        assert!(runs <= RUNS, "{} takes {runs} runs", answer["program"]);
    }
    let what = |test: &str| {
        let name = format!("broken::{test}");
        let answer = answers.iter().find(|answer| answer["program"] == *name).expect("an answer");
        let deadlock = answer["stuck"].as_array().is_some_and(|stuck| !stuck.is_empty());
        let failed = answer["verification"]["failures"].as_array().is_some_and(|failures| !failures.is_empty());
        let problem = answer["findings"][0]["problem"].as_str().unwrap_or("none").to_owned();
        (
            if deadlock {
                "deadlock"
            } else if failed {
                "failure"
            } else {
                "finding"
            },
            problem,
        )
    };
    for (test, expected) in [
        ("lost_notification", "deadlock"),
        ("early_unpark", "deadlock"),
        ("deadlock", "deadlock"),
        ("late_reference_count", "failure"),
        ("lost_increment", "failure"),
        ("order_of_messages", "failure"),
        ("relaxed_publication", "finding"),
        ("relaxed_reference_count", "finding"),
        ("relaxed_dekker", "finding"),
    ] {
        assert_eq!(what(test).0, expected, "{test}: {:?}", what(test));
    }
}

/// Every schedule and schedules that are drawn give the same answers, which are the names of the tests.
#[test]
fn tests_are_named_after_the_consequences_of_stale_values() {
    let (manifest, target) = (project().join("Cargo.toml"), target());
    let made = |words: &[&str], selected: &[&str]| {
        let mut cargo = Command::new(env!("CARGO_BIN_EXE_ravelin"));
        cargo.arg("cargo").args(words).arg("--manifest-path").arg(&manifest);
        cargo.arg("--target-dir").arg(&target).args(["--test", "consequences", "--"]).args(selected);
        without_inherited(&mut cargo).output().expect("ravelin runs")
    };
    let all = made(&["verify", "--consequences", "--format", "json"], &[]);
    let drawn = made(&["--consequences", "--runs", "60", "--format", "json", "test"], &[]);
    for output in [all, drawn] {
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let answers = document["answers"].as_array().expect("answers");
        assert_eq!(answers.len(), tests(include_str!("../../../examples/rust-verify/tests/consequences.rs")));
        for answer in answers {
            let name = answer["program"].as_str().expect("a name").trim_start_matches("consequences::");
            let outcome = &answer["findings"][0]["consequence"]["outcome"];
            assert!(name.replace('_', "-").starts_with(outcome.as_str().unwrap_or("?")), "{name}: {answer:#}");
        }
    }
    let words = ["--consequences", "--runs", "60", "--fail-on", "crash", "test"];
    let decided = made(&words, &["output", "rejoins"]);
    let (code, text) = (decided.status.code(), text(&decided));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("received 0` instead of `test output ... received 1`"), "{text}");
}

#[test]
fn a_test_that_fails_shows_its_panic_and_words_select_tests() {
    let output = verify(&["--test", "broken", "--", "lost_increment"]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in ["broken::lost_increment: violated", "left: 1", "right: 2", "broken.rs:", "ended with 101"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("broken::deadlock"), "{text}");
}

/// `cargo ravelin OPTIONS test WORDS`.
fn cargo(options: &[&str], words: &[&str]) -> Output {
    let mut cargo = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    cargo.arg("cargo").args(options).arg("test").arg("--manifest-path").arg(project().join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target()).args(words);
    without_inherited(&mut cargo).output().expect("ravelin runs")
}

#[test]
fn tests_run_under_weak_memory_and_a_failure_is_replayed() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("weak-test-{}.json", std::process::id()));
    let name = report.to_str().expect("a name");
    let options = ["--schedule", "weak", "--runs", "100", "--format", "json", "--output", name];
    let output = cargo(&options, &["--test", "broken", "--", "--exact", "relaxed_dekker"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let replayed = Command::new(env!("CARGO_BIN_EXE_ravelin")).arg("replay").arg(&report).output();
    let replayed = replayed.expect("ravelin runs");
    std::fs::remove_file(&report).expect("the report is removed");
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed));
    assert!(text(&replayed).contains("occurred again: ended with exit code 101"), "{}", text(&replayed));
    let output = cargo(&["--schedule", "weak", "--runs", "50"], &["--test", "correct"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn tests_run_with_schedules_and_a_finding_is_replayed() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scheduled-test-{}.json", std::process::id()));
    let name = report.to_str().expect("a name");
    let options = ["--schedule", "random", "--runs", "20", "--format", "json", "--output", name];
    let output = cargo(&options, &["--test", "broken", "--", "--exact", "relaxed_publication"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let replayed = Command::new(env!("CARGO_BIN_EXE_ravelin")).arg("replay").arg(&report).output();
    let replayed = replayed.expect("ravelin runs");
    std::fs::remove_file(&report).expect("the report is removed");
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed));
    assert!(text(&replayed).contains("finding 1 occurred again"), "{}", text(&replayed));
    let output = cargo(&["--schedule", "pct", "--runs", "10"], &["--test", "correct", "mutex"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn wrong_command_lines_are_refused() {
    for (words, part) in [
        (&["--test", "correct", "--", "no_such_test"][..], "there is no such test"),
        (&["--max-runs", "0", "--test", "correct"], "--max-runs"),
        (&["--test", "no_such_file"], "no_such_file"),
    ] {
        let output = verify(words);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(part), "{part} is not in {}", text(&output));
    }
    let first = Command::new(env!("CARGO_BIN_EXE_ravelin")).args(["cargo", "--no-races", "verify"]).output();
    let first = first.expect("ravelin runs");
    assert_eq!(first.status.code(), Some(2));
    assert!(text(&first).contains("the options of `verify` follow it"), "{}", text(&first));
    let help = verify(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help).contains("cargo ravelin verify --max-runs"), "{}", text(&help));
}

#[test]
fn tests_can_be_named_as_for_cargo() {
    for words in [&["--max-runs", "50", "no_thread"][..], &["--max-runs", "50", "--", "--exact", "no_thread"]] {
        let output = verify(words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let verified = text(&output).matches(": verified").count();
        assert_eq!(verified, 1, "{}", text(&output));
    }
}

#[test]
fn a_limit_makes_the_answer_unknown() {
    let output = verify(&["--max-runs", "2", "--test", "correct", "--", "--exact", "mutex"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("correct::mutex: unknown"), "{}", text(&output));
}
