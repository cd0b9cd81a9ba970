//! Output that cannot be delivered: the reader of a pipe is gone, the stream is closed or full. None of it is ever success, and none of
//! it hides an answer.

use crate::running;

use running::{Scratch, code, ravelin};
use std::fs::File;
use std::process::{Command, Output, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Every command that prints, with its exit code if somebody reads.
fn commands(scratch: &Scratch) -> Vec<(Vec<String>, i32)> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut commands: Vec<(Vec<String>, i32)> = [
        ("check examples/dekker.rav", 1),
        ("check examples/dekker-fenced.rav --model tso", 0),
        ("check examples/dekker.rav --format json", 1),
        ("check examples/dekker.rav --format sarif", 1),
        ("check examples/dekker.rav --attacks", 1),
        ("check --expect examples/sb.rav", 0),
        ("check --expect examples/sb.rav --format json", 0),
        ("check examples/sb.rav --max-states 1 --model tso --engine single", 3),
        ("reach examples/peterson.rav --model tso", 1),
        ("reach examples/peterson.rav --model sc", 0),
        ("fence examples/dekker.rav --diff", 0),
        ("fence examples/dekker.rav --places", 0),
        ("states examples/sb.rav --model tso", 0),
        ("states examples/sb.rav --model tso --format herd", 0),
        ("simulate examples/sb.rav --seed 3", 0),
        ("simulate examples/sb.rav --seed 3 --interactive", 0),
        ("convert examples/sb.rav --to rav", 0),
        ("convert examples/sb.rav --to promela", 0),
        ("diagnose examples/sb.rav", 0),
        ("cover examples/nets/mutex-broken.spec", 1),
        ("cover examples/nets/mutex.spec --format json", 0),
        ("completions bash", 0),
        ("man", 0),
        ("man check", 0),
        ("help", 0),
        ("help check", 0),
        ("--help", 0),
        ("check --help", 0),
        ("--version", 0),
    ]
    .into_iter()
    .map(|(line, code)| (words(line), code))
    .collect();
    let report = ravelin(&["check", "examples/dekker.rav", "--format", "json"], "");
    let report = scratch.write("report.json", &String::from_utf8_lossy(&report.stdout));
    commands.push((vec!["explain".to_owned(), report], 0));
    let proof = scratch.write("proof.json", "");
    let program = "examples/any-number/sb-two-fenced.rav";
    assert_eq!(code(&ravelin(&["check", program, "--certify", &proof], "")), 0);
    commands.push((vec!["certificate".to_owned(), proof], 0));
    let profile = scratch.write("profile", "");
    commands.push((["simulate", "examples/sb.rav", "--profile", &profile].map(str::to_owned).to_vec(), 0));
    commands
}

fn run(arguments: &[String], output: Stdio, errors: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ravelin"))
        .args(arguments)
        .current_dir(ROOT)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .output()
        .expect("the program starts")
}

/// The same by a shell, with streams as only a shell has them.
fn run_with(redirection: &str, arguments: &[String]) -> Output {
    Command::new("sh")
        .args(["-c", &format!("exec \"$@\" {redirection}"), "sh", env!("CARGO_BIN_EXE_ravelin")])
        .args(arguments)
        .current_dir(ROOT)
        .stdin(Stdio::null())
        .output()
        .expect("a shell")
}

#[test]
fn a_reader_that_has_seen_enough_changes_no_answer() {
    let scratch = Scratch::new("streams-gone");
    for (arguments, expected) in commands(&scratch) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = run(&arguments, writer.into(), Stdio::piped());
        // Success needs a reader, as with other programs.
        let expected = if expected == 0 { 141 } else { expected };
        assert_eq!(code(&output), expected, "{arguments:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn an_answer_that_nobody_would_read_is_not_looked_for_and_is_no_success() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let files = ["check", "examples/dekker-fenced.rav", "examples/dekker.rav", "--model", "tso"].map(str::to_owned);
    assert_eq!(code(&run(&files, writer.into(), Stdio::piped())), 141);
}

#[test]
fn a_reader_that_leaves_in_between_changes_no_answer() {
    for _ in 0..10 {
        let line = "\"$0\" check examples/dekker.rav | head -2 >/dev/null; echo ${PIPESTATUS[0]}";
        let output = Command::new("bash").args(["-c", line, env!("CARGO_BIN_EXE_ravelin")]).current_dir(ROOT).output();
        let Ok(output) = output else { return };
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n", "{output:?}");
    }
}

#[test]
fn what_is_written_to_a_full_disk_is_an_error() {
    let scratch = Scratch::new("streams-full");
    for (arguments, _) in commands(&scratch) {
        let full = File::options().write(true).open("/dev/full").expect("a device that is always full");
        let output = run(&arguments, full.into(), Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code(&output), 2, "{arguments:?}: {said}");
        assert!(said.contains("error: cannot write to standard output: No space left"), "{arguments:?}: {said}");
    }
}

#[test]
fn what_is_written_to_a_closed_stream_is_an_error() {
    let scratch = Scratch::new("streams-closed");
    for (arguments, _) in commands(&scratch) {
        for redirection in [">&-", "1</dev/null"] {
            let output = run_with(redirection, &arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(code(&output), 2, "{redirection} {arguments:?}: {said}");
            assert!(said.contains("error: cannot write to standard output: "), "{redirection} {arguments:?}: {said}");
        }
    }
}

#[test]
fn a_stream_that_is_not_written_to_may_be_closed() {
    let scratch = Scratch::new("streams-unused");
    let out = scratch.write("out.rav", "");
    let arguments = ["convert", "examples/sb.rav", "--to", "rav", "-o", &out].map(str::to_owned);
    for redirection in [">&-", ">/dev/full", "2>&-", "2>/dev/full", ">&- 2>&-"] {
        let output = run_with(redirection, &arguments);
        assert_eq!(code(&output), 0, "{redirection}: {output:?}");
    }
}

#[test]
fn messages_that_nobody_can_read_change_no_exit_code() {
    for redirection in ["2>&-", "2>/dev/full", "2>&1 | true; exit ${PIPESTATUS[0]}"] {
        for (line, expected) in [
            ("check nothing.rav", 2),
            ("check README.md --from rav", 2),
            ("check --nonsense", 2),
            ("cover nothing.spec", 2),
            ("check examples/dekker.rav --svg /dev/null/nowhere", 2),
        ] {
            let words = format!("\"$0\" {line} {redirection}");
            let mut shell = Command::new("bash");
            shell.args(["-c", &words, env!("CARGO_BIN_EXE_ravelin")]).current_dir(ROOT).stdout(Stdio::null());
            let Ok(output) = shell.output() else { return };
            assert_eq!(code(&output), expected, "{line} {redirection}: {output:?}");
        }
    }
}

#[test]
fn a_report_that_people_cannot_read_is_an_error() {
    // The first finding of the sanitizer's text goes to standard error.
    let missing = run_with("2>/dev/full", &["run".to_owned(), "/nonexistent".to_owned()]);
    assert_eq!(code(&missing), 2);
    let scratch = Scratch::new("streams-findings");
    let broken = scratch.write("broken.findings", "no findings");
    assert_eq!(code(&run_with(">/dev/full", &["findings".to_owned(), broken])), 2);
}
