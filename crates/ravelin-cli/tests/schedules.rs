//! Schedules of our own: what they find, that they are the same again, and what is said when a program cannot go on.

use crate::building;
use crate::json_schema::valid;

use building::{Built, text_of};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A report without what no schedule decides: the numbers of processes.
fn without_processes(mut answer: Value) -> Value {
    for process in answer["processes"].as_array_mut().into_iter().flatten() {
        process["process"] = Value::Null;
    }
    answer
}

#[test]
fn the_same_seed_gives_the_same_schedule_and_report_a_hundred_times() {
    for (source, schedule) in [("seqlock.c", "random"), ("pool.cpp", "random"), ("pool.cpp", "pct")] {
        let built = Built::new(source, "");
        let run = || {
            let (answer, output) = built.report(&format!("--schedule {schedule} --seed 5 --spinning"), "");
            (without_processes(answer), output.stdout)
        };
        let (first, printed) = run();
        assert_eq!(first["runs"][0]["replayable"], true, "{source} {first}");
        let times = if schedule == "random" { 99 } else { 19 };
        for time in 0..times {
            let (again, also_printed) = run();
            assert_eq!(again, first, "{source} {schedule} {time}");
            assert_eq!(also_printed, printed, "{source} {schedule} {time}");
        }
        let (other, _) = built.report(&format!("--schedule {schedule} --seed 6"), "");
        assert_ne!(other["runs"][0]["trail"], first["runs"][0]["trail"], "{source} {schedule}");
    }
}

#[test]
fn the_violation_of_the_sequence_lock_is_found_and_replayed() {
    let built = Built::new("seqlock.c", "");
    for schedule in ["random", "pct"] {
        let (answer, output) = built.report(&format!("--schedule {schedule} --runs 100"), "");
        assert_eq!(output.status.code(), Some(1), "{schedule}: {}", text_of(&output));
        assert_eq!(answer["runs"].as_array().map(Vec::len), Some(100));
        let finding = &answer["findings"][0];
        assert_eq!(finding["problem"], "stale-read");
        let often = finding["runs"].as_u64().expect("a number");
        assert!((5..=60).contains(&often), "{schedule}: found in {often} of 100 runs");
        let replayed = built.ravelin("replay report.json");
        let said = text_of(&replayed);
        assert_eq!(replayed.status.code(), Some(1), "{said}");
        let point = &finding["first_run"]["point"];
        assert!(said.contains(&format!("finding 1 occurred again at scheduling point {point}")), "{said}");
        // The run is stopped there, and shows what the report says.
        let sentence = finding["sentence"].as_str().expect("a sentence");
        assert!(said.contains("may read a stale value, seen once"), "{said}");
        assert!(sentence.contains("may miss"), "{sentence}");
    }
    let (by_os, _) = built.report("--runs 20", "");
    println!(
        "the operating system's schedules: {} findings in 20 runs",
        by_os["findings"].as_array().map_or(0, Vec::len)
    );
}

#[test]
fn a_replay_says_why_it_cannot_be_the_same() {
    let source = include_str!("schedules/seqlock.c");
    let built = Built::new("seqlock.c", "");
    let (answer, _) = built.report("--schedule random --runs 40 --halt-on-first", "");
    let runs = answer["runs"].as_array().expect("runs").len();
    assert!(runs < 40, "it was to stop at the first finding");
    assert_eq!(answer["findings"][0]["first_run"]["run"].as_u64(), Some(runs as u64 - 1));
    assert_eq!(built.ravelin("replay report.json --finding 7").status.code(), Some(2));
    built.rebuild(&source.replace("value <= 2", "value <= 1"), "seqlock.c", "");
    let other = built.ravelin("replay report.json");
    let said = text_of(&other);
    assert!(said.contains("has changed since the report") && said.contains("did not occur again"), "{said}");
    assert_eq!(other.status.code(), Some(0), "{said}");

    let sb = source.replace("int main(void) {", "int main(void) { int racy = 0;");
    built.rebuild(&sb, "seqlock.c", "");
    // The report with one change.
    let changed = |place: &str, value: Value| {
        let mut answer = answer.clone();
        *answer.pointer_mut(place).expect("a field") = value;
        json!({ "schema": "ravelin/2", "command": "run", "answers": [answer] }).to_string()
    };
    for (text, expected) in [
        (String::new(), "not JSON"),
        ("{}".to_owned(), "no document of Ravelin"),
        (json!({ "schema": "ravelin/2", "command": "run", "answers": [] }).to_string(), "no report"),
        (changed("/findings", json!([])), "nothing was found"),
        (changed("/findings/0/first_run", Value::Null), "operating system"),
        (changed("/findings/0/first_run/schedule", Value::Null), "operating system"),
        (changed("/findings/0/first_run/schedule", json!("pct:1")), "no schedule"),
        (changed("/findings/0/first_run/run", json!(40)), "there is no run 40"),
        (changed("/findings/0/problem", json!("stale")), "unknown variant `stale`"),
        (changed("/command", Value::Null), "which program"),
    ] {
        std::fs::write(built.folder.join("wrong.json"), &text).expect("a file");
        let output = built.ravelin("replay wrong.json");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text_of(&output).contains(expected), "{text}: {}", text_of(&output));
    }
    assert_eq!(built.ravelin("replay missing.json").status.code(), Some(2));
}

#[test]
fn a_program_that_cannot_go_on_is_ended_and_told() {
    let built = Built::new("stuck.c", "");
    let cases = [
        ("twice", "deadlock", "waits for the mutex `first`, which it holds itself"),
        ("condition", "deadlock", "waits for the condition variable `condition`"),
        ("barrier", "deadlock", "waits for the barrier `barrier`"),
        ("semaphore", "deadlock", "waits for the semaphore `semaphore`"),
        ("rwlock", "deadlock", "waits for the read-write lock `rwlock`"),
        ("livelock", "livelock", "goes round in a loop"),
        ("yielding", "livelock", "goes round in a loop"),
        ("crossed", "deadlock", "waits for the mutex `first`, which thread 0 \"main\" holds"),
    ];
    for (word, kind, sentence) in cases {
        for schedule in ["random", "pct"] {
            // The locks are taken crosswise only if the turn changes at the right one of ten points.
            let runs = if word == "crossed" { 64 } else { 8 };
            let options = format!("--schedule {schedule} --runs {runs} --livelock 20000");
            let (answer, output) = built.report(&options, word);
            assert_eq!(output.status.code(), Some(1), "{word} {schedule}: {}", text_of(&output));
            let stuck = &answer["stuck"][0];
            assert_eq!(stuck["problem"], kind, "{word} {schedule}");
            let threads = stuck["threads"].as_array().expect("threads");
            let said = |thread: &Value| thread["sentence"].as_str().is_some_and(|told| told == sentence);
            assert!(threads.iter().any(said), "{word} {schedule}: {stuck}");
            assert!(threads.iter().all(|thread| !thread["stack"][0]["line"].is_null()), "{word} {schedule}: {stuck}");
        }
    }
    let (_, _) = built.report("--schedule random", "semaphore");
    let replayed = built.ravelin("replay report.json");
    assert_eq!(replayed.status.code(), Some(1));
    assert!(text_of(&replayed).contains("occurred again"), "{}", text_of(&replayed));
}

#[test]
fn whoever_waits_gives_the_turn_up_and_sleeping_takes_no_time() {
    let built = Built::new("waits.c", "");
    for schedule in ["random", "pct"] {
        let began = std::time::Instant::now();
        let (answer, output) = built.report(&format!("--schedule {schedule} --runs 15"), "");
        assert_eq!(output.status.code(), Some(0), "{schedule}: {}", text_of(&output));
        let runs = answer["runs"].as_array().expect("runs");
        assert!(runs.iter().all(|run| run["replayable"] == true), "{schedule}");
        assert!(began.elapsed().as_secs() < 60, "the program asks for minutes of sleep in each run");
    }
}

/// Message passing in which both ends are too weak.
const MP: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
atomic_int data, flag, spare;
static void *writer(void *arg) {
  atomic_store_explicit(&data, 1, memory_order_relaxed);
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return arg;
}
static void *reader(void *arg) {
  if (atomic_load_explicit(&flag, memory_order_relaxed)) atomic_load_explicit(&data, memory_order_relaxed);
  atomic_fetch_add_explicit(&spare, 1, memory_order_relaxed);
  return arg;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"#;

#[test]
fn suggestions_are_tried_out_without_building_again() {
    let built = Built::from(MP, "mp.c", "");
    let runs = "run --schedule random --runs 20";
    let said = |line: &str, code: i32| {
        let output = built.ravelin(&format!("{runs} {line} ./program"));
        assert_eq!(output.status.code(), Some(code), "{line}: {}", text_of(&output));
        text_of(&output)
    };
    let whole = said("--try-fix 1", 0);
    assert!(whole.contains("mp.c:7:release") && whole.contains("mp.c:11:acquire"), "{whole}");
    assert!(whole.contains("gone: ") && whole.contains("nothing remains"), "{whole}");
    let half = said("--try-fix mp.c:7:release", 1);
    assert!(half.contains("remains: ") && half.contains("1 finding remains"), "{half}");
    let both = said("--try-fix mp.c:7:release --try-fix mp.c:11:acquire", 0);
    assert!(both.contains("nothing remains"), "{both}");
    let all = said("--fix-all", 0);
    assert!(all.contains("0 fences and 2 stronger accesses instead of making 5 accesses seq_cst"), "{all}");

    assert!(said("--try-fix mp.c:7:relaxed", 2).contains("is not a fix"));
    assert!(said("--try-fix mp.c:99:release", 2).contains("no atomic access"));
    assert!(said("--try-fix 9", 2).contains("there is no finding 9"));
    assert!(said("--try-fix 1 --format sarif", 2).contains("cannot write SARIF"));

    let json = built.ravelin(&format!("{runs} --fix-all --format json ./program"));
    let json = valid(&String::from_utf8(json.stdout).expect("UTF-8"));
    assert_eq!(json["answers"][0]["verdict"], "holds");
    assert_eq!(json["answers"][0]["strengthened"], 2);
}

#[test]
fn store_buffering_needs_fences_and_gets_them() {
    let text = MP
        .replace(
            "atomic_store_explicit(&flag, 1, memory_order_relaxed)",
            "atomic_load_explicit(&flag, memory_order_acquire)",
        )
        .replace(
            "if (atomic_load_explicit(&flag, memory_order_relaxed))",
            "atomic_store_explicit(&flag, 1, memory_order_release);",
        );
    let built = Built::from(&text, "sb.c", "");
    let output = built.ravelin("run --schedule pct --runs 30 --fix-all ./program");
    let said = text_of(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("2 fences and 0 stronger accesses"), "{said}");
}

#[test]
fn wrong_command_lines_are_refused() {
    let built = Built::from(MP, "mp.c", "");
    for line in [
        "run --runs 0 ./program",
        "run --schedule fair ./program",
        "run --depth 0 --schedule pct ./program",
        "run --length 0 --schedule pct ./program",
        "run --jobs 0 ./program",
        "run --fix-all --try-fix 1 ./program",
        "replay",
        "replay --finding 0 report.json",
    ] {
        let output = built.ravelin(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", text_of(&output));
    }
}

#[test]
fn runs_read_the_same_input_and_only_the_first_is_heard() {
    let text = r#"
#include <pthread.h>
#include <stdio.h>
static void *nothing(void *arg) { return arg; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, nothing, 0);
  pthread_join(thread, 0);
  char line[64];
  if (!fgets(line, sizeof line, stdin)) return 4;
  fputs(line, stdout);
  return line[0] == 'h' ? 0 : 5;
}
"#;
    use std::io::Write;
    let built = Built::from(text, "input.c", "");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ravelin"));
    command.args(["run", "--schedule", "random", "--runs", "8", "./program"]).current_dir(&built.folder);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ravelin");
    child.stdin.take().expect("a pipe").write_all(b"hello\n").expect("a reader");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(0), "{}", text_of(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n");
}

/// The commands of the document, in its order, with the sequence lock as the program.
#[test]
fn the_commands_of_the_document_work() {
    let built = Built::new("seqlock.c", "");
    std::fs::rename(built.folder.join("program"), built.folder.join("test")).expect("a file");
    let document = include_str!("../../../docs/schedules.md");
    let blocks = document.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    let lines: Vec<&str> = blocks.flat_map(str::lines).map(|line| line.split('#').next().unwrap_or(line)).collect();
    assert!(lines.len() >= 7, "{lines:?}");
    for line in lines {
        let output = built.ravelin(line.trim().strip_prefix("ravelin ").expect("a command of ravelin"));
        let codes: &[i32] = match line {
            _ if line.contains("--try-fix") => &[0, 1],
            _ if line.contains("--fix-all") => &[0],
            _ => &[1],
        };
        let code = output.status.code().unwrap_or(-1);
        assert!(codes.contains(&code), "{line}: {code}, {}", text_of(&output));
    }
}
